//! A block: its warps taking turns, from the first instruction to the last.

use std::sync::Arc;

use super::fault::{Fault, WaitingLanes};
use super::path::{WarpStop, parked_lanes, site};
use super::{Block, BlockStop, Frame, GridInfo, Machine, Path, PathState, Warp};
use super::{barrier, calls, cluster, collective, diverge, hold, next_random};
use super::{run, turns};
use crate::code::NONE;
use crate::config::WarpScheduling;
use crate::memory::space;
use crate::report::ReportKind;

/// What the registers and threads of a warp are laid out for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MadeFor {
    /// The kernel's function.
    pub function: u32,
    /// Threads a block.
    pub block: [u32; 3],
    /// The warp's index in the block.
    pub index: u32,
}

impl Block {
    /// Takes a warp out to run it. [`Block::put_warp`] puts it back.
    pub fn take_warp(&mut self, index: usize) -> Box<Warp> {
        let spare = self.spare_warp.take().unwrap_or_default();
        std::mem::replace(&mut self.warps[index], spare)
    }

    /// Puts a warp back.
    pub fn put_warp(&mut self, index: usize, warp: Box<Warp>) {
        self.spare_warp = Some(std::mem::replace(&mut self.warps[index], warp));
    }

    /// The same where all warps have met, often when they have filled shared memory; not for long.
    pub fn look_where_all_met(&mut self) {
        if !self.all_written && !self.shared.is_empty() && self.written_checks.1 <= 1 << 10 {
            self.written_checks.0 = 1;
            self.look_for_all_written();
        }
    }

    /// From time to time finds out whether all shared memory was written. The intervals double, so
    /// that blocks for which it never is pay little.
    #[inline]
    pub fn look_for_all_written(&mut self) {
        self.written_checks.0 -= 1;
        if self.written_checks.0 == 0 {
            self.all_written = self.written.iter().all(|&flag| flag == 0xff);
            let next = self.written_checks.1.saturating_mul(2);
            self.written_checks = (next, next);
        }
    }
}

/// Makes the block with this linear index, or a cluster, with the storage of an old one if there is one.
/// Blocks in clusters are counted cluster by cluster.
pub fn start(
    machine: &Machine,
    grid: &Arc<GridInfo>,
    linear: u64,
    old: Option<Box<Block>>,
) -> Box<Block> {
    match grid.cluster {
        [1, 1, 1] => start_one(machine, grid, linear, old),
        _ => turns::start(machine, grid, linear, old),
    }
}

/// Makes one block.
pub(super) fn start_one(
    machine: &Machine,
    grid: &Arc<GridInfo>,
    linear: u64,
    old: Option<Box<Block>>,
) -> Box<Block> {
    let mut block = old.unwrap_or_else(|| Box::new(empty(grid)));
    block.grid = grid.clone();
    block.linear = linear;
    block.index = grid.block_index(linear);
    block.serial = grid.first_block_serial.wrapping_add(linear);
    block.memory_serial = block.serial;
    block.rank = 0;
    block.cluster = None;
    clear_shared(grid, &mut block);
    block.all_written = false;
    block.written_checks = (64, 64);
    block.barriers = Default::default();
    block.last_errors.clear();
    block.output.clear();
    block.warnings.clear();
    block.counters = Default::default();
    let warps = grid.threads().div_ceil(32).max(1) as usize;
    block.next_warp = machine.schedule_seed.map_or(0, |seed| any(&block, seed, warps));
    block.budget = 0;
    block.runtime = Default::default();
    let threads = grid.threads();
    if let Some(mut watch) = machine.watch() {
        let old = block.state.take();
        block.state = Some(watch.start_block(grid.watched, linear, threads, old));
    }
    block.warps.resize_with(threads.div_ceil(32) as usize, Box::default);
    for (index, warp) in block.warps.iter_mut().enumerate() {
        start_warp(machine, grid, warp, index as u32, threads, linear);
    }
    block
}

/// Makes shared memory what it is for a block that begins: unwritten, but for the system's part.
fn clear_shared(grid: &GridInfo, block: &mut Block) {
    let size = u64::from(grid.shared_bytes).next_multiple_of(space::WORD_BYTES) as usize;
    block.shared.clear();
    block.written.clear();
    // Most blocks have none, and the C library takes long to set no bytes at the address of an empty vector.
    if size == 0 {
        return;
    }
    block.shared.resize(size, 0);
    block.written.resize(size, 0);
    let reserved = grid.reserved_shared.start as usize..grid.reserved_shared.end as usize;
    if !reserved.is_empty() {
        block.written[reserved].fill(0xff);
    }
}

