//! Intrinsics: what CUDA spells as a builtin variable or function and the hardware does directly.
//!
//! Each variant says its argument and result types. What C spells (names, overloads) is the
//! checker's table; what LLVM or PTX spell is the lowering's. Two open-ended variants,
//! [`Intrinsic::Libdevice`] and [`Intrinsic::Ptx`], carry the long tail of the CUDA math API so that
//! a new function is a table row and not a new variant.

use crate::expr::BinaryOp;
use crate::module::AddressSpace;

/// A coordinate of a thread, block, or grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Axis {
    /// The fastest one: neighbours in a warp differ in it.
    X,
    /// The second; 0 in one-dimensional launches.
    Y,
    /// The slowest; 0 in one- and two-dimensional launches.
    Z,
}

/// Read-only per-thread values, unsigned 32-bit unless said otherwise (PTX ISA, special registers).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BuiltinVar {
    /// The thread within its block, from 0 (`%tid`).
    ThreadIdx(Axis),
    /// The block within its grid, from 0 (`%ctaid`).
    BlockIdx(Axis),
    /// Threads of a block along an axis (`%ntid`).
    BlockDim(Axis),
    /// Blocks of the grid along an axis (`%nctaid`).
    GridDim(Axis),
    /// Always 32; signed 32-bit as in CUDA.
    WarpSize,
    /// The thread within its warp, 0 to 31.
    LaneId,
    /// The warp within its block; the hardware may renumber, so for diagnostics only.
    WarpId,
    /// The multiprocessor that runs the thread now.
    SmId,
    /// Unsigned 64-bit.
    GridId,
    /// The bit of the own lane.
    LaneMaskEq,
    /// The bits of the own lane and of those before it.
    LaneMaskLe,
    /// The bits of the lanes before the own one.
    LaneMaskLt,
    /// The bits of the own lane and of those after it.
    LaneMaskGe,
    /// The bits of the lanes after the own one.
    LaneMaskGt,
    /// Bytes of dynamic shared memory that the launch gave the block.
    DynamicSharedBytes,
    /// Bytes of shared memory of the block, static and dynamic, rounded up by the hardware.
    TotalSharedBytes,
    /// 32-bit `%clock`.
    Clock,
    /// Signed 64-bit `%clock64`.
    Clock64,
    /// Unsigned 64-bit nanoseconds.
    GlobalTimer,
}

/// Which threads an atomic operation or a fence is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// Those of the own block (`_block`).
    Block,
    /// Those of the own cluster; from sm_90 on.
    Cluster,
    /// All of the device: CUDA's default.
    Device,
    /// Those of other devices and of the host too (`_system`).
    System,
}

/// What an atomic operation does with the old value and its argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AtomicOp {
    /// Sum, which wraps for integers.
    Add,
    /// The argument replaces the old value.
    Exchange,
    /// By the signedness of the type.
    Min,
    /// By the signedness of the type.
    Max,
    /// Wrapping increment and decrement of PTX `atom.inc`/`atom.dec`.
    Inc,
    /// Down to 0 and then to the argument: PTX `atom.dec`.
    Dec,
    /// Arguments: address, compare, value.
    CompareExchange,
    /// Bit by bit.
    And,
    /// Bit by bit.
    Or,
    /// Bit by bit.
    Xor,
}

/// A relaxed atomic read-modify-write, as CUDA's `atomicX` functions are. Yields the old value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Atomic {
    /// What happens to the value in memory.
    pub op: AtomicOp,
    /// Among which threads it is one step.
    pub scope: Scope,
}

/// Which lane a thread reads from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ShuffleMode {
    /// The lane of this number within the segment (`__shfl_sync`).
    Index,
    /// The lane `delta` before (`__shfl_up_sync`).
    Up,
    /// The lane `delta` after (`__shfl_down_sync`).
    Down,
    /// The lane whose number differs in these bits (`__shfl_xor_sync`).
    Xor,
}

/// What a vote asks of the predicates of a warp's threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VoteMode {
    /// True if all are true.
    All,
    /// True if one is true.
    Any,
    /// True if all are equal.
    Uni,
}

/// Cache operators of PTX loads and stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CacheOp {
    /// `ld.global.nc` (`__ldg`).
    NonCoherent,
    /// `.ca`
    All,
    /// `.cg`
    Global,
    /// `.cs`
    Streaming,
    /// `.lu`
    LastUse,
    /// `.cv`
    Volatile,
    /// `.wb`
    WriteBack,
    /// `.wt`
    WriteThrough,
}

/// One PTX instruction (or a few) with register operands, for functions that have no operation of
/// their own. `$0` is the result (or `$0..$n` for a record result, one per field), then the
/// arguments in order. Constraint letters are PTX's: h (16 bits), r, l, q, f, d.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct PtxTemplate {
    /// For listings and messages.
    pub name: &'static str,
    /// PTX with LLVM's operand marks; several instructions in braces have registers of their own.
    pub text: &'static str,
    /// Result constraint letters, one per register; empty for `Void`.
    pub results: &'static str,
    /// Argument constraint letters.
    pub args: &'static str,
    /// Must be kept, and in order, even when the result is unused.
    pub side_effects: bool,
    /// Must not be made control-dependent on more values (warp-wide operations).
    pub convergent: bool,
    /// Reads or writes memory beyond its operands.
    pub memory: bool,
}

