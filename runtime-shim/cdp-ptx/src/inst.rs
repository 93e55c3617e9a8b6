//! What instructions are made of: operands, modes, and the bodies of the larger ones. The instructions
//! themselves are rows of `table.rs`.

use crate::module::{CallTableId, FunctionId, LocalId, PrototypeId, Reg, Symbol};
pub use crate::table::Inst;
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
    Address(SymbolAddress),
}

/// The address of a symbol plus bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SymbolAddress {
    /// Whose address.
    pub symbol: Symbol,
    /// Added, in bytes.
    pub offset: i64,
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

/// Memory ordering of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LoadOrder {
    /// No modifier or `.weak`.
    Weak,
    /// `.volatile`: relaxed at system scope, never removed.
    Volatile,
    /// `.relaxed.scope`
    Relaxed(Scope),
    /// `.acquire.scope`
    Acquire(Scope),
    /// `.mmio.relaxed.sys`
    Mmio(Scope),
}

/// Memory ordering of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StoreOrder {
    /// No modifier or `.weak`.
    Weak,
    /// `.volatile`: relaxed at system scope, never removed.
    Volatile,
    /// `.relaxed.scope`
    Relaxed(Scope),
    /// `.release.scope`
    Release(Scope),
    /// `.mmio.relaxed.sys`
    Mmio(Scope),
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

/// How `div`, `rcp` and `sqrt` compute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DivMode {
    /// `.approx`
    Approx,
    /// `.full` (`div.f32` only): approximate over the full range.
    Full,
    /// `.rn`, `.rz`, `.rm`, `.rp`: IEEE 754.
    Ieee(Rounding),
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
    /// A `.param` variable of the calling function.
    Param(LocalId),
    /// The calling function's own parameter, passed on.
    OwnParam(u32),
    /// The calling function's own return parameter (as a result of the call).
    OwnReturn(u32),
    /// A register, constant or special register (for parameters declared `.reg`).
    Value(Operand),
    /// `_`: a result that is thrown away.
    Sink,
}

/// `bar` and `barrier`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BarrierOp {
    /// `.sync`: wait for all.
    Sync,
    /// `.arrive`: count this warp's threads and go on.
    Arrive,
    /// `.red.popc.u32 d, ..., p`: wait, then the number of threads whose `p` is true.
    RedPopc {
        /// `.u32` destination.
        dst: Reg,
        /// Each thread's vote.
        pred: PredOperand,
    },
    /// `.red.and.pred` / `.red.or.pred`
    RedPred {
        /// `And` or `Or`.
        op: BoolOp,
        /// `.pred` destination.
        dst: Reg,
        /// Each thread's vote.
        pred: PredOperand,
    },
}

/// Two- and three-input minimum or maximum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MinMax {
    /// Integer, packed integer or floating type.
    pub ty: ScalarType,
    /// `.ftz`
    pub ftz: bool,
    /// `.NaN`: a NaN input gives NaN (else the other operand).
    pub nan: bool,
    /// `.xorsign.abs`: of the magnitudes, with the sign of the product.
    pub xorsign_abs: bool,
    /// `.abs` of the three-input form: of the magnitudes.
    pub abs: bool,
    /// `.relu` (`.s32`, `.s16x2`): negative results become 0.
    pub relu: bool,
    /// Destination.
    pub dst: Reg,
    /// First operand.
    pub a: Operand,
    /// Second operand.
    pub b: Operand,
    /// Third operand (`.f32` only).
    pub c: Option<Operand>,
}

/// `shfl` and `shfl.sync`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shfl {
    /// Which lane is read.
    pub mode: ShflMode,
    /// Destination.
    pub dst: Dst,
    /// True if the source lane was in range.
    pub pred: Dst,
    /// The 32-bit value that other lanes read.
    pub src: Operand,
    /// Lane, delta or mask.
    pub b: Operand,
    /// Segment mask in bits 8 to 12, clamp in bits 0 to 4.
    pub c: Operand,
    /// The member mask of `.sync`; `None` for the old form.
    pub mask: Option<Operand>,
}

/// `atom` and, without destination, `red`, on one element.
#[derive(Clone, Debug, PartialEq)]
pub struct Atom {
    /// The operation.
    pub op: AtomOp,
    /// Type; packed types are updated element by element.
    pub ty: ScalarType,
    /// `Generic`, `Global`, `Shared` or `SharedCluster`.
    pub space: Space,
    /// `None` means relaxed.
    pub order: Option<AtomOrder>,
    /// `None` means `Gpu`.
    pub scope: Option<Scope>,
    /// `.noftz` (always written for `.f16`, `.f16x2`, `.bf16`, `.bf16x2`).
    pub noftz: bool,
    /// The old value. Always `None` for `red`.
    pub dst: Dst,
    /// Where.
    pub addr: Address,
    /// The operand; for `cas` the value compared with.
    pub b: Operand,
    /// `cas`: the new value.
    pub c: Option<Operand>,
    /// `.L2::cache_hint` operand.
    pub policy: Option<Operand>,
}

