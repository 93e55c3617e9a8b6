//! The interpreter loop of one warp.

use super::diverge::{self, Arrival};
use super::fault::Fault;
use super::{Block, Machine, Path, PathState, SPIN_LIMIT, Step, Warp};
use super::{
    atomics, barrier, bulk, calls, cluster, collective, door, mbarrier, memory, preempt, surface,
    tensor,
};
use crate::alu::video;
use crate::code::{Function, Inst, JOIN_RETURN, NONE, Op, Place, PredLogic, Special, VideoInst};
use crate::config::{CheckAction, WarpScheduling};
use crate::memory::{SiteRef, space};
use crate::report::ReportKind;

/// Cost of a loop iteration that looks at memory that others change.
const POLL_COST: u32 = SPIN_LIMIT / 64;

/// Why a warp stopped running.
#[derive(Debug)]
pub enum WarpStop {
    /// All its lanes have ended.
    Done,
    /// No lane can run now.
    Idle,
    /// The slice is used up.
    Slice,
    /// A seeded schedule interrupts it here.
    Yield,
    /// Its lanes only go round waiting loops.
    Spin,
    /// The last path of `paths` calls the device, in these lanes.
    Service(u32),
}

/// What the loop does after an instruction that is not plain.
pub enum Next {
    /// The next instruction.
    Continue,
    /// The path was parked, ended or waits: choose another.
    Switch,
    /// Hand the path to the device.
    Service(u32),
}

/// The running path with what the loop keeps at hand.
pub struct Running<'m> {
    /// The path; its `pc` is that of the current instruction.
    pub path: Path,
    /// Its function.
    pub function: &'m Function,
    /// Its register frame.
    pub regs: *mut u32,
}

