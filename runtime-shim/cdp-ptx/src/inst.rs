//! The instructions: one variant for each kind of work, every modifier an enum or a flag, every
//! operand resolved. Meant for an exhaustive `match` in an executor.
//!
//! An instruction that has no variant here is refused when the text is parsed; nothing is carried
//! along as text. Semantics are those of the PTX ISA manual, chapter "Instruction Set"; the comments
//! only say what the fields mean. Registers may be wider than the instruction's type for `ld`,
//! `st`, `cvt`, `tex`, `suld` and `sust`; for the rest the parser has checked that the widths agree.

use crate::bulk::BulkCopy;
use crate::cluster::{ClusterBarrier, Mapa, RemoteAccess};
use crate::matrix::{MatrixMemory, Mma, MoveMatrix, WmmaMemory};
use crate::mbarrier::Mbarrier;
use crate::module::{
    BranchTableId, CallTableId, FunctionId, LabelId, LocalId, PrototypeId, Reg, Symbol,
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

/// An instruction. A field has the same meaning in every variant that has it, unless the variant says
/// otherwise:
///
/// | field | what |
/// | --- | --- |
/// | `ty` | type of the operation, which sources and destination have |
/// | `dst_ty`, `src_ty`, `a_ty`, `b_ty`, `c_ty` | type of one operand, where they differ |
/// | `dst`, `dsts` | destination; [`Dst`] may be the sink `_` |
/// | `src`, `srcs`, `a`, `b`, `c` | sources, in the order of the text |
/// | `pred` | a predicate beside: destination of [`Dst`] or [`Reg`], source as [`PredOperand`] |
/// | `space`, `addr` | state space of the access, and where |
/// | `mode` | the modifier that chooses between ways of computing |
/// | `rounding` | rounding modifier as written |
/// | `ftz` | `.ftz`: subnormal inputs and results become zero of the same sign |
/// | `sat`, `satfinite` | `.sat`: clamped to the type's range, floats to 0.0 .. 1.0; `.satfinite`: to the largest finite number |
/// | `relu` | `.relu`: negative results become 0 |
/// | `part` | which half of the product |
/// | `carry_in`, `carry_out` | reads, writes the condition code `CC.CF` |
/// | `pos`, `len`, `amount` | `.u32`, in bits |
/// | `mask` | lanes that take part, a bit each; `None` for the forms without `.sync` |
/// | `uniform` | `.uni`: all threads of the warp agree, a promise |
/// | `cache`, `policy` | hints, which change no result |
/// | `size_bytes`, `align_bytes` | constants of the text, in bytes |
/// | `text`, `why` | the statement as written, and what is not known about it |
#[derive(Clone, Debug, PartialEq)]
#[rustfmt::skip]
#[allow(missing_docs)] // The table is the one home of what a field means.
pub enum Inst {
    // Data movement.
    /// `mov`: register, constant, special register or address to register.
    Mov { ty: ScalarType, dst: Reg, src: Operand },
    /// `mov.v4.u32 {a, b, c, d}, {e, f, g, h}`: element by element.
    MovVector { ty: ScalarType, dsts: Dsts, srcs: Srcs },
    /// `mov.b64 d, {a, b}`: the first source is the least significant part.
    MovPack { ty: ScalarType, dst: Reg, srcs: Srcs },
    /// `mov.b64 {a, b}, s`
    MovUnpack { ty: ScalarType, dsts: Dsts, src: Operand },
    /// `ld`, `ld.global.nc`, `ldu`. `ty` is that of one element; a wider register is sign- or
    /// zero-extended by `ty`. The access must be aligned to its whole size.
    Ld { space: Space, order: LoadOrder, non_coherent: bool, ty: ScalarType, dsts: Dsts, addr: Address, cache: Option<Box<CacheHints>> },
    /// `st`. A wider register is truncated.
    St { space: Space, order: StoreOrder, ty: ScalarType, addr: Address, srcs: Srcs, cache: Option<Box<CacheHints>> },
    /// `cvta.space`: the generic address of an address in `space`. `ty` is `.u32` or `.u64`.
    CvtaToGeneric { space: Space, ty: ScalarType, dst: Reg, src: Operand },
    /// `cvta.to.space`
    CvtaFromGeneric { space: Space, ty: ScalarType, dst: Reg, src: Operand },
    /// `isspacep`: does a generic address lie in `space`?
    Isspacep { space: Space, dst: Reg, src: Operand },
    /// `istypep`: does a variable or object have an opaque type?
    Istypep { ty: OpaqueType, dst: Reg, src: Operand },
    /// `cvt` of one value. `relu` and `satfinite` as in the manual.
    Cvt { dst_ty: ScalarType, src_ty: ScalarType, rounding: Option<CvtRounding>, ftz: bool, sat: bool, relu: bool, satfinite: bool, dst: Reg, src: Operand },
    /// `cvt.rn.f16x2.f32 d, a, b` and `bf16x2`: `a` becomes the upper half.
    CvtPackHalf { dst_ty: ScalarType, rounding: CvtRounding, relu: bool, satfinite: bool, dst: Reg, a: Operand, b: Operand },
    /// `cvt.pack.sat.u16.s32 d, a, b`; for 8 bits and fewer (`dst_bits` 8, 4, 2) with `c`, whose low
    /// bits become the upper part.
    CvtPackSat { dst_bits: u32, dst_signed: bool, src_ty: ScalarType, dst: Reg, a: Operand, b: Operand, c: Option<Operand> },
    /// `cvt.rn.satfinite.e4m3x2.f32 d, a, b` and `cvt.rn.satfinite.e4m3x2.f16x2 d, a`: two floats to a
    /// pair of 8 bits and fewer each; `a` of two sources becomes the upper element.
    CvtToTiny { pair: TinyPair, src_ty: ScalarType, rounding: CvtRounding, relu: bool, satfinite: bool, dst: Reg, a: Operand, b: Option<Operand> },
    /// `cvt.rn.f16x2.e4m3x2 d, a`
    CvtFromTiny { dst_ty: ScalarType, pair: TinyPair, relu: bool, dst: Reg, src: Operand },
    /// `prmt.b32`
    Prmt { mode: PrmtMode, dst: Reg, a: Operand, b: Operand, c: Operand },

    // Arithmetic, integer and floating.
    /// `add`. `sat_int` is `.sat` on `.s32`.
    Add { ty: ScalarType, mode: FloatMode, sat_int: bool, dst: Reg, a: Operand, b: Operand },
    /// `sub`
    Sub { ty: ScalarType, mode: FloatMode, sat_int: bool, dst: Reg, a: Operand, b: Operand },
    /// `mul` of floating types.
    Mul { ty: ScalarType, mode: FloatMode, dst: Reg, a: Operand, b: Operand },
    /// `mul.lo`, `.hi`, `.wide`
    MulInt { ty: ScalarType, part: MulPart, dst: Reg, a: Operand, b: Operand },
    /// `mad.lo`, `.hi`, `.wide`; `sat` is for `.hi.s32` only.
    MadInt { ty: ScalarType, part: MulPart, sat: bool, dst: Reg, a: Operand, b: Operand, c: Operand },
    /// `mul24` (`part` is `Lo` or `Hi`)
    Mul24 { ty: ScalarType, part: MulPart, dst: Reg, a: Operand, b: Operand },
    /// `mad24` (`part` is `Lo` or `Hi`; `sat` is for `.hi.s32` only)
    Mad24 { ty: ScalarType, part: MulPart, sat: bool, dst: Reg, a: Operand, b: Operand, c: Operand },
    /// `fma`, and `mad` of floating types. `relu` for half types.
    Fma { ty: ScalarType, mode: FloatMode, relu: bool, dst: Reg, a: Operand, b: Operand, c: Operand },
    /// `add.f32.f16` and the like: `a` is of the narrower `src_ty` and is widened; `b` is `.f32`.
    AddMixed { src_ty: ScalarType, mode: FloatMode, dst: Reg, a: Operand, b: Operand },
    /// `sub.f32.f16`
    SubMixed { src_ty: ScalarType, mode: FloatMode, dst: Reg, a: Operand, b: Operand },
    /// `fma.f32.f16`: `a` and `b` are narrow, `c` is `.f32`.
    FmaMixed { src_ty: ScalarType, mode: FloatMode, dst: Reg, a: Operand, b: Operand, c: Operand },
    /// `sad`: `c + |a - b|`
    Sad { ty: ScalarType, dst: Reg, a: Operand, b: Operand, c: Operand },
    /// `div` of integers.
    DivInt { ty: ScalarType, dst: Reg, a: Operand, b: Operand },
    /// `div` of `.f32` and `.f64`.
    Div { ty: ScalarType, mode: DivMode, ftz: bool, dst: Reg, a: Operand, b: Operand },
    /// `rem`
    Rem { ty: ScalarType, dst: Reg, a: Operand, b: Operand },
    /// `abs`
    Abs { ty: ScalarType, ftz: bool, dst: Reg, src: Operand },
    /// `neg`
    Neg { ty: ScalarType, ftz: bool, dst: Reg, src: Operand },
    /// `min`
    Min(MinMax),
    /// `max`
    Max(MinMax),
    /// `add.cc`, `addc`, `addc.cc`
    AddCarry { ty: ScalarType, carry_in: bool, carry_out: bool, dst: Reg, a: Operand, b: Operand },
    /// `sub.cc`, `subc`, `subc.cc`: of the complement, so that the carry is 1 if nothing is borrowed
    SubCarry { ty: ScalarType, carry_in: bool, carry_out: bool, dst: Reg, a: Operand, b: Operand },
    /// `mad.cc`, `madc`, `madc.cc` (`part` is `Lo` or `Hi`)
    MadCarry { ty: ScalarType, part: MulPart, carry_in: bool, carry_out: bool, dst: Reg, a: Operand, b: Operand, c: Operand },
    /// `popc`; the destination is `.u32`.
    Popc { ty: ScalarType, dst: Reg, src: Operand },
    /// `clz`; the destination is `.u32`.
    Clz { ty: ScalarType, dst: Reg, src: Operand },
    /// `bfind`, `bfind.shiftamt`; the destination is `.u32`.
    Bfind { ty: ScalarType, shift_amount: bool, dst: Reg, src: Operand },
    /// `brev`
    Brev { ty: ScalarType, dst: Reg, src: Operand },
    /// `bfe`: `len` bits from bit `pos`, both `.u32`.
    Bfe { ty: ScalarType, dst: Reg, src: Operand, pos: Operand, len: Operand },
    /// `bfi`: `field` into `base`.
    Bfi { ty: ScalarType, dst: Reg, field: Operand, base: Operand, pos: Operand, len: Operand },
    /// `bmsk`
    Bmsk { mode: ShiftMode, dst: Reg, pos: Operand, len: Operand },
    /// `szext`; `ty` is `.u32` or `.s32`.
    Szext { mode: ShiftMode, ty: ScalarType, dst: Reg, src: Operand, len: Operand },
    /// `fns.b32`
    Fns { dst: Reg, mask: Operand, base: Operand, offset: Operand },
    /// `dp4a`: types of `a` and `b` are `.u32` or `.s32`.
    Dp4a { a_ty: ScalarType, b_ty: ScalarType, dst: Reg, a: Operand, b: Operand, c: Operand },
    /// `dp2a.lo`, `.hi`
    Dp2a { a_ty: ScalarType, b_ty: ScalarType, high: bool, dst: Reg, a: Operand, b: Operand, c: Operand },
    /// `sqrt` (`mode` is never `Full`)
    Sqrt { ty: ScalarType, mode: DivMode, ftz: bool, dst: Reg, src: Operand },
    /// `rcp` (`mode` is never `Full`)
    Rcp { ty: ScalarType, mode: DivMode, ftz: bool, dst: Reg, src: Operand },
    /// `rsqrt.approx`
    Rsqrt { ty: ScalarType, ftz: bool, dst: Reg, src: Operand },
    /// `sin.approx.f32`
    Sin { ftz: bool, dst: Reg, src: Operand },
    /// `cos.approx.f32`
    Cos { ftz: bool, dst: Reg, src: Operand },
    /// `lg2.approx.f32`
    Lg2 { ftz: bool, dst: Reg, src: Operand },
    /// `ex2.approx`, of `.f32`, `.f16`, `.f16x2`, `.bf16`, `.bf16x2`
    Ex2 { ty: ScalarType, ftz: bool, dst: Reg, src: Operand },
    /// `tanh.approx`, of `.f32`, `.f16`, `.f16x2`, `.bf16`, `.bf16x2`
    Tanh { ty: ScalarType, dst: Reg, src: Operand },
    /// `copysign`: the sign of `a` on the magnitude of `b`.
    Copysign { ty: ScalarType, dst: Reg, a: Operand, b: Operand },
    /// `testp`
    Testp { op: TestpOp, ty: ScalarType, dst: Reg, src: Operand },

    // Logic.
    /// `and`
    And { ty: ScalarType, dst: Reg, a: Operand, b: Operand },
    /// `or`
    Or { ty: ScalarType, dst: Reg, a: Operand, b: Operand },
    /// `xor`
    Xor { ty: ScalarType, dst: Reg, a: Operand, b: Operand },
    /// `not`
    Not { ty: ScalarType, dst: Reg, src: Operand },
    /// `cnot`: 1 if the source is 0, else 0.
    Cnot { ty: ScalarType, dst: Reg, src: Operand },
    /// `lop3.b32`: bit `a*4 + b*2 + c` of `table`.
    Lop3 { table: u8, dst: Dst, a: Operand, b: Operand, c: Operand, pred: Option<Lop3Pred> },
    /// `shl`; the amount is `.u32` and clamps at the width.
    Shl { ty: ScalarType, dst: Reg, a: Operand, amount: Operand },
    /// `shr`; arithmetic if `ty` is signed; the amount clamps at the width.
    Shr { ty: ScalarType, dst: Reg, a: Operand, amount: Operand },
    /// `shf.l`, `shf.r`: of the 64 bits `{hi, lo}`.
    Shf { left: bool, mode: ShiftMode, dst: Reg, lo: Operand, hi: Operand, amount: Operand },

    // Comparison and selection.
    /// `setp`. For `.f16x2` and `.bf16x2`, `dst` is of the low half and `dst2` of the high half;
    /// else `dst2` is the complement of the comparison (combined likewise).
    Setp { cmp: CmpOp, ty: ScalarType, ftz: bool, dst: Dst, dst2: Dst, a: Operand, b: Operand, combine: Option<Combine> },
    /// `set`: all ones or zero (1.0 or 0.0 for floating `dst_ty`).
    Set { cmp: CmpOp, dst_ty: ScalarType, src_ty: ScalarType, ftz: bool, dst: Reg, a: Operand, b: Operand, combine: Option<Combine> },
    /// `selp`: `a` if `pred` else `b`.
    Selp { ty: ScalarType, dst: Reg, a: Operand, b: Operand, pred: PredOperand },
    /// `slct`: `a` if `c >= 0` else `b`; `c_ty` is `.s32` or `.f32`.
    Slct { ty: ScalarType, c_ty: ScalarType, ftz: bool, dst: Reg, a: Operand, b: Operand, c: Operand },

    // Video.
    /// `vadd`, `vsub`, `vabsdiff`, `vmin`, `vmax`, `vshl`, `vshr`, `vset`
    Video(Box<Video>),
    /// `vmad`
    VideoMad(Box<VideoMad>),
    /// `vadd2`, `vset4`, ...
    VideoSimd(Box<VideoSimd>),

    // Control flow.
    /// `bra`
    Bra { target: LabelId, uniform: bool },
    /// `brx.idx`
    BrxIdx { index: Operand, table: BranchTableId, uniform: bool },
    /// `call`
    Call { target: CallTarget, returns: Box<[CallArg]>, args: Box<[CallArg]>, uniform: bool },
    /// `ret`
    Ret { uniform: bool },
    /// `exit`
    Exit,
    /// `trap`
    Trap,
    /// `brkpt`
    Brkpt,

    // Synchronisation.
    /// `bar`, `barrier` (and `bar.cta`, `barrier.cta`): `aligned` says that all threads of the warp
    /// execute it together.
    Barrier { op: BarrierOp, aligned: bool, id: Operand, threads: Option<Operand> },
    /// `barrier.cluster`: `aligned` as for `barrier`.
    BarrierCluster { op: ClusterBarrier, aligned: bool },
    /// `bar.warp.sync`
    BarWarpSync { mask: Operand },
    /// `membar`
    Membar { level: MembarLevel },
    /// `fence`
    Fence { order: FenceOrder, scope: Scope },
    /// `fence.proxy` and `membar.proxy`
    FenceProxy { kind: ProxyKind },
    /// `atom`
    Atom(Box<Atom>),
    /// `red`
    Red(Box<Atom>),
    /// `atom` on a vector
    AtomVector(Box<AtomVector>),
    /// `red` on a vector
    RedVector(Box<AtomVector>),
    /// `vote`, `vote.sync`: `mask` is `None` for the old form.
    Vote { mode: VoteMode, dst: Reg, pred: PredOperand, mask: Option<Operand> },
    /// `match.sync`
    Match { mode: MatchMode, ty: ScalarType, dst: Dst, pred: Dst, src: Operand, mask: Operand },
    /// `activemask.b32`
    Activemask { dst: Reg },
    /// `redux.sync`; `abs` and `nan` for `.f32`.
    Redux { op: ReduxOp, ty: ScalarType, abs: bool, nan: bool, dst: Reg, src: Operand, mask: Operand },
    /// `shfl`, `shfl.sync`
    Shfl(Box<Shfl>),
    /// `elect.sync`: the elected lane to `dst`, "it is me" to `pred`.
    Elect { dst: Dst, pred: Reg, mask: Operand },
    /// `mbarrier`, `cp.async.mbarrier.arrive`
    Mbarrier(Box<Mbarrier>),
    /// `mbarrier.pending_count`
    MbarrierPendingCount { dst: Reg, state: Operand },
    /// `mapa`
    Mapa(Box<Mapa>),
    /// `getctarank`: the rank of the block whose shared memory an address is in; `ty` is the address's.
    Getctarank { space: Space, ty: ScalarType, dst: Reg, src: Operand },
    /// `st.async`, `red.async`
    RemoteAccess(Box<RemoteAccess>),
    /// `setmaxnreg`: how many registers each thread of the warp may have. Changes no result.
    Setmaxnreg { increases: bool, registers: u32 },
    /// `griddepcontrol`
    Griddepcontrol { action: GriddepAction },

    // Matrices.
    /// `mma`, `mma.sp`, `wmma.mma`
    Mma(Box<Mma>),
    /// `wmma.load`, `wmma.store`
    WmmaMemory(Box<WmmaMemory>),
    /// `ldmatrix`, `stmatrix`
    MatrixMemory(Box<MatrixMemory>),
    /// `movmatrix`
    Movmatrix(Box<MoveMatrix>),

    // Asynchronous copies.
    /// `cp.async`: `size_bytes` 4, 8 or 16 from global to shared memory; bytes past `src_size` (or
    /// all, if `ignore_src`) are zero.
    CpAsync { dst: Address, src: Address, size_bytes: u32, src_size: Option<Operand>, ignore_src: Option<PredOperand>, cache: Box<CacheHints> },
    /// `cp.async.commit_group`
    CpAsyncCommitGroup,
    /// `cp.async.wait_group N`: until at most `pending` groups are pending.
    CpAsyncWaitGroup { pending: u32 },
    /// `cp.async.wait_all`
    CpAsyncWaitAll,

    /// `cp.async.bulk`, `cp.reduce.async.bulk`
    BulkCopy(Box<BulkCopy>),
    /// `cp.async.bulk.commit_group`
    BulkCommitGroup,
    /// `cp.async.bulk.wait_group`: until at most `pending` groups are pending (`read`: have been read).
    BulkWaitGroup { pending: u32, read: bool },
    /// `cp.async.bulk.prefetch.L2.global`
    BulkPrefetch { addr: Address, size: Operand, policy: Option<Operand> },

    // Cache management.
    /// `prefetch`; `tensormap` for `prefetch.tensormap`.
    Prefetch { space: Space, level: PrefetchLevel, addr: Address },
    /// `prefetchu.L1`
    PrefetchUniform { addr: Address },
    /// `applypriority...L2::evict_normal [a], 128`
    ApplyPriority { space: Space, addr: Address, size_bytes: u32 },
    /// `discard...L2 [a], 128`: the contents become undefined.
    Discard { space: Space, addr: Address, size_bytes: u32 },
    /// `createpolicy`
    CreatePolicy { dst: Reg, policy: Box<CreatePolicy> },

    // Textures and surfaces.
    /// `tex`
    Tex(Box<Tex>),
    /// `tld4`
    Tld4(Box<Tex>),
    /// `suld.b`
    Suld { access: Box<Surface>, dsts: Dsts },
    /// `sust`
    Sust { access: Box<Surface>, srcs: Srcs },
    /// `txq`: `level` for `txq.level`.
    Txq { query: TexQuery, dst: Reg, object: Operand, level: Option<Operand> },
    /// `suq`
    Suq { query: TexQuery, dst: Reg, object: Operand },

    // Stack.
    /// `alloca`: `size` bytes of local memory; `ty` (`.u32` or `.u64`) is that of `dst` and `size`.
    Alloca { ty: ScalarType, dst: Reg, size: Operand, align_bytes: u32 },
    /// `stacksave`
    Stacksave { ty: ScalarType, dst: Reg },
    /// `stackrestore`
    Stackrestore { ty: ScalarType, src: Operand },

    // Miscellaneous.
    /// An instruction that is not known (made by [`crate::parse_lenient`] only), and why.
    Unknown { text: Box<str>, why: Box<str> },
    /// `nanosleep.u32`
    Nanosleep { duration: Operand },
    /// `pmevent` (a 16-bit mask in the `.mask` form, else one event)
    Pmevent { mask: bool, event: u32 },
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
