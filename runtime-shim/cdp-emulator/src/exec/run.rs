//! The interpreter loop of one warp.

use super::diverge::{self, Arrival};
use super::door::NoChecks;
use super::order::OrderChecks;
use super::path::{Next, Running, WarpStop, site};
use super::{Block, Machine, Path, PathState, SPIN_LIMIT, Step, Warp};
use super::{barrier, dispatch, hold, memory, preempt, straight};
#[cfg(target_arch = "x86_64")]
use super::{native, together};
use crate::code::{JOIN_RETURN, NONE, Op};
use crate::config::{CheckAction, WarpScheduling};

/// Cost of a loop iteration that looks at memory that others change.
const POLL_COST: u32 = SPIN_LIMIT / 64;

/// Runs a warp until it cannot go on, or its block's budget is used up.
pub fn run(machine: &Machine, block: &mut Block, warp: &mut Warp) -> Step<WarpStop> {
    // Seeded schedules interrupt loops that wait before they could count for long.
    if machine.schedule_seed.is_none() {
        warp.spins = 0;
    }
    // Memory is only released between turns.
    if warp.cache_epoch != machine.memory.epoch() {
        warp.cache = Default::default();
        warp.cache_epoch = machine.memory.epoch();
    }
    #[cfg(target_arch = "x86_64")]
    if let Some(stop) = together::turn(machine, block, warp) {
        return Ok(stop);
    }
    loop {
        let path = match last_ready(machine, warp) {
            Some(path) => path,
            None if warp.live == 0 => return Ok(WarpStop::Done),
            None => match choose(machine, block, warp)? {
                Some(path) => path,
                None => return Ok(WarpStop::Idle),
            },
        };
        let frame = warp.frames[path.frame as usize];
        let mut running = Running {
            path,
            function: &machine.functions[frame.function as usize],
            regs: std::ptr::null_mut(),
        };
        running.refresh(machine, warp);
        #[cfg(target_arch = "x86_64")]
        let result = if machine.avx2 {
            // SAFETY: the processor has these features.
            unsafe { run_path_avx2(machine, block, warp, &mut running) }
        } else {
            run_path::<false>(machine, block, warp, &mut running)
        };
        #[cfg(not(target_arch = "x86_64"))]
        let result = run_path::<false>(machine, block, warp, &mut running);
        match result {
            Ok(None) => {}
            Ok(Some(stop)) => return Ok(stop),
            Err(mut fault) => {
                let lane = fault.lane.unwrap_or(running.path.mask.trailing_zeros() & 31);
                if fault.site.is_none() {
                    fault.site = Some(site(block, warp, &running.path, lane));
                }
                // The path goes back, so that deadlock reports and traces can see it.
                warp.paths.push(running.path);
                return Err(fault);
            }
        }
    }
}

/// Takes the path that is on top, if it can run. Stands apart from [`choose`], since it is all that most turns need.
#[inline(always)]
fn last_ready(machine: &Machine, warp: &mut Warp) -> Option<Path> {
    match machine.schedule_seed {
        None => warp.paths.pop_if(|path| path.state == PathState::Ready),
        Some(_) => None,
    }
}

/// Takes the next path that can run.
fn choose(machine: &Machine, block: &mut Block, warp: &mut Warp) -> Step<Option<Path>> {
    let ready = |path: &Path| path.state == PathState::Ready;
    loop {
        let last = warp.paths.iter().rposition(ready);
        if let Some(mut index) = last {
            if machine.schedule_seed.is_some() {
                let count = warp.paths.iter().filter(|p| ready(p)).count() as u64;
                let pick = (warp.next_random() % count) as usize;
                let mut chosen = warp.paths.iter().enumerate().filter(|(_, p)| ready(p));
                index = chosen.nth(pick).map_or(index, |(i, _)| i);
            }
            return Ok(Some(warp.paths.remove(index)));
        }
        let is_held = |path: &Path| path.state == PathState::Held;
        if diverge::parked(warp) == 0 || warp.paths.iter().any(is_held) {
            return Ok(None);
        }
        if machine.checks.barrier_divergence != CheckAction::Off
            && let Some(fault) = barrier::divergence(machine, block, warp)
        {
            if machine.checks.barrier_divergence == CheckAction::Stop {
                return Err(fault);
            }
            block.warnings.push(*fault);
        }
        if machine.warp_scheduling == WarpScheduling::Lockstep
            || warp.paths.iter().any(|path| path.state == PathState::Runtime)
            || !diverge::release_parked(warp, None)
        {
            return Ok(None);
        }
    }
}

/// Adds what was executed to the counters.
struct Tally {
    instructions: u64,
    thread_instructions: u64,
}

