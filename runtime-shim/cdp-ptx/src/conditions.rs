//! The conditions of the table's rows: which row is meant where several have one opcode, types that follow
//! from modifiers, and what does not exist though its words and types do. One function for each condition
//! that is more than an expression.

use crate::inst::*;
use crate::matrix::{MatrixOperand, MatrixShape, MatrixType, registers};
use crate::parse::mods::Mods;
use crate::table::{HALVES, INTS, NARROW};
use crate::types::*;

use ScalarType::*;

// Which row, where several have one opcode.

/// The carry goes in or comes out.
pub(crate) fn carries(mods: &Mods) -> bool {
    mods.opcode.text.ends_with('c') || mods.has("cc")
}

/// `.f32` with another type.
pub(crate) fn mixed(mods: &Mods) -> bool {
    let mut types = mods.types();
    types.next() == Some(F32) && types.next().is_some()
}

pub(crate) fn floating(mods: &Mods) -> bool {
    mods.types().next().is_some_and(ScalarType::is_float)
}

// Types that follow from modifiers.

/// The type of what `mul` and `mad` make of `ty`.
pub(crate) fn product(part: MulPart, ty: ScalarType) -> ScalarType {
    match (part, ty) {
        (MulPart::Wide, U16) => U32,
        (MulPart::Wide, S16) => S32,
        (MulPart::Wide, U32) => U64,
        (MulPart::Wide, _) => S64,
        _ => ty,
    }
}

/// The type of a dot product.
pub(crate) fn sum(a_ty: ScalarType, b_ty: ScalarType) -> ScalarType {
    if a_ty == S32 || b_ty == S32 { S32 } else { U32 }
}

pub(crate) fn vote_ty(mode: VoteMode) -> ScalarType {
    if mode == VoteMode::Ballot { B32 } else { Pred }
}

pub(crate) fn redux_types(op: ReduxOp) -> &'static [ScalarType] {
    match op {
        ReduxOp::Add => &[U32, S32],
        ReduxOp::Min | ReduxOp::Max => &[U32, S32, F32],
        _ => &[B32],
    }
}

pub(crate) fn atom_types(op: AtomOp) -> &'static [ScalarType] {
    match op {
        AtomOp::And | AtomOp::Or | AtomOp::Xor => &[B32, B64],
        AtomOp::Cas => &[B16, B32, B64, B128],
        AtomOp::Exch => &[B32, B64, B128],
        AtomOp::Add => &[U32, S32, U64, F32, F64, F16, F16x2, BF16, BF16x2],
        AtomOp::Inc | AtomOp::Dec => &[U32],
        AtomOp::Min | AtomOp::Max => &[U32, S32, U64, S64],
    }
}

pub(crate) fn vector_atom_types(op: AtomOp) -> &'static [ScalarType] {
    match op {
        AtomOp::Add => &[F32, F16, F16x2, BF16, BF16x2],
        AtomOp::Min | AtomOp::Max => &[F16, F16x2, BF16, BF16x2],
        _ => &[],
    }
}

pub(crate) fn remote_types(reduce: Option<AtomOp>) -> &'static [ScalarType] {
    match reduce {
        None => &[B32, B64, U32, U64, S32, S64, F32, F64],
        Some(AtomOp::And | AtomOp::Or | AtomOp::Xor) => &[B32],
        Some(AtomOp::Add) => &[U32, S32, U64],
        Some(AtomOp::Min | AtomOp::Max) => &[U32, S32],
        Some(AtomOp::Inc | AtomOp::Dec) => &[U32],
        Some(AtomOp::Cas | AtomOp::Exch) => &[],
    }
}

/// The types of a reduction by a bulk copy.
pub(crate) fn bulk_types(op: AtomOp, to: Space) -> &'static [ScalarType] {
    match (op, to) {
        (AtomOp::And | AtomOp::Or | AtomOp::Xor, Space::Global) => &[B32, B64],
        (AtomOp::Add, Space::Global) => &[U32, S32, U64, F16, BF16, F32, F64],
        (AtomOp::Min | AtomOp::Max, Space::Global) => &[U32, S32, U64, S64, F16, BF16],
        _ => remote_types(Some(op)),
    }
}

