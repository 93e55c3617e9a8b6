//! Products of matrices that a warp holds in its registers.

use cdp_ptx::matrix::{MatrixOperand, MatrixShape};

use super::rows::{read_row, write_row};
use crate::code::{Inst, MatrixAddress, NONE, Tensor};
use crate::float::soft::Mode;
use crate::lanes::lanes_of;
use crate::tensor::fragment::{Cell, Fragment, Places};
use crate::tensor::product::Summation;

/// Most rows, columns and length of a product.
const MOST_ROWS: usize = 32;
const MOST_LENGTH: usize = 256;

/// A factor: rows (or columns) of elements.
type Lines = Vec<[u64; MOST_LENGTH]>;

/// Executes `mma`, `mma.sp` or `wmma.mma`: results go to the active lanes; the operands are those of
/// all lanes, which have all come here.
pub fn mma(regs: *mut u32, tensor: &Tensor, active: u32) {
    let facts = &tensor.facts;
    let fragment =
        |operand, col| Fragment { operand, shape: facts.shape, ty: facts.ty(operand), col };
    let a = fragment(MatrixOperand::A, facts.a_col);
    let b = fragment(MatrixOperand::B, facts.b_col);
    let (c, d) = (fragment(MatrixOperand::C, false), fragment(MatrixOperand::D, false));
    let quad = c.is_quad(facts.wmma);
    let k = facts.shape.k as usize;
    let summation = Summation {
        a: facts.a_ty,
        b: facts.b_ty,
        c: facts.c_ty,
        d: facts.d_ty,
        rounding: Mode::of(facts.rounding),
        satfinite: facts.satfinite,
        bits: facts.bits,
        group: group(facts),
        half_bit: if facts.sparsity.is_some() { 4 } else { 2 },
        quad,
        short: false,
    };
    let products = if quad { 4 } else { 1 };
    for product in 0..products {
        let mut lines_a: Lines = vec![[0; MOST_LENGTH]; MOST_ROWS];
        let mut lines_b: Lines = vec![[0; MOST_LENGTH]; MOST_ROWS];
        // What a sparse A does not have is not multiplied, whatever B has there.
        let mut there = vec![[places_all(tensor); MOST_LENGTH]; MOST_ROWS];
        let metadata: [u32; 32] = match tensor.sparsity {
            Some((row, _)) => std::array::from_fn(|lane| {
                // SAFETY: decoded row.
                let value = unsafe { read_row(regs, row, false, lane) };
                value as u32
            }),
            None => [0; 32],
        };
        let places = tensor.sparsity.map(|(_, selector)| Places {
            metadata: &metadata,
            selector,
            k: facts.shape.k,
            ty: facts.a_ty,
        });
        let stored = match places {
            Some(_) => Fragment { shape: MatrixShape { k: facts.shape.k / 2, ..facts.shape }, ..a },
            None => a,
        };
        elements(regs, &stored, &tensor.a, quad.then_some(product), |cell, value| {
            let col = places.map_or(cell.col, |places| places.column(cell));
            lines_a[cell.row as usize][col as usize % MOST_LENGTH] = value;
            there[cell.row as usize][col as usize % MOST_LENGTH] = true;
        });
        elements(regs, &b, &tensor.b, quad.then_some(product), |cell, value| {
            lines_b[cell.col as usize][cell.row as usize] = value;
        });
        let mut addends = vec![[0u64; MOST_ROWS]; MOST_ROWS];
        elements(regs, &c, &tensor.c, quad.then_some(product), |cell, value| {
            addends[cell.row as usize][cell.col as usize] = value;
        });
        let result = |cell: Cell| {
            let (row, col) = (cell.row as usize, cell.col as usize);
            if tensor.sparsity.is_none() {
                return summation.element(
                    &lines_a[row][..k],
                    &lines_b[col][..k],
                    addends[row][col],
                );
            }
            let pick = |at: usize| if there[row][at] { lines_b[col][at] } else { 0 };
            let factors: [u64; MOST_LENGTH] = std::array::from_fn(pick);
            summation.element(&lines_a[row][..k], &factors[..k], addends[row][col])
        };
        results(regs, &d, tensor, quad.then_some(product), active, result);
    }
}

