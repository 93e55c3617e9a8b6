//! Atomic operations, lane by lane in the order of lanes.
//!
//! On global memory they are atomic on the host too, since blocks whose atomics commute may run on
//! several host threads.

use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

use cdp_ptx::{AtomOp, ScalarType};

use super::path::{Running, site};
use super::rows::{read_row, write_row};
use super::{Block, Machine, Step, Warp, checks, cluster, door, memory};
use crate::code::{Atomic, Inst, NONE, Owners, StateSpace, is_nothing};
use crate::float::soft;
use crate::lanes::lanes_of;
use crate::memory::SiteRef;
use crate::memory::space::{self, Window};

/// The value that replaces `old`. `b` is the operand; for `cas`, `c` is the new value.
pub fn apply(op: AtomOp, ty: ScalarType, old: u64, b: u64, c: u64) -> u64 {
    use ScalarType as T;
    match ty {
        T::F16x2 | T::BF16x2 => {
            let element = if ty == T::F16x2 { T::F16 } else { T::BF16 };
            let low = apply(op, element, old & 0xffff, b & 0xffff, c);
            let high = apply(op, element, old >> 16 & 0xffff, b >> 16 & 0xffff, c);
            return high << 16 | low;
        }
        T::F32 | T::F64 | T::F16 | T::BF16 => return float(op, ty, old, b, c),
        _ => {}
    }
    let bits = ty.bits();
    let mask = if bits >= 64 { u64::MAX } else { (1 << bits) - 1 };
    let (old, b) = (old & mask, b & mask);
    let signed = |v: u64| (v << (64 - bits)) as i64;
    let value = match op {
        AtomOp::And => old & b,
        AtomOp::Or => old | b,
        AtomOp::Xor => old ^ b,
        AtomOp::Exch => b,
        AtomOp::Cas => {
            if old == b {
                c
            } else {
                old
            }
        }
        AtomOp::Add => old.wrapping_add(b),
        AtomOp::Inc => {
            if old >= b {
                0
            } else {
                old + 1
            }
        }
        AtomOp::Dec => {
            if old == 0 || old > b {
                b
            } else {
                old - 1
            }
        }
        AtomOp::Min if ty.is_signed() => {
            if signed(b) < signed(old) {
                b
            } else {
                old
            }
        }
        AtomOp::Max if ty.is_signed() => {
            if signed(b) > signed(old) {
                b
            } else {
                old
            }
        }
        AtomOp::Min => old.min(b),
        AtomOp::Max => old.max(b),
    };
    value & mask
}

fn float(op: AtomOp, ty: ScalarType, old: u64, b: u64, c: u64) -> u64 {
    use ScalarType as T;
    let format = match ty {
        T::F16 => soft::F16,
        T::BF16 => soft::BF16,
        T::F64 => soft::F64,
        _ => soft::F32,
    };
    match (op, ty) {
        (AtomOp::Add, T::F32) => {
            let sum = f32::from_bits(old as u32) + f32::from_bits(b as u32);
            u64::from(if sum.is_nan() { 0x7fff_ffff } else { sum.to_bits() })
        }
        (AtomOp::Add, T::F64) => (f64::from_bits(old) + f64::from_bits(b)).to_bits(),
        (AtomOp::Add, _) => soft::add(format, soft::Mode::NearestEven, old, b),
        (AtomOp::Exch, _) => b,
        (AtomOp::Cas, _) => {
            if old == b {
                c
            } else {
                old
            }
        }
        (AtomOp::Min | AtomOp::Max, _) => {
            let wide = |v: u64| soft::convert(format, soft::F64, soft::Mode::NearestEven, v);
            let (x, y) = (f64::from_bits(wide(old)), f64::from_bits(wide(b)));
            let take_b = match (x.is_nan(), y.is_nan()) {
                (true, _) => true,
                (_, true) => false,
                _ if op == AtomOp::Min => y < x || (x == y && y.is_sign_negative()),
                _ => y > x || (x == y && x.is_sign_negative()),
            };
            if take_b { b } else { old }
        }
        (AtomOp::And | AtomOp::Or | AtomOp::Xor | AtomOp::Inc | AtomOp::Dec, _) => old,
    }
}

macro_rules! update {
    ($atomic:ident, $raw:ty, $address:expr, $f:expr) => {{
        // SAFETY: the address was checked for bounds and alignment.
        let cell = unsafe { $atomic::from_ptr($address as *mut $raw) };
        let mut old = cell.load(Ordering::Relaxed);
        loop {
            let new = $f(u64::from(old)) as $raw;
            match cell.compare_exchange_weak(old, new, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => break u64::from(old),
                Err(seen) => old = seen,
            }
        }
    }};
}

