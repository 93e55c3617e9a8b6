//! Lanes that are held before a step, so that others come to the same memory meanwhile if nothing keeps them away.
//!
//! Who has just taken a lock mostly is done before anybody else comes: then the order that the lock makes next hides that it
//! lets two in at once. And who looks for what others make mostly looks before it is there. So where races are looked for,
//! lanes wait for some turns
//!
//! - the first time that any come to a plain access behind an atomic, or behind a barrier that counts threads;
//! - now and then between a look and what they tell others next;
//! - before they look at a word that nobody of their grid has written, until somebody has; one path for each word;
//! - before they look at anything, if from there on nobody can wait for them or hear of them;
//! - before they come last to a barrier that counts fewer threads than the block has: others may take their place.
//!
//! Of right programs others only wait for them or do something else in the meantime. Any order of turns may be, and what is
//! reported is a race as ever. How often lanes are held at a place: [`crate::check::holds`].

use super::memory::atomic_addresses;
use super::path::Running;
use super::rows::read_row;
use super::{Block, Machine, Path, PathState, Warp, door};
use crate::check::holds;
use crate::code::{Access, Inst, NONE, Op, StateSpace};
use crate::config::WarpScheduling;
use crate::memory::space::{self, Window};

/// Turns of their block that lanes are held for: few, so that not all others are done meanwhile.
const TURNS: u32 = 16;
/// The same of those that look for what is not there yet.
const LOOK_TURNS: u32 = 64;
/// Of so many times lanes are held once between a look and what they tell.
const SELDOM: u64 = 4;

/// What is kept of a warp to know which of its lanes to hold, by lane.
#[derive(Clone, Copy, Debug, Default)]
pub struct Hold {
    /// Have made an atomic update, or come to a barrier, and no plain access since.
    eager: u32,
    /// Have looked, and told nobody anything since.
    looked: u32,
    /// Were held, and may go on.
    passed: u32,
    /// Turns that lanes of it are held for yet.
    left: u32,
    /// The word that they are held for until somebody writes it.
    awaits: Option<u64>,
}

/// Whether lanes are ever held in a run.
pub fn is_on(machine: &Machine) -> bool {
    machine.checks.races && machine.warp_scheduling != WarpScheduling::Lockstep
}

/// Lanes of a path come to an instruction: true if they are held first, and set aside.
#[inline(always)]
pub fn before(
    machine: &Machine,
    block: &mut Block,
    warp: &mut Warp,
    run: &mut Running<'_>,
    (inst, active): (&Inst, u32),
) -> bool {
    let turns = match inst.op {
        _ if active == 0 => None,
        Op::Load(access) | Op::Store(access) if access.is_private() => None,
        Op::Load(access) if access.order.is_strong() => {
            let turns = before_look(machine, block, warp, run, (inst, access, active));
            warp.hold.looked |= active;
            turns
        }
        Op::Load(access) | Op::Store(access) if !access.order.is_strong() => {
            match warp.hold.eager & active {
                0 => None,
                _ => before_plain(machine, warp, run, active),
            }
        }
        Op::Store(_) => before_telling(machine, warp, run, active),
        Op::Atomic => {
            let turns = before_telling(machine, warp, run, active);
            warp.hold.eager |= active;
            turns
        }
        Op::Barrier => before_barrier(machine, block, warp, run, (inst, active)),
        _ => None,
    };
    let Some(turns) = turns else { return false };
    block.held += u32::from(warp.hold.left == 0);
    warp.hold.left = turns;
    warp.paths.push(Path { state: PathState::Held, ..run.path });
    true
}

#[cold]
fn before_plain(machine: &Machine, warp: &mut Warp, run: &Running<'_>, active: u32) -> Option<u32> {
    warp.hold.eager &= !active;
    let origin = door::origin(warp, &run.path);
    let mut watch = machine.watch()?;
    (watch.holds.is_new(origin) && watch.holds.take(origin)).then_some(TURNS)
}