impl Tally {
    fn flush(&mut self, block: &mut Block, warp: &mut Warp) {
        warp.clock += self.instructions;
        block.budget -= self.instructions as i64;
        block.counters.warp_instructions += self.instructions;
        block.counters.thread_instructions += self.thread_instructions;
        *self = Tally { instructions: 0, thread_instructions: 0 };
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn run_path_avx2<'m>(
    machine: &'m Machine,
    block: &mut Block,
    warp: &mut Warp,
    run: &mut Running<'m>,
) -> Step<Option<WarpStop>> {
    run_path::<true>(machine, block, warp, run)
}

/// Runs one path until it stops being the running one (`None`) or the warp stops.
#[inline(always)]
fn run_path<'m, const AVX2: bool>(
    machine: &'m Machine,
    block: &mut Block,
    warp: &mut Warp,
    run: &mut Running<'m>,
) -> Step<Option<WarpStop>> {
    let mut tally = Tally { instructions: 0, thread_instructions: 0 };
    let mut polled = false;
    let mut fuse = preempt::fuse(machine, warp);
    #[cfg(target_arch = "x86_64")]
    let mut caller = native::Caller::new();
    // Seeded schedules interrupt warps at accesses to memory.
    let unchecked = machine.watch.is_none() && machine.schedule_seed.is_none();
    let holds = hold::is_on(machine);
    let ordered = machine.checks.look_at_order_alone() && machine.schedule_seed.is_none();
    if run.path.pc == JOIN_RETURN {
        run.path.pc = run.function.code.len() as u32 - 1;
    }
    let result = loop {
        // SAFETY: program counters come from decoding, which ends every function with an
        // instruction that does not fall through.
        let inst = unsafe { run.function.code.get_unchecked(run.path.pc as usize) };
        if inst.ahead > 0 {
            let memory = unchecked && run.path.mask == u32::MAX;
            #[cfg(target_arch = "x86_64")]
            if AVX2 && memory && inst.run != 0 {
                let ran = caller.run(machine, block, warp, run, inst.run);
                caller.count(block);
                tally.instructions += u64::from(ran);
                tally.thread_instructions += u64::from(ran) * 32;
                if ran > 0 {
                    continue;
                }
            }
            // SAFETY: decoding counted them; with AVX2 if the processor has it.
            let ran = unsafe {
                if AVX2 && ordered && run.path.mask == u32::MAX {
                    let mut checks = OrderChecks::of(machine);
                    straight::run::<AVX2>(block, warp, run, inst.ahead, true, &mut checks)
                } else {
                    straight::run::<AVX2>(block, warp, run, inst.ahead, memory, &mut NoChecks)
                }
            };
            if ran > 0 {
                tally.instructions += u64::from(ran);
                let lanes = u64::from(run.path.mask.count_ones());
                tally.thread_instructions += u64::from(ran) * lanes;
                continue;
            }
        }
        // SAFETY: the guard's word lies in the frame.
        let guard = unsafe { *run.regs.add(inst.guard as usize) } ^ inst.guard_not;
        let active = run.path.mask & guard;
        if holds && hold::before(machine, block, warp, run, (inst, active)) {
            break Ok(None);
        }
        tally.instructions += 1;
        tally.thread_instructions += u64::from(run.path.mask.count_ones());
        match inst.op {
            Op::Alu => {
                if active != 0 {
                    // SAFETY: `inst` was decoded for this frame.
                    unsafe { (inst.alu)(run.regs, inst, active) };
                }
                run.path.pc += 1;
            }
            Op::Load(access) => {
                if access.order.is_strong() {
                    polled = true;
                    if machine.clocks.standing.is_some() {
                        memory::note_look(machine, block, warp, run, inst, access, active);
                    }
                }
                if active != 0
                    && let Err(fault) =
                        memory::load(machine, block, warp, run, inst, access, active)
                {
                    break Err(fault);
                }
                run.path.pc += 1;
                if !access.is_private() {
                    fuse -= 1;
                    if fuse == 0 {
                        break Ok(preempt::interrupt(warp, run));
                    }
                }
            }
            Op::Store(access) => {
                if active != 0
                    && let Err(fault) =
                        memory::store(machine, block, warp, run, inst, access, active)
                {
                    break Err(fault);
                }
                run.path.pc += 1;
                if !access.is_private() {
                    fuse -= 1;
                    if fuse == 0 {
                        break Ok(preempt::interrupt(warp, run));
                    }
                }
            }
            Op::Bra { target, join } => {
                block.counters.branches += 1;
                if active == run.path.mask || active == 0 {
                    let back = active != 0 && target <= run.path.pc;
                    run.path.pc = if active != 0 { target } else { run.path.pc + 1 };
                    if !back {
                        continue;
                    }
                } else {
                    block.counters.divergent_branches += 1;
                    diverge_at(machine, warp, run, active, target, join);
                    if target > run.path.pc {
                        continue;
                    }
                }
                warp.spins += if polled { POLL_COST } else { 1 };
                polled = false;
                if warp.spins >= SPIN_LIMIT {
                    match spun(machine, block, warp, run, &mut tally) {
                        Ok(None) => {}
                        Ok(Some(stop)) => break Ok(Some(stop)),
                        Err(fault) => break Err(fault),
                    }
                }
                if tally.instructions as i64 > block.budget {
                    warp.paths.push(run.path);
                    break Ok(Some(WarpStop::Slice));
                }
            }
            Op::Join => {
                // Groups name the instruction of the join itself.
                let join = run.path.pc;
                run.path.pc += 1;
                match diverge::arrive(warp, &mut run.path, join) {
                    Arrival::Continues => {}
                    Arrival::Parked => {
                        warp.release_frame(run.path.frame);
                        break Ok(None);
                    }
                }
            }
            _ => {
                tally.flush(block, warp);
                polled |= matches!(inst.op, Op::Atomic | Op::BarrierObject | Op::Sleep);
                match dispatch::execute(machine, block, warp, run, inst, active) {
                    // Recursion can go on for long without a branch backwards.
                    Ok(Next::Continue) if block.budget < 0 && matches!(inst.op, Op::Call) => {
                        warp.paths.push(run.path);
                        break Ok(Some(WarpStop::Slice));
                    }
                    Ok(Next::Continue) if matches!(inst.op, Op::Atomic) => {
                        fuse -= 1;
                        if fuse == 0 {
                            break Ok(preempt::interrupt(warp, run));
                        }
                    }
                    Ok(Next::Continue) => {}
                    Ok(Next::Switch) => break Ok(None),
                    Ok(Next::Service(lanes)) => {
                        warp.paths.push(run.path);
                        break Ok(Some(WarpStop::Service(lanes)));
                    }
                    Err(fault) => break Err(fault),
                }
            }
        }
    };
    tally.flush(block, warp);
    result
}