/// Executes an atomic in the active lanes.
pub fn execute(
    machine: &Machine,
    block: &mut Block,
    warp: &mut Warp,
    run: &Running<'_>,
    inst: &Inst,
    active: u32,
) -> Step<()> {
    let atomic = &run.function.atomics[inst.imm as usize];
    let at = memory::atomic_addresses(run, inst.a, atomic.wide_address, atomic.offset, active);
    if machine.clocks.standing.is_some() {
        memory::look_at(machine, block, warp, run, atomic.space, &at, active);
    }
    let wide = atomic.ty.bits() == 64;
    let bytes = u64::from(atomic.ty.bytes());
    block.counters.atomics += u64::from(active.count_ones());
    if bytes == 16 {
        return execute_quad(machine, block, warp, run, atomic, &at, active);
    }
    for lane in lanes_of(active) {
        for (i, &src) in atomic.srcs.iter().enumerate() {
            // SAFETY: decoded rows.
            let (b, c) = unsafe {
                let swap = atomic.swap;
                let c = if swap == NONE { 0 } else { read_row(run.regs, swap, wide, lane) };
                (read_row(run.regs, src, wide, lane), c)
            };
            let address = at[lane].wrapping_add(i as u64 * bytes);
            let f = |old: u64| apply(atomic.op, atomic.ty, old, b, c);
            let old = if is_shared(atomic.space, address) {
                let (owner, offset) =
                    cluster::locate(block, warp, atomic.space, address, lane, bytes, true)?;
                let here = site(block, warp, &run.path, lane as u32);
                cluster::in_memory_of(block, owner, lane, |block| {
                    checks::check_shared(block, offset, bytes, lane)?;
                    let seen = pass(machine, block, warp, run, atomic, true, offset, [b, c], lane);
                    let old =
                        shared_update(machine, block, here, offset as usize, bytes as usize, f)?;
                    Ok(seen.unwrap_or(old))
                })?
            } else {
                if space::window(address) != Window::Global {
                    checks::own(block, warp, address, lane, bytes, true)?;
                }
                checks::check_one(machine, address, bytes, lane)?;
                let seen = pass(machine, block, warp, run, atomic, false, address, [b, c], lane);
                let old = match bytes {
                    1 => update!(AtomicU8, u8, address, f),
                    2 => update!(AtomicU16, u16, address, f),
                    4 => update!(AtomicU32, u32, address, f),
                    _ => update!(AtomicU64, u64, address, f),
                };
                seen.unwrap_or(old)
            };
            if let Some(&row) = atomic.dsts.get(i)
                && row != NONE
            {
                // SAFETY: decoded row.
                unsafe { write_row(run.regs, row, wide, lane, old) };
            }
        }
    }
    if !is_shared(atomic.space, at[active.trailing_zeros() as usize & 31]) {
        door::seen(machine, block, warp, atomic.order, &at, active);
    }
    Ok(())
}

/// True if an atomic at this address is on shared memory.
fn is_shared(space: StateSpace, address: u64) -> bool {
    match space {
        StateSpace::Shared | StateSpace::Cluster => true,
        StateSpace::Generic => space::window(address) == Window::Shared,
        _ => false,
    }
}

/// One element of one lane passes the door of memory; the operands are those of [`apply`], or the halves of one. The older
/// value that it sees, if it does.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
fn pass(
    machine: &Machine,
    block: &mut Block,
    warp: &Warp,
    run: &Running<'_>,
    atomic: &Atomic,
    shared: bool,
    at: u64,
    operand: [u64; 2],
    lane: usize,
) -> Option<u64> {
    machine.watch.as_ref()?;
    let bytes = u64::from(atomic.ty.bytes());
    let there = if shared { block.shared.as_ptr() as u64 } else { 0 } + at;
    // SAFETY: checked for bounds by the caller; with a watch nobody else runs.
    let there = unsafe { std::slice::from_raw_parts(there as *const u8, bytes as usize) };
    let kind = manner(atomic, there, operand);
    let touch = door::Touch {
        owners: Owners::OWN,
        shared,
        reads: true,
        writes: true,
        kind,
        order: atomic.order,
    };
    door::memory(machine, block, warp, &run.path, touch, &[at; 32], 1 << lane, bytes, None);
    let mut seen = None;
    door::older(machine, kind, |_, value| seen = Some(value));
    seen
}

/// What an update comes to, by what is there.
fn manner(atomic: &Atomic, there: &[u8], operand: [u64; 2]) -> door::Manner {
    let [b, c] = operand;
    if there.len() == 16 {
        let fails = there != operand.map(u64::to_le_bytes).as_flattened();
        return match atomic.op {
            AtomOp::Cas => door::Manner::Swap { keeps: fails },
            _ if fails => door::Manner::Own,
            _ => door::Manner::Kept,
        };
    }
    let old = there.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte));
    let keeps = apply(atomic.op, atomic.ty, old, b, c) == old;
    match atomic.op {
        AtomOp::Cas => door::Manner::Swap { keeps },
        _ if keeps && is_nothing(atomic.op, atomic.ty, b) => door::Manner::Probe,
        _ if keeps => door::Manner::Kept,
        _ => door::Manner::Own,
    }
}