/// A block without storage.
fn empty(grid: &Arc<GridInfo>) -> Block {
    Block {
        grid: grid.clone(),
        linear: 0,
        index: [0; 3],
        serial: 0,
        rank: 0,
        cluster: None,
        memory_serial: 0,
        warps: Vec::new(),
        spare_warp: None,
        shared: Vec::new(),
        written: Vec::new(),
        all_written: false,
        written_checks: (64, 64),
        barriers: Default::default(),
        last_errors: Vec::new(),
        output: Vec::new(),
        warnings: Vec::new(),
        counters: Default::default(),
        next_warp: 0,
        budget: 0,
        runtime: Default::default(),
        state: None,
        held: 0,
    }
}

fn start_warp(
    machine: &Machine,
    grid: &GridInfo,
    warp: &mut Warp,
    index: u32,
    threads: u32,
    linear: u64,
) {
    let lanes = (threads - index * 32).min(32);
    let mask = u32::MAX >> (32 - lanes);
    let function = &machine.functions[grid.function as usize];
    let made = MadeFor { function: grid.function, block: grid.block, index };
    let anew = warp.made_for.replace(made) != Some(made);
    if anew {
        warp.regs.clear();
        warp.regs.resize(function.frame_words as usize, 0);
        // All lanes, so that the constant rows of inactive lanes hold sane numbers too.
        calls::fill_constants(warp.regs.as_mut_ptr(), function, u32::MAX);
        place_threads(grid, warp, index);
    } else {
        // Constants are as they were: nothing writes their rows.
        // By rows, few as they are: that needs no call.
        for row in warp.regs[..function.zeroed_words as usize].chunks_exact_mut(32) {
            row.copy_from_slice(&[0; 32]);
        }
        warp.regs[function.true_pred as usize] = u32::MAX;
    }
    warp.local.clear();
    warp.local.resize(function.local_words as usize * 32, 0);
    warp.fresh.clear();
    if machine.checks.uninitialized {
        calls::locals_begin(warp, function, 0, u32::MAX);
    }
    warp.frames.clear();
    warp.free_frames.clear();
    warp.groups.clear();
    warp.free_groups.clear();
    warp.apart = machine.warp_scheduling == WarpScheduling::Apart;
    warp.paths.clear();
    warp.live = mask;
    warp.initial = mask;
    warp.index = index;
    warp.clock = 0;
    warp.spins = 0;
    warp.spun = 0;
    warp.rounds = (0, 0);
    warp.absences.clear();
    warp.votes = 0;
    warp.spinning = false;
    warp.hold = Default::default();
    warp.arrived = 0;
    warp.arrived_in = 0;
    warp.random =
        machine.schedule_seed.unwrap_or(0) ^ grid.serial << 40 ^ linear << 8 ^ u64::from(index);
    let frame = warp.add_frame(Frame {
        function: grid.function,
        base: 0,
        end: function.frame_words,
        local: 0,
        local_end: function.local_words,
        parent: NONE,
        call_pc: 0,
        stack_bytes: 0,
        depth: 0,
        top: function.frame_words,
        refs: 0,
    });
    warp.add_path(Path { pc: 0, mask, frame, group: NONE, state: PathState::Ready });
}

/// Sets the threads that the lanes are.
fn place_threads(grid: &GridInfo, warp: &mut Warp, index: u32) {
    // The first lane's place, then counting: launches of small grids are many, and divisions slow.
    let [nx, ny, _] = grid.block;
    let [mut x, mut y, mut z] = grid.thread_index(index * 32);
    warp.tid.resize(3, [0; 32]);
    for lane in 0..32 {
        for (dimension, value) in [x, y, z].into_iter().enumerate() {
            warp.tid[dimension][lane] = value;
        }
        x += 1;
        if x == nx {
            (x, y) = (0, y + 1);
        }
        if y == ny {
            (y, z) = (0, z + 1);
        }
    }
    // X grows by one from lane to lane, or goes back: then the last one is less far.
    warp.in_step = warp.tid[0][31] == warp.tid[0][0] + 31;
}

