//! Block barriers: `bar.sync`, `bar.arrive`, `bar.red`, and the detection of divergence at them.

use super::fault::{Fault, WaitingLanes};
use super::path::{Next, Running, keep_active, parked_lanes, site};
use super::rows::{read_row, set_pred, write_row};
use super::{Block, Machine, Path, PathState, Step, Warp, diverge};
use crate::code::{Barrier, BarrierKind, Function, Inst, NONE, Op};
use crate::config::CheckAction;
use crate::lanes::lanes_of;
use crate::report::ReportKind;

/// The barrier that a waiting path waits at.
fn barrier_of<'m>(machine: &'m Machine, warp: &Warp, path: &Path) -> Option<(&'m Barrier, u32)> {
    let function = &machine.functions[warp.frames.get(path.frame as usize)?.function as usize];
    let inst = function.code.get(path.pc as usize)?;
    matches!(inst.op, Op::Barrier).then(|| (&function.barriers[inst.imm as usize], inst.origin))
}

/// Lanes of a path come to a barrier.
pub fn arrive(
    machine: &Machine,
    block: &mut Block,
    warp: &mut Warp,
    run: &mut Running<'_>,
    inst: &Inst,
    active: u32,
) -> Step<Next> {
    keep_active(warp, run, active);
    let barrier = &run.function.barriers[inst.imm as usize];
    let lane = active.trailing_zeros();
    // SAFETY: decoded rows.
    let id = unsafe { read_row(run.regs, barrier.id, false, lane as usize) };
    if id > 15 {
        let message = format!("barrier {id}; a block has barriers 0 to 15");
        return Err(Fault::new(ReportKind::InvalidInstruction, Some(lane), message));
    }
    let threads = if barrier.threads == NONE {
        None
    } else {
        // SAFETY: decoded row.
        Some(unsafe { read_row(run.regs, barrier.threads, false, lane as usize) } as u32)
    };
    if let Some(count) = threads
        && (count % 32 != 0 || count == 0)
    {
        let message = format!("barrier for {count} threads, which is no multiple of the warp size");
        return Err(Fault::new(ReportKind::InvalidInstruction, Some(lane), message));
    }
    block.counters.barriers += 1;
    if threads.is_some_and(|count| block.barriers[id as usize].arrived >= count) {
        // All that it waited for have come: who comes now is the first of its next phase.
        let index = warp.index as usize;
        std::mem::swap(&mut *block.warps[index], warp);
        let completed = complete_ready(machine, block);
        std::mem::swap(&mut *block.warps[index], warp);
        completed?;
    }
    let state = &mut block.barriers[id as usize];
    // With a thread count, a whole warp counts as 32 threads even if it has fewer.
    state.arrived +=
        if threads.is_some() && active == warp.live { 32 } else { active.count_ones() };
    if threads.is_some() {
        state.threads = threads;
    }
    match barrier.kind {
        BarrierKind::Sync | BarrierKind::Arrive => {}
        BarrierKind::RedPopc | BarrierKind::RedAnd | BarrierKind::RedOr => {
            // SAFETY: decoded predicate.
            let votes =
                (unsafe { *run.regs.add(barrier.pred.0 as usize) } ^ barrier.pred.1) & active;
            state.true_votes += votes.count_ones();
            state.votes += active.count_ones();
        }
    }
    if (barrier.kind == BarrierKind::Arrive || threads.is_some())
        && let Some(checks) = block.state.as_deref_mut()
    {
        // Not all threads of the block may come: who comes tells what it did.
        checks.arrive_at(id as usize, warp.index, active);
        block.barriers[id as usize].collects = true;
    }
    if barrier.kind == BarrierKind::Arrive {
        run.path.pc += 1;
        // The arrival may complete the barrier for others; `complete_ready` looks after the turn.
        return Ok(Next::Continue);
    }
    run.path.state = PathState::Barrier(id as u8);
    warp.paths.push(run.path);
    Ok(Next::Switch)
}

/// The id of a barrier at which nothing is to be done but to wait for all threads of the block.
///
/// # Safety
/// `regs` is the frame that `inst` was decoded for.
#[inline(always)]
pub unsafe fn plain(function: &Function, regs: *const u32, inst: &Inst) -> Option<u8> {
    let barrier = &function.barriers[inst.imm as usize];
    if barrier.kind != BarrierKind::Sync || barrier.threads != NONE {
        return None;
    }
    // SAFETY: decoded rows.
    let id = unsafe { read_row(regs, barrier.id, false, 0) };
    (id < 16).then_some(id as u8)
}

