//! `wgmma`: products by four warps, of factors in shared memory. Each warp makes its own 16 rows of the
//! result, of 16 rows of A and all of B, and nothing of it waits for the other three: what is asynchronous
//! on a GPU is done when it is issued.
//!
//! A descriptor tells of units of 16 bytes (PTX ISA, "Shared Memory Matrix Layout"): where they begin, and
//! two strides between them; in which order units of 128 bytes or less are swapped, so that rows below each
//! other do not meet in a bank, is a function of the address alone.

use cdp_ptx::matrix::{MatrixOperand, MatrixShape, MatrixType};
use cdp_ptx::warpgroup::{LeftFactor, Wgmma};

use super::checks::bad_shared;
use super::door::{self, Touch};
use super::path::Running;
use super::rows::{read_row, write_row};
use super::{Block, Machine, Step, Warp};
use crate::code::{Async, GroupProduct, Inst, Order, Owners};
use crate::float::soft::Mode;
use crate::lanes::lanes_of;
use crate::tensor::fragment::{Cell, Fragment, Places};
use crate::tensor::product::Summation;

/// Bytes of a unit.
const UNIT: u64 = 16;
/// Rows of A that a warp has.
const ROWS: u32 = 16;
/// Warps of a group.
const WARPS: u32 = 4;

/// What a descriptor says.
#[derive(Clone, Copy, Debug)]
struct Layout {
    start: u64,
    /// "Leading dimension byte offset".
    leading: u64,
    /// "Stride dimension byte offset".
    stride: u64,
    /// Phase of the pattern at its beginning, in lines of 128 bytes.
    base: u64,
    /// Units in a line of the pattern: 1, 2, 4 or 8.
    units: u64,
    /// Elements of a column (of A) or row (of B) follow each other.
    turned: bool,
}

impl Layout {
    fn of(descriptor: u64, turned: bool) -> Layout {
        let field = |shift: u32| (descriptor >> shift & 0x3fff) << 4;
        Layout {
            start: field(0),
            leading: field(16),
            stride: field(32),
            base: descriptor >> 49 & 7,
            units: [1, 8, 4, 2][(descriptor >> 62) as usize],
            turned,
        }
    }

    /// The unit of a line (a row of A, a column of B) and of so many elements along `k`, and the element's
    /// number in it; `per` elements are a unit.
    fn place(&self, line: u64, k: u64, per: u64) -> (u64, u64) {
        let Layout { leading, stride, units, .. } = *self;
        let (offset, within) = match (self.turned, units) {
            (false, 1) => (line % 8 * UNIT + line / 8 * stride + k / per * leading, k % per),
            (false, _) => (line % 8 * units * UNIT + line / 8 * stride + k / per * UNIT, k % per),
            (true, 1) => (k % 8 * UNIT + k / 8 * leading + line / per * stride, line % per),
            (true, _) => {
                let (unit, across) = (line / per % units, line / per / units);
                let down = k % 8 * units * UNIT + k / 8 * stride;
                (unit * UNIT + across * leading + down, line % per)
            }
        };
        let at = self.start + offset;
        let phase = (at >> 7).wrapping_sub(self.base);
        (at ^ ((phase & (units - 1)) * UNIT), within)
    }
}

/// Executes `wgmma.mma_async` for a warp, all lanes of which have come.
pub fn product(
    machine: &Machine,
    block: &mut Block,
    warp: &Warp,
    run: &Running<'_>,
    inst: &Inst,
    active: u32,
) -> Step<()> {
    let product = &run.function.group_products[inst.imm as usize];
    let facts = &product.facts;
    let lane = active.trailing_zeros() as usize;
    let MatrixShape { n, k, .. } = facts.shape;
    let stored = stored(product);
    let first = u64::from(warp.index % WARPS * ROWS);
    // SAFETY: decoded rows.
    let descriptor = |row| unsafe { read_row(run.regs, row, true, lane) };
    let rows = match &facts.a {
        LeftFactor::Shared(_) => {
            let layout = Layout::of(descriptor(product.a[0]), facts.turned[0]);
            let lines = first..first + u64::from(ROWS);
            factor(machine, block, warp, run, lane, (&layout, lines, stored, facts.a_ty))?
        }
        LeftFactor::Registers(_) => in_registers(run, product),
    };
    let layout = Layout::of(descriptor(product.b), facts.turned[1]);
    let lines = 0..u64::from(n);
    let cols = factor(machine, block, warp, run, lane, (&layout, lines, k, facts.b_ty))?;
    results(run, product, active, &rows, &cols);
    Ok(())
}

/// Elements of a row of A that there are.
fn stored(product: &GroupProduct) -> u32 {
    product.facts.shape.k >> u32::from(product.sparsity.is_some())
}

