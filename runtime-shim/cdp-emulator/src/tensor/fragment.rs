//! Where an element of a matrix is: lane, register, part of the register. PTX ISA, "Matrix Fragments";
//! for `wmma`, which leaves it open, as on an H200.
//!
//! All of it follows one plan. A register of the warp holds 8 rows of A, four lanes a row, each with as
//! many elements as fit; a larger matrix takes further registers, first 8 rows below, then further
//! columns. B is held like the transpose of A, and C and D with pairs of neighbours in a lane.

use cdp_ptx::matrix::{MatrixOperand, MatrixShape, MatrixType};

/// A place in a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// Row.
    pub row: u32,
    /// Column.
    pub col: u32,
}

/// How a matrix is held.
#[derive(Clone, Copy, Debug)]
pub struct Fragment {
    /// Which matrix.
    pub operand: MatrixOperand,
    /// Sizes of the product; `k` counts what is stored, half of it for a sparse A.
    pub shape: MatrixShape,
    /// Type of its elements.
    pub ty: MatrixType,
    /// `m8n8k4` of halves: layout of A or B.
    pub col: bool,
}

impl Fragment {
    /// Elements in one register.
    pub fn per_register(&self) -> u32 {
        (32 / self.ty.bits()).max(1)
    }

    /// Registers that hold every element once.
    pub fn registers_once(&self) -> usize {
        let MatrixShape { m, n, k } = self.shape;
        let elements = match self.operand {
            MatrixOperand::A => m * k,
            MatrixOperand::B => k * n,
            MatrixOperand::C | MatrixOperand::D => m * n,
        };
        (elements / (32 * self.per_register())) as usize
    }

    /// True for the products of the first tensor cores: four of 8 by 8 by 4, each by eight lanes.
    pub fn is_quad(&self, wmma: bool) -> bool {
        let halves = matches!(self.ty, MatrixType::F16 | MatrixType::F32);
        !wmma && halves && (self.shape.m, self.shape.n, self.shape.k) == (8, 8, 4)
    }

    /// The element in part `part` of register `register` of `lane`.
    pub fn cell(&self, lane: u32, register: u32, part: u32) -> Cell {
        let (group, quad) = (lane >> 2, lane & 3);
        let per = self.per_register();
        let MatrixShape { m, n, k } = self.shape;
        let factor = |outer: u32| {
            // Blocks of four lanes of columns, and of eight rows.
            let blocks = (k / (4 * per)).max(1);
            let inner = quad * per + part;
            if outer <= 8 {
                return (group, register % blocks * 4 * per + inner);
            }
            let below = register & 1;
            let (block, pair) = (register / 2 % blocks, register / 2 / blocks);
            let rows = (below + 2 * pair) * 8 + group;
            (rows % outer, block * 4 * per + inner)
        };
        match self.operand {
            MatrixOperand::A => {
                let (row, col) = factor(m);
                Cell { row, col }
            }
            MatrixOperand::B if n == 32 => {
                let (col, row) = factor(n);
                Cell { row, col }
            }
            MatrixOperand::B => {
                let blocks = (k / (4 * per)).max(1);
                let row = register % blocks * 4 * per + quad * per + part;
                Cell { row, col: (register / blocks * 8 + group) % n }
            }
            MatrixOperand::C | MatrixOperand::D => {
                let element = register * per + part;
                let (pair, block) = (element & 1, element >> 1);
                let inner = quad * 2 + pair;
                match (m, n) {
                    (8, 32) => Cell { row: inner, col: block * 8 + group },
                    (8, _) => Cell { row: group, col: block * 8 + inner },
                    (32, _) => Cell { row: block * 8 + group, col: inner },
                    _ => Cell { row: (block & 1) * 8 + group, col: (block >> 1) * 8 + inner },
                }
            }
        }
    }

    /// As [`Fragment::cell`] for [`Fragment::is_quad`]: which of the four products, and where in it.
    pub fn quad_cell(&self, lane: u32, register: u32, part: u32) -> (u32, Cell) {
        let which = lane >> 2 & 3;
        let upper = if lane < 16 { 0 } else { 4 };
        let element = register * self.per_register() + part;
        let near = (lane & 3) + upper;
        let cell = match (self.operand, self.col) {
            (MatrixOperand::A, false) => Cell { row: near, col: element },
            (MatrixOperand::A, true) => Cell { row: element + upper, col: lane & 3 },
            (MatrixOperand::B, false) => Cell { row: lane & 3, col: element + upper },
            (MatrixOperand::B, true) => Cell { row: element, col: near },
            (_, _) if self.ty == MatrixType::F16 => Cell { row: near, col: element },
            _ => Cell {
                row: (lane & 1) + (element & 2) + upper,
                col: (element & 4) + (lane & 2) + (element & 1),
            },
        };
        (which, cell)
    }
}

/// The places of the elements of a sparse A.
#[derive(Clone, Copy, Debug)]
pub struct Places<'a> {
    /// The metadata registers of the lanes.
    pub metadata: &'a [u32; 32],
    /// Which lanes of each four have them.
    pub selector: u32,
    /// `k` of the whole product.
    pub k: u32,
    /// Type of A.
    pub ty: MatrixType,
}

impl Places<'_> {
    /// The column in the whole matrix of what is stored at a place of the half matrix.
    pub fn column(&self, stored: Cell) -> u32 {
        let Cell { row, col } = stored;
        // Elements stored of a chunk, elements of the chunk, and elements that stay together.
        let (kept, chunk, unit) = match self.ty.bits() {
            32 => (1, 2, 1),
            4 => (4, 8, 2),
            _ => (2, 4, 1),
        };
        let (number, within) = (col / kept, col % kept);
        let chunks = self.k / chunk;
        let low = row & 8 == 0;
        let first = (row & 7) * 4;
        let (lane, shift) = match (chunks, self.ty.bits()) {
            (0..=4, _) => (self.selector & 3, if low { 0 } else { 16 } + 4 * number),
            (_, 16 | 32) => {
                let pair = 2 * (self.selector & 1);
                (pair + (number >> 2), if low { 0 } else { 16 } + 4 * (number & 3))
            }
            (5..=8, _) => (2 * (self.selector & 1) + u32::from(!low), 4 * number),
            _ => (2 * (number >> 3) + u32::from(!low), 4 * (number & 7)),
        };
        let bits = self.metadata[(first + (lane & 3)) as usize & 31] >> (shift & 31);
        let place = match self.ty.bits() {
            // Four bits say which of two: 0b1110 is the second.
            32 => bits >> 1 & 1,
            _ => bits >> (2 * (within / unit)) & 3,
        };
        number * chunk + place * unit + within % unit
    }
}