/// Lets all warps go on that wait, each with all its lanes, at one plain barrier from one place, where this
/// one waits. True if it did. Else nothing was done, and [`complete_ready`] may know more.
pub fn pass_together(machine: &Machine, block: &mut Block, index: usize) -> bool {
    let first = &block.warps[index];
    let [Path { pc, frame, state: PathState::Barrier(id), .. }] = *first.paths.as_slice() else {
        return false;
    };
    let state = &block.barriers[id as usize];
    if state.arrived != block.grid.threads() || state.threads.is_some() || block.state.is_some() {
        return false;
    }
    let others = block.barriers.iter().map(|state| state.arrived).sum::<u32>() - state.arrived;
    let number = first.frames[frame as usize].function;
    let is_there = |warp: &Warp| match warp.paths.as_slice() {
        [path] => {
            let place = (path.pc, path.state) == (pc, PathState::Barrier(id));
            place && warp.frame(path).function == number
        }
        _ => false,
    };
    let function = &machine.functions[number as usize];
    let inst = &function.code[pc as usize];
    // SAFETY: the frame of the path that waits at the instruction.
    let plain = unsafe {
        let base = first.frames[frame as usize].base as usize;
        plain(function, first.regs.as_ptr().add(base), inst)
    };
    if others != 0 || plain.is_none() || !block.warps.iter().all(|warp| is_there(warp)) {
        return false;
    }
    block.barriers[id as usize] = Default::default();
    for warp in &mut block.warps {
        warp.paths[0].state = PathState::Ready;
        warp.paths[0].pc = pc + 1;
    }
    block.look_where_all_met();
    true
}

/// Threads of the block that have not ended.
fn live_threads(block: &Block) -> u32 {
    block.warps.iter().map(|warp| warp.live.count_ones()).sum()
}

/// Completes every barrier that all its threads have reached, and makes their paths ready. To be
/// called between the turns of warps. True if a barrier was completed.
pub fn complete_ready(machine: &Machine, block: &mut Block) -> Step<bool> {
    let mut any = false;
    for id in 0..16 {
        let state = block.barriers[id];
        if state.arrived == 0 {
            continue;
        }
        let wanted = state.threads.unwrap_or_else(|| live_threads(block));
        if state.arrived < wanted {
            continue;
        }
        let waiting = block
            .warps
            .iter()
            .any(|warp| warp.paths.iter().any(|path| path.state == PathState::Barrier(id as u8)));
        if !waiting && state.threads.is_none() {
            // Only `bar.arrive` so far: nobody to release yet.
            if state.arrived < wanted {
                continue;
            }
        }
        check_same_place(machine, block, id as u8)?;
        release(machine, block, id as u8);
        any = true;
    }
    Ok(any)
}

/// Reports threads that met at barrier 0 from different places. Whole warps that do nothing but wait there the hardware lets go
/// on all the same (seen on an H100): programs that count on it are warned of, and go on. Lanes of one warp it does not have
/// wait for each other, and warps that add up something may hang.
fn check_same_place(machine: &Machine, block: &mut Block, id: u8) -> Step<()> {
    if id != 0 || machine.checks.barrier_divergence == CheckAction::Off {
        return Ok(());
    }
    let mut first: Option<(usize, Path)> = None;
    let mut other: Option<(usize, Path)> = None;
    let mut action = if machine.checks.exchanges { CheckAction::Stop } else { CheckAction::Warn };
    for (index, warp) in block.warps.iter().enumerate() {
        let mut of_warp = None;
        for path in warp.paths.iter().filter(|path| path.state == PathState::Barrier(id)) {
            let Some((barrier, _)) = barrier_of(machine, warp, path) else { continue };
            if !barrier.aligned || barrier.threads != NONE {
                return Ok(());
            }
            let here = (path.pc, warp.frame(path).function);
            if barrier.kind != BarrierKind::Sync || *of_warp.get_or_insert(here) != here {
                action = machine.checks.barrier_divergence;
            }
            match &first {
                None => first = Some((index, *path)),
                Some((from, seen)) => {
                    let there = (seen.pc, block.warps[*from].frame(seen).function);
                    if here != there {
                        other = Some((index, *path));
                    }
                }
            }
        }
    }
    let (Some(a), Some(b)) = (first, other) else { return Ok(()) };
    let message = "threads of the block wait at different __syncthreads()";
    let mut fault = Fault::new(ReportKind::BarrierDivergence, None, message).help(
        "every thread of the block must reach the same __syncthreads(); move it out of the branch",
    );
    for (index, path) in [a, b] {
        let warp = &block.warps[index];
        fault.waiters.push(WaitingLanes {
            site: site(block, warp, &path, path.mask.trailing_zeros()),
            lanes: path.mask,
            what: "at __syncthreads()".to_string(),
        });
    }
    fault.site = fault.waiters.first().map(|w| w.site);
    if action == CheckAction::Stop {
        return Err(fault);
    }
    // One that stands in a loop is told of once.
    if !block.warnings.iter().any(|known| known.kind == fault.kind) {
        block.warnings.push(*fault);
    }
    Ok(())
}