/// `exch` and `cas` of 128 bits. No host instruction is needed: a kernel with an exchange never runs
/// on several host threads.
fn execute_quad(
    machine: &Machine,
    block: &mut Block,
    warp: &mut Warp,
    run: &Running<'_>,
    atomic: &Atomic,
    at: &checks::Addresses,
    active: u32,
) -> Step<()> {
    const BYTES: u64 = 16;
    let read = |row: u32, lane: usize| {
        // SAFETY: decoded rows, the high half 64 words behind the low one.
        unsafe { [read_row(run.regs, row, true, lane), read_row(run.regs, row + 64, true, lane)] }
    };
    for lane in lanes_of(active) {
        let operand = read(atomic.srcs[0], lane);
        let new = |old: [u64; 2]| match atomic.op {
            AtomOp::Cas if old == operand => read(atomic.swap, lane),
            AtomOp::Cas => old,
            _ => operand,
        };
        let address = at[lane];
        let old = if is_shared(atomic.space, address) {
            let (owner, offset) =
                cluster::locate(block, warp, atomic.space, address, lane, BYTES, true)?;
            let here = site(block, warp, &run.path, lane as u32);
            cluster::in_memory_of(block, owner, lane, |block| {
                checks::check_shared(block, offset, BYTES, lane)?;
                pass(machine, block, warp, run, atomic, true, offset, operand, lane);
                let range = offset as usize..(offset + BYTES) as usize;
                if block.written[range.clone()].iter().all(|&flag| flag == 0) {
                    checks::uninitialized(machine, block, here, offset, BYTES)?;
                }
                block.written[range.clone()].fill(0xff);
                Ok(update_quad(&mut block.shared[range], new))
            })?
        } else {
            if space::window(address) != Window::Global {
                checks::own(block, warp, address, lane, BYTES, true)?;
            }
            checks::check_one(machine, address, BYTES, lane)?;
            pass(machine, block, warp, run, atomic, false, address, operand, lane);
            // SAFETY: just checked.
            let bytes =
                unsafe { std::slice::from_raw_parts_mut(address as *mut u8, BYTES as usize) };
            update_quad(bytes, new)
        };
        if let Some(&row) = atomic.dsts.first() {
            // SAFETY: as for reading.
            unsafe {
                write_row(run.regs, row, true, lane, old[0]);
                write_row(run.regs, row + 64, true, lane, old[1]);
            }
        }
    }
    Ok(())
}

/// Replaces 16 bytes; what was there.
fn update_quad(bytes: &mut [u8], new: impl Fn([u64; 2]) -> [u64; 2]) -> [u64; 2] {
    let (low, high) = bytes.split_at_mut(8);
    let half = |bytes: &[u8]| bytes.try_into().map_or(0, u64::from_le_bytes);
    let old = [half(low), half(high)];
    let [new_low, new_high] = new(old);
    low.copy_from_slice(&new_low.to_le_bytes());
    high.copy_from_slice(&new_high.to_le_bytes());
    old
}

fn shared_update(
    machine: &Machine,
    block: &mut Block,
    here: SiteRef,
    offset: usize,
    bytes: usize,
    f: impl Fn(u64) -> u64,
) -> Step<u64> {
    if block.written[offset..offset + bytes].iter().all(|&flag| flag == 0) {
        checks::uninitialized(machine, block, here, offset as u64, bytes as u64)?;
    }
    let mut word = [0; 8];
    word[..bytes].copy_from_slice(&block.shared[offset..offset + bytes]);
    let old = u64::from_le_bytes(word);
    block.shared[offset..offset + bytes].copy_from_slice(&f(old).to_le_bytes()[..bytes]);
    block.written[offset..offset + bytes].fill(0xff);
    Ok(old)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ScalarType as T;

    #[test]
    fn operations() {
        assert_eq!(apply(AtomOp::Inc, T::U32, 5, 5, 0), 0);
        assert_eq!(apply(AtomOp::Inc, T::U32, 4, 5, 0), 5);
        assert_eq!(apply(AtomOp::Dec, T::U32, 0, 9, 0), 9);
        assert_eq!(apply(AtomOp::Dec, T::U32, 10, 9, 0), 9);
        assert_eq!(apply(AtomOp::Dec, T::U32, 3, 9, 0), 2);
        assert_eq!(apply(AtomOp::Min, T::S32, 1, 0xffff_ffff, 0), 0xffff_ffff);
        assert_eq!(apply(AtomOp::Min, T::U32, 1, 0xffff_ffff, 0), 1);
        assert_eq!(apply(AtomOp::Max, T::S64, u64::MAX, 3, 0), 3);
        assert_eq!(apply(AtomOp::Cas, T::B32, 7, 7, 9), 9);
        assert_eq!(apply(AtomOp::Cas, T::B32, 8, 7, 9), 8);
        assert_eq!(apply(AtomOp::Add, T::U32, 0xffff_ffff, 2, 0), 1);
        let sum = apply(AtomOp::Add, T::F32, 1.5f32.to_bits().into(), 2f32.to_bits().into(), 0);
        assert_eq!(sum, u64::from(3.5f32.to_bits()));
        assert_eq!(apply(AtomOp::Add, T::F16x2, 0x3c00_3c00, 0x3c00_4000, 0), 0x4000_4200);
    }
}
