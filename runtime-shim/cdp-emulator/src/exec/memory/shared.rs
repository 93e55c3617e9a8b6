//! Shared memory of a block, and which of its bytes have been written.

use super::super::checks::{Addresses, bad_shared, uninitialized};
use super::super::door::{self, Touch};
use super::super::path::{Running, site};
use super::super::rows::{read_row, write_row};
use super::super::{Block, Machine, Step, Warp};
use super::{bounds, extend, manner, peek, poke, put_older, registers, stored};
use crate::code::{Access, Demand, Inst, NONE};
use crate::config::CheckAction;
use crate::lanes::{lanes_of, mask_of};
use crate::memory::space;

#[inline(always)]
#[allow(clippy::too_many_arguments)]
pub fn shared<const S: usize, const WRITE: bool>(
    machine: &Machine,
    block: &mut Block,
    warp: &Warp,
    run: &Running<'_>,
    inst: &Inst,
    access: Access,
    mask: u32,
    at: &Addresses,
) -> Step<()> {
    let bytes = S as u64 * u64::from(access.count);
    let (_, hi, bits) = bounds(at);
    let size = block.shared.len() as u64;
    if bits & (bytes - 1) != 0 || hi >= space::WINDOW_BYTES || hi + bytes > size {
        return Err(bad_shared(block, at, mask, bytes, WRITE));
    }
    block.counters.shared_accesses += 1;
    let rows = registers(run, inst, access);
    let wide = access.wide_register;
    let touch = Touch {
        owners: access.owners,
        shared: true,
        reads: !WRITE,
        writes: WRITE,
        kind: manner(access.order, WRITE),
        order: access.order,
    };
    if machine.watch.is_some() {
        let value = |lane: usize, byte: u64| stored::<S>(run, rows, wide, lane, byte);
        door::memory(machine, block, warp, &run.path, touch, at, mask, bytes, Some(&value));
    }
    let base = block.shared.as_mut_ptr() as u64;
    let shadow = block.written.as_mut_ptr() as u64;
    let tracked = !block.all_written;
    // SAFETY: all active offsets were checked against the size, which `written` shares; rows are
    // decoded rows of this width.
    unsafe {
        if !WRITE && tracked {
            let mut clean = 0u32;
            for lane in lanes_of(mask) {
                let mut known = 0;
                for i in 0..rows.len() {
                    known |= peek::<S>(shadow + at[lane] + (i * S) as u64);
                }
                clean |= u32::from(known == 0) << lane;
            }
            if clean != 0 && machine.checks.uninitialized_shared == CheckAction::Warn {
                clean &= !behind_contents(block, at, clean, bytes);
            }
            let idle = |demand: &Demand| demand.is_idle();
            if clean != 0 && !run.function.demands.get(&run.path.pc).is_some_and(idle) {
                let lane = clean.trailing_zeros();
                let site = site(block, warp, &run.path, lane);
                uninitialized(machine, block, site, at[lane as usize & 31], bytes)?;
            }
            block.look_for_all_written();
        }
        if mask == u32::MAX && S == 4 && rows.len() == 1 && !wide && (!WRITE || !tracked) {
            let row = run.regs.add(rows[0] as usize);
            for (lane, &offset) in at.iter().enumerate() {
                if WRITE {
                    poke::<S>(base + offset, u64::from(*row.add(lane)));
                } else {
                    *row.add(lane) = peek::<S>(base + offset) as u32;
                }
            }
            door::older(machine, touch.kind, |lane, value| {
                put_older::<S>(run, access, rows, lane, value)
            });
            return Ok(());
        }
        for lane in lanes_of(mask) {
            for (i, &row) in rows.iter().enumerate() {
                let offset = at[lane] + (i * S) as u64;
                if WRITE {
                    poke::<S>(base + offset, read_row(run.regs, row, wide, lane));
                    if tracked {
                        poke::<S>(shadow + offset, u64::MAX);
                    }
                } else if row != NONE {
                    let value = extend::<S>(peek::<S>(base + offset), access.signed);
                    write_row(run.regs, row, wide, lane, value);
                }
            }
        }
        door::older(machine, touch.kind, |lane, value| {
            put_older::<S>(run, access, rows, lane, value)
        });
    }
    Ok(())
}

/// The lanes that read right behind what was written. Right programs read one element ahead and drop it, as CUB's merges
/// do at the end of a tile.
#[cold]
fn behind_contents(block: &Block, at: &Addresses, mask: u32, bytes: u64) -> u32 {
    let follows = |lane: usize| {
        let end = at[lane] as usize;
        let before = block.written.get(end.saturating_sub(bytes as usize)..end);
        before.is_some_and(|flags| flags.iter().any(|flag| *flag != 0))
    };
    mask_of(lanes_of(mask).filter(|lane| follows(*lane)))
}
