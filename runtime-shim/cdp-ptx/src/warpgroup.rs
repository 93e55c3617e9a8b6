//! `wgmma.mma_async`: a product by four warps, of factors in shared memory that descriptors tell of (PTX
//! ISA, "Asynchronous Warpgroup Level Matrix Instructions"). Sparse products are not here.

use crate::inst::{Dsts, Operand, PredOperand, Srcs};
use crate::matrix::{MatrixShape, MatrixType};

/// Where A is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LeftFactor {
    /// In shared memory, as a descriptor says.
    Shared(Operand),
    /// In registers, as for `mma`.
    Registers(Srcs),
}

/// `wgmma.mma_async`: `D = A * B + D`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wgmma {
    /// Sizes; `m` is 64.
    pub shape: MatrixShape,
    /// Type of D.
    pub d_ty: MatrixType,
    /// Type of A.
    pub a_ty: MatrixType,
    /// Type of B.
    pub b_ty: MatrixType,
    /// `.satfinite`
    pub satfinite: bool,
    /// D, which is added to.
    pub d: Dsts,
    /// A.
    pub a: LeftFactor,
    /// Descriptor of B.
    pub b: Operand,
    /// If false, the product alone.
    pub adds: PredOperand,
    /// Take A negated, B negated.
    pub negated: [bool; 2],
    /// In shared memory columns of A lie one after another, rows of B.
    pub turned: [bool; 2],
}

impl Wgmma {
    /// Does this combination of types and shape exist?
    pub fn exists(&self) -> bool {
        use MatrixType as T;
        let MatrixShape { m, n, k } = self.shape;
        let (d, a, b) = (self.d_ty, self.a_ty, self.b_ty);
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
        types && m == 64 && k == length && sizes && even && (integers || !self.satfinite)
    }

    /// Registers of D in each thread.
    pub fn registers(&self) -> usize {
        (self.shape.n * self.d_ty.bits() / 64) as usize
    }

    /// Factors that may be turned: halves.
    pub fn may_turn(&self) -> bool {
        matches!(self.a_ty, MatrixType::F16 | MatrixType::BF16)
    }
}
