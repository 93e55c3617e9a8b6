//! Global and constant memory: the lookup of allocations, and the access itself.

use super::super::checks::{Addresses, OnLane, bad_global, is_last_word, misaligned};
use super::super::door::{self, Touch};
use super::super::path::Running;
use super::super::rows::{read_row, write_row};
use super::super::{Block, CachedExtent, Machine, Step, Warp};
use super::{bounds, broadcast, extend, manner, peek, poke, put_older, registers, stored};
use crate::code::{Access, Inst, NONE};
use crate::lanes::lanes_of;

/// How the lanes' addresses lie to each other.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pattern {
    Consecutive,
    Same,
    Other,
}

#[inline(always)]
fn pattern(addresses: &Addresses, mask: u32, bytes: u64) -> Pattern {
    let first = addresses[0];
    let (mut consecutive, mut same) = (true, true);
    for (lane, &address) in addresses.iter().enumerate() {
        consecutive &= address == first.wrapping_add(lane as u64 * bytes);
        same &= address == first;
    }
    if same {
        Pattern::Same
    } else if consecutive && mask == u32::MAX {
        Pattern::Consecutive
    } else {
        Pattern::Other
    }
}

/// What is known of an access when it is checked.
#[derive(Clone, Copy)]
struct Checked {
    bytes: u64,
    write: bool,
    /// It asks for an order, or is volatile.
    strong: bool,
}

/// Makes sure that the bytes at every address lie in a live allocation.
#[inline(always)]
fn check_global(
    machine: &Machine,
    warp: &mut Warp,
    slot: u32,
    addresses: &Addresses,
    mask: u32,
    access: Checked,
) -> Step<()> {
    let Checked { bytes, write, .. } = access;
    let (lo, hi, bits) = bounds(addresses);
    let cached = &warp.cache[(slot & 7) as usize];
    let limit = if write { cached.write_hi } else { cached.hi };
    if bits & (bytes - 1) == 0 && lo >= cached.lo && limit >= bytes && hi <= limit - bytes {
        return Ok(());
    }
    check_global_slow(machine, warp, slot, addresses, mask, access)
}

#[cold]
#[inline(never)]
fn check_global_slow(
    machine: &Machine,
    warp: &mut Warp,
    slot: u32,
    addresses: &Addresses,
    mask: u32,
    Checked { bytes, write, strong }: Checked,
) -> Step<()> {
    // Another instruction may have been in the same allocation.
    let (lo, hi, bits) = bounds(addresses);
    let holds = |cached: &CachedExtent| {
        let limit = if write { cached.write_hi } else { cached.hi };
        lo >= cached.lo && limit >= bytes && hi <= limit - bytes
    };
    if bits & (bytes - 1) == 0
        && let Some(&found) = warp.cache.iter().find(|cached| holds(cached))
    {
        warp.cache[(slot & 7) as usize] = found;
        return Ok(());
    }
    let mut known = CachedExtent::default();
    let mut lasting = true;
    for lane in lanes_of(mask) {
        let address = addresses[lane];
        let limit = if write { known.write_hi } else { known.hi };
        let inside = address >= known.lo && limit >= bytes && address <= limit - bytes;
        if !inside {
            match machine.memory.find(address) {
                Some(extent) if bytes <= extent.hi - address && (extent.writable || !write) => {
                    known = extent.into();
                    lasting &= extent.lasting;
                }
                Some(extent) if strong && !write && is_last_word(&extent, address, bytes) => {}
                _ => return Err(bad_global(machine, address, bytes, write).on(lane)),
            }
        }
        if address & (bytes - 1) != 0 {
            return Err(misaligned(address, bytes, write).on(lane));
        }
    }
    if lasting {
        warp.cache[(slot & 7) as usize] = known;
    }
    Ok(())
}

#[inline(always)]
#[allow(clippy::too_many_arguments)]
pub fn global<const S: usize, const WRITE: bool>(
    machine: &Machine,
    block: &mut Block,
    warp: &mut Warp,
    run: &Running<'_>,
    inst: &Inst,
    access: Access,
    mask: u32,
    at: &Addresses,
) -> Step<()> {
    let bytes = S as u64 * u64::from(access.count);
    let checked = Checked { bytes, write: WRITE, strong: access.order.is_strong() };
    check_global(machine, warp, run.path.pc, at, mask, checked)?;
    let rows = registers(run, inst, access);
    let wide = access.wide_register;
    let touch = Touch {
        owners: access.owners,
        shared: false,
        reads: !WRITE,
        writes: WRITE,
        kind: manner(access.order, WRITE),
        order: access.order,
    };
    if machine.watch.is_some() {
        let value = |lane: usize, byte: u64| stored::<S>(run, rows, wide, lane, byte);
        door::memory(machine, block, warp, &run.path, touch, at, mask, bytes, Some(&value));
    }
    let mut transactions = 1;
    // SAFETY: all active addresses were checked; rows are decoded rows of this width.
    unsafe {
        let shape = pattern(at, mask, bytes);
        if shape == Pattern::Consecutive && rows.len() == 1 && S == 4 && !wide {
            let row = run.regs.add(rows[0] as usize).cast::<[u32; 32]>();
            let memory = at[0] as *mut [u32; 32];
            if WRITE {
                memory.write_unaligned(row.read_unaligned());
            } else {
                row.write_unaligned(memory.read_unaligned());
            }
            transactions = ((at[31] + 3) >> 7) - (at[0] >> 7) + 1;
        } else if shape == Pattern::Same && !WRITE {
            for (i, &row) in rows.iter().enumerate() {
                if row != NONE {
                    let value = extend::<S>(peek::<S>(at[0] + (i * S) as u64), access.signed);
                    broadcast(run, row, wide, mask, value);
                }
            }
        } else if mask == u32::MAX && rows.len() == 1 && S == 4 && !wide && rows[0] != NONE {
            transactions = 0;
            let mut segment = u64::MAX;
            let row = run.regs.add(rows[0] as usize);
            for (lane, &address) in at.iter().enumerate() {
                if WRITE {
                    poke::<S>(address, u64::from(*row.add(lane)));
                } else {
                    *row.add(lane) = peek::<S>(address) as u32;
                }
                transactions += u64::from(address >> 7 != segment);
                segment = address >> 7;
            }
        } else {
            transactions = 0;
            let mut segment = u64::MAX;
            for lane in lanes_of(mask) {
                for (i, &row) in rows.iter().enumerate() {
                    let address = at[lane] + (i * S) as u64;
                    if WRITE {
                        poke::<S>(address, read_row(run.regs, row, wide, lane));
                    } else if row != NONE {
                        let value = extend::<S>(peek::<S>(address), access.signed);
                        write_row(run.regs, row, wide, lane, value);
                    }
                }
                transactions += u64::from(at[lane] >> 7 != segment);
                segment = at[lane] >> 7;
            }
        }
    }
    if !WRITE {
        // SAFETY: decoded rows of this width.
        door::older(machine, touch.kind, |lane, value| unsafe {
            put_older::<S>(run, access, rows, lane, value)
        });
        door::seen(machine, block, warp, access.order, at, mask);
    }
    if WRITE {
        block.counters.store_transactions += transactions;
    } else {
        block.counters.load_transactions += transactions;
    }
    Ok(())
}