/// `atom.v2...`, `red.v4...`: one atomic operation an element.
#[derive(Clone, Debug, PartialEq)]
pub struct AtomVector {
    /// `Add`, `Min` or `Max`.
    pub op: AtomOp,
    /// Element type.
    pub ty: ScalarType,
    /// `Generic` or `Global`.
    pub space: Space,
    /// `None` means relaxed.
    pub order: Option<AtomOrder>,
    /// `None` means `Gpu`.
    pub scope: Option<Scope>,
    /// `.noftz`
    pub noftz: bool,
    /// The old values; empty for `red`.
    pub dsts: Dsts,
    /// Where.
    pub addr: Address,
    /// The operands, 2, 4 or 8.
    pub srcs: Srcs,
    /// `.L2::cache_hint` operand.
    pub policy: Option<Operand>,
}

/// The operation of a scalar or SIMD video instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VideoOp {
    /// `vadd`, `vadd2`, `vadd4`
    Add,
    /// `vsub`, `vsub2`, `vsub4`
    Sub,
    /// `vabsdiff`, `vabsdiff2`, `vabsdiff4`
    AbsDiff,
    /// `vmin`, `vmin2`, `vmin4`
    Min,
    /// `vmax`, `vmax2`, `vmax4`
    Max,
    /// `vavrg2`, `vavrg4`
    Average,
    /// `vshl` (scalar only)
    Shl(ShiftMode),
    /// `vshr` (scalar only)
    Shr(ShiftMode),
    /// `vset`, `vset2`, `vset4`
    Set(CmpOp),
}

/// The second operation of a scalar video instruction (on its third operand).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VideoMerge {
    /// None: the result is the destination.
    None,
    /// `.add`, `.min`, `.max` of the result and `c`.
    Op(ReduxOp),
    /// `d.b0`, `d.h1`, ...: the result replaces that part of `c`.
    Insert(VideoSelect),
}

/// A part of a 32-bit register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VideoSelect {
    /// The whole register.
    Whole,
    /// `.b0` .. `.b3`
    Byte(u8),
    /// `.h0`, `.h1`
    Half(u8),
}

/// Scalar video instruction: `vadd.s32.u32.u32.sat d, a.b0, b.h1, c`.
#[derive(Clone, Debug, PartialEq)]
pub struct Video {
    /// The operation.
    pub op: VideoOp,
    /// `.u32` or `.s32` (for `Set`: `.u32`).
    pub dst_ty: ScalarType,
    /// `.u32` or `.s32`
    pub a_ty: ScalarType,
    /// `.u32` or `.s32`
    pub b_ty: ScalarType,
    /// `.sat`
    pub sat: bool,
    /// What is done with `c`.
    pub merge: VideoMerge,
    /// Destination.
    pub dst: Reg,
    /// First operand and the part of it that is used.
    pub a: (Operand, VideoSelect),
    /// Second operand and the part of it that is used.
    pub b: (Operand, VideoSelect),
    /// Third operand, present unless `merge` is `None`.
    pub c: Option<Operand>,
}

/// `vmad.dtype.atype.btype{.sat}{.shr7,.shr15} d, {-}a.sel, {-}b.sel, {-}c`, or `.po`.
#[derive(Clone, Debug, PartialEq)]
pub struct VideoMad {
    /// `.u32` or `.s32`
    pub dst_ty: ScalarType,
    /// `.u32` or `.s32`
    pub a_ty: ScalarType,
    /// `.u32` or `.s32`
    pub b_ty: ScalarType,
    /// `.sat`
    pub sat: bool,
    /// `.po`: one is added (no operand may be negated).
    pub plus_one: bool,
    /// 0, 7 or 15.
    pub shift_bits: u32,
    /// Destination.
    pub dst: Reg,
    /// First factor and the part of it that is used.
    pub a: (Operand, VideoSelect),
    /// Second factor and the part of it that is used.
    pub b: (Operand, VideoSelect),
    /// Addend.
    pub c: Operand,
    /// The product is negated (`-a` or `-b`).
    pub negate_product: bool,
    /// `-c`
    pub negate_c: bool,
}