pub(crate) fn adds_halves(reduce: Option<(AtomOp, ScalarType)>) -> bool {
    matches!(reduce, Some((AtomOp::Add, F16 | BF16)))
}

/// The amount of a shift is unsigned.
pub(crate) fn video_second(op: VideoOp) -> &'static [ScalarType] {
    match op {
        VideoOp::Shl | VideoOp::Shr => &[U32],
        _ => &[U32, S32],
    }
}

/// The type of the result, which comparisons leave out.
pub(crate) fn video_result(op: VideoOp) -> Option<&'static [ScalarType]> {
    (op != VideoOp::Set).then_some(&[U32, S32])
}

pub(crate) fn video_shift(op: VideoOp) -> Option<&'static [ShiftMode]> {
    matches!(op, VideoOp::Shl | VideoOp::Shr).then_some(ShiftMode::ALL)
}

pub(crate) fn video_comparison(op: VideoOp) -> Option<&'static [CmpOp]> {
    use CmpOp::*;
    (op == VideoOp::Set).then_some(&[Eq, Ne, Lt, Le, Gt, Ge])
}

pub(crate) fn coordinate_types(geometry: TexGeometry) -> &'static [ScalarType] {
    match geometry {
        TexGeometry::D2Ms | TexGeometry::A2Ms => &[S32],
        _ => &[S32, F32],
    }
}

/// Type and number of the registers of a matrix, none where that is so.
pub(crate) fn fragment(
    there: bool,
    shape: MatrixShape,
    operand: MatrixOperand,
    ty: MatrixType,
) -> (ScalarType, usize) {
    let count = if there { registers(true, shape, operand, ty, false) } else { 0 };
    (ty.register(), count)
}

/// The hints of an access; the policy is among them.
pub(crate) fn hints(cache: &Option<Box<CacheHints>>) -> CacheHints {
    cache.as_deref().copied().unwrap_or_default()
}

/// The hints of a text with its operand, if there are any.
pub(crate) fn boxed(
    op: Option<CacheOp>,
    more: CacheHints,
    policy: Option<Operand>,
) -> Option<Box<CacheHints>> {
    let hints = CacheHints { op, policy, ..more };
    (hints != CacheHints::default()).then(|| Box::new(hints))
}

// What does not exist, beyond what types and words say.

/// Nothing, or what is wrong.
pub(crate) type Check = std::result::Result<(), &'static str>;

pub(crate) const ROUNDING_NEEDED: &str = "a rounding such as `.rn` is needed";
pub(crate) const NO_FTZ: &str = "mixed types have no `.ftz`";

pub(crate) fn ensure(holds: bool, why: &'static str) -> Check {
    if holds { Ok(()) } else { Err(why) }
}

/// `.rn`, `.ftz`, `.sat` as far as the floating type has them.
pub(crate) fn float_mode(ty: ScalarType, mode: FloatMode) -> Check {
    let nearest = matches!(mode.rounding, None | Some(Rounding::Rn));
    ensure(!HALVES.contains(&ty) || nearest, "half types have only `.rn`")?;
    ensure(!mode.ftz || matches!(ty, F32 | F32x2 | F16 | F16x2), "this type has no `.ftz`")?;
    ensure(!mode.sat || matches!(ty, F32 | F16 | F16x2), "this type has no `.sat`")
}

pub(crate) fn flushing(ty: ScalarType, ftz: bool) -> Check {
    ensure(!ftz || matches!(ty, F32 | F16 | F16x2), "this type has no `.ftz`")
}

/// Of `sqrt` and `rcp`; only the fast 64-bit reciprocal exists, and it flushes.
pub(crate) fn root_mode(ty: ScalarType, mode: DivMode, ftz: bool, reciprocal: bool) -> Check {
    let exists = match (ty, mode) {
        (_, DivMode::Full) => false,
        (F32, _) => true,
        (_, DivMode::Approx) => reciprocal && ftz,
        _ => !ftz,
    };
    ensure(exists, "`.f64` has IEEE roundings, and `rcp.approx.ftz.f64`")
}

