//! Bulk copies: many bytes between global and shared memory by one thread, and stores and reductions in
//! another block's shared memory that a barrier object there is told of. All are done at once.

use cdp_ptx::{AtomOp, ScalarType};

use super::checks::{Addresses, OnLane, bad_global, bad_shared, misaligned, own};
use super::door::{self, Touch};
use super::fault::Fault;
use super::path::Running;
use super::rows::read_row;
use super::{Block, Machine, Step, Warp, atomics, cluster, mbarrier};
use crate::code::{Async, BulkCopy, Inst, NONE, Order, Owners, Reach, Sem, StateSpace};
use crate::lanes::lanes_of;
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
        let place = |side| place(run, side, lane);
        // SAFETY: decoded row.
        let bytes = unsafe { read_row(run.regs, copy.size, false, lane) };
        if !bytes.is_multiple_of(UNIT) {
            let message = format!("a bulk copy of {bytes} bytes, which is no multiple of {UNIT}");
            return Err(Fault::new(ReportKind::InvalidInstruction, Some(lane as u32), message));
        }
        let (dst, src) = (place(copy.dst), place(copy.src));
        let from = match copy.from_shared {
            true => in_shared(block, warp, lane, src, (bytes, UNIT), false, false)?.1,
            false => in_global(machine, lane, src, bytes, false)?,
        };
        let reach = copy.to_cluster;
        let object = match copy.object.0 {
            NONE => None,
            _ => Some(in_shared(block, warp, lane, place(copy.object), (8, 8), true, reach)?),
        };
        let of = object.map_or(Async::Bulk, |(_, at)| Async::Object(at));
        watch(machine, block, warp, run, (copy.from_shared, from), lane, bytes, (Side::Source, of));
        let data = read(block, copy.from_shared, from, bytes as usize);
        block.counters.load_transactions += u64::from(!copy.from_shared) * bytes.div_ceil(128);
        if !copy.to_shared {
            let to = in_global(machine, lane, dst, bytes, true)?;
            deliver(machine, block, warp, run, (&copy, lane, of), to, data);
            block.counters.store_transactions += bytes.div_ceil(128);
            continue;
        }
        let (owner, to) = in_shared(block, warp, lane, dst, (bytes, UNIT), true, reach)?;
        if object.is_some_and(|(at, _)| at != owner) {
            return Err(apart(lane));
        }
        let own = owner.unwrap_or(block.rank);
        for owner in ranks(run, copy.multicast, lane, own, block.rank) {
            let data = data.clone();
            cluster::in_memory_of(block, owner, lane, |block| {
                in_bounds(block, lane, to, bytes)?;
                deliver(machine, block, warp, run, (&copy, lane, of), to, data);
                match object {
                    Some((_, at)) => mbarrier::complete(machine, block, warp, lane, at, bytes),
                    None => Ok(()),
                }
            })?;
        }
    }
    Ok(())
}

/// Executes `st.async` or `red.async` in the active lanes.
pub fn remote(
    machine: &Machine,
    block: &mut Block,
    warp: &Warp,
    run: &Running<'_>,
    inst: &Inst,
    active: u32,
) -> Step<()> {
    let remote = &run.function.remotes[inst.imm as usize];
    let wide = remote.ty.bits() == 64;
    let width = u64::from(remote.ty.bytes());
    let bytes = width * remote.srcs.len() as u64;
    for lane in lanes_of(active) {
        let place = |side| place(run, side, lane);
        let (addr, object) = (place(remote.addr), place(remote.object));
        let (owner, to) = in_shared(block, warp, lane, addr, (bytes, bytes), true, true)?;
        let (keeper, at) = in_shared(block, warp, lane, object, (8, 8), true, true)?;
        if keeper != owner {
            return Err(apart(lane));
        }
        cluster::in_memory_of(block, owner, lane, |block| {
            in_bounds(block, lane, to, bytes)?;
            let reads = remote.reduce.is_some();
            let touch = Touch {
                owners: Owners::OWN,
                shared: true,
                reads,
                writes: true,
                kind: door::Manner::Own,
                order: RELAXED,
            };
            door::memory(machine, block, warp, &run.path, touch, &[to; 32], 1 << lane, bytes, None);
            for (index, &row) in remote.srcs.iter().enumerate() {
                // SAFETY: decoded row.
                let mut value = unsafe { read_row(run.regs, row, wide, lane) };
                let start = (to + index as u64 * width) as usize;
                let range = start..start + width as usize;
                if let Some(op) = remote.reduce {
                    let mut old = [0; 8];
                    old[..width as usize].copy_from_slice(&block.shared[range.clone()]);
                    value = atomics::apply(op, remote.ty, u64::from_le_bytes(old), value, 0);
                }
                let new = &value.to_le_bytes()[..width as usize];
                block.shared[range.clone()].copy_from_slice(new);
                block.written[range].fill(0xff);
            }
            mbarrier::complete(machine, block, warp, lane, at, bytes)
        })?;
    }
    Ok(())
}

/// The order of `st.async`, `red.async` and `cp.reduce.async.bulk`.
const RELAXED: Order = Order { sem: Sem::Relaxed, reach: Reach::Device };

/// An address that an instruction names by a row, whether it has 64 bits, and what is added.
pub(super) fn place(run: &Running<'_>, (row, wide, offset): (u32, bool, i32), lane: usize) -> u64 {
    // SAFETY: decoded row.
    let base = unsafe { read_row(run.regs, row, wide, lane) };
    base.wrapping_add(i64::from(offset) as u64)
}

