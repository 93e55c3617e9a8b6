// Barriers, fences, clocks, traps and hints.

/// Waits until all threads of the block are here and their writes are visible to it.
void __syncthreads() = SyncThreads;
/// `__syncthreads`, and the number of threads whose predicate is not zero.
int __syncthreads_count(int predicate) = SyncThreadsCount;
/// `__syncthreads`, and whether all predicates are not zero.
int __syncthreads_and(int predicate) = SyncThreadsAnd;
/// `__syncthreads`, and whether any predicate is not zero.
int __syncthreads_or(int predicate) = SyncThreadsOr;
/// Waits until all lanes of the mask are here and their writes are visible to each other.
void __syncwarp(unsigned mask = 0xffffffff) = SyncWarp;
/// Waits at a numbered barrier (0 to 15) for all threads of the block.
void __barrier_sync(unsigned id) = ptx warp "barrier.sync";
/// Waits at a numbered barrier for a number of threads.
void __barrier_sync_count(unsigned id, unsigned count) = ptx warp "barrier.sync";

/// Orders this thread's memory accesses as the threads of its block see them.
void __threadfence_block() = Fence(Scope::Block);
/// Orders this thread's memory accesses as all threads of the device see them.
void __threadfence() = Fence(Scope::Device);
/// Orders this thread's memory accesses as the host and other devices see them.
void __threadfence_system() = Fence(Scope::System);
/// Orders this thread's memory accesses as the threads of its cluster see them.
[sm_90] void __threadfence_cluster() = Fence(Scope::Cluster);

/// The cycle counter.
long clock() { return (long)clock64(); } host extern clock;
/// The cycle counter, 64 bits.
long long clock64() = Builtin(BuiltinVar::Clock64);
/// Suspends the thread for about this long, at most 1 ms.
[sm_70] void __nanosleep(unsigned nanoseconds) = NanoSleep;

/// Ends the grid with an error.
[noreturn] void __trap() = Trap;
/// Stops in an attached debugger.
void __brkpt() = Breakpoint;
/// Increments a profiler counter.
void __prof_trigger(int counter) { __cdp_pmevent(); }
/// The event itself.
void __cdp_pmevent() = ptx effect "pmevent 0;";
/// What the `assert` macro calls when its condition is false: prints it and ends the grid.
[noreturn] void __assert_fail(const char* message, const char* file, unsigned line, const char* function)
    { __cdp_assertfail(message, file, line, function, 1); } host extern;
/// The driver's function; the last argument is the size of a character.
[noreturn] void __cdp_assertfail(const char* message, const char* file, unsigned line,
    const char* function, size_t width) = extern __assertfail;

/// Promises the optimiser that a condition holds.
void __builtin_assume(bool condition) = Assume;
void __assume(bool condition) = Assume;
/// The value, which is expected to be the second argument.
[both] long __builtin_expect(long value, long expected) = Expect;
/// Promises the optimiser that control never comes here.
[both, noreturn] void __builtin_unreachable() = Unreachable;
/// Ends the program with an error.
[noreturn] void __builtin_trap() = refuse "use `__trap`, which device code has" host Trap;