pub(crate) fn comparable(cmp: CmpOp, unsigned: bool, ty: ScalarType) -> Check {
    use CmpOp::*;
    let unordered = matches!(cmp, Equ | Neu | Ltu | Leu | Gtu | Geu | Num | Nan);
    ensure(!unordered || ty.is_float(), "this comparison is for floating types")?;
    let unsigned_ty = INTS.contains(&ty) && !ty.is_signed();
    ensure(!unsigned || unsigned_ty, "this comparison is for unsigned types")?;
    let bits = ty.class() == TypeClass::Bits;
    ensure(!bits || matches!(cmp, Eq | Ne), "bits are only equal or not")
}

pub(crate) fn set_exists(dst_ty: ScalarType, src_ty: ScalarType) -> bool {
    let packed = matches!(src_ty, F16x2 | BF16x2);
    match dst_ty {
        U32 | S32 => true,
        U16 | S16 => NARROW.contains(&src_ty),
        F32 => !packed && !NARROW.contains(&src_ty),
        F16 => !packed && src_ty != BF16,
        BF16 => !packed,
        _ => dst_ty == src_ty,
    }
}

/// `.sat` stands where a value can be out of range, `.relu` and `.satfinite` where `.f32` is
/// narrowed.
pub(crate) fn conversion_clamps(
    dst_ty: ScalarType,
    src_ty: ScalarType,
    rounding: Option<CvtRounding>,
    sat: bool,
    relu: bool,
    satfinite: bool,
) -> Check {
    use CvtRounding::*;
    let contained = match (dst_ty.is_signed(), src_ty.is_signed()) {
        (true, false) => dst_ty.bits() > src_ty.bits(),
        (false, true) => false,
        _ => dst_ty.bits() >= src_ty.bits(),
    };
    let integers = dst_ty.is_int() && src_ty.is_int();
    let no_sat = matches!(dst_ty, BF16 | TF32) || src_ty == BF16 || (integers && contained);
    ensure(!sat || !no_sat, "`.sat` has nothing to do, or is not for this type")?;
    let narrows = src_ty == F32 && matches!(dst_ty, F16 | BF16 | TF32);
    ensure(narrows || !(relu || satfinite), "`.relu` and `.satfinite` narrow `.f32`")?;
    let near = matches!(rounding, Some(Rn | Rz));
    ensure(near || !relu, "`.relu` needs `.rn` or `.rz`")?;
    let clamps = near || rounding == Some(Rna);
    ensure(clamps || !satfinite, "`.satfinite` needs `.rn`, `.rz` or `.rna`")
}

/// PTX demands a rounding where one is needed, and none where the result is exact.
pub(crate) fn conversion_rounding(
    dst_ty: ScalarType,
    src_ty: ScalarType,
    rounding: Option<CvtRounding>,
) -> Check {
    use CvtRounding::*;
    let none = rounding.is_none();
    let integral = matches!(rounding, Some(Rni | Rzi | Rmi | Rpi));
    let ieee = matches!(rounding, Some(Rn | Rz | Rm | Rp));
    let exists = match (dst_ty.is_float(), src_ty.is_float()) {
        (false, false) => none,
        (false, true) => integral,
        (true, false) => ieee && dst_ty != TF32,
        (true, true) if dst_ty == TF32 => src_ty == F32 && matches!(rounding, Some(Rn | Rz | Rna)),
        (true, true) if dst_ty == src_ty => none || integral,
        (true, true) if dst_ty.bits() < src_ty.bits() => ieee,
        // `.f16` and `.bf16` do not hold each other's values; widening `.bf16` may name a rounding.
        (true, true) if dst_ty.bits() == src_ty.bits() || src_ty == BF16 => none || ieee,
        (true, true) => none,
    };
    ensure(exists && src_ty != TF32, "a rounding is missing, or out of place")
}

/// Memory that is `.global`, or may be.
pub(crate) fn is_far(space: Space) -> bool {
    matches!(space, Space::Generic | Space::Global)
}

/// Vectors as long as the memory has them, and orderings for memory that other threads see.
pub(crate) fn access(order: AccessOrder, space: Space, count: usize, ty: ScalarType) -> Check {
    let wide = matches!((count, ty.bits()), (8, 32) | (4, 64)) && is_far(space);
    let why = "a vector has at most 16 bytes (`.global` `.v8.b32` and `.v4.b64`: 32)";
    ensure(count as u32 * ty.bits() <= 128 || wide, why)?;
    let seen = is_far(space) || matches!(space, Space::Shared | Space::SharedCluster);
    let weak = order == AccessOrder::Weak;
    ensure(weak || seen, "only shared and global memory has an order")?;
    let mmio = order == AccessOrder::Mmio;
    ensure(!mmio || is_far(space), "`.mmio` is for `.global` memory")
}

