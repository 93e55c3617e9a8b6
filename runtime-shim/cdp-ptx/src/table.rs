//! The instructions of PTX, each once: what it is as data, how it is written, which types it has, and what
//! ptxas refuses of it. Parser, printer, [`Inst`] and [`ROWS`] are made of these rows; `rows.rs` says how
//! to read one.
//!
//! Not here: what an instruction does; the conditions that are more than an expression (`conditions.rs`);
//! the functions that rows name with `by` (`forms/`).

use crate::conditions::*;
use crate::error::{ErrorKind, ParseError};
use crate::inst::*;
use crate::lexer::Token;
use crate::matrix::{
    BitProduct, MatrixOperand, MatrixShape, MatrixType, Product, Sparsity, fragment_exists,
};
use crate::module::{BranchTableId, LabelId, Reg};
use crate::parse::mods::{Mods, vector};
use crate::parse::{Parser, Result};
use crate::print::Printer;
use crate::syntax::*;
use crate::types::*;
use crate::warpgroup::{LeftFactor, exists, most_selectors, registers};

use ScalarType::*;

/// A row of the table, as others than parser and printer see it.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The heading that the row stands under.
    pub family: &'static str,
    /// The variant of [`Inst`].
    pub variant: &'static str,
    /// The words that it begins with; the printer writes the first.
    pub opcodes: &'static [&'static str],
    /// The version of the PTX ISA and the architecture that came with the first form of it (empty: all that
    /// are in use have it).
    pub since: &'static [((u32, u32), u32)],
    /// Modifiers, operands and conditions, as the table has them.
    pub syntax: &'static str,
}

sets! {
    /// All integers of 16 bits and more.
    INTS: ScalarType = U16 U32 U64 S16 S32 S64;
    INT32: ScalarType = U32 S32;
    INT32_64: ScalarType = U32 U64 S32 S64;
    B32_64: ScalarType = B32 B64;
    BITS: ScalarType = B16 B32 B64;
    BITS_AND_PRED: ScalarType = Pred B16 B32 B64;
    SHIFTED: ScalarType = B16 B32 B64 U16 U32 U64 S16 S32 S64;
    FLOATS: ScalarType = F32 F64;
    NARROW: ScalarType = F16 BF16;
    /// Half-precision types and pairs.
    HALVES: ScalarType = F16 F16x2 BF16 BF16x2;
    SINGLE_AND_HALVES: ScalarType = F32 F16 F16x2 BF16 BF16x2;
    MULTIPLIED: ScalarType = F32 F64 F16 F16x2 BF16 BF16x2 F32x2;
    SUBTRACTED: ScalarType = U16 U32 U64 S16 S32 S64 F32 F64 F16 F16x2 BF16 BF16x2 F32x2;
    ADDED: ScalarType = U16 U32 U64 S16 S32 S64 U16x2 S16x2 F32 F64 F16 F16x2 BF16 BF16x2 F32x2;
    ORDERED: ScalarType = U16 U32 U64 S16 S32 S64 U16x2 S16x2 F32 F64 F16 F16x2 BF16 BF16x2;
    SIGNED: ScalarType = S16 S32 S64 F32 F64 F16 F16x2 BF16 BF16x2;
    SELECTED: ScalarType = B16 B32 B64 U16 U32 U64 S16 S32 S64 F32 F64;
    COMPARED: ScalarType = B16 B32 B64 U16 U32 U64 S16 S32 S64 F32 F64 F16 F16x2 BF16 BF16x2;
    CONVERTED: ScalarType = U8 U16 U32 U64 S8 S16 S32 S64 F16 BF16 F16x2 BF16x2 F32 F64 TF32;
    AND_OR: BoolOp = And Or;
    LO_HI: MulPart = Lo Hi;
    /// What addresses are converted to and from.
    NAMED: Space = Global Shared SharedCluster Local Const Param ParamEntry ParamFunc;
    MEMORY: ScalarType = B8 B16 B32 B64 B128 U8 U16 U32 U64 S8 S16 S32 S64 F32 F64;
    SURFACE: ScalarType = B8 B16 B32 B64;
    LOAD_CACHES: CacheOp = Ca Cg Cs Lu Cv;
    LOAD_ORDERS: AccessOrder = Weak Volatile Relaxed Acquire Mmio;
    STORE_ORDERS: AccessOrder = Weak Volatile Relaxed Release Mmio;
    /// Orderings of arrivals at barrier objects, and of waits for them; the scope beside them.
    RELEASING: AtomOrder = Relaxed Release;
    ACQUIRING: AtomOrder = Relaxed Acquire;
    NEAR: Scope = Cta Cluster;
    MERGES: ReduxOp = Add Min Max;
    COPY_CACHES: CacheOp = Ca Cg;
    SURFACE_CACHES: CacheOp = Ca Cg Cs Cv;
    STORE_CACHES: CacheOp = Wb Cg Cs Wt;
    /// Where a block has barrier objects and matrices.
    BLOCK: Space = Generic Shared;
    BLOCK_OR_CLUSTER: Space = Generic Shared SharedCluster;
    /// The shared memory of a cluster's blocks.
    CLUSTER: Space = Generic SharedCluster;
    /// What the elements of a tensor are combined by.
    TENSOR_SUMS: AtomOp = Add Min Max Inc Dec And Or Xor;
    /// What is made of the memories of several devices.
    MULTIMEM_OPS: AtomOp = Add Min Max And Or Xor;
    /// Where a tensor map can be prefetched from.
    MAPS: Space = Generic Const Param;
    ATOMIC: Space = Generic Global Shared SharedCluster;
}