/// An operation of CUDA that is no C. Each says its arguments, then `->` and what it yields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Intrinsic {
    /// No arguments.
    Builtin(BuiltinVar),

    // Barriers and fences.
    /// `__syncthreads()`. `Void`.
    SyncThreads,
    /// i32 predicate -> i32 count / all / any over the block.
    SyncThreadsCount,
    /// The same predicate; not 0 if that of every thread is not 0.
    SyncThreadsAnd,
    /// The same predicate; not 0 if that of some thread is not 0.
    SyncThreadsOr,
    /// u32 mask. `Void`.
    SyncWarp,
    /// `Void`.
    Fence(Scope),

    // Warp primitives. The first argument is the u32 member mask.
    /// mask, value (32- or 64-bit integer, float, or 16-bit float), i32/u32 lane or delta, i32
    /// width -> value type.
    Shuffle(ShuffleMode),
    /// mask, i32 predicate -> i32.
    Vote(VoteMode),
    /// mask, i32 predicate -> u32.
    Ballot,
    /// -> u32.
    ActiveMask,
    /// mask, 32- or 64-bit value -> u32.
    MatchAny,
    /// mask, value, pointer to i32 -> u32.
    MatchAll,
    /// mask, 32-bit integer -> same. `Add`, `And`, `Or`, `Xor`.
    Reduce(BinaryOp),
    /// mask, 32-bit integer -> same, by signedness.
    ReduceMin,
    /// mask, 32-bit integer -> same, by signedness.
    ReduceMax,

    /// address, operands -> old value.
    Atomic(Atomic),

    // Memory.
    /// address -> value of the pointee (scalar or vector record).
    CacheLoad(CacheOp),
    /// address, value. `Void`.
    CacheStore(CacheOp),
    /// destination, source, size of the address size. `Void`. (`memcpy`, and `memmove` if `overlap`.)
    MemCopy {
        /// The two places may share bytes.
        overlap: bool,
    },
    /// destination, i32 byte, size. `Void`.
    MemSet,
    /// pointer -> `Bool`. `None` is local memory.
    IsSpace(Option<AddressSpace>),
    /// Generic pointer -> unsigned address-size integer within the space (`None`: local).
    GenericToSpace(Option<AddressSpace>),
    /// Address-size integer -> generic pointer.
    SpaceToGeneric(Option<AddressSpace>),

    // Integer.
    /// 32- or 64-bit -> i32.
    PopCount,
    /// 32- or 64-bit -> i32; the width for zero.
    LeadingZeros,
    /// 1-based position of the lowest set bit, 0 for zero -> i32.
    FindFirstSet,
    /// Same type.
    ReverseBits,
    /// High half of the product, by signedness.
    MulHigh,
    /// Integer absolute value (the minimum stays itself).
    AbsInt,
    /// By signedness.
    MinInt,
    /// The larger one, by signedness.
    MaxInt,
    /// u32 a, u32 b, u32 selector, of each of whose four nibbles the low three bits count.
    BytePermute,
    /// u32 lo, u32 hi, u32 shift: `__funnelshift_l`/`_r` (shift mod 32).
    FunnelShiftLeft,
    /// u32 lo, u32 hi, u32 shift -> the low 32 bits of `hi:lo` shifted right by `shift` mod 32.
    FunnelShiftRight,

    // Floating point, any format unless said.
    /// a, b, c -> `a * b + c`, rounded once.
    Fma,
    /// Rounded to nearest; single precision by [`crate::FastMath::prec_sqrt`].
    Sqrt,
    /// The sign bit cleared.
    AbsFloat,
    /// The largest integer that is not above.
    Floor,
    /// The smallest integer that is not below.
    Ceil,
    /// The integer toward zero.
    Trunc,
    /// To nearest even.
    RoundEven,
    /// C's fmin/fmax: a NaN operand loses.
    MinFloat,
    /// C's fmax: a NaN operand loses.
    MaxFloat,
    /// magnitude, sign -> the first with the sign of the second.
    CopySign,
    /// -> `Bool`.
    IsNan,
    /// Of either sign -> `Bool`.
    IsInf,
    /// Neither a NaN nor an infinity -> `Bool`.
    IsFinite,
    /// The sign bit, of NaNs and zeros too -> `Bool`.
    SignBit,

    // Hints and control.
    /// `Bool`. `Void`.
    Assume,
    /// value, expected constant -> value.
    Expect,
    /// Control does not come here; what follows is dropped.
    Unreachable,
    /// Ends the grid with an error (`__trap`).
    Trap,
    /// Stops in a debugger (`__brkpt`); without one as `Trap`.
    Breakpoint,
    /// u32 nanoseconds. `Void`.
    NanoSleep,

    // Variable arguments, in host code. A list is a record of 24 bytes that the System V ABI lays out.
    /// address of a list. `Void`. In a function with `...` only.
    VaStart,
    /// address of a list -> the next argument, of the expression's type, which has been promoted.
    VaArg,
    /// addresses of the new list and of the old one. `Void`.
    VaCopy,
    /// address of a list. `Void`.
    VaEnd,

    /// Calls `__nv_<name>` of libdevice with the argument and result types given (f32, f64, i32,
    /// u32, i64, u64, pointers), linking only what is used.
    Libdevice(&'static str),
    /// The template's operands -> its results.
    Ptx(&'static PtxTemplate),
}