/// Is every element of A there?
fn places_all(tensor: &Tensor) -> bool {
    tensor.sparsity.is_none()
}

/// Elements whose products are added up at once.
fn group(facts: &cdp_ptx::matrix::Product) -> usize {
    use cdp_ptx::matrix::MatrixType as T;
    match facts.a_ty {
        // `wmma` takes four at a time.
        T::TF32 if facts.wmma => 4,
        _ => MOST_LENGTH,
    }
}

/// Visits the elements of an operand, of one of the four products if it has four.
fn elements(
    regs: *const u32,
    fragment: &Fragment,
    rows: &[u32],
    product: Option<u32>,
    mut visit: impl FnMut(Cell, u64),
) {
    let bits = fragment.ty.bits();
    let per = fragment.per_register();
    let mask = if bits >= 64 { u64::MAX } else { (1 << bits) - 1 };
    // Some matrices of `wmma` are there several times; the first counts.
    let once = if product.is_some() { rows.len() } else { fragment.registers_once() };
    for (register, &row) in (0u32..).zip(rows.iter().take(once)) {
        for lane in 0..32 {
            // SAFETY: decoded row.
            let value = unsafe { read_row(regs, row, bits == 64, lane as usize) };
            for part in 0..per {
                let element = value >> (part * bits % 64) & mask;
                match product {
                    None => visit(fragment.cell(lane, register, part), element),
                    Some(product) => {
                        let (which, cell) = fragment.quad_cell(lane, register, part);
                        if which == product {
                            visit(cell, element);
                        }
                    }
                }
            }
        }
    }
}

/// Writes the elements of D.
fn results(
    regs: *mut u32,
    fragment: &Fragment,
    tensor: &Tensor,
    product: Option<u32>,
    active: u32,
    result: impl Fn(Cell) -> u64,
) {
    let bits = fragment.ty.bits();
    for (register, &row) in (0u32..).zip(&tensor.d) {
        if row == NONE {
            continue;
        }
        for lane in lanes_of(active) {
            let mut value = 0;
            let mut mine = true;
            for part in 0..fragment.per_register() {
                let cell = match product {
                    None => fragment.cell(lane as u32, register, part),
                    Some(product) => {
                        let (which, cell) = fragment.quad_cell(lane as u32, register, part);
                        mine = which == product;
                        cell
                    }
                };
                if mine {
                    value |= result(cell) << (part * bits % 64);
                }
            }
            if mine {
                // SAFETY: decoded row.
                unsafe { write_row(regs, row, bits == 64, lane, value) };
            }
        }
    }
}

/// Executes `movmatrix`.
pub fn movmatrix(regs: *mut u32, inst: &Inst, active: u32) {
    // SAFETY: decoded rows.
    let source: [u32; 32] =
        std::array::from_fn(|lane| unsafe { read_row(regs, inst.a, false, lane) } as u32);
    for lane in lanes_of(active) {
        let (row, first) = (lane / 4, lane % 4 * 2);
        let half = |other: usize| source[other * 4 + row / 2] >> (16 * (row & 1)) & 0xffff;
        let value = half(first) | half(first + 1) << 16;
        // SAFETY: decoded row.
        unsafe { write_row(regs, inst.d, false, lane, u64::from(value)) };
    }
}

/// Computes the addresses of a part of a matrix.
pub fn addresses(regs: *mut u32, inst: &Inst, of: &MatrixAddress, active: u32) {
    for lane in lanes_of(active) {
        // SAFETY: decoded rows.
        let (base, stride) = unsafe {
            let base = read_row(regs, of.base, of.wide, usize::from(of.from[lane]) & 31);
            let stride = match of.stride {
                NONE => u64::from(of.default_stride),
                row => read_row(regs, row, false, lane),
            };
            (base, stride)
        };
        let elements =
            u64::from(of.lines[lane]).wrapping_mul(stride).wrapping_add(u64::from(of.within[lane]));
        let bytes = elements.wrapping_mul(u64::from(of.bits)) / 8;
        let address = base.wrapping_add(i64::from(of.offset) as u64).wrapping_add(bytes);
        // SAFETY: decoded row.
        unsafe { write_row(regs, inst.d, true, lane, address) };
    }
}