/// Eviction priorities and policies are for `.global` memory.
pub(crate) fn hinted(op: Option<CacheOp>, more: CacheHints, space: Space, bits: usize) -> Check {
    let none = more == CacheHints::default();
    ensure(is_far(space) || none, "these cache hints are for `.global` memory")?;
    let both = op.is_some() && more.l1.is_some();
    ensure(!both, "a cache operator and an `.L1` priority do not go together")?;
    ensure(bits == 256 || more.l2.is_none(), "`.L2` priorities are for 32-byte vectors")
}

/// From where to where a bulk copy is possible, and how it is known to be done.
pub(crate) fn bulk_exists(
    (to, from): (Space, Space),
    told: bool,
    reduces: bool,
    multicast: bool,
) -> bool {
    use Space::{Global, Shared, SharedCluster};
    match (to, from) {
        (Shared, Global) => told && !reduces && !multicast,
        (SharedCluster, Global) => told && !reduces,
        (SharedCluster, Shared) => told && !multicast,
        (Global, Shared) => !told && !multicast,
        _ => false,
    }
}

/// `red` throws the old value away.
pub(crate) fn reduction(reduces: bool, op: AtomOp, order: Option<AtomOrder>) -> Check {
    let swaps = matches!(op, AtomOp::Cas | AtomOp::Exch);
    ensure(!(reduces && swaps), "`red` throws the old value away")?;
    let acquires = matches!(order, Some(AtomOrder::Acquire | AtomOrder::AcqRel));
    ensure(!(reduces && acquires), "`red` reads nothing that it could acquire")
}

/// How a tensor's map is read: boxes, or the columns of a convolution.
pub(crate) fn tensor_mode(dims: TensorDims, tile: bool, columns: bool) -> Check {
    ensure(!(tile && columns), "`.tile` is a box, not a column of pixels")?;
    ensure(
        !columns || dims.count() >= 3,
        "pixels have channels, a place and a picture: three dimensions and more",
    )
}

pub(crate) fn multimem_types(op: Option<AtomOp>) -> &'static [ScalarType] {
    match op {
        None => &[B32, B64, U32, U64, S32, S64, F16, F16x2, BF16, BF16x2, F32, F64],
        Some(AtomOp::Add) => &[U32, U64, S32, F16, F16x2, BF16, BF16x2, F32, F64],
        Some(AtomOp::Min | AtomOp::Max) => &[U32, U64, S32, S64, F16, F16x2, BF16, BF16x2],
        Some(_) => &[B32, B64],
    }
}

/// Floating types go in vectors of up to 16 bytes, halves in no other way.
pub(crate) fn multimem_vector(
    access: MultimemAccess,
    op: Option<AtomOp>,
    ty: ScalarType,
    count: usize,
) -> Check {
    let vectors = HALVES.contains(&ty) || ty == F32;
    ensure(count == 1 || vectors, "these types have no vectors")?;
    let least = access == MultimemAccess::Reduce && op != Some(AtomOp::Add);
    let with_others = NARROW.contains(&ty) || least && HALVES.contains(&ty);
    ensure(count > 1 || !with_others, "a half goes with others")?;
    ensure(count as u32 * ty.bits() <= 128, "vectors have at most 16 bytes")
}

pub(crate) fn multimem_order(
    access: MultimemAccess,
    weak: bool,
    order: Option<AtomOrder>,
    scope: Option<Scope>,
) -> Check {
    ensure(order.is_some() == scope.is_some(), "an order goes with a scope")?;
    ensure(!weak || order.is_none(), "a weak access has no order")?;
    ensure(!weak || access != MultimemAccess::Reduce, "a reduction is not weak")?;
    let full = match access {
        MultimemAccess::LoadReduce => AtomOrder::Acquire,
        _ => AtomOrder::Release,
    };
    let known = order.is_none_or(|order| order == full || order == AtomOrder::Relaxed);
    ensure(known, "loads acquire, stores and reductions release")
}
