//! Accesses that are not one load or store of a warp: single bytes for the device runtime, and
//! asynchronous copies.

use super::super::checks::{Addresses, OnLane, bad_global, bad_shared, misaligned, own};
use super::super::door::{self, Touch};
use super::super::fault::Fault;
use super::super::path::Running;
use super::super::rows::{lanes_of, read_row};
use super::super::{Block, Machine, Step, Warp};
use super::{addresses, bounds, peek, poke};
use crate::code::{Async, Inst, NONE, Order};
use crate::memory::space::{self, Window};
use crate::report::ReportKind;

/// A byte that a lane can read through a generic address; for the device runtime and `printf`.
pub fn read_byte(
    machine: &Machine,
    block: &Block,
    warp: &Warp,
    address: u64,
    lane: usize,
) -> Step<u8> {
    own(block, warp, address, lane, 1, false)?;
    let offset = space::offset(address) as usize;
    let found = match space::window(address) {
        Window::Global => {
            if !machine.memory.contains(address, 1) {
                return Err(bad_global(machine, address, 1, false).on(lane));
            }
            // SAFETY: checked.
            Some(unsafe { peek::<1>(address) } as u8)
        }
        Window::Shared => block.shared.get(offset).copied(),
        Window::Local => {
            warp.local.get((offset >> 2) * 32 + lane).map(|w| w.to_le_bytes()[offset & 3])
        }
        Window::Param => block.grid.params.get(offset).copied(),
        Window::Function | Window::Invalid => None,
    };
    found.ok_or_else(|| {
        let message = format!("load of 1 byte at {address:#x}, past the end of its memory");
        Fault::new(ReportKind::OutOfBounds, Some(lane as u32), message).at(address)
    })
}

/// Writes a byte through a generic address; for the device runtime.
pub fn write_byte(
    machine: &Machine,
    block: &mut Block,
    warp: &mut Warp,
    address: u64,
    lane: usize,
    value: u8,
) -> Step<()> {
    own(block, warp, address, lane, 1, true)?;
    let offset = space::offset(address) as usize;
    match space::window(address) {
        Window::Global => {
            if !machine.memory.find(address).is_some_and(|extent| extent.writable) {
                return Err(bad_global(machine, address, 1, true).on(lane));
            }
            // SAFETY: checked.
            unsafe { poke::<1>(address, u64::from(value)) };
            return Ok(());
        }
        Window::Shared => {
            if let (Some(byte), Some(flag)) =
                (block.shared.get_mut(offset), block.written.get_mut(offset))
            {
                *byte = value;
                *flag = 0xff;
                return Ok(());
            }
        }
        Window::Local => {
            if let Some(fresh) = warp.fresh.get_mut((offset >> 2) * 32 + lane) {
                *fresh &= !(1 << (offset & 3));
            }
            if let Some(word) = warp.local.get_mut((offset >> 2) * 32 + lane) {
                let shift = 8 * (offset as u32 & 3);
                *word = (*word & !(0xff << shift)) | u32::from(value) << shift;
                return Ok(());
            }
        }
        Window::Param | Window::Function | Window::Invalid => {}
    }
    let message = format!("store of 1 byte at {address:#x}, past the end of its memory");
    Err(Fault::new(ReportKind::OutOfBounds, Some(lane as u32), message).at(address))
}

/// `cp.async`: done at once.
pub fn async_copy(
    machine: &Machine,
    block: &mut Block,
    warp: &Warp,
    run: &Running<'_>,
    inst: &Inst,
    active: u32,
) -> Step<()> {
    if active == 0 {
        return Ok(());
    }
    let copy = run.function.async_copies[inst.imm as usize];
    let (mut from, mut to) = ([0u64; 32], [0u64; 32]);
    addresses(run.regs, copy.src.0, copy.src.1, copy.src_offset, active, &mut from);
    addresses(run.regs, copy.dst.0, copy.dst.1, copy.dst_offset, active, &mut to);
    let bytes = u64::from(copy.size_bytes);
    let size = block.shared.len() as u64;
    let (_, hi, bits) = bounds(&to);
    if bits & (bytes - 1) != 0 || hi >= space::WINDOW_BYTES || hi + bytes > size {
        return Err(bad_shared(block, &to, active, bytes, true));
    }
    for lane in lanes_of(active) {
        let mut count = bytes;
        if copy.src_size != NONE {
            // SAFETY: decoded row.
            count = count.min(unsafe { read_row(run.regs, copy.src_size, false, lane) });
        }
        if copy.ignore.0 != NONE {
            // SAFETY: decoded predicate.
            let ignored = unsafe { *run.regs.add(copy.ignore.0 as usize) } ^ copy.ignore.1;
            if ignored >> lane & 1 != 0 {
                count = 0;
            }
        }
        if from[lane] & (bytes - 1) != 0 {
            return Err(misaligned(from[lane], bytes, false).on(lane));
        }
        if count > 0 && !machine.memory.contains(from[lane], count) {
            return Err(bad_global(machine, from[lane], count, false).on(lane));
        }
        if machine.watch.is_some() {
            let touch = |shared| Touch {
                shared,
                reads: !shared,
                writes: shared,
                kind: door::Manner::Later(Async::Copies),
                order: Order::WEAK,
            };
            let mut pass = |shared, at: &Addresses, bytes| {
                door::memory(machine, block, warp, run, touch(shared), at, 1 << lane, bytes, None);
            };
            if count > 0 {
                pass(false, &from, count);
            }
            pass(true, &to, bytes);
        }
        let start = to[lane] as usize;
        for i in 0..bytes as usize {
            let value = if (i as u64) < count {
                // SAFETY: the source was checked for `count` bytes.
                unsafe { peek::<1>(from[lane] + i as u64) as u8 }
            } else {
                0
            };
            block.shared[start + i] = value;
            block.written[start + i] = 0xff;
        }
    }
    block.counters.load_transactions += 1;
    Ok(())
}
