//! Barriers, fences, clocks, traps and hints.

use cdp_ir::{BuiltinVar, Intrinsic, Scope};

use super::{BuiltinFn, Lower, device, intrinsic, ptx, row};

const ASSERT_FAIL: &str =
    "void(const char* message,const char* file,unsigned line,const char* function)";

pub(super) const ROWS: &[BuiltinFn] = &[
    intrinsic(
        "__syncthreads",
        "void()",
        Intrinsic::SyncThreads,
        "Waits until all threads of the block are here and their writes are visible to it.",
    ),
    intrinsic(
        "__syncthreads_count",
        "int(int predicate)",
        Intrinsic::SyncThreadsCount,
        "`__syncthreads`, and the number of threads whose predicate is not zero.",
    ),
    intrinsic(
        "__syncthreads_and",
        "int(int predicate)",
        Intrinsic::SyncThreadsAnd,
        "`__syncthreads`, and whether all predicates are not zero.",
    ),
    intrinsic(
        "__syncthreads_or",
        "int(int predicate)",
        Intrinsic::SyncThreadsOr,
        "`__syncthreads`, and whether any predicate is not zero.",
    ),
    intrinsic(
        "__syncwarp",
        "void(unsigned mask=0xffffffff)",
        Intrinsic::SyncWarp,
        "Waits until all lanes of the mask are here and their writes are visible to each other.",
    ),
    device(
        "__barrier_sync",
        "void(unsigned id)",
        ptx!(warp "barrier.sync $0;", "", "r"),
        "Waits at a numbered barrier (0 to 15) for all threads of the block.",
    ),
    device(
        "__barrier_sync_count",
        "void(unsigned id,unsigned count)",
        ptx!(warp "barrier.sync $0, $1;", "", "rr"),
        "Waits at a numbered barrier for a number of threads.",
    ),
    intrinsic(
        "__threadfence_block",
        "void()",
        Intrinsic::Fence(Scope::Block),
        "Orders this thread's memory accesses as the threads of its block see them.",
    ),
    intrinsic(
        "__threadfence",
        "void()",
        Intrinsic::Fence(Scope::Device),
        "Orders this thread's memory accesses as all threads of the device see them.",
    ),
    intrinsic(
        "__threadfence_system",
        "void()",
        Intrinsic::Fence(Scope::System),
        "Orders this thread's memory accesses as the host and other devices see them.",
    ),
    intrinsic(
        "__threadfence_cluster",
        "void()",
        Intrinsic::Fence(Scope::Cluster),
        "Orders this thread's memory accesses as the threads of its cluster see them.",
    )
    .since(90),
    device("clock", "long()", Lower::Inline("{ return (long)clock64(); }"), "The cycle counter.")
        .hosted(Lower::Extern("clock")),
    intrinsic(
        "clock64",
        "long long()",
        Intrinsic::Builtin(BuiltinVar::Clock64),
        "The cycle counter, 64 bits.",
    ),
    intrinsic(
        "__nanosleep",
        "void(unsigned nanoseconds)",
        Intrinsic::NanoSleep,
        "Suspends the thread for about this long, at most 1 ms.",
    )
    .since(70),
    intrinsic("__trap", "void()", Intrinsic::Trap, "Ends the grid with an error.").noreturn(),
    intrinsic("__brkpt", "void()", Intrinsic::Breakpoint, "Stops in an attached debugger."),
    device(
        "__prof_trigger",
        "void(int counter)",
        Lower::Inline("{ __cdp_pmevent(); }"),
        "Increments a profiler counter.",
    ),
    device("__cdp_pmevent", "void()", ptx!(effect "pmevent 0;", "", ""), "The event itself."),
    device(
        "__assert_fail",
        ASSERT_FAIL,
        Lower::Inline("{ __cdp_assertfail(message, file, line, function, 1); }"),
        "What the `assert` macro calls when its condition is false: prints it and ends the grid.",
    )
    .hosted(Lower::Extern("__assert_fail"))
    .noreturn(),
    device(
        "__cdp_assertfail",
        "void(const char* message,const char* file,unsigned line,const char* function,size_t width)",
        Lower::Extern("__assertfail"),
        "The driver's function; the last argument is the size of a character.",
    )
    .noreturn(),
    intrinsic(
        "__builtin_assume",
        "void(bool condition)",
        Intrinsic::Assume,
        "Promises the optimiser that a condition holds.",
    ),
    intrinsic(
        "__assume",
        "void(bool condition)",
        Intrinsic::Assume,
        "Promises the optimiser that a condition holds.",
    ),
    intrinsic(
        "__builtin_expect",
        "long(long value,long expected)",
        Intrinsic::Expect,
        "The value, which is expected to be the second argument.",
    )
    .on_both_sides(),
    intrinsic(
        "__builtin_unreachable",
        "void()",
        Intrinsic::Unreachable,
        "Promises the optimiser that control never comes here.",
    )
    .on_both_sides()
    .noreturn(),
    row(
        "__builtin_trap",
        "void()",
        Lower::Refuse("use `__trap`, which device code has"),
        Lower::Intrinsic(Intrinsic::Trap),
        "Ends the program with an error.",
    )
    .noreturn(),
];
