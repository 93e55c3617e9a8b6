//! Intrinsics: what CUDA spells as a builtin variable or function and the hardware does directly.
//!
//! Each variant says its argument and result types. What C spells (names, overloads) is the
//! checker's table; what LLVM or PTX spell is the lowering's. Two open-ended variants,
//! [`Intrinsic::Libdevice`] and [`Intrinsic::Ptx`], carry the long tail of the CUDA math API so that
//! a new function is a table row and not a new variant.

use crate::expr::BinaryOp;
use crate::module::AddressSpace;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Axis {
    X,
    Y,
    Z,
}

/// Read-only per-thread values, unsigned 32-bit unless said otherwise (PTX ISA, special registers).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BuiltinVar {
    ThreadIdx(Axis),
    BlockIdx(Axis),
    BlockDim(Axis),
    GridDim(Axis),
    /// Always 32; signed 32-bit as in CUDA.
    WarpSize,
    LaneId,
    WarpId,
    SmId,
    /// Unsigned 64-bit.
    GridId,
    LaneMaskEq,
    LaneMaskLe,
    LaneMaskLt,
    LaneMaskGe,
    LaneMaskGt,
    DynamicSharedBytes,
    TotalSharedBytes,
    /// 32-bit `%clock`.
    Clock,
    /// Signed 64-bit `%clock64`.
    Clock64,
    /// Unsigned 64-bit nanoseconds.
    GlobalTimer,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    Block,
    Cluster,
    Device,
    System,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AtomicOp {
    Add,
    Exchange,
    /// By the signedness of the type.
    Min,
    Max,
    /// Wrapping increment and decrement of PTX `atom.inc`/`atom.dec`.
    Inc,
    Dec,
    /// Arguments: address, compare, value.
    CompareExchange,
    And,
    Or,
    Xor,
}

/// A relaxed atomic read-modify-write, as CUDA's `atomicX` functions are. Yields the old value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Atomic {
    pub op: AtomicOp,
    pub scope: Scope,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ShuffleMode {
    Index,
    Up,
    Down,
    Xor,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VoteMode {
    All,
    Any,
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Intrinsic {
    /// No arguments.
    Builtin(BuiltinVar),

    // Barriers and fences.
    /// `__syncthreads()`. `Void`.
    SyncThreads,
    /// i32 predicate -> i32 count / all / any over the block.
    SyncThreadsCount,
    SyncThreadsAnd,
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
    MaxInt,
    /// u32 a, u32 b, u32 selector, of each of whose four nibbles the low three bits count.
    BytePermute,
    /// u32 lo, u32 hi, u32 shift: `__funnelshift_l`/`_r` (shift mod 32).
    FunnelShiftLeft,
    FunnelShiftRight,

    // Floating point, any format unless said.
    Fma,
    Sqrt,
    AbsFloat,
    Floor,
    Ceil,
    Trunc,
    /// To nearest even.
    RoundEven,
    /// C's fmin/fmax: a NaN operand loses.
    MinFloat,
    MaxFloat,
    CopySign,
    IsNan,
    IsInf,
    IsFinite,
    SignBit,

    // Hints and control.
    /// `Bool`. `Void`.
    Assume,
    /// value, expected constant -> value.
    Expect,
    Unreachable,
    Trap,
    Breakpoint,
    /// u32 nanoseconds. `Void`.
    NanoSleep,

    /// Calls `__nv_<name>` of libdevice with the argument and result types given (f32, f64, i32,
    /// u32, i64, u64, pointers), linking only what is used.
    Libdevice(&'static str),
    Ptx(&'static PtxTemplate),
}