instructions! {
"moves" {
    /// `mov`: register, constant, special register or address to register.
    Mov { ty: ScalarType, dst: Reg, src: Operand } = "mov" => { by mov }
    /// `mov.v4.u32 {a, b, c, d}, {e, f, g, h}`: element by element.
    MovVector { ty: ScalarType, dsts: Dsts, srcs: Srcs } = "mov" => { by mov }
    /// `mov.b64 d, {a, b}`: the first source is the least significant part.
    MovPack { ty: ScalarType, dst: Reg, srcs: Srcs } = "mov" => { by mov }
    /// `mov.b64 {a, b}, s`
    MovUnpack { ty: ScalarType, dsts: Dsts, src: Operand } = "mov" => { by mov }
    /// `cvta.to.space`
    CvtaFromGeneric { space: Space, ty: ScalarType, dst: Reg, src: Operand }
        = "cvta" when |m: &Mods| m.has("to") => { ["to", space(NAMED), ty(Pointer)] (dst(ty), src(InSpace(ty, space))) }
    /// `cvta.space`: the generic address of an address in `space`. `ty` is `.u32` or `.u64`.
    CvtaToGeneric { space: Space, ty: ScalarType, dst: Reg, src: Operand }
        = "cvta" => { [space(NAMED), ty(Pointer)] (dst(ty), src(InSpace(ty, space))) }
    /// `isspacep`: does a generic address lie in `space`?
    Isspacep { space: Space, dst: Reg, src: Operand }
        = "isspacep" => { [space(NAMED)] (dst(Pred), src(Pointer)) }
    /// `istypep`: does a variable or object have an opaque type?
    Istypep { ty: OpaqueType, dst: Reg, src: Operand }
        = "istypep" => { [ty] (dst(Pred), src(Pointer)) }
}

"memory" {
    /// `ld`, `ld.global.nc`, `ldu`. `ty` is that of one element; a wider register is sign- or
    /// zero-extended by `ty`. The access must be aligned to its whole size. A generic `ldu` is `ld`.
    Ld {
        space: Space, order: AccessOrder, scope: Option<Scope>, non_coherent: bool, ty: ScalarType, dsts: Dsts,
        addr: Address, cache: Option<Box<CacheHints>>
    } = "ld" | "ldu" => {
            [
                let uniform(Suffix("u")): bool = false, order(LOAD_ORDERS),
                let mmio(When(order == AccessOrder::Mmio, "relaxed")): () = (),
                scope(order.is_scoped().then_some(Scope::ALL)), space,
                let op(LOAD_CACHES): Option<CacheOp> = hints(cache).op,
                let nc("nc"): bool = *non_coherent, let more(): CacheHints = hints(cache),
                non_coherent = nc || uniform && space == Space::Global,
                let count(): usize = dsts.len(), ty(MEMORY)
            ]
            where {
                !non_coherent || space == Space::Global => "only `.global` is non-coherent",
                !uniform || is_far(space) => "`ldu` is for `.global` memory",
                check access(order, space, count, ty), check hinted(op, more, space, count * ty.bits() as usize),
            }
            (
                dsts((Wide(ty), count)), addr(Unified(space)),
                let policy((B64, more.policy.is_some())): Option<Operand> = more.policy,
                cache = boxed(op, more, policy)
            )
        }
    /// `st.async`, `red.async`: one access to the shared memory of a block of the cluster, of whose bytes the
    /// barrier object `object` there is told. 1, 2 or 4 elements.
    RemoteAccess(Box<RemoteAccess>) = "st" | "red" since (8, 1, 90) when |m: &Mods| m.has("async") => {
        /// `st.async`, and with an operation `red.async`.
        struct RemoteAccess {
            reduce: Option<AtomOp>, ty: ScalarType, addr: Address, srcs: Srcs, object: Address,
        }
        [
            let reduces(Named("red")): bool = reduce.is_some(), "async",
            let relaxed(When(reduces, "relaxed.cluster")): () = (), let weak("weak"): bool = false,
            let space(Or(Space::SharedCluster)): Space = Space::SharedCluster, "mbarrier::complete_tx::bytes",
            reduce(reduces.then_some(AtomOp::ALL)), let count(): usize = srcs.len(), ty(remote_types(reduce))
        ]
        where {
            space == Space::SharedCluster => "the address is generic or of `.shared::cluster`",
            count <= if reduces { 1 } else { 4 } => "a vector has 2 or 4 elements, and is stored",
            !(weak && reduces) => "a reduction is relaxed",
        }
        (addr(Space::SharedCluster), srcs((ty, count)), object(Space::SharedCluster))
    }
    /// `st`. A wider register is truncated.
    St {
        space: Space, order: AccessOrder, scope: Option<Scope>, ty: ScalarType, addr: Address, srcs: Srcs,
        cache: Option<Box<CacheHints>>
    } = "st" => {
            [
                order(STORE_ORDERS), let mmio(When(order == AccessOrder::Mmio, "relaxed")): () = (),
                scope(order.is_scoped().then_some(Scope::ALL)), space,
                let op(STORE_CACHES): Option<CacheOp> = hints(cache).op, let more(): CacheHints = hints(cache), let count(): usize = srcs.len(), ty(MEMORY)
            ]
            where {
                space != Space::Const => "constant memory is not written",
                more.prefetch.is_none() => "a store fetches nothing",
                check access(order, space, count, ty), check hinted(op, more, space, count * ty.bits() as usize),
            }
            (
                addr(space), srcs((Wide(ty), count)),
                let policy((B64, more.policy.is_some())): Option<Operand> = more.policy,
                cache = boxed(op, more, policy)
            )
        }
    /// `alloca`: `size` bytes of local memory; `ty` (`.u32` or `.u64`) is that of `dst` and `size`.
    Alloca { ty: ScalarType, dst: Reg, size: Operand, align_bytes: u32 }
        = "alloca" since (7, 3, 52) => { [ty(&[U32, U64])] (dst(ty), size(ty), align_bytes(Alignment)) }
    /// `stacksave`
    Stacksave { ty: ScalarType, dst: Reg } = "stacksave" since (7, 3, 52) => { [ty(&[U32, U64])] (dst(ty)) }
    /// `stackrestore`
    Stackrestore { ty: ScalarType, src: Operand } = "stackrestore" since (7, 3, 52) => { [ty(&[U32, U64])] (src(ty)) }
}

"integer and floating arithmetic" {
    /// `add.cc`, `addc`, `addc.cc`
    AddCarry { ty: ScalarType, carry_in: bool, carry_out: bool, dst: Reg, a: Operand, b: Operand }
        = "add" | "addc" when carries,
    /// `sub.cc`, `subc`, `subc.cc`: of the complement, so that the carry is 1 if nothing is borrowed
    SubCarry { ty: ScalarType, carry_in: bool, carry_out: bool, dst: Reg, a: Operand, b: Operand }
        = "sub" | "subc" when carries => {
            [carry_in(Suffix("c")), carry_out("cc"), ty(INT32_64)] (dst(ty), a(ty), b(ty))
        }
    /// `add.f32.f16` and the like: `a` is of the narrower `src_ty` and is widened; `b` is `.f32`.
    AddMixed { src_ty: ScalarType, mode: FloatMode, dst: Reg, a: Operand, b: Operand }
        = "add" since (8, 6, 100) when mixed,
    /// `sub.f32.f16`
    SubMixed { src_ty: ScalarType, mode: FloatMode, dst: Reg, a: Operand, b: Operand }
        = "sub" since (8, 6, 100) when mixed => {
            [mode, "f32", src_ty(NARROW)] where { !mode.ftz => NO_FTZ } (dst(F32), a(src_ty), b(F32))
        }
    /// `add`. `sat_int` is `.sat` on `.s32`.
    Add { ty: ScalarType, mode: FloatMode, sat_int: bool, dst: Reg, a: Operand, b: Operand }
        = "add" => {
            [mode, sat_int("sat"), ty(ADDED)]
            where {
                check float_mode(ty, mode),
                !sat_int || ty == S32 => "of the integers only `.s32` has `.sat`",
            }
            (dst(ty), a(ty), b(ty))
        }
    /// `sub`
    Sub { ty: ScalarType, mode: FloatMode, sat_int: bool, dst: Reg, a: Operand, b: Operand }
        = "sub" => {
            [mode, sat_int("sat"), ty(SUBTRACTED)]
            where {
                check float_mode(ty, mode),
                !sat_int || ty == S32 => "of the integers only `.s32` has `.sat`",
            }
            (dst(ty), a(ty), b(ty))
        }
    /// `mul` of floating types.
    Mul { ty: ScalarType, mode: FloatMode, dst: Reg, a: Operand, b: Operand }
        = "mul" when floating => {
            [mode, ty(MULTIPLIED)] where { check float_mode(ty, mode) } (dst(ty), a(ty), b(ty))
        }
    /// `mul.lo`, `.hi`, `.wide`
    MulInt { ty: ScalarType, part: MulPart, dst: Reg, a: Operand, b: Operand }
        = "mul" => {
            [part, ty(INTS)]
            where { part != MulPart::Wide || ty.bits() < 64 => "there is no 128-bit product" }
            (dst(product(part, ty)), a(ty), b(ty))
        }
    /// `mad.cc`, `madc`, `madc.cc` (`part` is `Lo` or `Hi`)
    MadCarry {
        ty: ScalarType, part: MulPart, carry_in: bool, carry_out: bool,
        dst: Reg, a: Operand, b: Operand, c: Operand
    } = "mad" | "madc" when carries => {
            [carry_in(Suffix("c")), part(LO_HI), carry_out("cc"), ty(INT32_64)]
            (dst(ty), a(ty), b(ty), c(ty))
        }
    /// `fma.f32.f16`: `a` and `b` are narrow, `c` is `.f32`.
    FmaMixed { src_ty: ScalarType, mode: FloatMode, dst: Reg, a: Operand, b: Operand, c: Operand }
        = "fma" since (8, 6, 100) when mixed => {
            [mode, "f32", src_ty(NARROW)]
            where { !mode.ftz => NO_FTZ, mode.rounding.is_some() => ROUNDING_NEEDED }
            (dst(F32), a(src_ty), b(src_ty), c(F32))
        }
    /// `fma`, and `mad` of floating types. `relu` for half types.
    Fma { ty: ScalarType, mode: FloatMode, relu: bool, dst: Reg, a: Operand, b: Operand, c: Operand }
        = "fma" | "mad" when floating => {
            [let old(Suffix("mad")): bool = false, mode, relu("relu"), ty(MULTIPLIED)]
            where {
                check float_mode(ty, mode),
                mode.rounding.is_some() => ROUNDING_NEEDED,
                !relu || (HALVES.contains(&ty) && !mode.sat) => "`.relu` is for half types without `.sat`",
                !old || FLOATS.contains(&ty) => "this type has `fma` only",
            }
            (dst(ty), a(ty), b(ty), c(ty))
        }
    /// `mad.lo`, `.hi`, `.wide`; `sat` is for `.hi.s32` only.
    MadInt { ty: ScalarType, part: MulPart, sat: bool, dst: Reg, a: Operand, b: Operand, c: Operand }
        = "mad" => {
            [part, sat("sat"), ty(INTS)]
            where {
                !sat || (part == MulPart::Hi && ty == S32) => "`.sat` is for `mad.hi.sat.s32` only",
                part != MulPart::Wide || ty.bits() < 64 => "there is no 128-bit product",
            }
            (dst(product(part, ty)), a(ty), b(ty), c(product(part, ty)))
        }
    /// `mul24` (`part` is `Lo` or `Hi`)
    Mul24 { ty: ScalarType, part: MulPart, dst: Reg, a: Operand, b: Operand }
        = "mul24" => { [part(LO_HI), ty(INT32)] (dst(ty), a(ty), b(ty)) }
    /// `mad24` (`part` is `Lo` or `Hi`; `sat` is for `.hi.s32` only)
    Mad24 { ty: ScalarType, part: MulPart, sat: bool, dst: Reg, a: Operand, b: Operand, c: Operand }
        = "mad24" => {
            [part(LO_HI), sat("sat"), ty(INT32)]
            where { !sat || (part == MulPart::Hi && ty == S32) => "`.sat` is for `mad24.hi.sat.s32` only" }
            (dst(ty), a(ty), b(ty), c(ty))
        }
    /// `sad`: `c + |a - b|`
    Sad { ty: ScalarType, dst: Reg, a: Operand, b: Operand, c: Operand }
        = "sad" => { [ty(INTS)] (dst(ty), a(ty), b(ty), c(ty)) }
    /// `div` of `.f32` and `.f64`.
    Div { ty: ScalarType, mode: DivMode, ftz: bool, dst: Reg, a: Operand, b: Operand }
        = "div" when floating => {
            [mode, ftz("ftz"), ty(FLOATS)]
            where { ty == F32 || (mode.rounding().is_some() && !ftz) => "`.f64` has IEEE roundings alone" }
            (dst(ty), a(ty), b(ty))
        }
    /// `div` of integers.
    DivInt { ty: ScalarType, dst: Reg, a: Operand, b: Operand } = "div",
    /// `rem`
    Rem { ty: ScalarType, dst: Reg, a: Operand, b: Operand }
        = "rem" => { [ty(INTS)] (dst(ty), a(ty), b(ty)) }
    /// `abs`
    Abs { ty: ScalarType, ftz: bool, dst: Reg, src: Operand } = "abs",
    /// `neg`
    Neg { ty: ScalarType, ftz: bool, dst: Reg, src: Operand }
        = "neg" => { [ftz("ftz"), ty(SIGNED)] where { check flushing(ty, ftz) } (dst(ty), src(ty)) }
    /// `min`
    Min(MinMax) = "min",
    /// `max`
    Max(MinMax) = "max" => {
        /// Two- and three-input minimum or maximum.
        #[derive(Copy)]
        struct MinMax {
            ty: ScalarType, ftz: bool,
            /// `.NaN`: a NaN input gives NaN (else the other operand).
            nan: bool,
            /// Of the magnitudes, with the sign of the product.
            xorsign_abs: bool,
            /// `.abs` of the three-input form: of the magnitudes.
            abs: bool,
            relu: bool, dst: Reg, a: Operand, b: Operand, c: Option<Operand>,
        }
        [ftz("ftz"), nan("NaN"), xorsign_abs("xorsign.abs"), abs("abs"), relu("relu"), ty(ORDERED)]
        where {
            check flushing(ty, ftz),
            (ty.is_float() && ty != F64) || !(nan || xorsign_abs) => "`.NaN` and `.xorsign` are for `.f32` and halves",
            !abs || (ty == F32 && !xorsign_abs) => "`.abs` alone is for `.f32`",
            !relu || matches!(ty, S32 | S16x2) => "`.relu` is for `.s32` and `.s16x2`",
        }
        (dst(ty), a(ty), b(ty), c(ty))
        where {
            c.is_none() || (ty == F32 && !xorsign_abs) => "three inputs are for `.f32` without `.xorsign`",
            c.is_some() || !abs => "`.abs` alone is for three inputs",
        }
    }
    /// `sqrt` (`mode` is never `Full`)
    Sqrt { ty: ScalarType, mode: DivMode, ftz: bool, dst: Reg, src: Operand }
        = "sqrt" => {
            [mode, ftz("ftz"), ty(FLOATS)]
            where { check root_mode(ty, mode, ftz, false) } (dst(ty), src(ty))
        }
    /// `rcp` (`mode` is never `Full`)
    Rcp { ty: ScalarType, mode: DivMode, ftz: bool, dst: Reg, src: Operand }
        = "rcp" => {
            [mode, ftz("ftz"), ty(FLOATS)]
            where { check root_mode(ty, mode, ftz, true) } (dst(ty), src(ty))
        }
    /// `rsqrt.approx`
    Rsqrt { ty: ScalarType, ftz: bool, dst: Reg, src: Operand }
        = "rsqrt" => { ["approx", ftz("ftz"), ty(FLOATS)] (dst(ty), src(ty)) }
    /// `sin.approx.f32`
    Sin { ftz: bool, dst: Reg, src: Operand } = "sin",
    /// `cos.approx.f32`
    Cos { ftz: bool, dst: Reg, src: Operand } = "cos",
    /// `lg2.approx.f32`
    Lg2 { ftz: bool, dst: Reg, src: Operand } = "lg2" => { ["approx", ftz("ftz"), "f32"] (dst(F32), src(F32)) }
    /// `ex2.approx`, of `.f32`, `.f16`, `.f16x2`, `.bf16`, `.bf16x2`
    Ex2 { ty: ScalarType, ftz: bool, dst: Reg, src: Operand }
        = "ex2" => {
            ["approx", ftz("ftz"), ty(SINGLE_AND_HALVES)]
            where {
                ftz || !matches!(ty, BF16 | BF16x2) => "`.bf16` needs `.ftz` here",
                !ftz || !matches!(ty, F16 | F16x2) => "`.f16` has no `.ftz` here",
            }
            (dst(ty), src(ty))
        }
    /// `tanh.approx`, of `.f32`, `.f16`, `.f16x2`, `.bf16`, `.bf16x2`
    Tanh { ty: ScalarType, dst: Reg, src: Operand }
        = "tanh" since (7, 0, 75) => { ["approx", ty(SINGLE_AND_HALVES)] (dst(ty), src(ty)) }
    /// `copysign`: the sign of `a` on the magnitude of `b`.
    Copysign { ty: ScalarType, dst: Reg, a: Operand, b: Operand }
        = "copysign" => { [ty(FLOATS)] (dst(ty), a(ty), b(ty)) }
    /// `testp`
    Testp { op: TestpOp, ty: ScalarType, dst: Reg, src: Operand }
        = "testp" => { [op, ty(FLOATS)] (dst(Pred), src(ty)) }
    /// `dp4a`: types of `a` and `b` are `.u32` or `.s32`.
    Dp4a { a_ty: ScalarType, b_ty: ScalarType, dst: Reg, a: Operand, b: Operand, c: Operand }
        = "dp4a" since (5, 0, 61) => { [a_ty(INT32), b_ty(INT32)] (dst(B32), a(B32), b(B32), c(sum(a_ty, b_ty))) }
    /// `dp2a.lo`, `.hi`
    Dp2a { a_ty: ScalarType, b_ty: ScalarType, high: bool, dst: Reg, a: Operand, b: Operand, c: Operand }
        = "dp2a" since (5, 0, 61) => {
            [high(Either("lo", "hi")), a_ty(INT32), b_ty(INT32)]
            (dst(B32), a(B32), b(B32), c(sum(a_ty, b_ty)))
        }
}

"bits and logic" {
    /// `popc`; the destination is `.u32`.
    Popc { ty: ScalarType, dst: Reg, src: Operand } = "popc" => { [ty(B32_64)] (dst(U32), src(ty)) }
    /// `clz`; the destination is `.u32`.
    Clz { ty: ScalarType, dst: Reg, src: Operand } = "clz" => { [ty(B32_64)] (dst(U32), src(ty)) }
    /// `bfind`, `bfind.shiftamt`; the destination is `.u32`.
    Bfind { ty: ScalarType, shift_amount: bool, dst: Reg, src: Operand }
        = "bfind" => { [shift_amount("shiftamt"), ty(INT32_64)] (dst(U32), src(ty)) }
    /// `brev`
    Brev { ty: ScalarType, dst: Reg, src: Operand } = "brev" => { [ty(B32_64)] (dst(ty), src(ty)) }
    /// `bfe`: `len` bits from bit `pos`, both `.u32`.
    Bfe { ty: ScalarType, dst: Reg, src: Operand, pos: Operand, len: Operand }
        = "bfe" => { [ty(INT32_64)] (dst(ty), src(ty), pos(U32), len(U32)) }
    /// `bfi`: `field` into `base`.
    Bfi { ty: ScalarType, dst: Reg, field: Operand, base: Operand, pos: Operand, len: Operand }
        = "bfi" => { [ty(B32_64)] (dst(ty), field(ty), base(ty), pos(U32), len(U32)) }
    /// `bmsk`
    Bmsk { mode: ShiftMode, dst: Reg, pos: Operand, len: Operand }
        = "bmsk" since (7, 6, 70) => { [mode, "b32"] (dst(B32), pos(B32), len(U32)) }
    /// `szext`; `ty` is `.u32` or `.s32`.
    Szext { mode: ShiftMode, ty: ScalarType, dst: Reg, src: Operand, len: Operand }
        = "szext" since (7, 6, 70) => { [mode, ty(INT32)] (dst(ty), src(ty), len(U32)) }
    /// `fns.b32`
    Fns { dst: Reg, mask: Operand, base: Operand, offset: Operand }
        = "fns" since (6, 0, 30) => { ["b32"] (dst(B32), mask(B32), base(U32), offset(S32)) }
    /// `prmt.b32`
    Prmt { mode: PrmtMode, dst: Reg, a: Operand, b: Operand, c: Operand }
        = "prmt" => { ["b32", mode] (dst(B32), a(B32), b(B32), c(B32)) }
    /// `and`
    And { ty: ScalarType, dst: Reg, a: Operand, b: Operand } = "and",
    /// `or`
    Or { ty: ScalarType, dst: Reg, a: Operand, b: Operand } = "or",
    /// `xor`
    Xor { ty: ScalarType, dst: Reg, a: Operand, b: Operand }
        = "xor" => { [ty(BITS_AND_PRED)] (dst(ty), a(ty), b(ty)) }
    /// `not`
    Not { ty: ScalarType, dst: Reg, src: Operand }
        = "not" => { [ty(BITS_AND_PRED)] (dst(ty), src(ty)) }
    /// `cnot`: 1 if the source is 0, else 0.
    Cnot { ty: ScalarType, dst: Reg, src: Operand } = "cnot" => { [ty(BITS)] (dst(ty), src(ty)) }
    /// `lop3.b32`: bit `a*4 + b*2 + c` of `table`; `pred` is whether the result is not 0, combined.
    Lop3 { table: u8, dst: Dst, pred: Dst, a: Operand, b: Operand, c: Operand, combine: Option<Combine> }
        = "lop3" since (4, 3, 50) => {
            [let op(AND_OR): Option<BoolOp> = combine.map(|combine| combine.op), "b32"]
            (
                dst(B32), pred(Beside(Pred)), a(B32), b(B32), c(B32), table("the look-up table"),
                let with(((), op.is_some())): Option<PredOperand> = combine.map(|combine| combine.with),
                combine = op.zip(with).map(|(op, with)| Combine { op, with })
            )
            where { pred.is_none() || op.is_some() => "a second result needs `.and` or `.or`" }
        }
    /// `shl`; the amount is `.u32` and clamps at the width.
    Shl { ty: ScalarType, dst: Reg, a: Operand, amount: Operand }
        = "shl" => { [ty(BITS)] (dst(ty), a(ty), amount(U32)) }
    /// `shr`; arithmetic if `ty` is signed; the amount clamps at the width.
    Shr { ty: ScalarType, dst: Reg, a: Operand, amount: Operand }
        = "shr" => { [ty(SHIFTED)] (dst(ty), a(ty), amount(U32)) }
    /// `shf.l`, `shf.r`: of the 64 bits `{hi, lo}`.
    Shf { left: bool, mode: ShiftMode, dst: Reg, lo: Operand, hi: Operand, amount: Operand }
        = "shf" => { [left(Either("r", "l")), mode, "b32"] (dst(B32), lo(B32), hi(B32), amount(U32)) }
}

"comparison" {
    /// `setp`. For `.f16x2` and `.bf16x2`, `dst` is of the low half and `dst2` of the high half;
    /// else `dst2` is the complement of the comparison (combined likewise).
    Setp {
        cmp: CmpOp, ty: ScalarType, ftz: bool, dst: Dst, dst2: Dst, a: Operand, b: Operand,
        combine: Option<Combine>
    } = "setp" => {
            [
                let unsigned(UnsignedNames): bool = false, cmp,
                let op(): Option<BoolOp> = combine.map(|combine| combine.op), ftz("ftz"), ty(COMPARED)
            ]
            where { check comparable(cmp, unsigned, ty), check flushing(ty, ftz) }
            (
                dst(Pred), dst2(Beside(Pred)), a(ty), b(ty),
                let with(((), op.is_some())): Option<PredOperand> = combine.map(|combine| combine.with),
                combine = op.zip(with).map(|(op, with)| Combine { op, with })
            )
            where { dst2.is_none() || !NARROW.contains(&ty) => "scalar half types have one result" }
        }
    /// `set`: all ones or zero (1.0 or 0.0 for floating `dst_ty`).
    Set {
        cmp: CmpOp, dst_ty: ScalarType, src_ty: ScalarType, ftz: bool, dst: Reg, a: Operand, b: Operand,
        combine: Option<Combine>
    } = "set" => {
            [
                let unsigned(UnsignedNames): bool = false, cmp,
                let op(): Option<BoolOp> = combine.map(|combine| combine.op), ftz("ftz"),
                dst_ty(&[U32, S32, F32, U16, S16, F16, F16x2, BF16, BF16x2]), src_ty(COMPARED)
            ]
            where {
                check comparable(cmp, unsigned, src_ty),
                check flushing(src_ty, ftz),
                set_exists(dst_ty, src_ty) => "there is no such pair of types",
            }
            (
                dst(dst_ty), a(src_ty), b(src_ty),
                let with(((), op.is_some())): Option<PredOperand> = combine.map(|combine| combine.with),
                combine = op.zip(with).map(|(op, with)| Combine { op, with })
            )
        }
    /// `selp`: `a` if `pred` else `b`.
    Selp { ty: ScalarType, dst: Reg, a: Operand, b: Operand, pred: PredOperand }
        = "selp" => { [ty(SELECTED)] (dst(ty), a(ty), b(ty), pred()) }
    /// `slct`: `a` if `c >= 0` else `b`; `c_ty` is `.s32` or `.f32`.
    Slct { ty: ScalarType, c_ty: ScalarType, ftz: bool, dst: Reg, a: Operand, b: Operand, c: Operand }
        = "slct" => {
            [ftz("ftz"), ty(SELECTED), c_ty(&[S32, F32])]
            where { check flushing(c_ty, ftz) } (dst(ty), a(ty), b(ty), c(c_ty))
        }
}

"conversion" {
    /// `cvt.pack.sat.u16.s32 d, a, b`; for 8 bits and fewer (`dst_bits` 8, 4, 2) with `c`, whose low
    /// bits become the upper part.
    CvtPackSat {
        dst_bits: u32, dst_signed: bool, src_ty: ScalarType, dst: Reg, a: Operand, b: Operand,
        c: Option<Operand>
    } = "cvt" since (6, 5, 72) when |m: &Mods| m.has("pack") => {
            [
                "pack", "sat", let to(PackedTo): (bool, u32) = (*dst_signed, *dst_bits),
                dst_signed = to.0, dst_bits = to.1, src_ty(&[S32]), let third("b32"): bool = c.is_some()
            ]
            where { third == (dst_bits < 16) => "8 bits and fewer go with `.b32` and a third source" }
            (dst(B32), a(S32), b(S32), c((B32, third)))
        }
    /// `cvt.rn.satfinite.e4m3x2.f32 d, a, b` and `cvt.rn.satfinite.e4m3x2.f16x2 d, a`: two floats to a
    /// pair of 8 bits and fewer each; `a` of two sources becomes the upper element.
    CvtToTiny {
        pair: TinyPair, src_ty: ScalarType, rounding: CvtRounding, relu: bool, satfinite: bool, dst: Reg,
        a: Operand, b: Option<Operand>
    } = "cvt" since (7, 8, 89) when |m: &Mods| m.first_is(TinyPair::from_str) => {
            [
                rounding(&[CvtRounding::Rn, CvtRounding::Rz, CvtRounding::Rp]), satfinite("satfinite"),
                relu("relu"), pair, src_ty(&[F32, F16x2, BF16x2])
            ]
            where {
                !(relu && pair == TinyPair::Ue8m0x2) => "powers of two have no sign",
                matches!((pair, src_ty), (_, F32) | (TinyPair::Ue8m0x2, BF16x2)) || (pair != TinyPair::Ue8m0x2 && src_ty == F16x2)
                    => "it is made of `.f32`, or of the pair that holds it",
                (rounding == CvtRounding::Rn) != (pair == TinyPair::Ue8m0x2)
                    => "`.ue8m0x2` has `.rz` or `.rp`, the others have `.rn`",
                satfinite || pair == TinyPair::Ue8m0x2 => "`.satfinite` is needed",
            }
            (dst(pair.register()), a(src_ty), b((F32, src_ty == F32)))
        }
    /// `cvt.rn.f16x2.e4m3x2 d, a`
    CvtFromTiny { dst_ty: ScalarType, pair: TinyPair, relu: bool, dst: Reg, src: Operand }
        = "cvt" since (7, 8, 89) when |m: &Mods| m.count_of(TinyPair::from_str) > 0 => {
            ["rn", relu("relu"), dst_ty(&[F16x2, BF16x2]), pair]
            where {
                (dst_ty == BF16x2) == (pair == TinyPair::Ue8m0x2) => "powers of two become `.bf16x2`, others `.f16x2`",
                !(relu && pair == TinyPair::Ue8m0x2) => "powers of two have no sign",
            }
            (dst(dst_ty), src(pair.register()))
        }
    /// `cvt.rn.f16x2.f32 d, a, b` and `bf16x2`: `a` becomes the upper half.
    CvtPackHalf {
        dst_ty: ScalarType, rounding: CvtRounding, relu: bool, satfinite: bool, dst: Reg, a: Operand, b: Operand
    } = "cvt" since (7, 0, 80) when |m: &Mods| matches!(m.types().next(), Some(F16x2 | BF16x2)) => {
            [
                rounding(&[CvtRounding::Rn, CvtRounding::Rz]), satfinite("satfinite"), relu("relu"),
                dst_ty(&[F16x2, BF16x2]), "f32"
            ]
            (dst(dst_ty), a(F32), b(F32))
        }
    /// `cvt` of one value. `relu` and `satfinite` as in the manual.
    Cvt {
        dst_ty: ScalarType, src_ty: ScalarType, rounding: Option<CvtRounding>, ftz: bool, sat: bool, relu: bool,
        satfinite: bool, dst: Reg, src: Operand
    } = "cvt" => {
            [
                rounding, ftz("ftz"), sat("sat"), satfinite("satfinite"), relu("relu"),
                dst_ty(CONVERTED), src_ty(CONVERTED)
            ]
            where {
                check conversion_rounding(dst_ty, src_ty, rounding),
                check conversion_clamps(dst_ty, src_ty, rounding, sat, relu, satfinite),
                !ftz || (dst_ty != TF32 && (dst_ty == F32 || src_ty == F32)) => "`.ftz` is for `.f32`",
            }
            (dst(Converted(dst_ty, src_ty)), src(Converted(src_ty, dst_ty)))
        }
}

"video" {
    /// `vadd`, `vsub`, `vabsdiff`, `vmin`, `vmax`, `vshl`, `vshr`, `vset`
    Video(Box<Video>)
        = "vadd" | "vsub" | "vabsdiff" | "vmin" | "vmax" | "vshl" | "vshr" | "vset" => {
        /// Scalar video instruction: `vadd.s32.u32.u32.sat d, a.b0, b.h1, c`. Types are `.u32` and `.s32`.
        struct Video {
            op: VideoOp, dst_ty: ScalarType, a_ty: ScalarType, b_ty: ScalarType, sat: bool,
            /// Of `vshl` and `vshr`.
            shift: Option<ShiftMode>,
            /// Of `vset`.
            cmp: Option<CmpOp>,
            /// What is done with the result and `c`.
            merge: Option<ReduxOp>,
            dst: Reg,
            /// Of `c` the part that the result replaces.
            part: VideoSelect,
            a: (Operand, VideoSelect), b: (Operand, VideoSelect),
            /// There if it is merged, or replaced in part.
            c: Option<Operand>,
        }
        [
            op(1), let ty(video_result(op)): Option<ScalarType> = video_result(op).map(|_| *dst_ty),
            dst_ty = ty.unwrap_or(U32), a_ty(INT32), b_ty(video_second(op)), sat("sat"), shift(video_shift(op)),
            let unsigned(UnsignedNames): bool = false, cmp(video_comparison(op)), merge(MERGES)
        ]
        where {
            !sat || cmp.is_none() => "a comparison has no `.sat`",
            !unsigned => "the comparison is named as for signed types",
        }
        (
            let to(): (Reg, VideoSelect) = (*dst, *part), dst = to.0, part = to.1,
            a(), b(), c((B32, merge.is_some() || to.1 != VideoSelect::Whole))
        )
        where { merge.is_none() || part == VideoSelect::Whole => "a part is written, or the result is merged" }
    }
    /// `vmad`
    VideoMad(Box<VideoMad>) = "vmad" => {
        /// `vmad.dtype.atype.btype{.po}{.sat}{.shr7,.shr15} d, {-}a.sel, {-}b.sel, {-}c`
        struct VideoMad {
            dst_ty: ScalarType, a_ty: ScalarType, b_ty: ScalarType, sat: bool,
            /// `.po`: one is added (no operand may be negated).
            plus_one: bool,
            /// 0, 7 or 15.
            shift_bits: u32,
            dst: Reg, a: (Operand, VideoSelect), b: (Operand, VideoSelect), c: Operand,
            /// `-a` or `-b`
            negate_product: bool,
            /// `-c`
            negate_c: bool,
        }
        [dst_ty(INT32), a_ty(INT32), b_ty(INT32), plus_one("po"), sat("sat"), shift_bits(ProductShift)]
        (
            dst(B32), let minus_a(Minus): bool = *negate_product, a(), let minus_b(Minus): bool = false, b(),
            negate_c(Minus), c(B32), negate_product = minus_a != minus_b
        )
        where {
            !(negate_product && negate_c) => "either the product or `c` is negated",
            !(plus_one && (minus_a || minus_b || negate_c)) => "`.po` leaves no operand negated",
        }
    }
    /// `vadd2`, `vset4`, ...
    VideoSimd(Box<VideoSimd>)
        = "vadd2" | "vsub2" | "vavrg2" | "vabsdiff2" | "vmin2" | "vmax2" | "vset2" | "vadd4"
        | "vsub4" | "vavrg4" | "vabsdiff4" | "vmin4" | "vmax4" | "vset4" => {
        /// SIMD video instruction: `vadd4.u32.u32.u32.sat d.b3210, a.b3210, b.b7654, c`.
        struct VideoSimd {
            /// Not a shift.
            op: VideoOp,
            /// 2 halfwords or 4 bytes.
            lanes: u32,
            dst_ty: ScalarType, a_ty: ScalarType, b_ty: ScalarType, sat: bool,
            /// Of `vset2` and `vset4`.
            cmp: Option<CmpOp>,
            /// `.add`: the selected results are summed, with `c`, into one number.
            accumulate: bool,
            dst: Reg,
            /// Bit `i` set: element `i` of the result is written (else it is that of `c`).
            write_mask: u8,
            a: Operand,
            /// For each element which of the 4 halves (or 8 bytes) of `{b, a}` is taken; 0 is `a`'s lowest.
            a_select: [u8; 4],
            b: Operand, b_select: [u8; 4], c: Operand,
        }
        [
            lanes(LaneCount), op(lanes), let ty(video_result(op)): Option<ScalarType> = video_result(op).map(|_| *dst_ty),
            dst_ty = ty.unwrap_or(U32), a_ty(INT32), b_ty(INT32), sat("sat"),
            let unsigned(UnsignedNames): bool = false, cmp(video_comparison(op)), accumulate("add")
        ]
        where {
            !(sat && accumulate) => "`.sat` and `.add` do not go together",
            !sat || cmp.is_none() => "a comparison has no `.sat`",
            !unsigned => "the comparison is named as for signed types",
        }
        (
            let to(Lanes(lanes)): (Reg, u8) = (*dst, *write_mask), dst = to.0, write_mask = to.1,
            let left(Elements(lanes, 0)): (Operand, [u8; 4]) = (*a, *a_select), a = left.0, a_select = left.1,
            let right(Elements(lanes, lanes)): (Operand, [u8; 4]) = (*b, *b_select),
            b = right.0, b_select = right.1, c(B32)
        )
    }
}

"control flow" {
    /// `bra`
    Bra { target: LabelId, uniform: bool } = "bra" => { [uniform("uni")] (target()) }
    /// `brx.idx`
    BrxIdx { index: Operand, table: BranchTableId, uniform: bool }
        = "brx" since (6, 0, 30) => { ["idx", uniform("uni")] (index(U32), table()) }
    /// `call`
    Call { target: CallTarget, returns: Box<[CallArg]>, args: Box<[CallArg]>, uniform: bool }
        = "call" => { by call }
    /// `ret`
    Ret { uniform: bool } = "ret" => { [uniform("uni")] () }
    /// `exit`
    Exit {} = "exit" => { [] () }
    /// `trap`
    Trap {} = "trap" => { [] () }
    /// `brkpt`
    Brkpt {} = "brkpt" => { [] () }
}

"synchronisation" {
    /// `bar.warp.sync`
    BarWarpSync { mask: Operand }
        = "bar" since (6, 0, 30) when |m: &Mods| m.has("warp") => { ["warp", "sync"] (mask(B32)) }
    /// `barrier.cluster.arrive`, which counts and goes on, and `.wait`, until all threads of the cluster that have
    /// not ended have arrived. What came before an arrival is visible to those who wait, unless it is `relaxed`.
    BarrierCluster { waits: bool, relaxed: bool, aligned: bool }
        = "barrier" since (7, 8, 90) when |m: &Mods| m.has("cluster") => {
            [
                "cluster", waits(Either("arrive", "wait")), relaxed("relaxed"),
                let said(if waits { "acquire" } else { "release" }): bool = false, aligned("aligned")
            ]
            where { !(relaxed && (waits || said)) => "an arrival releases or is relaxed, a wait acquires" } ()
        }
    /// `bar.red`, `barrier.red`: `.popc` is no operation on predicates, and has a number as result.
    BarrierReduce {
        op: Option<BoolOp>, aligned: bool, dst: Reg, id: Operand, threads: Option<Operand>, pred: PredOperand
    } = "bar" | "barrier" when |m: &Mods| m.has("red") => {
            [
                let free(Suffix("rier")): bool = !*aligned, let block("cta"): bool = false,
                let written("aligned"): bool = false, aligned = !free || written, "red",
                let popc("popc"): bool = op.is_none(),
                op((!popc).then_some(AND_OR)),
                let ty(&[if popc { U32 } else { Pred }]): ScalarType = if popc { U32 } else { Pred }
            ]
            where { free || !written => "`bar` is aligned without saying so" }
            (dst(ty), id(U32), threads(If(|p| !p.at_predicate(), U32)), pred())
        }
    /// `bar`, `barrier` (and `bar.cta`, `barrier.cta`): `aligned` says that all threads of the warp
    /// execute it together; those that arrive do not wait.
    Barrier { arrives: bool, aligned: bool, id: Operand, threads: Option<Operand> }
        = "bar" | "barrier" => {
            [
                let free(Suffix("rier")): bool = !*aligned, let block("cta"): bool = false,
                let written("aligned"): bool = false, aligned = !free || written,
                arrives(Either("sync", "arrive"))
            ]
            where { free || !written => "`bar` is aligned without saying so" }
            (id(U32), threads(U32))
            where { threads.is_some() || !arrives => "`.arrive` needs the number of threads" }
        }
    /// `fence.proxy` and `membar.proxy`
    FenceProxy { kind: ProxyKind }
        = "fence" | "membar" since (7, 5, 70) when |m: &Mods| m.has("proxy") => {
            [let old(Named("membar")): bool = false, "proxy", kind(InWords)]
            where { !old || kind == ProxyKind::Alias => "`membar` knows only `.alias`" } ()
        }
    /// `membar`
    Membar { level: MembarLevel } = "membar" => { [level] () }
    /// `fence`. `.mbarrier_init`: a release, made cheaper for new objects that the cluster is to see.
    Fence { order: FenceOrder, scope: Scope }
        = "fence" since (6, 0, 70) => {
            [let objects("mbarrier_init"): bool = false, order(Or(FenceOrder::AcqRel)), scope]
            where {
                !objects || (order == FenceOrder::Release && scope == Scope::Cluster)
                    => "`.mbarrier_init` goes with `.release.cluster`",
            }
            ()
        }
    /// `mbarrier.pending_count`
    MbarrierPendingCount { dst: Reg, state: Operand }
        = "mbarrier" since (7, 0, 80) when |m: &Mods| m.has("pending_count") => {
            ["pending_count", "b64"] (dst(B32), state(B64))
        }
    /// `mbarrier.init`: a new object, whose phases take `count` arrivals. An object also counts transactions, bytes
    /// that copies bring: a phase ends when all have arrived and no bytes are missing.
    MbarrierInit { space: Space, addr: Address, count: Operand }
        = "mbarrier" since (7, 0, 80) when |m: &Mods| m.has("init") => {
            ["init", space(BLOCK), "b64"] (addr(space), count(U32))
        }
    /// `mbarrier.inval`: the memory is no barrier any more.
    MbarrierInvalidate { space: Space, addr: Address }
        = "mbarrier" since (7, 0, 80) when |m: &Mods| m.has("inval") => { ["inval", space(BLOCK), "b64"] (addr(space)) }
    /// `mbarrier.test_wait`, `.try_wait`, which may wait for some time: whether the phase has ended that a state
    /// from an arrival is of, or the one with this parity.
    MbarrierWait {
        waits: bool, parity: bool, order: Option<AtomOrder>, scope: Option<Scope>, space: Space, pred: Reg,
        addr: Address, phase: Operand, limit: Option<Operand>
    } = "mbarrier" since (7, 0, 80) when |m: &Mods| m.has("test_wait") || m.has("try_wait") => {
            [
                waits(Either("test_wait", "try_wait")), parity("parity"), order(ACQUIRING), scope(order.map(|_| NEAR)),
                space(BLOCK), "b64"
            ]
            (pred(Pred), addr(space), phase(if parity { U32 } else { B64 }), limit(U32))
            where { limit.is_none() || waits => "only `.try_wait` waits for some time" }
        }
    /// `mbarrier.arrive`, `mbarrier.arrive_drop`, after which later phases take fewer: `dst` is the state before,
    /// `count` the arrivals, one if absent. `.expect_tx`: one arrival, and first `count` more bytes are expected.
    MbarrierArrive {
        drop: bool, expect_tx: bool, no_complete: bool, order: Option<AtomOrder>, scope: Option<Scope>, space: Space,
        dst: Dst, addr: Address, count: Option<Operand>
    } = "mbarrier" since (7, 0, 80) when |m: &Mods| m.has("arrive") || m.has("arrive_drop") => {
            [
                drop(Either("arrive", "arrive_drop")), expect_tx("expect_tx"), no_complete("noComplete"),
                order(RELEASING), scope(order.map(|_| NEAR)), space(BLOCK_OR_CLUSTER), "b64"
            ]
            (dst(B64), addr(space), count(U32))
            where { count.is_some() || !(expect_tx || no_complete) => "it needs a number" }
        }
    /// `mbarrier.expect_tx`, `mbarrier.complete_tx`: as many more bytes are expected, have come.
    MbarrierTransactions {
        complete: bool, order: Option<AtomOrder>, scope: Option<Scope>, space: Space, addr: Address, bytes: Operand
    } = "mbarrier" since (8, 0, 90) when |m: &Mods| m.has("expect_tx") || m.has("complete_tx") => {
            [
                complete(Either("expect_tx", "complete_tx")), order(&RELEASING[..1]), scope(order.map(|_| NEAR)),
                space(BLOCK_OR_CLUSTER), "b64"
            ]
            (addr(space), bytes(U32))
        }
    /// `cp.async.mbarrier.arrive`: arrives when the thread's copies so far are done. `.noinc`: the arrival was
    /// counted in the object's `count`.
    CpAsyncArrive { noinc: bool, space: Space, addr: Address }
        = "cp" since (7, 0, 80) when |m: &Mods| m.has("mbarrier") => {
            ["async", "mbarrier", "arrive", noinc("noinc"), space(BLOCK), "b64"] (addr(space))
        }
    /// `griddepcontrol`
    Griddepcontrol { action: GriddepAction } = "griddepcontrol" since (7, 8, 90) => { [action] () }
}

"atomics" {
    /// `atom`, `red` on a vector
    AtomVector(Box<AtomVector>) = "atom" | "red" since (8, 1, 90) when |m: &Mods| m.count_of(vector) > 0 => {
        /// `atom.v2...`, `red.v4...`: one atomic operation an element, `.add`, `.min` or `.max`.
        struct AtomVector {
            op: AtomOp, ty: ScalarType, space: Space,
            /// `None` means relaxed.
            order: Option<AtomOrder>,
            /// `None` means `Gpu`.
            scope: Option<Scope>,
            noftz: bool,
            /// The old values; empty for `red`.
            dsts: Dsts,
            addr: Address, srcs: Srcs, policy: Option<Operand>,
        }
        [
            let reduces(Named("red")): bool = dsts.is_empty(), order, scope, space(&[Space::Generic, Space::Global]), op,
            noftz("noftz"), let hint("L2::cache_hint"): bool = policy.is_some(), let count(): usize = srcs.len(),
            ty(vector_atom_types(op))
        ]
        where {
            noftz == HALVES.contains(&ty) => "half types, and no others, have `.noftz`",
            count * ty.bits() as usize <= 128 => "vectors have at most 16 bytes", check reduction(reduces, op, order),
        }
        (dsts((ty, if reduces { 0 } else { count })), addr(space), srcs((ty, count)), policy((B64, hint)))
    }
    /// `atom`, `red`
    Atom(Box<Atom>) = "atom" | "red" => {
        /// `atom` and, where nobody asks for the old value, `red`, on one element or packed ones.
        struct Atom {
            op: AtomOp, ty: ScalarType, space: Space,
            /// `None` means relaxed.
            order: Option<AtomOrder>,
            /// `None` means `Gpu`.
            scope: Option<Scope>,
            noftz: bool,
            /// The old value.
            dst: Dst,
            addr: Address,
            /// For `cas` the value compared with.
            b: Operand,
            /// `cas`: the new value.
            c: Option<Operand>,
            policy: Option<Operand>,
        }
        [
            let reduces(Named("red")): bool = dst.is_none() && reduction(true, *op, *order).is_ok(),
            order, scope, space(ATOMIC), op, noftz("noftz"),
            let hint("L2::cache_hint"): bool = policy.is_some(), ty(atom_types(op))
        ]
        where {
            noftz == HALVES.contains(&ty) => "half types, and no others, have `.noftz`",
            check reduction(reduces, op, order),
        }
        (dst(Unless(reduces, ty)), addr(space), b(ty), c((ty, op == AtomOp::Cas)), policy((B64, hint)))
    }
}

"memory of several devices" {
    /// `multimem.ld_reduce`, `multimem.st`, `multimem.red`
    Multimem(Box<Multimem>) = "multimem" since (8, 1, 90) => {
        /// An access to the same place in the memories behind a multicast address.
        struct Multimem {
            /// Loads what the operation makes of all, stores, or combines.
            access: MultimemAccess,
            weak: bool,
            /// `None` means relaxed.
            order: Option<AtomOrder>,
            /// `None` means `Sys`.
            scope: Option<Scope>,
            op: Option<AtomOp>,
            /// `.acc::f32`: halves are added up in `.f32`.
            single: bool,
            ty: ScalarType,
            /// Loaded.
            dsts: Dsts,
            addr: Address,
            /// Stored, or combined with what is there.
            srcs: Srcs,
        }
        [
            access, weak("weak"), order, scope, let global("global"): bool = true,
            op((access != MultimemAccess::Store).then_some(MULTIMEM_OPS)), single("acc::f32"),
            let count(): usize = dsts.len() + srcs.len(), ty(multimem_types(op))
        ]
        where {
            check multimem_order(access, weak, order, scope), check multimem_vector(access, op, ty, count),
            !single || access == MultimemAccess::LoadReduce && op == Some(AtomOp::Add) && HALVES.contains(&ty)
                => "`.acc::f32` is for sums of halves",
        }
        (
            dsts((ty, if access == MultimemAccess::LoadReduce { count } else { 0 })), addr(Space::Global),
            srcs((ty, if access == MultimemAccess::LoadReduce { 0 } else { count }))
        )
    }
}

"warp" {
    /// `vote`, `vote.sync`: `mask` is `None` for the old form.
    Vote { mode: VoteMode, dst: Reg, pred: PredOperand, mask: Option<Operand> }
        = "vote" => {
            [
                let sync(Sync): bool = mask.is_some(), mode,
                let ty(&[vote_ty(mode)]): ScalarType = vote_ty(mode)
            ]
            (dst(ty), pred(), mask((B32, sync)))
        }
    /// `match.sync`
    Match { mode: MatchMode, ty: ScalarType, dst: Dst, pred: Dst, src: Operand, mask: Operand }
        = "match" since (6, 0, 70) => {
            [mode, "sync", ty(B32_64)] (dst(B32), pred(Beside(Pred)), src(ty), mask(B32))
            where { pred.is_none() || mode == MatchMode::All => "only `.all` says whether all agree" }
        }
    /// `activemask.b32`
    Activemask { dst: Reg } = "activemask" since (6, 2, 30) => { ["b32"] (dst(B32)) }
    /// `redux.sync`; `abs` and `nan` for `.f32`.
    Redux { op: ReduxOp, ty: ScalarType, abs: bool, nan: bool, dst: Reg, src: Operand, mask: Operand }
        = "redux" since (7, 0, 80) => {
            ["sync", op, abs("abs"), nan("NaN"), ty(redux_types(op))]
            where { ty == F32 || !(abs || nan) => "`.abs` and `.NaN` are for `.f32`" }
            (dst(ty), src(ty), mask(B32))
        }
    /// `shfl`, `shfl.sync`
    Shfl(Box<Shfl>) = "shfl" => {
        /// `shfl` and `shfl.sync`
        #[derive(Copy)]
        struct Shfl {
            mode: ShflMode, dst: Dst,
            /// True if the source lane was in range.
            pred: Dst,
            /// The 32-bit value that other lanes read.
            src: Operand,
            /// Lane, delta or mask.
            b: Operand,
            /// Segment mask in bits 8 to 12, clamp in bits 0 to 4.
            c: Operand,
            mask: Option<Operand>,
        }
        [let sync(Sync): bool = mask.is_some(), mode, "b32"]
        (dst(B32), pred(Beside(Pred)), src(B32), b(B32), c(B32), mask((B32, sync)))
    }
    /// `elect.sync`: the elected lane to `dst`, "it is me" to `pred`.
    Elect { dst: Dst, pred: Reg, mask: Operand }
        = "elect" since (8, 0, 90) => { ["sync"] (dst(B32), pred(Beside(Pred)), mask(B32)) }
}

"clusters" {
    /// `mapa`
    Mapa(Box<Mapa>) = "mapa" since (7, 8, 90) => {
        /// The address of the same variable in another block of the cluster, which `rank` names.
        #[derive(Copy)]
        struct Mapa { space: Space, ty: ScalarType, dst: Reg, src: Operand, rank: Operand }
        [space(CLUSTER), ty(&[U32, U64])] (dst(ty), src(ty), rank(U32))
    }
    /// `getctarank`: the rank of the block whose shared memory an address is in; `ty` is the address's.
    Getctarank { space: Space, ty: ScalarType, dst: Reg, src: Operand }
        = "getctarank" since (7, 8, 90) => { [space(CLUSTER), ty(&[U32, U64])] (dst(U32), src(ty)) }
    /// `setmaxnreg`: how many registers each thread of the warp may have. Changes no result.
    Setmaxnreg { increases: bool, registers: u32 }
        = "setmaxnreg" since (8, 0, 90) => {
            [increases(Either("dec", "inc")), "sync", "aligned", "u32"] (registers("the number of registers"))
            where {
                (24..=256).contains(&registers) && registers.is_multiple_of(8)
                    => "24 to 256 registers are possible, in multiples of 8",
            }
        }
}

"matrices" {
    /// `mma`, `mma.sp`
    Mma(Box<Mma>) = "mma" since (6, 4, 70) => {
        /// `D = A * B + C`
        struct Mma {
            product: Product, d: Dsts, a: Srcs, b: Srcs, c: Srcs,
            /// `mma.sp`: where the elements of A are that are not zero, and which threads of each four have that.
            metadata: Option<Operand>, selector: Option<u32>,
        }
        [
            let sparsity(): Option<Sparsity> = product.sparsity, "sync", "aligned",
            let shape(): MatrixShape = product.shape, let a_col(Either("row", "col")): bool = product.a_col,
            let b_col(Either("row", "col")): bool = product.b_col,
            let rounding(): Option<Rounding> = product.rounding, let satfinite("satfinite"): bool = product.satfinite,
            let d_ty(): MatrixType = product.d_ty, let a_ty(): MatrixType = product.a_ty,
            let b_ty(): MatrixType = product.b_ty, let c_ty(): MatrixType = product.c_ty,
            let bits(): Option<BitProduct> = product.bits, let counted(When(bits.is_some(), "popc")): () = (),
            product = Product {
                wmma: false, shape, a_col, b_col, a_ty, b_ty, c_ty, d_ty, rounding, satfinite, bits, sparsity
            }
        ]
        where { product.exists() => "these types, layouts and sizes do not go together" }
        (
            d(product.part(MatrixOperand::D)), a(product.part(MatrixOperand::A)),
            b(product.part(MatrixOperand::B)), c(product.part(MatrixOperand::C)),
            metadata((B32, sparsity.is_some())), selector(("the sparsity selector", sparsity.is_some()))
        )
        where { selector.is_none_or(|selector| selector < 4) => "the selector is less than 4" }
    }
    /// `wmma.mma`
    Wmma(Box<Mma>) = "wmma" since (6, 0, 70) when |m: &Mods| m.has("mma") => {
        Mma {
            product: Product, d: Dsts, a: Srcs, b: Srcs, c: Srcs, metadata: Option<Operand>, selector: Option<u32>,
        }
        [
            metadata = None, selector = None, "mma", let bits(): Option<BitProduct> = product.bits,
            let counted(When(bits.is_some(), "popc")): () = (), "sync", "aligned",
            let a_col(Either("row", "col")): bool = product.a_col, let b_col(Either("row", "col")): bool = product.b_col,
            let shape(): MatrixShape = product.shape, let rounding(): Option<Rounding> = product.rounding,
            let d_ty(): MatrixType = product.d_ty,
            let factors(HalvesOr): (MatrixType, MatrixType) = (product.a_ty, product.b_ty),
            let c_ty(): MatrixType = product.c_ty, let satfinite("satfinite"): bool = product.satfinite,
            product = Product {
                wmma: true, shape, a_col, b_col, a_ty: factors.0, b_ty: factors.1, c_ty, d_ty, rounding, satfinite,
                bits, sparsity: None
            }
        ]
        where { product.exists() => "these types, layouts and sizes do not go together" }
        (
            d(product.part(MatrixOperand::D)), a(product.part(MatrixOperand::A)),
            b(product.part(MatrixOperand::B)), c(product.part(MatrixOperand::C))
        )
    }
    /// `wmma.load`, `wmma.store`
    WmmaMemory(Box<WmmaMemory>) = "wmma" since (6, 0, 70) => {
        /// A matrix between memory and registers: A, B or C to load, D to store.
        struct WmmaMemory {
            operand: MatrixOperand,
            /// Columns lie one after another.
            col: bool,
            /// Sizes of the product.
            shape: MatrixShape,
            space: Space, ty: MatrixType, addr: Address,
            /// Elements from one row (or column) to the next; if absent they follow each other.
            stride: Option<Operand>,
            dsts: Dsts, srcs: Srcs,
        }
        [
            let loads(Either("store", "load")): bool = *operand != MatrixOperand::D, operand, "sync", "aligned",
            col(Either("row", "col")), shape, space(&[Space::Generic, Space::Global, Space::Shared]), ty
        ]
        where {
            loads == (operand != MatrixOperand::D) => "A, B and C are loaded, D is stored",
            fragment_exists(operand, shape, ty) => "this type has no such shape",
        }
        (
            dsts(fragment(loads, shape, operand, ty)), addr(space),
            srcs(fragment(!loads, shape, operand, ty)), stride(U32)
        )
    }
    /// `ldmatrix`, `stmatrix`
    MatrixMemory(Box<MatrixMemory>) = "ldmatrix" | "stmatrix" since (6, 5, 75) => {
        /// 8 by 8 matrices of 16 bits in shared memory, loaded or stored; each thread has the address of a row.
        struct MatrixMemory { transposed: bool, space: Space, addr: Address, dsts: Dsts, srcs: Srcs }
        [
            let stores(Named("stmatrix")): bool = !srcs.is_empty(), "sync", "aligned", "m8n8",
            let count(Times): usize = dsts.len() + srcs.len(), transposed("trans"), space(BLOCK), "b16"
        ]
        (
            dsts((B32, if stores { 0 } else { count })), addr(space),
            srcs((B32, if stores { count } else { 0 }))
        )
    }
    /// `movmatrix`
    Movmatrix(Box<MoveMatrix>) = "movmatrix" since (7, 8, 75) => {
        /// The transpose of a matrix of 8 by 8.
        struct MoveMatrix { dst: Reg, src: Operand }
        ["sync", "aligned", "m8n8", "trans", "b16"] (dst(B32), src(B32))
    }
    /// `wgmma.fence`
    WgmmaFence {} = "wgmma" since (8, 0, 90) when |m: &Mods| m.has("fence") => { ["fence", "sync", "aligned"] () }
    /// `wgmma.commit_group`
    WgmmaCommitGroup {} = "wgmma" since (8, 0, 90) when |m: &Mods| m.has("commit_group") => {
        ["commit_group", "sync", "aligned"] ()
    }
    /// `wgmma.wait_group`: until at most `pending` groups are pending.
    WgmmaWaitGroup { pending: u32 } = "wgmma" since (8, 0, 90) when |m: &Mods| m.has("wait_group") => {
        ["wait_group", "sync", "aligned"] (pending("the number of groups"))
    }
    /// `wgmma.mma_async`
    Wgmma(Box<Wgmma>) = "wgmma" since (8, 0, 90) => {
        /// A product by four warps: `D = A * B + D`
        struct Wgmma {
            /// `m` is 64.
            shape: MatrixShape, d_ty: MatrixType, a_ty: MatrixType, b_ty: MatrixType, satfinite: bool,
            /// Added to.
            d: Dsts,
            a: LeftFactor,
            /// Descriptor of B.
            b: Operand,
            /// `.sp`: where the elements of A are that are not zero, and which threads of each four have that.
            metadata: Option<Operand>, selector: Option<u32>,
            /// If false, the product alone.
            adds: PredOperand,
            /// Take A negated, B negated.
            negated: [bool; 2],
            /// In shared memory columns of A lie one after another, rows of B.
            turned: [bool; 2],
        }
        [
            "mma_async", let sparse("sp"): bool = metadata.is_some(), "sync", "aligned", shape,
            satfinite("satfinite"), d_ty, a_ty, b_ty
        ]
        where { exists(shape, [d_ty, a_ty, b_ty], satfinite, sparse) => "these types and sizes do not go together" }
        (
            d((d_ty.register(), registers(shape, d_ty))), a(), b(B64),
            metadata((B32, sparse)), selector(("the sparsity selector", sparse)), adds(),
            negated(Flags(if d_ty == MatrixType::S32 { 2 } else { 0 }, [1, -1])),
            turned(Flags(a.first_turned(a_ty), [0, 1]))
        )
        where { selector.is_none_or(|selector| selector < most_selectors(a_ty)) => "too large a selector" }
    }
}

"asynchronous copies" {
    /// `cp.async.bulk.commit_group`
    BulkCommitGroup {} = "cp" since (8, 0, 90) when |m: &Mods| m.all(&["bulk", "commit_group"]) => {
        ["async", "bulk", "commit_group"] ()
    }
    /// `cp.async.bulk.wait_group`: until at most `pending` groups are pending (`read`: have been read).
    BulkWaitGroup { pending: u32, read: bool }
        = "cp" since (8, 0, 90) when |m: &Mods| m.all(&["bulk", "wait_group"]) => {
            ["async", "bulk", "wait_group", read("read")] (pending("the number of groups"))
        }
    /// `cp.async.bulk.prefetch.tensor`
    TensorPrefetch { dims: TensorDims, map: Operand, coords: Srcs, offsets: Srcs, policy: Option<Operand> }
        = "cp" since (8, 0, 90) when |m: &Mods| m.all(&["bulk", "prefetch", "tensor"]) => {
            [
                "async", "bulk", "prefetch", "tensor", dims, "L2", "global",
                let columns("im2col"): bool = !offsets.is_empty(), let tile("tile"): bool = !columns,
                let hint("L2::cache_hint"): bool = policy.is_some()
            ]
            where { check tensor_mode(dims, tile, columns) }
            (
                "[" map(B64), coords(Braced(S32, dims.count())) "]",
                offsets(PixelOffsets(dims, columns)), policy((B64, hint))
            )
        }
    /// `cp.async.bulk.tensor.global.shared::cta`, `cp.reduce.async.bulk.tensor`: a box of a tensor is stored, or
    /// combined with what is there. `columns`: `.im2col_no_offs`, the pixels of a column.
    TensorStore {
        reduce: Option<AtomOp>, dims: TensorDims, columns: bool, map: Operand, coords: Srcs, src: Address,
        policy: Option<Operand>
    }
        = "cp" since (8, 0, 90) when |m: &Mods| m.all(&["bulk", "tensor", "bulk_group"]) => {
            [
                let reduces("reduce"): bool = reduce.is_some(), "async", "bulk", "tensor", dims, "global", "shared::cta",
                reduce(reduces.then_some(TENSOR_SUMS)), columns("im2col_no_offs"), let tile("tile"): bool = !columns,
                "bulk_group", let hint("L2::cache_hint"): bool = policy.is_some()
            ]
            where { check tensor_mode(dims, tile, columns) }
            ("[" map(B64), coords(Braced(S32, dims.count())) "]", src(Space::Shared), policy((B64, hint)))
        }
    /// `cp.async.bulk.tensor.shared::cluster.global`
    TensorLoad(Box<TensorLoad>) = "cp" since (8, 0, 90) when |m: &Mods| m.all(&["bulk", "tensor"]) => {
        /// A copy of a box of a tensor into shared memory by one thread.
        struct TensorLoad {
            dims: TensorDims, dst_space: Space, dst: Address,
            /// The generic address of the tensor map.
            map: Operand,
            /// Of the first element, those next to one another in memory first.
            coords: Srcs,
            /// The barrier object that is told of the bytes.
            object: Address,
            /// Blocks of the cluster that get the bytes.
            multicast: Option<Operand>,
            /// `.im2col`: what is added to the pixels' coordinates; empty for a box.
            offsets: Srcs,
            policy: Option<Operand>,
        }
        [
            "async", "bulk", "tensor", dims, dst_space(InFull), "global",
            let columns("im2col"): bool = !offsets.is_empty(), let tile("tile"): bool = !columns,
            "mbarrier::complete_tx::bytes", let many("multicast::cluster"): bool = multicast.is_some(),
            let hint("L2::cache_hint"): bool = policy.is_some()
        ]
        where {
            matches!(dst_space, Space::Shared | Space::SharedCluster) && (!many || dst_space == Space::SharedCluster)
                => "boxes go to `.shared::cta`, or to `.shared::cluster`, there also to several blocks",
            check tensor_mode(dims, tile, columns),
        }
        (
            dst(dst_space), "[" map(B64), coords(Braced(S32, dims.count())) "]", object(Space::Shared),
            offsets(PixelOffsets(dims, columns)), multicast((B16, many)), policy((B64, hint))
        )
    }
    /// `cp.async.bulk.prefetch.L2.global`
    BulkPrefetch { addr: Address, size: Operand, policy: Option<Operand> }
        = "cp" since (8, 0, 90) when |m: &Mods| m.all(&["bulk", "prefetch"]) => {
            [
                "async", "bulk", "prefetch", "L2", "global",
                let hint("L2::cache_hint"): bool = policy.is_some()
            ]
            (addr(Space::Global), size(U32), policy((B64, hint)))
        }
    /// `cp.async.bulk`, `cp.reduce.async.bulk`
    BulkCopy(Box<BulkCopy>) = "cp" since (8, 0, 90) when |m: &Mods| m.all(&["async", "bulk"]) => {
        /// A copy of many bytes by one thread, a multiple of 16.
        struct BulkCopy {
            /// `cp.reduce`: what is done with what is there, and the type of the elements.
            reduce: Option<(AtomOp, ScalarType)>,
            dst_space: Space, src_space: Space, dst: Address, src: Address, size: Operand,
            /// The barrier object that is told of the bytes; without one the copy belongs to a bulk group.
            object: Option<Address>,
            /// Blocks of the cluster that get the bytes.
            multicast: Option<Operand>,
            policy: Option<Operand>,
        }
        [
            let reduces("reduce"): bool = reduce.is_some(), "async", "bulk", dst_space(InFull), src_space(InFull),
            let told("mbarrier::complete_tx::bytes"): bool = object.is_some(),
            let grouped("bulk_group"): bool = object.is_none(),
            let many("multicast::cluster"): bool = multicast.is_some(),
            let hint("L2::cache_hint"): bool = policy.is_some(),
            let op(reduces.then_some(AtomOp::ALL)): Option<AtomOp> = reduce.map(|reduce| reduce.0),
            let noftz("noftz"): bool = adds_halves(*reduce),
            let ty(op.map(|op| bulk_types(op, dst_space))): Option<ScalarType> = reduce.map(|reduce| reduce.1),
            reduce = op.zip(ty)
        ]
        where {
            told != grouped => "it completes by an object or by a group",
            noftz == adds_halves(reduce) => "additions of halves, and nothing else, have `.noftz`",
            bulk_exists((dst_space, src_space), told, reduces, many)
                => "these state spaces and ways of completing do not go together",
        }
        (
            dst(dst_space), src(src_space), size(U32), object((Space::Shared, told)), multicast((B16, many)),
            policy((B64, hint))
        )
    }
    /// `cp.async.commit_group`
    CpAsyncCommitGroup {} = "cp" since (7, 0, 80) when |m: &Mods| m.has("commit_group") => { ["async", "commit_group"] () }
    /// `cp.async.wait_group N`: until at most `pending` groups are pending.
    CpAsyncWaitGroup { pending: u32 }
        = "cp" since (7, 0, 80) when |m: &Mods| m.has("wait_group") => {
            ["async", "wait_group"] (pending("the number of groups"))
        }
    /// `cp.async.wait_all`
    CpAsyncWaitAll {} = "cp" since (7, 0, 80) when |m: &Mods| m.has("wait_all") => { ["async", "wait_all"] () }
    /// `cp.async`: `size_bytes` 4, 8 or 16 from global to shared memory; bytes past `src_size` (or
    /// all, if `ignore_src`) are zero.
    CpAsync {
        dst: Address, src: Address, size_bytes: u32, src_size: Option<Operand>,
        ignore_src: Option<PredOperand>, cache: Option<Box<CacheHints>>
    } = "cp" since (7, 0, 80) => {
            [
                "async", let op(COPY_CACHES): Option<CacheOp> = hints(cache).op,
                let to(&[Space::Shared]): Space = Space::Shared, let from(&[Space::Global]): Space = Space::Global,
                let more(): CacheHints = hints(cache)
            ]
            where { op.is_some() => "`.ca` or `.cg` is needed" }
            (
                dst(to), src(from), size_bytes("the number of bytes"), ignore_src(If(|p| p.at_predicate(), ())),
                src_size(If(if more.policy.is_some() { |p| !p.at_64_bit_register() } else { |_| true }, U32)),
                let policy((B64, more.policy.is_some())): Option<Operand> = more.policy,
                cache = boxed(op, more, policy)
            )
            where {
                matches!((size_bytes, op), (16, _) | (4 | 8, Some(CacheOp::Ca)))
                    => "4, 8 or 16 bytes are copied, by `.cg` 16",
            }
        }
}

"cache" {
    /// `prefetch.tensormap`
    PrefetchMap { space: Space, addr: Address }
        = "prefetch" since (8, 0, 90) when |m: &Mods| m.has("tensormap") => {
            [space(MAPS), "tensormap"] (addr(space))
        }
    /// `prefetch`
    Prefetch { space: Space, level: PrefetchLevel, addr: Address }
        = "prefetch" => { [space, level] (addr(space)) }
    /// `prefetchu.L1`
    PrefetchUniform { addr: Address } = "prefetchu" => { ["L1"] (addr()) }
    /// `applypriority...L2::evict_normal [a], 128`
    ApplyPriority { space: Space, addr: Address, size_bytes: u32 }
        = "applypriority" since (7, 4, 80) => {
            [space, "L2::evict_normal"] (addr(space), size_bytes("the number of bytes"))
        }
    /// `discard...L2 [a], 128`: the contents become undefined.
    Discard { space: Space, addr: Address, size_bytes: u32 }
        = "discard" since (7, 4, 80) => { [space, "L2"] (addr(space), size_bytes("the number of bytes")) }
    /// `createpolicy.fractional`: two priorities, and the share of the accesses that has the first.
    PolicyFractional { primary: L2Eviction, secondary: Option<L2Eviction>, dst: Reg, fraction: Option<Operand> }
        = "createpolicy" since (7, 4, 80) when |m: &Mods| m.has("fractional") => {
            ["fractional", primary, secondary, "b64"] (dst(B64), fraction(F32))
        }
    /// `createpolicy.range`: the first priority for `size` bytes of `total` from `addr` on.
    PolicyRange {
        space: Space, primary: L2Eviction, secondary: Option<L2Eviction>, dst: Reg, addr: Address,
        size: Operand, total: Operand
    } = "createpolicy" since (7, 4, 80) when |m: &Mods| m.has("range") => {
            ["range", space, primary, secondary, "b64"] (dst(B64), addr(space), size(U32), total(U32))
        }
    /// `createpolicy.cvt.L2`: of an access property.
    PolicyConvert { dst: Reg, src: Operand }
        = "createpolicy" since (7, 4, 80) => { ["cvt", "L2", "b64"] (dst(B64), src(B64)) }
}

"textures and surfaces" {
    /// `tex`, `tld4`
    Tex(Box<Tex>) = "tex" | "tld4" => {
        /// A fetch through a texture object: four elements, or two of `.f16x2`.
        struct Tex {
            lod: TexLod,
            /// `tld4`: what is gathered.
            component: Option<TexComponent>,
            geometry: TexGeometry, dst_ty: ScalarType,
            /// `.f32` (sampled) or `.s32` (fetched).
            coord_ty: ScalarType,
            dsts: Dsts,
            /// Residency predicate of sparse textures.
            resident: Dst,
            texture: Operand,
            /// In independent mode.
            sampler: Option<Operand>,
            /// As written, padding included.
            coords: Srcs,
            /// Level of detail.
            level: Option<Operand>,
            /// Gradients; empty if there are none.
            dx: Srcs, dy: Srcs,
            /// Texel offsets; empty if there are none.
            offsets: Srcs,
            /// Depth to compare with.
            compare: Option<Operand>,
        }
        [
            let gathers(Named("tld4")): bool = component.is_some(), component(gathers.then_some(TexComponent::ALL)),
            lod(if gathers { &[TexLod::Implicit] } else { TexLod::ALL }), geometry, let count(): usize = dsts.len(),
            dst_ty(&[U32, S32, F32, F16x2]), coord_ty(if gathers { &[F32] } else { coordinate_types(geometry) })
        ]
        where { count == if dst_ty == F16x2 { 2 } else { 4 } => "the result is `.v4` or `.v2.f16x2`" }
        (
            dsts((Wide(dst_ty), count)), resident(Beside(Pred)),
            "[" texture(U64), sampler(If(|p| p.at_64_bit_register(), U64)), coords(Coordinates(geometry, coord_ty)) "]",
            level((coord_ty, lod == TexLod::Level)), dx(Gradient(lod, geometry)), dy(Gradient(lod, geometry)),
            offsets(IfBraces(S32)), compare(F32)
        )
    }
    /// `suld.b`, `sust.b`, `sust.p`
    Surface(Box<Surface>) = "suld" | "sust" => {
        /// Access to a surface object.
        struct Surface {
            /// `.p` and not `.b` (raw bytes; the x coordinate counts bytes).
            formatted: bool,
            geometry: TexGeometry, cache: Option<CacheOp>, ty: ScalarType,
            /// Out of bounds.
            clamp: SurfaceClamp,
            /// Loaded.
            dsts: Dsts,
            surface: Operand,
            /// As written, padding included.
            coords: Srcs,
            /// Stored.
            srcs: Srcs,
        }
        [
            let stores(Named("sust")): bool = !srcs.is_empty(), formatted(Either("b", "p")), geometry,
            cache(if stores { STORE_CACHES } else { SURFACE_CACHES }), let count(): usize = dsts.len() + srcs.len(),
            ty(if formatted { &[B32] } else { SURFACE }), clamp
        ]
        where {
            stores || !formatted => "what is loaded is raw bytes",
            count <= 4 => "the value is a scalar, `.v2` or `.v4`",
            count as u32 * ty.bits() <= 128 => "a vector has at most 16 bytes",
        }
        (
            dsts((Wide(ty), if stores { 0 } else { count })), "[" surface(U64), coords(Coordinates(geometry, S32)) "]",
            srcs((Wide(ty), if stores { count } else { 0 }))
        )
    }
    /// `txq`: `level` for `txq.level`.
    Txq { query: TexQuery, dst: Reg, object: Operand, level: Option<Operand> }
        = "txq" => {
            [let with_level("level"): bool = level.is_some(), query, "b32"]
            (dst(B32), object(Bracketed(B64)), level((B32, with_level)))
        }
    /// `suq`
    Suq { query: TexQuery, dst: Reg, object: Operand }
        = "suq" => { [query, "b32"] (dst(B32), object(Bracketed(B64))) }
}

"miscellaneous" {
    /// `nanosleep.u32`
    Nanosleep { duration: Operand } = "nanosleep" since (6, 2, 70) => { ["u32"] (duration(U32)) }
    /// `pmevent` (a 16-bit mask in the `.mask` form, else one event)
    Pmevent { mask: bool, event: u32 }
        = "pmevent" => {
            [mask("mask")] (event("the event"))
            where { event <= if mask { 0xffff } else { 15 } => "events are 0 to 15, masks have 16 bits" }
        }
}
}