/// Runs a block, or the blocks of its cluster, until it ends, waits, or used up `budget`
/// warp-instructions.
pub fn run(machine: &Machine, block: &mut Block, budget: i64) -> BlockStop {
    if block.cluster.is_none() {
        let stop = run_one(machine, block, budget);
        if !matches!(stop, BlockStop::Together) {
            return stop;
        }
    }
    turns::run(machine, block, budget)
}

/// Runs one block.
pub(super) fn run_one(machine: &Machine, block: &mut Block, budget: i64) -> BlockStop {
    block.budget = budget;
    hold::turn(machine, block);
    let count = block.warps.len();
    let mut idle_turns = 0;
    let mut spinning_turns = 0;
    loop {
        if idle_turns >= count {
            match settle(machine, block) {
                Ok(None) => {
                    idle_turns = 0;
                    spinning_turns = 0;
                }
                Ok(Some(stop)) => return stop,
                Err(fault) => return BlockStop::Fault(fault),
            }
            continue;
        }
        let index = block.next_warp % count;
        let mut warp = block.take_warp(index);
        warp.spinning = false;
        let before = warp.clock;
        let result = run::run(machine, block, &mut warp);
        let ran = warp.clock != before;
        block.put_warp(index, warp);
        let advance = match machine.schedule_seed {
            Some(seed) if count > 1 => 1 + any(block, seed, count),
            _ => 1,
        };
        match result {
            Err(fault) => return BlockStop::Fault(fault),
            Ok(WarpStop::Service(lanes)) => {
                let path = block.warps[index].paths.len() - 1;
                return BlockStop::Service { warp: index, path, lanes };
            }
            Ok(WarpStop::Slice) => {
                block.next_warp = (index + 1) % count;
                return BlockStop::Slice;
            }
            Ok(WarpStop::Yield) => {
                idle_turns = 0;
                block.next_warp = (index + advance) % count;
                // A warp that spins with interruptions may wait for lanes that only wait for others.
                if let Err(fault) = barrier::complete_ready(machine, block) {
                    return BlockStop::Fault(fault);
                }
                collective::complete_all(machine, block);
                if block.warps[index].next_random() & 1 != 0 || count == 1 {
                    return BlockStop::Slice;
                }
            }
            Ok(WarpStop::Spin) => {
                spinning_turns += 1;
                idle_turns = 0;
                block.next_warp = (index + advance) % count;
                match barrier::complete_ready(machine, block) {
                    Ok(_) => {}
                    Err(fault) => return BlockStop::Fault(fault),
                }
                // Whom this warp waits for may itself only wait for the rest of its lanes.
                collective::complete_all(machine, block);
                if spinning_turns > count {
                    return BlockStop::Spin;
                }
            }
            Ok(WarpStop::Done) if block.warps.iter().rev().all(|warp| warp.live == 0) => {
                return BlockStop::Done;
            }
            Ok(WarpStop::Done | WarpStop::Idle) => {
                let chosen = ran && machine.schedule_seed.is_some();
                idle_turns = match ran {
                    true => usize::from(!chosen),
                    false => idle_turns + 1,
                };
                block.next_warp = (index + if chosen { advance } else { 1 }) % count;
                if ran && barrier::pass_together(machine, block, index) {
                    // The turns of the others would have come to nothing.
                    block.next_warp = index;
                    (idle_turns, spinning_turns) = (0, 0);
                }
            }
        }
    }
}

/// A number below `count` by chance: of a seed, of the block and of what it has done.
pub(super) fn any(block: &Block, seed: u64, count: usize) -> usize {
    let mut state = block.serial ^ block.counters.warp_instructions ^ seed;
    (next_random(&mut state) % count as u64) as usize
}

/// No warp could run in its turn: completes barriers and exchanges, or finds out what is wrong.
fn settle(machine: &Machine, block: &mut Block) -> Result<Option<BlockStop>, Box<Fault>> {
    if block.warps.iter().all(|warp| warp.live == 0) {
        return Ok(Some(BlockStop::Done));
    }
    if barrier::complete_ready(machine, block)? {
        return Ok(None);
    }
    if collective::complete_all(machine, block) {
        return Ok(None);
    }
    if block.held > 0 {
        return Ok(Some(BlockStop::Spin));
    }
    if block.cluster.is_some() {
        if cluster::wake(block) {
            return Ok(None);
        }
        let waits = |warp: &Warp| warp.paths.iter().any(|path| path.state == PathState::Cluster);
        if block.warps.iter().any(|warp| waits(warp)) {
            return Ok(Some(BlockStop::Together));
        }
    }
    let waits_for_runtime = block
        .warps
        .iter()
        .any(|warp| warp.paths.iter().any(|path| path.state == PathState::Runtime));
    if waits_for_runtime {
        return Ok(Some(BlockStop::Waiting));
    }
    Err(deadlock(machine, block))
}