impl<'m> Running<'m> {
    /// Sets `function` and `regs` after the frame changed or the registers moved.
    pub fn refresh(&mut self, machine: &'m Machine, warp: &mut Warp) {
        let frame = warp.frames[self.path.frame as usize];
        self.function = &machine.functions[frame.function as usize];
        // SAFETY: the frame's words lie in `regs` (`calls::enter` made room).
        self.regs = unsafe { warp.regs.as_mut_ptr().add(frame.base as usize) };
    }
}

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
    loop {
        let Some(path) = choose(machine, block, warp)? else {
            return Ok(if warp.live == 0 { WarpStop::Done } else { WarpStop::Idle });
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
            run_path(machine, block, warp, &mut running)
        };
        #[cfg(not(target_arch = "x86_64"))]
        let result = run_path(machine, block, warp, &mut running);
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

/// Where a lane of a path is.
pub fn site(block: &Block, warp: &Warp, path: &Path, lane: u32) -> SiteRef {
    let frame = warp.frames.get(path.frame as usize);
    SiteRef {
        grid: block.grid.serial,
        kernel: block.grid.kernel,
        block: block.linear,
        thread: warp.index * 32 + lane,
        function: frame.map_or(block.grid.function, |f| f.function),
        instruction: path.pc,
    }
}

/// Takes the next path that can run.
fn choose(machine: &Machine, block: &mut Block, warp: &mut Warp) -> Step<Option<Path>> {
    loop {
        let ready = |path: &Path| path.state == PathState::Ready;
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
        if diverge::parked(warp) == 0 {
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

/// Writes `value(lane)` to the active lanes of a row.
///
/// # Safety
/// `row` is the offset of a row of the frame at `regs` of the given width.
unsafe fn fill(regs: *mut u32, row: u32, wide: bool, mask: u32, value: impl Fn(usize) -> u64) {
    // SAFETY: by the contract.
    unsafe {
        let base = regs.add(row as usize);
        for lane in 0..32 {
            if mask >> lane & 1 != 0 {
                if wide {
                    base.cast::<u64>().add(lane).write_unaligned(value(lane));
                } else {
                    *base.add(lane) = value(lane) as u32;
                }
            }
        }
    }
}

/// Reads one lane of a row.
///
/// # Safety
/// `row` is the offset of a row of the frame at `regs` of the given width.
#[inline(always)]
pub unsafe fn read_row(regs: *const u32, row: u32, wide: bool, lane: usize) -> u64 {
    // SAFETY: by the contract.
    unsafe {
        let base = regs.add(row as usize);
        if wide {
            base.cast::<u64>().add(lane).read_unaligned()
        } else {
            u64::from(*base.add(lane))
        }
    }
}

/// Writes one lane of a row.
///
/// # Safety
/// `row` is the offset of a row of the frame at `regs` of the given width.
#[inline(always)]
pub unsafe fn write_row(regs: *mut u32, row: u32, wide: bool, lane: usize, value: u64) {
    // SAFETY: by the contract.
    unsafe {
        let base = regs.add(row as usize);
        if wide {
            base.cast::<u64>().add(lane).write_unaligned(value);
        } else {
            *base.add(lane) = value as u32;
        }
    }
}

/// Iterates over the lanes of a mask.
pub fn lanes_of(mask: u32) -> impl Iterator<Item = usize> {
    let mut rest = mask;
    std::iter::from_fn(move || {
        (rest != 0).then(|| {
            let lane = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            lane
        })
    })
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
    run_path(machine, block, warp, run)
}

/// Runs one path until it stops being the running one (`None`) or the warp stops.
#[inline(always)]
fn run_path<'m>(
    machine: &'m Machine,
    block: &mut Block,
    warp: &mut Warp,
    run: &mut Running<'m>,
) -> Step<Option<WarpStop>> {
    let mut tally = Tally { instructions: 0, thread_instructions: 0 };
    let mut polled = false;
    let mut fuse = preempt::fuse(machine, warp);
    if run.path.pc == JOIN_RETURN {
        run.path.pc = run.function.code.len() as u32 - 1;
    }
    let result = loop {
        // SAFETY: program counters come from decoding, which ends every function with an
        // instruction that does not fall through.
        let inst = unsafe { run.function.code.get_unchecked(run.path.pc as usize) };
        // SAFETY: the guard's word lies in the frame.
        let guard = unsafe { *run.regs.add(inst.guard as usize) } ^ inst.guard_not;
        let active = run.path.mask & guard;
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
                polled |= access.order.is_strong();
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
                match special(machine, block, warp, run, inst, active) {
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

/// If only some lanes of the path are active in an instruction at which lanes wait, parks the
/// others at the meeting point right behind it.
pub fn keep_active(warp: &mut Warp, run: &mut Running<'_>, active: u32) {
    let away = run.path.mask & !active;
    if away == 0 {
        return;
    }
    // Decoding put a meeting point behind every guarded waiting instruction.
    let next = run.path.pc + 1;
    diverge::split(warp, &mut run.path, away, next, next);
}

/// Instructions that are neither arithmetic nor memory accesses nor branches.
fn special<'m>(
    machine: &'m Machine,
    block: &mut Block,
    warp: &mut Warp,
    run: &mut Running<'m>,
    inst: &'m Inst,
    active: u32,
) -> Step<Next> {
    let regs = run.regs;
    match inst.op {
        // Handled by the loop.
        Op::Alu | Op::Load(_) | Op::Store(_) | Op::Bra { .. } | Op::Join => {}
        Op::Brx { table, join } => return indexed_branch(warp, run, inst, table, join, active),
        Op::Call => return calls::call(machine, block, warp, run, inst, active),
        Op::Ret { join } => return calls::ret(machine, warp, run, active, join),
        Op::Exit => return Ok(exit(warp, run, active)),
        Op::Trap if active != 0 => {
            let message = "the program executed a trap";
            return Err(Fault::new(ReportKind::Trap, Some(active.trailing_zeros()), message));
        }
        Op::Brkpt if active != 0 => {
            let message = "the program executed a breakpoint";
            return Err(Fault::new(ReportKind::Breakpoint, Some(active.trailing_zeros()), message));
        }
        Op::Barrier if active != 0 => {
            return barrier::arrive(block, warp, run, inst, active);
        }
        Op::WarpSync if active != 0 => {
            return collective::warp_sync(block, warp, run, inst, active);
        }
        Op::Collective if active != 0 => return collective::exchange(warp, run, inst, active),
        Op::ClusterWait if active != 0 => return cluster::wait(block, warp, run, active),
        Op::Trap | Op::Brkpt | Op::Barrier | Op::WarpSync | Op::Collective | Op::ClusterWait => {}
        Op::ClusterArrive { releases } => cluster::arrive(block, warp, active, releases)?,
        Op::Mapa(place) => cluster::map(block, regs, inst, place, active)?,
        Op::ClusterRank(place) => cluster::rank(block, regs, inst, place, active)?,
        Op::Remote => bulk::remote(machine, block, warp, run, inst, active)?,
        Op::Atomic => {
            if active != 0 {
                atomics::execute(machine, block, warp, run, inst, active)?;
            }
        }
        Op::BarrierObject => {
            if active != 0 {
                mbarrier::execute(machine, block, warp, run, inst, active)?;
            }
        }
        Op::BulkCopy => bulk::copy(machine, block, warp, run, inst, active)?,
        Op::AsyncCopy => memory::async_copy(machine, block, warp, run, inst, active)?,
        Op::Texture => surface::fetch(machine, block, warp, run, inst, active)?,
        Op::Surface => surface::access(machine, block, warp, run, inst, active)?,
        Op::TextureQuery => surface::query(machine, run, inst, active)?,
        Op::Sleep => {
            let mut longest = 0;
            for lane in lanes_of(active) {
                // SAFETY: decoded row.
                longest = longest.max(unsafe { read_row(regs, inst.a, false, lane) });
            }
            warp.clock += longest;
        }
        Op::Alloca { wide } => {
            calls::alloca(block.grid.stack_bytes, warp, run, inst, wide, active)?;
        }
        Op::StackSave { wide } => {
            let end = u64::from(warp.frame(&run.path).local_end) * 4;
            // SAFETY: decoded row.
            unsafe { fill(regs, inst.d, wide, active, |_| end) };
        }
        Op::StackRestore { wide } => calls::stack_restore(warp, run, inst, wide, active),
        Op::ActiveMask => {
            let mask = u64::from(run.path.mask);
            // SAFETY: decoded row.
            unsafe { fill(regs, inst.d, false, active, |_| mask) };
        }
        Op::Special(which) => read_special(block, warp, regs, inst, which, active),
        Op::FrameAddress { wide } => {
            let at = u64::from(warp.frame(&run.path).local) * 4 + u64::from(inst.imm);
            // SAFETY: decoded row.
            unsafe { fill(regs, inst.d, wide, active, |_| at) };
        }
        Op::SharedAddress { wide } => {
            let at = u64::from(block.grid.shared_offsets[inst.imm as usize]);
            // SAFETY: decoded rows.
            unsafe {
                fill(regs, inst.d, wide, active, |lane| {
                    at.wrapping_add(read_row(regs, inst.a, wide, lane))
                })
            };
        }
        Op::ToGeneric(place) => to_generic(block, warp, regs, inst, place, active),
        Op::FromGeneric(place) => {
            // SAFETY: decoded rows.
            unsafe {
                fill(regs, inst.d, true, active, |lane| {
                    let address = read_row(regs, inst.a, true, lane);
                    match place {
                        Place::Cluster => cluster::from_generic(block, address),
                        Place::Shared | Place::Local | Place::Param | Place::Frame => {
                            space::offset(address)
                        }
                        Place::Generic | Place::Global | Place::Const => address,
                    }
                })
            };
        }
        Op::IsSpace(place) => is_space(machine, block, regs, inst, place, active),
        Op::PredLogic(op) => pred_logic(regs, inst, op, active),
        Op::RowFromPred => {
            // SAFETY: decoded row and predicate.
            unsafe {
                let pred = *regs.add(inst.a as usize);
                let value = u64::from(inst.imm);
                fill(
                    regs,
                    inst.d,
                    false,
                    active,
                    |lane| if pred >> lane & 1 != 0 { value } else { 0 },
                );
            }
        }
        Op::PredNonzero => {
            let mut bits = 0;
            for lane in lanes_of(active) {
                // SAFETY: decoded row.
                bits |= u32::from(unsafe { read_row(regs, inst.a, false, lane) } != 0) << lane;
            }
            set_pred(regs, inst.d, bits, active);
        }
        Op::Video => {
            let video = &run.function.videos[inst.imm as usize];
            for lane in lanes_of(active) {
                // SAFETY: decoded rows.
                unsafe {
                    let (a, b) = (
                        read_row(regs, inst.a, false, lane) as u32,
                        read_row(regs, inst.b, false, lane) as u32,
                    );
                    let c = read_row(regs, inst.c, false, lane) as u32;
                    let value = match video {
                        VideoInst::Scalar(v) => video::scalar(v, a, b, c),
                        VideoInst::Mad(v) => video::mad(v, a, b, c),
                        VideoInst::Simd(v) => video::simd(v, a, b, c),
                    };
                    write_row(regs, inst.d, false, lane, u64::from(value));
                }
            }
        }
        Op::Divisor { wide } => {
            let mask = u64::MAX >> (64 - inst.imm.clamp(1, 64));
            // SAFETY: decoded row.
            let is_zero = |&lane: &usize| unsafe { read_row(regs, inst.a, wide, lane) } & mask == 0;
            let zero = lanes_of(active).filter(is_zero).fold(0, |lanes, lane| lanes | 1 << lane);
            door::divided(machine, block, warp, run, zero);
        }
        Op::Fence(order) => door::fence(block, warp, active, order),
        Op::Copies(order) => door::copies(block, warp, active, order),
        Op::Mma if active != 0 => {
            tensor::mma(regs, &run.function.tensors[inst.imm as usize], active);
        }
        Op::Movmatrix => tensor::movmatrix(regs, inst, active),
        Op::MatrixAddress => {
            let of = &run.function.matrix_addresses[inst.imm as usize];
            tensor::addresses(regs, inst, of, active);
        }
        Op::Mma | Op::Nop => {}
        Op::Refused if active != 0 => return Err(refused(run, active)),
        Op::Refused => {}
    }
    run.path.pc += 1;
    Ok(Next::Continue)
}

/// The report of an instruction that the device does not run, reached through a pointer.
fn refused(run: &Running<'_>, active: u32) -> Box<Fault> {
    let why = run.function.refusal.as_ref().map_or("", |(_, why)| why);
    let lane = Some(active.trailing_zeros());
    Fault::new(ReportKind::InvalidInstruction, lane, format!("not supported: {why}"))
}

/// Sets the active bits of a predicate.
pub fn set_pred(regs: *mut u32, word: u32, bits: u32, active: u32) {
    // SAFETY: callers pass a decoded predicate of the frame at `regs`.
    unsafe {
        let p = regs.add(word as usize);
        *p = (*p & !active) | (bits & active);
    }
}

fn pred_logic(regs: *mut u32, inst: &Inst, op: PredLogic, active: u32) {
    // SAFETY: decoded predicates.
    let (mut a, mut b) = unsafe { (*regs.add(inst.a as usize), *regs.add(inst.b as usize)) };
    if inst.imm & 1 != 0 {
        a = !a;
    }
    if inst.imm & 2 != 0 {
        b = !b;
    }
    let bits = match op {
        PredLogic::And => a & b,
        PredLogic::Or => a | b,
        PredLogic::Xor => a ^ b,
        PredLogic::Copy => a,
    };
    set_pred(regs, inst.d, bits, active);
}

fn to_generic(block: &Block, warp: &Warp, regs: *mut u32, inst: &Inst, place: Place, active: u32) {
    let (serial, first) = (block.serial, warp.index * 32);
    // SAFETY: decoded rows.
    unsafe {
        fill(regs, inst.d, true, active, |lane| {
            let at = read_row(regs, inst.a, true, lane);
            match place {
                Place::Shared => space::shared_base(serial) | space::offset(at),
                Place::Cluster => cluster::to_generic(block, at),
                Place::Local | Place::Frame => {
                    space::local_base(serial, first + lane as u32) | space::offset(at)
                }
                Place::Param => space::PARAM_BASE | space::offset(at),
                Place::Generic | Place::Global | Place::Const => at,
            }
        })
    };
}

fn is_space(
    machine: &Machine,
    block: &Block,
    regs: *mut u32,
    inst: &Inst,
    place: Place,
    active: u32,
) {
    let mut bits = 0;
    for lane in lanes_of(active) {
        // SAFETY: decoded row.
        let address = unsafe { read_row(regs, inst.a, true, lane) };
        let is = match (place, space::window(address)) {
            (Place::Shared, space::Window::Shared) => {
                space::owner_serial(address) == space::truncated_serial(block.serial)
            }
            (Place::Cluster, space::Window::Shared) => cluster::holds(block, address),
            (Place::Local | Place::Frame, space::Window::Local)
            | (Place::Param, space::Window::Param) => true,
            (Place::Global, space::Window::Global) => {
                machine.memory.find(address).is_none_or(|extent| extent.writable)
            }
            (Place::Const, space::Window::Global) => {
                machine.memory.find(address).is_some_and(|extent| !extent.writable)
            }
            _ => false,
        };
        bits |= u32::from(is) << lane;
    }
    set_pred(regs, inst.d, bits, active);
}

fn read_special(
    block: &Block,
    warp: &Warp,
    regs: *mut u32,
    inst: &Inst,
    which: Special,
    active: u32,
) {
    let grid = &block.grid;
    let clock = grid.start_clock + warp.clock;
    let wide = which.is_wide();
    let uniform = match which {
        Special::Ntid(d) => u64::from(grid.block[d as usize]),
        Special::Ctaid(d) => u64::from(block.index[d as usize]),
        Special::Nctaid(d) => u64::from(grid.grid[d as usize]),
        Special::ClusterId(d) => u64::from(block.index[d as usize] / grid.cluster[d as usize]),
        Special::Clusters(d) => u64::from(grid.grid[d as usize] / grid.cluster[d as usize]),
        Special::InCluster(d) => u64::from(block.index[d as usize] % grid.cluster[d as usize]),
        Special::ClusterSize(d) => u64::from(grid.cluster[d as usize]),
        Special::ClusterRank => u64::from(block.rank),
        Special::ClusterBlocks => u64::from(grid.cluster_blocks()),
        Special::IsExplicitCluster => u64::from(grid.explicit_cluster),
        Special::Warp => u64::from(warp.index),
        Special::Warps => u64::from(grid.threads().div_ceil(32)),
        Special::Sm => block.linear % u64::from(crate::sched::MULTIPROCESSORS),
        Special::Sms => u64::from(crate::sched::MULTIPROCESSORS),
        Special::Grid => grid.serial,
        Special::ClockLo | Special::Clock64 | Special::Timer | Special::TimerLo => clock,
        Special::ClockHi | Special::TimerHi => clock >> 32,
        Special::GridBarrierLo => grid.barrier & u64::from(u32::MAX),
        Special::GridBarrierHi => grid.barrier >> 32,
        Special::DynamicShared => u64::from(grid.dynamic_bytes),
        Special::TotalShared => u64::from(grid.shared_bytes - grid.shared_gaps),
        Special::Fixed(value) | Special::Fixed64(value) => u64::from(value),
        Special::Tid(_)
        | Special::Lane
        | Special::MaskEq
        | Special::MaskLe
        | Special::MaskLt
        | Special::MaskGe
        | Special::MaskGt => 0,
    };
    let value = |lane: usize| -> u64 {
        match which {
            Special::Tid(d) => u64::from(warp.tid[d as usize][lane]),
            Special::Lane => lane as u64,
            Special::MaskEq => 1 << lane,
            Special::MaskLe => u64::from(u32::MAX >> (31 - lane)),
            Special::MaskLt => (1 << lane) - 1,
            Special::MaskGe => u64::from(u32::MAX << lane),
            Special::MaskGt => u64::from(u32::MAX << lane & !(1 << lane)),
            _ => uniform,
        }
    };
    // SAFETY: decoded row.
    unsafe { fill(regs, inst.d, wide, active, value) };
}

/// Ends lanes.
pub fn exit(warp: &mut Warp, run: &mut Running<'_>, active: u32) -> Next {
    if active == 0 {
        run.path.pc += 1;
        return Next::Continue;
    }
    warp.live &= !active;
    run.path.mask &= !active;
    diverge::leave(warp, run.path.group, active);
    if run.path.mask == 0 {
        warp.release_frame(run.path.frame);
        return Next::Switch;
    }
    // The lanes that stay may have been the last ones that parked lanes waited for; they find out
    // at their next meeting point. But a group may have been freed under the path.
    run.path.pc += 1;
    Next::Continue
}

fn indexed_branch(
    warp: &mut Warp,
    run: &mut Running<'_>,
    inst: &Inst,
    table: u32,
    join: u32,
    active: u32,
) -> Step<Next> {
    let targets = &run.function.branch_tables[table as usize];
    if active == 0 {
        run.path.pc += 1;
        return Ok(Next::Continue);
    }
    let mut rest = active;
    let mut parts: Vec<(u32, u32)> = Vec::new();
    while rest != 0 {
        let lane = rest.trailing_zeros();
        // SAFETY: decoded row.
        let index = unsafe { read_row(run.regs, inst.a, false, lane as usize) };
        let Some(&target) = targets.get(index as usize) else {
            let message = format!("branch table index {index} of {}", targets.len());
            return Err(Fault::new(ReportKind::InvalidInstruction, Some(lane), message));
        };
        let same = lanes_of(rest)
            // SAFETY: decoded row.
            .filter(|&l| unsafe { read_row(run.regs, inst.a, false, l) } == index)
            .fold(0u32, |mask, l| mask | 1 << l);
        rest &= !same;
        match parts.iter_mut().find(|part| part.0 == target) {
            Some(part) => part.1 |= same,
            None => parts.push((target, same)),
        }
    }
    let stay = run.path.mask & !active;
    if stay != 0 {
        parts.push((run.path.pc + 1, stay));
    }
    // The first part runs on; the others are set aside.
    for &(target, lanes) in parts.iter().skip(1) {
        diverge::split(warp, &mut run.path, lanes, target, join);
    }
    run.path.pc = parts[0].0;
    Ok(Next::Continue)
}
