//! `wgmma.mma_async`: a product by four warps, of factors in shared memory that descriptors tell of (PTX
//! ISA, "Asynchronous Warpgroup Level Matrix Instructions").

use crate::inst::{Operand, Srcs};
use crate::matrix::{MatrixShape, MatrixType};
pub use crate::table::Wgmma;

/// Where A is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LeftFactor {
    /// In shared memory, as a descriptor says.
    Shared(Operand),
    /// In registers, as for `mma`.
    Registers(Srcs),
}

/// Does this combination of types and shape exist?
pub(crate) fn exists(
    shape: MatrixShape,
    [d, a, b]: [MatrixType; 3],
    satfinite: bool,
    sparse: bool,
) -> bool {
    use MatrixType as T;
    let MatrixShape { m, n, k } = shape;
    let fp8 = |ty| matches!(ty, T::E4M3 | T::E5M2);
    let s8 = |ty| matches!(ty, T::S8 | T::U8);
    let (types, length) = match a {
        T::F16 => (b == a && matches!(d, T::F16 | T::F32), 16),
        T::BF16 => (b == a && d == T::F32, 16),
        T::TF32 => (b == a && d == T::F32, 8),
        T::E4M3 | T::E5M2 => (fp8(b) && matches!(d, T::F16 | T::F32), 32),
        T::S8 | T::U8 => (s8(b) && d == T::S32, 32),
        _ => (false, 0),
    };
    let sizes = n.is_multiple_of(8) && (8..=256).contains(&n);
    let integers = d == T::S32;
    // Products of integers have no odd multiples of 8 above 24.
    let even = !integers || n <= 24 || n.is_multiple_of(16);
    types
        && m == 64
        && k == length << u32::from(sparse)
        && sizes
        && even
        && (integers || !satfinite)
}

/// Registers of D in each thread.
pub fn registers(shape: MatrixShape, d_ty: MatrixType) -> usize {
    (shape.n * d_ty.bits() / 64) as usize
}

/// How many selectors there are: which threads have the metadata is said where some alone have it.
pub(crate) fn most_selectors(a_ty: MatrixType) -> u32 {
    if a_ty.bits() > 8 { 2 } else { 1 }
}

impl LeftFactor {
    /// The first factor that may be turned, of two: those of halves that are in shared memory.
    pub(crate) fn first_turned(&self, ty: MatrixType) -> usize {
        match (ty, self) {
            (MatrixType::F16 | MatrixType::BF16, LeftFactor::Shared(_)) => 0,
            (MatrixType::F16 | MatrixType::BF16, LeftFactor::Registers(_)) => 1,
            _ => 2,
        }
    }
}