/// What lanes do that wait for nothing.
pub const RUNS: &str = "running";

/// Who waits where.
pub fn waiters(machine: &Machine, block: &Block) -> Vec<WaitingLanes> {
    block.members().flat_map(|member| waiters_of_one(machine, member)).collect()
}

fn waiters_of_one(machine: &Machine, block: &Block) -> Vec<WaitingLanes> {
    let mut out = Vec::new();
    let ended: u32 = block.warps.iter().map(|warp| (warp.initial & !warp.live).count_ones()).sum();
    for warp in &block.warps {
        for path in &warp.paths {
            let what = match path.state {
                PathState::Ready => {
                    let asked = machine.clocks.asked_by((block.serial, warp.index), path.mask);
                    asked.unwrap_or_else(|| RUNS.to_string())
                }
                PathState::Barrier(id) => {
                    let state = &block.barriers[id as usize];
                    let gone = match ended {
                        0 => String::new(),
                        _ => format!(", and {ended} threads of the block have ended"),
                    };
                    match state.threads {
                        Some(threads) => format!(
                            "at barrier {id}, {} of {threads} threads there{gone}",
                            state.arrived
                        ),
                        None => format!("at barrier {id}, {} threads there{gone}", state.arrived),
                    }
                }
                PathState::Cluster => "at the barrier of the cluster".to_string(),
                PathState::Collective => {
                    for (lanes, what) in collective::waiters(machine, warp, path) {
                        let site = site(block, warp, path, lanes.trailing_zeros() & 31);
                        out.push(WaitingLanes { site, lanes, what });
                    }
                    continue;
                }
                PathState::Held => RUNS.to_string(),
                PathState::Runtime => "in cudaDeviceSynchronize".to_string(),
            };
            let site = site(block, warp, path, path.mask.trailing_zeros() & 31);
            out.push(WaitingLanes { site, lanes: path.mask, what });
        }
        out.extend(parked_lanes(machine, block, warp));
    }
    out
}

/// In lockstep: every warp that could run only goes round loops that it cannot leave by itself.
pub fn spins_forever(machine: &Machine, block: &Block) -> bool {
    let can_run = |warp: &Warp| warp.paths.iter().any(|path| path.state == PathState::Ready);
    machine.warp_scheduling == WarpScheduling::Lockstep
        && block
            .members()
            .flat_map(|member| &member.warps)
            .all(|warp| warp.live == 0 || warp.spinning || !can_run(warp))
}

/// The report of a block in which every live lane waits.
pub fn deadlock(machine: &Machine, block: &Block) -> Box<Fault> {
    let waiters = waiters(machine, block);
    let warps = || block.members().flat_map(|member| &member.warps);
    let live: u32 = warps().map(|warp| warp.live.count_ones()).sum();
    let diverged = warps().any(|warp| diverge::parked(warp) != 0);
    let waits = |at: fn(&PathState) -> bool| {
        warps().any(|warp| warp.paths.iter().any(|path| at(&path.state)))
    };
    let at_cluster = waits(|state| *state == PathState::Cluster);
    let at_barrier = at_cluster || waits(|state| matches!(state, PathState::Barrier(_)));
    let whole = if block.has_peers() { "cluster" } else { "block" };
    let message = format!("all {live} live threads of the {whole} wait, and nothing can wake them");
    let mut fault = Fault::new(ReportKind::Deadlock, None, message);
    fault.site = waiters.first().map(|w| w.site);
    fault.waiters = waiters;
    match (at_barrier, diverged) {
        (true, _) => fault.help("every thread counted by a barrier must reach it"),
        _ if waits(|state| *state == PathState::Collective) => fault.help(collective::HELP),
        (false, true) => fault.help(
            "lanes of a warp wait for each other; with independent thread scheduling they would go on",
        ),
        (false, false) => fault,
    }
}