/// Tells the checks who met at a barrier that is complete.
fn pass(block: &mut Block, id: u8, collected: bool) {
    let Some(checks) = block.state.as_deref_mut() else { return };
    let at_barrier = |warp: &Warp| {
        let waits = |path: &&Path| path.state == PathState::Barrier(id);
        warp.paths.iter().filter(waits).fold(0, |lanes, path| lanes | path.mask)
    };
    let here = || block.warps.iter().map(|warp| at_barrier(warp).count_ones()).sum::<u32>();
    let all_came = match collected {
        // Of those who have ended nobody said that they are waited for.
        true => here() == block.grid.threads(),
        false => block.warps.iter().all(|warp| at_barrier(warp) == warp.live),
    };
    if all_came {
        checks.meet();
    } else if collected {
        for warp in &block.warps {
            let lanes = at_barrier(warp);
            checks.arrive_at(id as usize, warp.index, lanes);
        }
        for warp in &block.warps {
            checks.leave_barrier(id as usize, warp.index, at_barrier(warp));
        }
    }
    checks.reset_barrier(id as usize);
}

/// Lets the paths at a barrier go on, with the result of its reduction.
fn release(machine: &Machine, block: &mut Block, id: u8) {
    let state = std::mem::take(&mut block.barriers[id as usize]);
    pass(block, id, state.collects);
    for warp in &mut block.warps {
        for index in 0..warp.paths.len() {
            let path = warp.paths[index];
            if path.state != PathState::Barrier(id) {
                continue;
            }
            if let Some((barrier, _)) = barrier_of(machine, warp, &path) {
                let base = warp.frame(&path).base as usize;
                // SAFETY: the frame's words lie in `regs`.
                let regs = unsafe { warp.regs.as_mut_ptr().add(base) };
                let result = |yes: bool| if yes { path.mask } else { 0 };
                match barrier.kind {
                    BarrierKind::Sync | BarrierKind::Arrive => {}
                    BarrierKind::RedPopc => {
                        for lane in lanes_of(path.mask) {
                            // SAFETY: decoded row.
                            unsafe {
                                write_row(
                                    regs,
                                    barrier.dst,
                                    false,
                                    lane,
                                    u64::from(state.true_votes),
                                )
                            };
                        }
                    }
                    BarrierKind::RedAnd => {
                        set_pred(
                            regs,
                            barrier.dst,
                            result(state.true_votes == state.votes),
                            path.mask,
                        );
                    }
                    BarrierKind::RedOr => {
                        set_pred(regs, barrier.dst, result(state.true_votes > 0), path.mask);
                    }
                }
            }
            let path = &mut warp.paths[index];
            path.state = PathState::Ready;
            path.pc += 1;
        }
    }
}

/// Lanes at an aligned block barrier while other lanes of their warp wait for them elsewhere.
pub fn divergence(machine: &Machine, block: &Block, warp: &Warp) -> Option<Box<Fault>> {
    let stuck = warp.paths.iter().find(|path| {
        matches!(path.state, PathState::Barrier(_))
            && diverge::others_wait_for(warp, path)
            && barrier_of(machine, warp, path).is_some_and(|(barrier, _)| barrier.aligned)
    })?;
    let elsewhere = diverge::parked(warp);
    let message = format!(
        "{} threads of a warp wait at a barrier that {} others of the same warp did not enter",
        stuck.mask.count_ones(),
        elsewhere.count_ones()
    );
    let mut fault = Fault::new(ReportKind::BarrierDivergence, None, message)
        .help("__syncthreads() in a branch must be reached by all threads of the block or by none");
    fault.site = Some(site(block, warp, stuck, stuck.mask.trailing_zeros()));
    fault.waiters.push(WaitingLanes {
        site: site(block, warp, stuck, stuck.mask.trailing_zeros()),
        lanes: stuck.mask,
        what: "at the barrier".to_string(),
    });
    fault.waiters.extend(parked_lanes(machine, block, warp));
    Some(fault)
}