/// Parts lanes at a branch and decides which part runs on.
fn diverge_at(
    machine: &Machine,
    warp: &mut Warp,
    run: &mut Running<'_>,
    taken: u32,
    target: u32,
    join: u32,
) {
    let next = run.path.pc + 1;
    let swap = machine.schedule_seed.is_some() && target != join && warp.next_random() & 1 != 0;
    if swap {
        // The taken lanes run on, the others are set aside.
        let rest = run.path.mask & !taken;
        diverge::split(warp, &mut run.path, rest, next, join);
        run.path.pc = target;
    } else {
        diverge::split(warp, &mut run.path, taken, target, join);
        run.path.pc = next;
    }
}

/// The running path has gone round loops for long: lets others run. `None` if it may go on.
///
/// Every path that could run gets its turn. When all of them have gone round for long, what they wait
/// for may be up to lanes that are parked at a meeting point (the holder of a lock that others want
/// while yet others wait for a counter), so these are let go on alone, a group at a time.
fn spun<'m>(
    machine: &'m Machine,
    block: &mut Block,
    warp: &mut Warp,
    run: &mut Running<'m>,
    tally: &mut Tally,
) -> Step<Option<WarpStop>> {
    warp.spins = 0;
    tally.flush(block, warp);
    let ready = |path: &Path| path.state == PathState::Ready;
    let lockstep = machine.warp_scheduling == WarpScheduling::Lockstep;
    let waited_for = lockstep && diverge::others_wait_for(warp, &run.path);
    if waited_for || lockstep && !warp.paths.iter().any(ready) {
        warp.spinning = goes_round_forever(block, warp, run);
        warp.paths.push(run.path);
        return Ok(Some(WarpStop::Spin));
    }
    warp.spun |= run.path.mask;
    let others = warp.paths.iter().any(|path| ready(path) && path.mask & !warp.spun != 0);
    if !others {
        // Another round begins.
        warp.spun = 0;
    }
    if others || lockstep || diverge::release_parked(warp, Some(&run.path)) {
        let group_gone =
            run.path.group != NONE && warp.groups[run.path.group as usize].expected == 0;
        debug_assert!(!group_gone, "a group with a running member was freed");
        // To the far end of the list: everybody else comes first.
        warp.paths.insert(0, run.path);
        let next = choose(machine, block, warp)?;
        if let Some(next) = next {
            run.path = next;
            run.refresh(machine, warp);
            if run.path.pc == JOIN_RETURN {
                run.path.pc = run.function.code.len() as u32 - 1;
            }
        }
        return Ok(None);
    }
    warp.paths.insert(0, run.path);
    Ok(Some(WarpStop::Spin))
}

/// In lockstep: true if the warp is where it was, with the same registers, when it last had gone round
/// for long, so that it goes on like this until another warp changes memory; or if it has gone round
/// for so long that nobody would wait for the end.
fn goes_round_forever(block: &Block, warp: &mut Warp, run: &Running<'_>) -> bool {
    use std::hash::{Hash, Hasher};
    const MOST_ROUNDS: u32 = 1 << 18;
    let mut state = std::hash::DefaultHasher::new();
    (run.path.pc, run.path.mask, run.path.frame).hash(&mut state);
    (&warp.regs, &warp.local, block.counters.store_transactions).hash(&mut state);
    let state = state.finish();
    let same = warp.rounds.0 == state;
    warp.rounds = (state, warp.rounds.1 + 1);
    same || warp.rounds.1 >= MOST_ROUNDS
}