/// SIMD video instruction: `vadd4.u32.u32.u32.sat d.b3210, a.b3210, b.b7654, c`.
#[derive(Clone, Debug, PartialEq)]
pub struct VideoSimd {
    /// The operation: `Add`, `Sub`, `AbsDiff`, `Min`, `Max`, `Average` or `Set`.
    pub op: VideoOp,
    /// 2 halfwords or 4 bytes.
    pub lanes: u32,
    /// Signedness of the results, `.u32` or `.s32` (for `Set`: `.u32`).
    pub dst_ty: ScalarType,
    /// Signedness of `a`'s elements, `.u32` or `.s32`.
    pub a_ty: ScalarType,
    /// Signedness of `b`'s elements, `.u32` or `.s32`.
    pub b_ty: ScalarType,
    /// `.sat`
    pub sat: bool,
    /// `.add`: the selected results are summed, with `c`, into one number.
    pub accumulate: bool,
    /// Destination.
    pub dst: Reg,
    /// Bit `i` set: element `i` of the result is written (else it is that of `c`).
    pub write_mask: u8,
    /// First operand.
    pub a: Operand,
    /// For each element which of the 4 halves (or 8 bytes) of `{b, a}` is taken; 0 is `a`'s lowest.
    pub a_select: [u8; 4],
    /// Second operand.
    pub b: Operand,
    /// As `a_select`, for the second operand.
    pub b_select: [u8; 4],
    /// Third operand.
    pub c: Operand,
}

/// `tex`, `tld4`: a fetch through a texture object.
#[derive(Clone, Debug, PartialEq)]
pub struct Tex {
    /// Shape.
    pub geometry: TexGeometry,
    /// Type of the elements that come back.
    pub dst_ty: ScalarType,
    /// `.f32` (sampled) or `.s32` (fetched).
    pub coord_ty: ScalarType,
    /// Destinations: 4 (2 for `.v2.f16x2`).
    pub dsts: Dsts,
    /// Residency predicate of sparse textures.
    pub resident: Dst,
    /// Texture object.
    pub texture: Operand,
    /// Sampler, in independent mode.
    pub sampler: Option<Operand>,
    /// Coordinates as written (padding included).
    pub coords: Srcs,
    /// Level of detail or gather component.
    pub lod: TexLod,
    /// Texel offsets.
    pub offsets: Option<Srcs>,
    /// Depth to compare with.
    pub compare: Option<Operand>,
}

/// How `tex` chooses a mipmap level.
#[derive(Clone, Debug, PartialEq)]
pub enum TexLod {
    /// No modifier.
    Implicit,
    /// `.base`
    Base,
    /// `.level` with the level.
    Level(Operand),
    /// `.grad` with the two gradients.
    Gradient(Srcs, Srcs),
    /// `tld4.r`, `.g`, `.b`, `.a`: gather component 0 to 3.
    Gather(u8),
}

/// `suld.b`, `sust.b`, `sust.p`: access to a surface object.
#[derive(Clone, Debug, PartialEq)]
pub struct Surface {
    /// Shape.
    pub geometry: TexGeometry,
    /// Element type.
    pub ty: ScalarType,
    /// Out of bounds.
    pub clamp: SurfaceClamp,
    /// `.p` (formatted) and not `.b` (raw bytes; the x coordinate counts bytes).
    pub formatted: bool,
    /// Cache hint.
    pub cache: Option<CacheOp>,
    /// Surface object.
    pub surface: Operand,
    /// Coordinates as written (padding included).
    pub coords: Srcs,
}

/// How `createpolicy` makes its policy. Hints only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CreatePolicy {
    /// `.fractional` with the primary and secondary priority and the fraction (bits of an `.f32`).
    Fractional(L2Eviction, Option<L2Eviction>, Option<Operand>),
    /// `.range` with address, primary size and total size.
    Range(L2Eviction, Option<L2Eviction>, Space, Address, Operand, Operand),
    /// `.cvt.L2` of an access property.
    Convert(Operand),
}

/// The predicate output of `lop3.and.b32 d|p, a, b, c, table, q`: `p = (d != 0) op q`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lop3Pred {
    /// `And` or `Or`.
    pub op: BoolOp,
    /// Destination.
    pub dst: Dst,
    /// The other operand.
    pub with: PredOperand,
}

/// The type of twice the width that `mul.wide` and `mad.wide` make of `ty` (16 or 32 bits).
pub fn widened(ty: ScalarType) -> ScalarType {
    match ty {
        ScalarType::U16 => ScalarType::U32,
        ScalarType::S16 => ScalarType::S32,
        ScalarType::U32 => ScalarType::U64,
        _ => ScalarType::S64,
    }
}
