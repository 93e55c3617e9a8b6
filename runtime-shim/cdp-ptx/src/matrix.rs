//! Instructions on matrices that a warp holds in its registers: `mma`, `mma.sp`, `wmma`, `ldmatrix`,
//! `stmatrix`, `movmatrix` (PTX ISA, "Warp Level Matrix Instructions").
//!
//! Types, shapes and the registers that each operand takes are here; where an element of a matrix lies
//! in these registers, and what a product is, is for those who run them. Not here: the instructions of
//! warp groups ([`crate::warpgroup`]) and of `tcgen05`.

pub use crate::table::{MatrixMemory, Mma, MoveMatrix, WmmaMemory};
use crate::types::{Rounding, ScalarType, Word, words};

use MatrixType::*;

words! {
    /// The type of the elements of a matrix.
    MatrixType {
        F16 = "f16",
        /// The upper half of a binary32.
        BF16 = "bf16",
        /// A binary32 whose low 13 bits do not count, in a register of 32 bits.
        TF32 = "tf32",
        F32 = "f32", F64 = "f64",
        /// 4 bits of exponent; no infinities.
        E4M3 = "e4m3",
        /// 5 bits of exponent.
        E5M2 = "e5m2",
        S8 = "s8", U8 = "u8",
        /// Eight in a register.
        S4 = "s4",
        /// Eight in a register.
        U4 = "u4",
        /// One bit, 32 in a register.
        B1 = "b1",
        /// Sums of integer products.
        S32 = "s32",
    }
}

impl MatrixType {
    /// Bits of an element.
    pub fn bits(self) -> u32 {
        match self {
            MatrixType::F64 => 64,
            MatrixType::TF32 | MatrixType::F32 | MatrixType::S32 => 32,
            MatrixType::F16 | MatrixType::BF16 => 16,
            MatrixType::E4M3 | MatrixType::E5M2 | MatrixType::S8 | MatrixType::U8 => 8,
            MatrixType::S4 | MatrixType::U4 => 4,
            MatrixType::B1 => 1,
        }
    }

    /// The type of the registers that hold such elements.
    pub fn register(self) -> ScalarType {
        match self {
            MatrixType::F32 => ScalarType::F32,
            MatrixType::F64 => ScalarType::F64,
            MatrixType::S32 => ScalarType::S32,
            _ => ScalarType::B32,
        }
    }
}

/// `m16n8k16`: A has `m` rows and `k` columns, B `k` rows and `n` columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MatrixShape {
    /// Rows of A and of the result.
    pub m: u32,
    /// Columns of B and of the result.
    pub n: u32,
    /// Columns of A, rows of B.
    pub k: u32,
}

impl MatrixShape {
    /// From the word after the dot.
    pub fn from_word(word: &str) -> Option<MatrixShape> {
        let (m, rest) = word.strip_prefix('m')?.split_once('n')?;
        let (n, k) = rest.split_once('k')?;
        let number = |text: &str| text.parse().ok().filter(|n: &u32| (1..=256).contains(n));
        Some(MatrixShape { m: number(m)?, n: number(n)?, k: number(k)? })
    }
}

impl std::fmt::Display for MatrixShape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "m{}n{}k{}", self.m, self.n, self.k)
    }
}

words! {
    /// An operand of a product.
    MatrixOperand {
        /// The left factor, `m` by `k`.
        A = "a",
        /// The right factor, `k` by `n`.
        B = "b",
        /// What is added, `m` by `n`.
        C = "c",
        /// The result, `m` by `n`.
        D = "d",
    }

    /// How the product of one-bit elements is made before its bits are counted: 1 where the bits differ,
    /// or where both are.
    BitProduct { Xor = "xor", And = "and", }

    /// How `mma.sp` says where the elements of A are that are not zero.
    Sparsity { Standard = "sp", Ordered = "sp::ordered_metadata", }
}

/// `D = A * B + C` of `mma`, `mma.sp` and `wmma.mma`, without the operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Product {
    /// `wmma` and not `mma`.
    pub wmma: bool,
    /// Sizes.
    pub shape: MatrixShape,
    /// `.col` for A.
    pub a_col: bool,
    /// `.col` for B.
    pub b_col: bool,
    /// Type of A.
    pub a_ty: MatrixType,
    /// Type of B.
    pub b_ty: MatrixType,
    /// Type of C.
    pub c_ty: MatrixType,
    /// Type of D.
    pub d_ty: MatrixType,
    /// Of `.f64`, which may say it; without it to nearest.
    pub rounding: Option<Rounding>,
    /// `.satfinite`
    pub satfinite: bool,
    /// For `.b1`.
    pub bits: Option<BitProduct>,
    /// `mma.sp`
    pub sparsity: Option<Sparsity>,
}

impl Product {
    /// Type of an operand.
    pub fn ty(&self, operand: MatrixOperand) -> MatrixType {
        match operand {
            MatrixOperand::A => self.a_ty,
            MatrixOperand::B => self.b_ty,
            MatrixOperand::C => self.c_ty,
            MatrixOperand::D => self.d_ty,
        }
    }

