//! Bulk copies: many bytes between global and shared memory by one thread, done at once.

use super::checks::{Addresses, OnLane, bad_global, bad_shared, misaligned, own};
use super::door::{self, Touch};
use super::fault::Fault;
use super::run::{Running, lanes_of, read_row};
use super::{Block, Machine, Step, Warp, atomics, mbarrier};
use crate::code::{BulkCopy, Inst, NONE, Order};
use crate::memory::space;
use crate::report::ReportKind;

/// Copies are of multiples of this, from and to multiples of this.
const UNIT: u64 = 16;

/// Executes `cp.async.bulk` or `cp.reduce.async.bulk` in the active lanes, one after another.
pub fn copy(
    machine: &Machine,
    block: &mut Block,
    warp: &Warp,
    run: &Running<'_>,
    inst: &Inst,
    active: u32,
) -> Step<()> {
    let copy = run.function.bulk_copies[inst.imm as usize];
    for lane in lanes_of(active) {
        let place = |(row, wide, offset): (u32, bool, i32)| {
            // SAFETY: decoded row.
            let base = unsafe { read_row(run.regs, row, wide, lane) };
            base.wrapping_add(i64::from(offset) as u64)
        };
        // SAFETY: decoded row.
        let bytes = unsafe { read_row(run.regs, copy.size, false, lane) };
        if !bytes.is_multiple_of(UNIT) {
            let message = format!("a bulk copy of {bytes} bytes, which is no multiple of {UNIT}");
            return Err(Fault::new(ReportKind::InvalidInstruction, Some(lane as u32), message));
        }
        let (dst, src) = (place(copy.dst), place(copy.src));
        let from = check(machine, block, warp, lane, src, bytes, copy.from_shared, false)?;
        let to = check(machine, block, warp, lane, dst, bytes, copy.to_shared, true)?;
        watch(machine, block, warp, run, &copy, lane, (to, from), bytes);
        let mut data = read(block, copy.from_shared, from, bytes as usize);
        if copy.reduce.is_some() {
            let old = read(block, copy.to_shared, to, bytes as usize);
            reduce(&copy, &old, &mut data);
        }
        if copy.to_shared {
            let range = to as usize..to as usize + data.len();
            block.shared[range.clone()].copy_from_slice(&data);
            block.written[range].fill(0xff);
        } else {
            // SAFETY: checked to be writable.
            unsafe { (to as *mut u8).copy_from_nonoverlapping(data.as_ptr(), data.len()) };
        }
        if copy.object.0 != NONE {
            let at = place(copy.object);
            mbarrier::complete(block, warp.index * 32 + lane as u32, lane, shared(at), bytes)?;
        }
        block.counters.load_transactions += u64::from(!copy.from_shared) * bytes.div_ceil(128);
        block.counters.store_transactions += u64::from(!copy.to_shared) * bytes.div_ceil(128);
    }
    Ok(())
}

/// The offset of an address in shared memory.
fn shared(at: u64) -> u64 {
    if space::window(at) == space::Window::Shared { space::offset(at) } else { at }
}

/// Checks one side of a copy. The address, or the offset in shared memory.
#[allow(clippy::too_many_arguments)]
fn check(
    machine: &Machine,
    block: &Block,
    warp: &Warp,
    lane: usize,
    at: u64,
    bytes: u64,
    in_shared: bool,
    write: bool,
) -> Step<u64> {
    if !at.is_multiple_of(UNIT) {
        return Err(misaligned(at, UNIT, write).on(lane));
    }
    if in_shared {
        if space::window(at) == space::Window::Shared {
            own(block, warp, at, lane, bytes, write)?;
        }
        let offset = shared(at);
        let end = offset.checked_add(bytes);
        if offset >= space::WINDOW_BYTES || end.is_none_or(|end| end > block.shared.len() as u64) {
            return Err(bad_shared(block, &[offset; 32], 1 << lane, bytes, write));
        }
        return Ok(offset);
    }
    let writable = || machine.memory.find(at).is_some_and(|extent| extent.writable);
    if bytes > 0 && (!machine.memory.contains(at, bytes) || write && !writable()) {
        return Err(bad_global(machine, at, bytes, write).on(lane));
    }
    Ok(at)
}

/// Both sides pass the door of memory, 16 bytes at a time.
#[allow(clippy::too_many_arguments)]
fn watch(
    machine: &Machine,
    block: &mut Block,
    warp: &Warp,
    run: &Running<'_>,
    copy: &BulkCopy,
    lane: usize,
    (to, from): (u64, u64),
    bytes: u64,
) {
    if machine.watch.is_none() {
        return;
    }
    let touch = |shared, write: bool| Touch {
        shared,
        reads: !write,
        writes: write,
        swaps: false,
        order: Order::WEAK,
    };
    for at in (0..bytes).step_by(UNIT as usize) {
        for (side, base, write) in [(copy.from_shared, from, false), (copy.to_shared, to, true)] {
            let places: Addresses = [base + at; 32];
            let touch = touch(side, write);
            door::memory(machine, block, warp, run, touch, &places, 1 << lane, UNIT, None);
        }
    }
}

fn read(block: &Block, in_shared: bool, at: u64, bytes: usize) -> Vec<u8> {
    if in_shared {
        return block.shared[at as usize..at as usize + bytes].to_vec();
    }
    let mut data = vec![0; bytes];
    // SAFETY: checked to be allocated.
    unsafe { data.as_mut_ptr().copy_from_nonoverlapping(at as *const u8, bytes) };
    data
}

/// Combines what is there with what comes, element by element.
fn reduce(copy: &BulkCopy, old: &[u8], data: &mut [u8]) {
    let Some((op, ty)) = copy.reduce else { return };
    let width = ty.bytes() as usize;
    for (old, new) in old.chunks_exact(width).zip(data.chunks_exact_mut(width)) {
        let value = |bytes: &[u8]| {
            bytes.iter().rev().fold(0u64, |value, byte| value << 8 | u64::from(*byte))
        };
        let result = atomics::apply(op, ty, value(old), value(new), 0);
        new.copy_from_slice(&result.to_le_bytes()[..width]);
    }
}
