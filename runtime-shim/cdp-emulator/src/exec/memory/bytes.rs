//! Accesses that are not one load or store of a warp: bytes of a lane for the device runtime and `printf`, and
//! asynchronous copies.

use super::super::checks::{
    Addresses, OnLane, bad_global, bad_local, bad_param, bad_shared, misaligned, own, uninitialized,
};
use super::super::door::{self, Touch};
use super::super::path::{self, Running};
use super::super::rows::read_row;
use super::super::{Block, Machine, Path, Step, Warp};
use super::private::{peek_local, poke_local};
use super::{addresses, bounds, peek, poke};
use crate::code::{Async, Inst, NONE, Order, Owners};
use crate::lanes::lanes_of;
use crate::memory::Extent;
use crate::memory::space::{self, Window};

/// Reads what lies at a generic address of a lane, as one access of its instruction; for what the interpreter and
/// the device runtime do in the place of code.
pub fn read_bytes(
    machine: &Machine,
    block: &mut Block,
    warp: &mut Warp,
    path: &Path,
    lane: usize,
    address: u64,
    to: &mut [u8],
) -> Step<()> {
    let bytes = to.len() as u64;
    let window = reach(machine, block, warp, path, lane, (address, bytes), false)?;
    let offset = space::offset(address) as usize;
    if window == Window::Shared && block.written[offset..][..to.len()].iter().all(|&flag| flag == 0)
    {
        let site = path::site(block, warp, path, lane as u32);
        uninitialized(machine, block, site, offset as u64, bytes)?;
    }
    pass(machine, block, warp, path, lane, (address, bytes), None);
    match window {
        Window::Global => {
            for (byte, address) in to.iter_mut().zip(address..) {
                // SAFETY: `reach` found all of them in an allocation.
                *byte = unsafe { peek::<1>(address) } as u8;
            }
        }
        Window::Shared => to.copy_from_slice(&block.shared[offset..][..to.len()]),
        Window::Local => {
            for (byte, offset) in to.iter_mut().zip(offset..) {
                // SAFETY: `reach` found them below the frame's end.
                *byte = unsafe { peek_local::<1>(warp, offset, lane) } as u8;
            }
        }
        Window::Param => to.copy_from_slice(&block.grid.params[offset..][..to.len()]),
        Window::Function | Window::Invalid => {}
    }
    Ok(())
}

/// Writes to a generic address of a lane, as [`read_bytes`] reads.
pub fn write_bytes(
    machine: &Machine,
    block: &mut Block,
    warp: &mut Warp,
    path: &Path,
    lane: usize,
    address: u64,
    from: &[u8],
) -> Step<()> {
    let place = (address, from.len() as u64);
    let window = reach(machine, block, warp, path, lane, place, true)?;
    pass(machine, block, warp, path, lane, place, Some(from));
    let offset = space::offset(address) as usize;
    match window {
        Window::Global => {
            for (&byte, address) in from.iter().zip(address..) {
                // SAFETY: `reach` found all of them in an allocation that may be written.
                unsafe { poke::<1>(address, u64::from(byte)) };
            }
        }
        Window::Shared => {
            block.shared[offset..][..from.len()].copy_from_slice(from);
            block.written[offset..][..from.len()].fill(0xff);
        }
        Window::Local => {
            for (&byte, offset) in from.iter().zip(offset..) {
                // SAFETY: `reach` found them below the frame's end.
                unsafe { poke_local::<1>(warp, offset, lane, u64::from(byte)) };
            }
        }
        Window::Param | Window::Function | Window::Invalid => {}
    }
    Ok(())
}

/// The window of bytes at a generic address that a lane may read (or write).
fn reach(
    machine: &Machine,
    block: &Block,
    warp: &Warp,
    path: &Path,
    lane: usize,
    (address, bytes): (u64, u64),
    write: bool,
) -> Step<Window> {
    own(block, warp, address, lane, bytes, write)?;
    let (window, offset) = (space::window(address), space::offset(address));
    let ends_by = |end: u64| offset < space::WINDOW_BYTES && offset + bytes <= end;
    match window {
        Window::Global => {
            let found = machine.memory.find(address);
            let fits = |found: &Extent| bytes <= found.hi - address && (found.writable || !write);
            if !found.as_ref().is_some_and(fits) {
                return Err(bad_global(machine, address, bytes, write).on(lane));
            }
        }
        Window::Shared if !ends_by(block.shared.len() as u64) => {
            return Err(bad_shared(block, &[offset; 32], 1 << lane, bytes, write));
        }
        Window::Local => {
            let end = u64::from(warp.frame(path).local_end) * 4;
            if !ends_by(end) {
                return Err(bad_local(&[offset; 32], 1 << lane, bytes, end, write));
            }
        }
        Window::Param if write || !ends_by(block.grid.params.len() as u64) => {
            return Err(bad_param(block, offset as i64, bytes, write).on(lane));
        }
        Window::Shared | Window::Param | Window::Function | Window::Invalid => {}
    }
    Ok(window)
}

/// A lane's bytes pass the door of the memory that they lie in; `from` is what it writes.
pub fn pass(
    machine: &Machine,
    block: &mut Block,
    warp: &mut Warp,
    path: &Path,
    lane: usize,
    (address, bytes): (u64, u64),
    from: Option<&[u8]>,
) {
    let window = space::window(address);
    let writes = from.is_some();
    match window {
        Window::Local => {
            let at = [space::offset(address); 32];
            door::local(machine, block, warp, path, writes, &at, 1 << lane, bytes);
        }
        Window::Global | Window::Shared => {
            let shared = window == Window::Shared;
            let (kind, order) = (door::Manner::Own, Order::WEAK);
            let touch = Touch { owners: Owners::OWN, shared, reads: !writes, writes, kind, order };
            let at = [if shared { space::offset(address) } else { address }; 32];
            let byte = |_: usize, byte: u64| from.map_or(0, |from| from[byte as usize]);
            let value: door::Value<'_> = if writes { Some(&byte) } else { None };
            door::memory(machine, block, warp, path, touch, &at, 1 << lane, bytes, value);
        }
        _ => {}
    }
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
                owners: Owners::OWN,
                shared,
                reads: !shared,
                writes: shared,
                kind: door::Manner::Later(Async::Copies),
                order: Order::WEAK,
            };
            let mut pass = |shared, at: &Addresses, bytes| {
                door::memory(
                    machine,
                    block,
                    warp,
                    &run.path,
                    touch(shared),
                    at,
                    1 << lane,
                    bytes,
                    None,
                );
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
