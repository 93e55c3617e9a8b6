//! What instructions are made of: operands, modes, and the bodies of the larger ones. The instructions
//! themselves are rows of `table.rs`.

use crate::module::{CallTableId, FunctionId, PrototypeId, Reg, Symbol};
pub use crate::table::{
    Atom, AtomVector, BulkCopy, Inst, Mapa, MinMax, Multimem, RemoteAccess, Shfl, Surface,
    TensorLoad, Tex, Video, VideoMad, VideoSimd,
};
use crate::types::*;

/// A source operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operand {
    /// A register.
    Reg(Reg),
    /// A constant, as the bits of the type in which the instruction reads it, zero-extended: -1 as
    /// `.s32` is `0xffff_ffff`, 1.0 as `.f32` is `0x3f80_0000`, a predicate is 0 or 1.
    Imm(u64),
    /// A predefined register.
    Special(SpecialReg),
    /// The address of a variable, parameter or function in its own state space (for a function:
    /// its generic address), plus bytes.
    Address {
        /// Whose address.
        symbol: Symbol,
        /// Added, in bytes.
        offset: i64,
    },
}

/// The memory operand `[base + offset]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Address {
    /// What the offset is added to.
    pub base: AddressBase,
    /// In bytes.
    pub offset: i64,
}

/// The base of an [`Address`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AddressBase {
    /// An address in a register.
    Reg(Reg),
    /// A variable or parameter.
    Symbol(Symbol),
    /// None: the offset is the address.
    Absolute,
}

/// A predicate operand that may be negated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PredOperand {
    /// A `.pred` register, or `Imm(0)` / `Imm(1)`.
    pub value: Operand,
    /// `!p`
    pub negated: bool,
}

/// A destination register; `None` is the sink `_`.
pub type Dst = Option<Reg>;
/// The registers of a vector destination: 1 (scalar), 2, 4 or 8.
pub type Dsts = Box<[Dst]>;
/// The values of a vector source: 1 (scalar), 2, 4 or 8.
pub type Srcs = Box<[Operand]>;

/// Rounding, flush-to-zero and saturation of floating-point arithmetic. All off for integer types
/// (whose `.sat` is a field of its own where it exists).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct FloatMode {
    /// `None`: not written, which means nearest even and lets an assembler fuse `mul` with `add`.
    pub rounding: Option<Rounding>,
    /// `.ftz`: subnormal inputs and results become zero of the same sign.
    pub ftz: bool,
    /// `.sat`: the result is clamped to 0.0 .. 1.0, NaN becomes 0.
    pub sat: bool,
}

/// `cmp` combined with a predicate: `setp.lt.and.s32 p, a, b, !q`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Combine {
    /// The operation.
    pub op: BoolOp,
    /// The predicate on its right.
    pub with: PredOperand,
}

/// Performance hints of a memory access. They never change a result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct CacheHints {
    /// `.ca`, `.cg`, ...
    pub op: Option<CacheOp>,
    /// `.L1::evict_...`
    pub l1: Option<L1Eviction>,
    /// `.L2::evict_...`
    pub l2: Option<L2Eviction>,
    /// `.L2::128B`
    pub prefetch: Option<L2Prefetch>,
    /// `.L2::cache_hint` with its 64-bit operand.
    pub policy: Option<Operand>,
}

/// The function called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallTarget {
    /// By name.
    Direct(FunctionId),
    /// By the address in a register.
    Indirect {
        /// The address of a function.
        address: Reg,
        /// The signature.
        signature: CallSignature,
    },
}

/// What the text says about an indirect call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallSignature {
    /// A `.callprototype`.
    Prototype(PrototypeId),
    /// A `.calltargets` list.
    Targets(CallTableId),
}

/// An argument or result of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallArg {
    /// A `.param` variable of the calling function, or its own parameter or return parameter, passed on.
    Memory(Symbol),
    /// A register, constant or special register (for parameters declared `.reg`).
    Value(Operand),
    /// `_`: a result that is thrown away.
    Sink,
}