    /// Does this combination of types, layouts and shape exist?
    pub fn exists(&self) -> bool {
        let (a, b, c, d) = (self.a_ty, self.b_ty, self.c_ty, self.d_ty);
        let MatrixShape { m, n, k } = self.shape;
        let form = match (self.wmma, self.sparsity) {
            (true, _) => Form::Wmma,
            (_, None) => Form::Mma,
            (_, Some(_)) => Form::Sparse,
        };
        // `m8n8k4` of halves is as on the first tensor cores.
        let first = form == Form::Mma && (m, n, k) == (8, 8, 4) && a == F16;
        let any_layout = first || self.wmma && !matches!(a, S4 | U4 | B1);
        let row_by_col = !self.a_col && self.b_col;
        let saturates = !self.satfinite || (c, d) == (S32, S32);
        let rounds = self.rounding.is_none() || a == F64;
        let sums = c == d || self.wmma || first && d == F32;
        let known = PRODUCTS.iter().any(|(of, factors, accumulators, shapes)| {
            let alike = a == b || !self.wmma && factors.contains(&b);
            let summed = accumulators.contains(&c) && accumulators.contains(&d);
            *of == form && factors.contains(&a) && alike && summed && shapes.contains(&(m, n, k))
        });
        let ends = saturates && rounds && sums;
        known && (any_layout || row_by_col) && ends && self.bits.is_some() == (a == B1)
    }

    /// Registers of an operand.
    pub fn registers(&self, operand: MatrixOperand) -> usize {
        let sparse = self.sparsity.is_some();
        registers(self.wmma, self.shape, operand, self.ty(operand), sparse)
    }

    /// Type and number of the registers of an operand.
    pub(crate) fn part(&self, operand: MatrixOperand) -> (ScalarType, usize) {
        (self.ty(operand).register(), self.registers(operand))
    }
}

/// The instruction of a product.
#[derive(PartialEq)]
enum Form {
    Wmma,
    Mma,
    Sparse,
}

const TILES: &[(u32, u32, u32)] = &[(16, 16, 16), (8, 32, 16), (32, 8, 16)];

/// The products that there are: form, types of the factors, types of what is added and of the result, shapes.
/// Factors of two types of a row go together in `mma`.
const PRODUCTS: &[(Form, &[MatrixType], &[MatrixType], &[(u32, u32, u32)])] = &[
    (Form::Wmma, &[F16], &[F16, F32], TILES),
    (Form::Wmma, &[BF16], &[F32], TILES),
    (Form::Wmma, &[TF32], &[F32], &[(16, 16, 8)]),
    (Form::Wmma, &[F64], &[F64], &[(8, 8, 4)]),
    (Form::Wmma, &[S8, U8], &[S32], TILES),
    (Form::Wmma, &[S4, U4], &[S32], &[(8, 8, 32)]),
    (Form::Wmma, &[B1], &[S32], &[(8, 8, 128)]),
    (Form::Mma, &[F16], &[F16, F32], &[(8, 8, 4), (16, 8, 8), (16, 8, 16)]),
    (Form::Mma, &[BF16], &[F32], &[(16, 8, 8), (16, 8, 16)]),
    (Form::Mma, &[TF32], &[F32], &[(16, 8, 4), (16, 8, 8)]),
    (Form::Mma, &[F64], &[F64], &[(8, 8, 4), (16, 8, 4), (16, 8, 8), (16, 8, 16)]),
    (Form::Mma, &[E4M3, E5M2], &[F16, F32], &[(16, 8, 16), (16, 8, 32)]),
    (Form::Mma, &[S8, U8], &[S32], &[(8, 8, 16), (16, 8, 16), (16, 8, 32)]),
    (Form::Mma, &[S4, U4], &[S32], &[(8, 8, 32), (16, 8, 32), (16, 8, 64)]),
    (Form::Mma, &[B1], &[S32], &[(8, 8, 128), (16, 8, 128), (16, 8, 256)]),
    (Form::Sparse, &[F16], &[F16, F32], &[(16, 8, 16), (16, 8, 32)]),
    (Form::Sparse, &[BF16], &[F32], &[(16, 8, 16), (16, 8, 32)]),
    (Form::Sparse, &[TF32], &[F32], &[(16, 8, 8), (16, 8, 16)]),
    (Form::Sparse, &[E4M3, E5M2], &[F32], &[(16, 8, 64)]),
    (Form::Sparse, &[S8, U8], &[S32], &[(16, 8, 32), (16, 8, 64)]),
    (Form::Sparse, &[S4, U4], &[S32], &[(16, 8, 64), (16, 8, 128)]),
];

/// Does some `wmma` have a matrix of this type and shape?
pub(crate) fn fragment_exists(operand: MatrixOperand, shape: MatrixShape, ty: MatrixType) -> bool {
    let is_factor = matches!(operand, MatrixOperand::A | MatrixOperand::B);
    PRODUCTS.iter().any(|(form, factors, accumulators, shapes)| {
        let types = if is_factor { factors } else { accumulators };
        *form == Form::Wmma && types.contains(&ty) && shapes.contains(&(shape.m, shape.n, shape.k))
    })
}

/// Registers that a matrix takes in each thread.
pub fn registers(
    wmma: bool,
    shape: MatrixShape,
    operand: MatrixOperand,
    ty: MatrixType,
    sparse: bool,
) -> usize {
    let MatrixShape { m, n, k } = shape;
    let elements = match operand {
        MatrixOperand::A => m * k / if sparse { 2 } else { 1 },
        MatrixOperand::B => k * n,
        MatrixOperand::C | MatrixOperand::D => m * n,
    };
    let factor = matches!(operand, MatrixOperand::A | MatrixOperand::B);
    if wmma && factor && ty == MatrixType::F16 {
        // Some elements are there twice, as on the first tensor cores.
        return 8;
    }
    // `m8n8k4` of halves is four products, each by eight threads.
    let halves = matches!(ty, MatrixType::F16 | MatrixType::F32);
    let copies = if !wmma && (m, n, k) == (8, 8, 4) && halves { 4 } else { 1 };
    let bits = u64::from(elements) * u64::from(ty.bits()) * copies;
    (bits / (32 * u64::from(ty.bits().max(32)))) as usize
}