#[inline(always)]
fn before_telling(
    machine: &Machine,
    warp: &mut Warp,
    run: &Running<'_>,
    active: u32,
) -> Option<u32> {
    if warp.hold.looked & active == 0 {
        return None;
    }
    warp.hold.looked &= !active;
    if !warp.next_random().is_multiple_of(SELDOM) {
        return None;
    }
    let origin = door::origin(warp, &run.path);
    machine.watch()?.holds.take(origin).then_some(TURNS)
}

#[cold]
fn before_look(
    machine: &Machine,
    block: &mut Block,
    warp: &mut Warp,
    run: &mut Running<'_>,
    (inst, access, active): (&Inst, Access, u32),
) -> Option<u32> {
    if std::mem::take(&mut warp.hold.passed) & active != 0 {
        return None;
    }
    let origin = door::origin(warp, &run.path);
    let mut watch = machine.watch()?;
    let state = block.state.as_deref_mut()?;
    if !watch.holds.may(origin) || access.space == StateSpace::Cluster {
        return None;
    }
    let at = match inst.a {
        NONE => u64::from(inst.imm),
        row => atomic_addresses(run, row, access.wide_address, inst.imm as i32, active)
            [active.trailing_zeros() as usize],
    };
    let shared = match access.space {
        StateSpace::Shared => true,
        StateSpace::Generic => space::window(at) == Window::Shared,
        _ => false,
    };
    let place = if shared { space::offset(at) } else { at };
    let nobody_waits = !watch.holds.ahead(origin.function, run.function).tells(origin.instruction);
    let key = holds::key(state.id, shared, place);
    let comes_first = watch.is_bare(state, shared, place) && watch.holds.awaits(key);
    if !nobody_waits && !comes_first || !watch.holds.take(origin) {
        return None;
    }
    warp.hold.awaits = (comes_first && !nobody_waits).then_some(key);
    // Who looks and can tell somebody goes first.
    Some(if nobody_waits { 2 * LOOK_TURNS } else { LOOK_TURNS })
}

#[cold]
fn before_barrier(
    machine: &Machine,
    block: &Block,
    warp: &mut Warp,
    run: &Running<'_>,
    (inst, active): (&Inst, u32),
) -> Option<u32> {
    let barrier = &run.function.barriers[inst.imm as usize];
    if barrier.threads == NONE {
        return None;
    }
    warp.hold.eager |= active;
    if std::mem::take(&mut warp.hold.passed) & active != 0 {
        return None;
    }
    // SAFETY: decoded rows.
    let [id, count] = [barrier.id, barrier.threads]
        .map(|row| unsafe { read_row(run.regs, row, false, active.trailing_zeros() as usize) });
    let arrived = u64::from(block.barriers.get(id as usize)?.arrived);
    let is_last = (arrived..arrived + 32).contains(&count.saturating_sub(1));
    let is_there = |path: &Path| path.state == PathState::Held && path.pc == run.path.pc;
    if !is_last
        || count >= u64::from(block.grid.threads())
        || block.warps.iter().any(|warp| warp.paths.iter().any(is_there))
    {
        return None;
    }
    let origin = door::origin(warp, &run.path);
    machine.watch()?.holds.take(origin).then_some(TURNS)
}

/// A turn of a block begins: lanes that were held long enough go on.
#[inline(always)]
pub fn turn(machine: &Machine, block: &mut Block) {
    if block.held > 0 {
        let_go(machine, block);
    }
}

#[cold]
fn let_go(machine: &Machine, block: &mut Block) {
    let Some(mut watch) = machine.watch() else { return };
    for warp in block.warps.iter_mut().filter(|warp| warp.hold.left > 0) {
        warp.hold.left -= 1;
        let came = warp.hold.awaits.is_some_and(|key| !watch.holds.is_awaited(key));
        if warp.hold.left > 0 && !came {
            continue;
        }
        warp.hold.left = 0;
        if let Some(key) = warp.hold.awaits.take() {
            watch.holds.came(key);
        }
        for path in warp.paths.iter_mut().filter(|path| path.state == PathState::Held) {
            path.state = PathState::Ready;
            warp.hold.passed |= path.mask;
            watch.holds.release();
        }
        block.held -= 1;
    }
}