/// Words of known instructions that are not supported, and what they are.
const UNSUPPORTED: &[(&str, &str, &str)] = &[
    ("cvt", "rs", "stochastic rounding, which devices of sm_100a have"),
    ("mma", "kind::f8f6f4", "for sm_120a"),
    ("mma", "block_scale", "for sm_120a"),
    ("ldmatrix", "m16n16", "for sm_100a"),
    ("ldmatrix", "m8n16", "for sm_100a"),
    ("stmatrix", "m16n8", "for sm_100a"),
    ("cp", "im2col::w", "for sm_100a"),
    ("cp", "im2col::w::128", "for sm_100a"),
    ("cp", "tile::gather4", "for sm_100a"),
    ("cp", "tile::scatter4", "for sm_100a"),
    ("cp", "cta_group::1", "for sm_100a"),
    ("cp", "cta_group::2", "for sm_100a"),
    ("st", "bulk", "stores of many bytes"),
    ("st", "mmio", "asynchronous stores to devices"),
];

impl Parser<'_> {
    /// Fails where the text is written for an older ISA or device than the instruction's.
    pub(crate) fn since(&self, mods: &Mods, version: (u32, u32), sm: u32) -> Result<()> {
        let (target, (major, minor)) = (self.module.target.sm, self.module.version);
        if target >= sm && (major, minor) >= version {
            return Ok(());
        }
        let (name, (first, second)) = (mods.full_name(), version);
        let came = format!("`{name}` came with PTX ISA {first}.{second} and sm_{sm}");
        let given = format!("this text is PTX {major}.{minor} for sm_{target}");
        fail!(self, mods.opcode, UnknownInstruction, "{came}; {given}")
    }

    /// Says of an instruction that its form is not supported, where that is why its words are not known.
    pub(crate) fn explain(&self, mods: &Mods, error: ParseError) -> ParseError {
        let is_it = |opcode: &str, word| opcode == mods.opcode.text && mods.mentions(word);
        match UNSUPPORTED.iter().find(|(opcode, word, _)| is_it(opcode, word)) {
            Some((_, _, what)) if error.kind == ErrorKind::UnknownModifier => {
                let message = format!("`{}` is not supported: {what}", mods.full_name());
                self.error_at(&mods.opcode, ErrorKind::Unsupported, message)
            }
            _ => error,
        }
    }
}