/// The lines of a factor in shared memory, each with its elements along `k`.
fn factor(
    machine: &Machine,
    block: &mut Block,
    warp: &Warp,
    run: &Running<'_>,
    lane: usize,
    (layout, lines, k, ty): (&Layout, std::ops::Range<u64>, u32, MatrixType),
) -> Step<Vec<Vec<u64>>> {
    let bytes = u64::from(ty.bits() / 8);
    let mut seen = 0;
    let mut all = Vec::new();
    for line in lines {
        let mut elements = Vec::with_capacity(k as usize);
        for k in 0..u64::from(k) {
            let (unit, within) = layout.place(line, k, UNIT / bytes);
            if unit + UNIT > block.shared.len() as u64 {
                return Err(bad_shared(block, &[unit; 32], 1 << lane, UNIT, false));
            }
            if machine.watch.is_some() && seen != unit + 1 {
                // The line's unit changes seldom.
                seen = unit + 1;
                watch(machine, block, warp, run, lane, unit);
            }
            let at = (unit + within * bytes) as usize;
            let element = &block.shared[at..at + bytes as usize];
            elements
                .push(element.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)));
        }
        all.push(elements);
    }
    Ok(all)
}

/// A unit passes the door of memory.
fn watch(
    machine: &Machine,
    block: &mut Block,
    warp: &Warp,
    run: &Running<'_>,
    lane: usize,
    unit: u64,
) {
    let touch = Touch {
        owners: Owners::OWN,
        shared: true,
        reads: true,
        writes: false,
        kind: door::Manner::Later(Async::Products),
        order: Order::WEAK,
    };
    door::memory(machine, block, warp, &run.path, touch, &[unit; 32], 1 << lane, UNIT, None);
}

/// The rows of A that the warp's registers hold.
fn in_registers(run: &Running<'_>, product: &GroupProduct) -> Vec<Vec<u64>> {
    let Wgmma { shape, a_ty: ty, .. } = product.facts;
    let shape = MatrixShape { m: ROWS, k: stored(product), ..shape };
    let fragment = Fragment { operand: MatrixOperand::A, shape, ty, col: false };
    let bits = ty.bits();
    let mut rows = vec![vec![0; shape.k as usize]; ROWS as usize];
    for (register, &row) in (0u32..).zip(&product.a) {
        for lane in 0..32 {
            // SAFETY: decoded row.
            let value = unsafe { read_row(run.regs, row, false, lane as usize) };
            for part in 0..fragment.per_register() {
                let Cell { row, col } = fragment.cell(lane, register, part);
                rows[row as usize][col as usize] = value >> (part * bits) & ((1 << bits) - 1);
            }
        }
    }
    rows
}

/// The elements of a column of B that those of a row of a sparse A are multiplied with.
struct Partners {
    /// Of each row their places in the column.
    of: Vec<Vec<usize>>,
}

impl Partners {
    fn new(run: &Running<'_>, product: &GroupProduct) -> Option<Partners> {
        let (row, selector) = product.sparsity?;
        // SAFETY: decoded row.
        let metadata: [u32; 32] =
            std::array::from_fn(|lane| unsafe { read_row(run.regs, row, false, lane) } as u32);
        let Wgmma { shape, a_ty: ty, .. } = product.facts;
        let places = Places { metadata: &metadata, selector, k: shape.k, ty };
        let row = |row| {
            let cols = 0..stored(product);
            cols.map(|col| (places.column(Cell { row, col }) % shape.k) as usize).collect()
        };
        Some(Partners { of: (0..ROWS).map(row).collect() })
    }
}

/// Writes the warp's rows of D.
fn results(
    run: &Running<'_>,
    product: &GroupProduct,
    active: u32,
    rows: &[Vec<u64>],
    cols: &[Vec<u64>],
) {
    let facts = &product.facts;
    let summation = Summation {
        a: facts.a_ty,
        b: facts.b_ty,
        c: facts.d_ty,
        d: facts.d_ty,
        rounding: Mode::NearestEven,
        satfinite: facts.satfinite,
        bits: None,
        group: usize::MAX,
        half_bit: 2,
        quad: false,
        short: true,
    };
    let sign = |negated: bool, ty: MatrixType| if negated { 1u64 << (ty.bits() - 1) } else { 0 };
    let flips = sign(facts.negated[0] != facts.negated[1], facts.a_ty);
    let rows: Vec<Vec<u64>> =
        rows.iter().map(|row| row.iter().map(|element| element ^ flips).collect()).collect();
    let fragment = Fragment {
        operand: MatrixOperand::D,
        shape: MatrixShape { m: ROWS, ..facts.shape },
        ty: facts.d_ty,
        col: false,
    };
    let partners = Partners::new(run, product);
    // SAFETY: decoded predicate.
    let adds = unsafe { *run.regs.add(product.adds.0 as usize) } ^ product.adds.1;
    let bits = facts.d_ty.bits();
    for (register, &row) in (0u32..).zip(&product.d) {
        for lane in lanes_of(active) {
            // SAFETY: decoded row.
            let before = unsafe { read_row(run.regs, row, false, lane) };
            let before = if adds >> lane & 1 != 0 { before } else { 0 };
            let mut value = 0;
            for part in 0..fragment.per_register() {
                let cell = fragment.cell(lane as u32, register, part);
                let Cell { row, col } = cell;
                let addend = before >> (part * bits) & ((1 << bits) - 1);
                let (row, col) = (&rows[row as usize], &cols[col as usize]);
                let sum = match &partners {
                    None => summation.element(row, col, addend),
                    Some(partners) => {
                        let chosen: Vec<u64> =
                            partners.of[cell.row as usize].iter().map(|&at| col[at]).collect();
                        summation.element(row, &chosen, addend)
                    }
                };
                value |= sum << (part * bits);
            }
            // SAFETY: decoded row.
            unsafe { write_row(run.regs, row, false, lane, value) };
        }
    }
}