/// The blocks of the cluster that get the bytes of a copy, `None` for the own of rank `here`: those of a mask
/// in a row, or the one of rank `to`.
pub(super) fn ranks(
    run: &Running<'_>,
    multicast: u32,
    lane: usize,
    to: u32,
    here: u32,
) -> impl Iterator<Item = Option<u32>> + use<> {
    let ranks = match multicast {
        NONE => 1 << to,
        // SAFETY: decoded row.
        row => unsafe { read_row(run.regs, row, false, lane) as u32 & 0xffff },
    };
    (0..32)
        .filter(move |rank| ranks >> rank & 1 != 0)
        .map(move |rank| (rank != here).then_some(rank))
}

/// The bytes are of one block, the barrier object of another.
pub(super) fn apart(lane: usize) -> Box<Fault> {
    let message =
        "the barrier object is not in the shared memory of the block that the bytes go to";
    Fault::new(ReportKind::InvalidInstruction, Some(lane as u32), message)
        .help("map both addresses to the same block: mapa, cluster.map_shared_rank()")
}

/// Whose shared memory an address is in, if another block's, and the offset in it. `reach`: it may be
/// another block's of the cluster.
pub(super) fn in_shared(
    block: &Block,
    warp: &Warp,
    lane: usize,
    at: u64,
    (bytes, align): (u64, u64),
    write: bool,
    reach: bool,
) -> Step<(Option<u32>, u64)> {
    if !at.is_multiple_of(align) {
        return Err(misaligned(at, align, write).on(lane));
    }
    let space = match space::window(at) {
        space::Window::Shared => StateSpace::Generic,
        _ if reach => StateSpace::Cluster,
        _ => StateSpace::Shared,
    };
    let found = cluster::locate(block, warp, space, at, lane, bytes, write)?;
    if found.0.is_none() {
        let (_, offset) = found;
        in_bounds(block, lane, offset, bytes)?;
    } else if !reach {
        own(block, warp, at, lane, bytes, write)?;
    }
    Ok(found)
}

/// Checks an offset in the memory that is the block's for now.
pub(super) fn in_bounds(block: &Block, lane: usize, offset: u64, bytes: u64) -> Step<()> {
    let end = offset.checked_add(bytes);
    if offset >= space::WINDOW_BYTES || end.is_none_or(|end| end > block.shared.len() as u64) {
        return Err(bad_shared(block, &[offset; 32], 1 << lane, bytes, true));
    }
    Ok(())
}

/// Checks a side of a copy that is global memory.
fn in_global(machine: &Machine, lane: usize, at: u64, bytes: u64, write: bool) -> Step<u64> {
    if !at.is_multiple_of(UNIT) {
        return Err(misaligned(at, UNIT, write).on(lane));
    }
    let writable = || machine.memory.find(at).is_some_and(|extent| extent.writable);
    if bytes > 0 && (!machine.memory.contains(at, bytes) || write && !writable()) {
        return Err(bad_global(machine, at, bytes, write).on(lane));
    }
    Ok(at)
}

/// Writes what was read to a place that was checked, or combines it with what is there.
fn deliver(
    machine: &Machine,
    block: &mut Block,
    warp: &Warp,
    run: &Running<'_>,
    (copy, lane, of): (&BulkCopy, usize, Async),
    to: u64,
    mut data: Vec<u8>,
) {
    let side = if copy.reduce.is_some() { Side::Sum } else { Side::Target };
    watch(machine, block, warp, run, (copy.to_shared, to), lane, data.len() as u64, (side, of));
    if let Some(how) = copy.reduce {
        let old = read(block, copy.to_shared, to, data.len());
        reduce(how, &old, &mut data);
    }
    if copy.to_shared {
        let range = to as usize..to as usize + data.len();
        block.shared[range.clone()].copy_from_slice(&data);
        block.written[range].fill(0xff);
    } else {
        // SAFETY: checked to be writable.
        unsafe { (to as *mut u8).copy_from_nonoverlapping(data.as_ptr(), data.len()) };
    }
}

/// A side of a copy.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Side {
    Source,
    Target,
    /// The target of a reduction, each element of which is atomic.
    Sum,
}

/// One side passes the door of memory, 16 bytes at a time.
#[allow(clippy::too_many_arguments)]
fn watch(
    machine: &Machine,
    block: &mut Block,
    warp: &Warp,
    run: &Running<'_>,
    (shared, base): (bool, u64),
    lane: usize,
    bytes: u64,
    (side, of): (Side, Async),
) {
    if machine.watch.is_none() {
        return;
    }
    for at in (0..bytes).step_by(UNIT as usize) {
        touch(machine, block, warp, run, (shared, base + at), lane, UNIT, (side, of));
    }
}

/// A few bytes of a side pass the door of memory.
#[allow(clippy::too_many_arguments)]
pub(super) fn touch(
    machine: &Machine,
    block: &mut Block,
    warp: &Warp,
    run: &Running<'_>,
    (shared, at): (bool, u64),
    lane: usize,
    bytes: u64,
    (side, of): (Side, Async),
) {
    let touch = Touch {
        owners: Owners::OWN,
        shared,
        reads: side != Side::Target,
        writes: side != Side::Source,
        kind: door::Manner::Later(of),
        order: if side == Side::Sum { RELAXED } else { Order::WEAK },
    };
    let places: Addresses = [at; 32];
    door::memory(machine, block, warp, &run.path, touch, &places, 1 << lane, bytes, None);
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
pub(super) fn reduce((op, ty): (AtomOp, ScalarType), old: &[u8], data: &mut [u8]) {
    let width = ty.bytes() as usize;
    for (old, new) in old.chunks_exact(width).zip(data.chunks_exact_mut(width)) {
        let value = |bytes: &[u8]| {
            bytes.iter().rev().fold(0u64, |value, byte| value << 8 | u64::from(*byte))
        };
        let result = atomics::apply(op, ty, value(old), value(new), 0);
        new.copy_from_slice(&result.to_le_bytes()[..width]);
    }
}
