//! Running: picks what comes next, gives blocks their slices, runs independent blocks on several
//! host threads, and checks the bounds of the run.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use super::{BlockKey, Core, GridKey, KernelProfile, NodeId};
use crate::exec::fault::Fault;
use crate::exec::{Block, BlockStop, Counters, GridInfo, Machine, PrintEntry, block, next_random};
use crate::memory::SiteRef;
use crate::report::ReportKind;

/// Warp-instructions of a slice.
const SLICE: i64 = 1 << 18;
/// Launches by warps of a block after which it pauses.
const LAUNCHES_A_PAUSE: u32 = 2;
/// Most blocks that are in execution at once, unless there is no other way to go on.
const MAX_RESIDENT: usize = 264;
/// Blocks handed to the host threads at a time.
const PARALLEL_BATCH: u64 = 4096;
/// Warp-instructions left in a grid above which host threads are worth starting.
const PARALLEL_COST: u64 = 50_000;
/// Cores of the host.
static CORES: OnceLock<usize> = OnceLock::new();
/// Groups of waiting lanes that a report of a bound shows.
const MOST_WAITERS: usize = 8;
/// Spare blocks whose storage is kept.
const MAX_SPARE: usize = 64;

/// What the blocks of a parallel batch leave behind.
struct Finished {
    linear: u64,
    output: Vec<PrintEntry>,
    warnings: Vec<Fault>,
    counters: Counters,
    clock: u64,
    fault: Option<Box<Fault>>,
}

impl Core {
    /// Runs until all nodes are done, or nothing can run, or the program faulted. True if done.
    pub fn run_until_done(&mut self, nodes: &[NodeId]) -> bool {
        self.start_clock_of_run();
        loop {
            self.drain_ready();
            if self.fault.is_some() {
                return false;
            }
            if !nodes.iter().any(|&node| self.is_pending(node)) {
                self.edge_host_waited(nodes);
                return true;
            }
            if !self.step() {
                return false;
            }
        }
    }

    /// Runs until nothing is queued. False if the program faulted.
    pub fn run_all(&mut self) -> bool {
        self.start_clock_of_run();
        loop {
            self.drain_ready();
            if self.fault.is_some() {
                return false;
            }
            if self.is_idle() {
                return true;
            }
            if !self.step() {
                return false;
            }
        }
    }

    /// Runs one turn.
    pub fn run_a_little(&mut self) {
        self.start_clock_of_run();
        self.drain_ready();
        if self.fault.is_none() && !self.is_idle() {
            self.step();
        }
        self.drain_ready();
    }

    /// Bounds the wall-clock time from the next work on; what ran until now does not count.
    pub fn set_timeout(&mut self, timeout: Option<Duration>) {
        self.config.timeout = timeout;
        self.started_at = None;
    }

    fn start_clock_of_run(&mut self) {
        self.machine.stack_bytes = self.limits.stack_bytes;
        if self.config.timeout.is_some() {
            self.started_at.get_or_insert_with(Instant::now);
        }
    }

    /// One turn of a grid or block. False if there is nothing that could run.
    fn step(&mut self) -> bool {
        if !self.check_bounds() {
            return true;
        }
        self.thin_edges();
        if self.machine.schedule_seed.is_some() {
            return self.seeded_step();
        }
        let grid = self.ready_grids.first_key_value().map(|(turn, key)| (*turn, *key));
        let block = self.ready_blocks.first_key_value().map(|(turn, key)| (*turn, *key));
        let full = grid.is_some_and(|(_, key)| self.is_full_for(key));
        match (grid, block) {
            (Some((turn, key)), other) if other.is_none_or(|(first, _)| turn < first && !full) => {
                self.round = self.round.max(turn.0);
                self.grid_turn(turn, key);
                true
            }
            (_, Some((turn, key))) => {
                self.round = self.round.max(turn.0);
                self.ready_blocks.remove(&turn);
                self.block_turn(key);
                true
            }
            (Some((turn, key)), None) => {
                self.grid_turn(turn, key);
                true
            }
            (None, None) => self.nothing_runs(),
        }
    }

    /// No more blocks of this grid are to begin now. Those of a cooperative grid wait for each other, so
    /// that all of them must be there.
    fn is_full_for(&self, key: GridKey) -> bool {
        let is_cooperative = self.grid(key).is_some_and(|grid| grid.info.barrier != 0);
        self.resident_blocks >= MAX_RESIDENT && !is_cooperative
    }

    /// A turn of anything that is ready, chosen at random.
    fn seeded_step(&mut self) -> bool {
        let (grids, blocks) = (self.ready_grids.len(), self.ready_blocks.len());
        if grids + blocks == 0 {
            return self.nothing_runs();
        }
        // Few of the first ones, so that choosing stays cheap with many pending grids.
        let (grids, blocks) = (grids.min(64), blocks.min(64));
        let chance = next_random(&mut self.random);
        let full =
            blocks > 0 && self.ready_grids.values().take(grids).all(|key| self.is_full_for(*key));
        // New blocks as often as old ones, so that many are in execution at once.
        let begin = grids > 0 && !full && (blocks == 0 || chance & 1 != 0);
        let among = if begin { grids } else { blocks };
        let pick = (chance >> 8) as usize % among + if begin { 0 } else { grids };
        if pick < grids {
            let entry = self.ready_grids.iter().nth(pick).map(|(turn, key)| (*turn, *key));
            if let Some((turn, key)) = entry {
                self.grid_turn(turn, key);
            }
        } else {
            let entry = self.ready_blocks.iter().nth(pick - grids).map(|(turn, key)| (*turn, *key));
            if let Some((turn, key)) = entry {
                self.ready_blocks.remove(&turn);
                self.block_turn(key);
            }
        }
        true
    }

    /// Queued work exists, and nothing is ready: a mistake of ours, not of the program.
    fn nothing_runs(&mut self) -> bool {
        if !self.is_idle() {
            let message = "queued work waits for itself";
            self.fail(Fault::new(ReportKind::Deadlock, None, message));
        }
        false
    }

    /// Stops the program when a bound of the run is reached.
    fn check_bounds(&mut self) -> bool {
        let fault = bounds_fault(&self.config, self.instructions, self.started_at);
        match fault {
            None => true,
            Some(fault) => {
                // Name a block that runs, if there is one.
                let running = self.ready_blocks.values().next().copied();
                let waiters = running.and_then(|key| {
                    let block = self.take_block(key)?;
                    let waiters = block::waiters(&self.machine, &block);
                    self.put_block(key, block);
                    Some(waiters)
                });
                let mut fault = fault;
                let waiters = waiters.unwrap_or_default();
                fault.site = waiters.first().map(|w| w.site).or_else(|| self.next_grid_site());
                if let Some(site) = fault.site
                    && let Some(help) = self.endless_tail(site.grid)
                {
                    fault.help = Some(help);
                }
                // Lanes that wait for those that run say more than these alone.
                if waiters.iter().any(|w| w.what != block::RUNS) {
                    fault.waiters = waiters.into_iter().take(MOST_WAITERS).collect();
                }
                self.fail(fault);
                false
            }
        }
    }

    /// The beginning of the grid that would run next.
    fn next_grid_site(&self) -> Option<SiteRef> {
        let key = self.ready_grids.values().next()?;
        let info = &self.grid(*key)?.info;
        Some(SiteRef {
            grid: info.serial,
            kernel: info.kernel,
            block: 0,
            thread: 0,
            function: info.function,
            instruction: 0,
        })
    }

    /// If the grid is one of many that each launched the next into its tail: the last such launch.
    fn endless_tail(&self, serial: u64) -> Option<String> {
        const MANY: u64 = 1000;
        let lineage = self.lineage.get(&serial)?;
        let site = lineage.launched_at.filter(|_| lineage.tails >= MANY)?;
        let place = match self.launch_line(&site) {
            Some(line) => format!(" at {line}"),
            None => String::new(),
        };
        Some(format!(
            "each grid was launched into the tail of the one before{place}, {} times in a row so far: \
             what ends the chain?",
            lineage.tails
        ))
    }

    /// Starts the next block (or a batch) of a grid.
    fn grid_turn(&mut self, turn: super::Turn, key: GridKey) {
        self.note_started(key);
        let Some(grid) = self.grid_mut(key) else {
            self.ready_grids.remove(&turn);
            return;
        };
        let (info, first, cost) = (grid.info.clone(), grid.next_block, grid.block_cost);
        let left = info.blocks() - first;
        let threads = self.host_threads();
        let independent = self.program.kernels[info.kernel as usize].independent;
        let clusters = u64::from(info.cluster_blocks());
        let worthwhile = left >= 2 && left.saturating_mul(cost) > PARALLEL_COST;
        let alone =
            self.machine.schedule_seed.is_some() || self.machine.watch.is_some() || clusters > 1;
        if independent && threads > 1 && worthwhile && !alone {
            let count = left.min(PARALLEL_BATCH);
            self.parallel_turn(key, &info, first, count, threads);
        } else {
            let linear = first;
            if let Some(grid) = self.grid_mut(key) {
                grid.next_block += clusters;
                grid.live_blocks += 1;
            }
            let old = self.spare_blocks.pop();
            let block = block::start(&self.machine, &info, linear, old);
            let block_key = self.add_resident(key, block);
            if linear + clusters >= info.blocks() {
                self.ready_grids.remove(&turn);
            }
            self.block_turn(block_key);
            return;
        }
        let done = self.grid_mut(key).is_none_or(|grid| grid.next_block == grid.info.blocks());
        if done {
            self.ready_grids.remove(&turn);
        }
        self.finish_later(key);
    }

    /// Runs a resident block for a slice.
    fn block_turn(&mut self, key: BlockKey) {
        let Some(grid) = self.block_grid(key) else { return };
        let Some(mut block) = self.take_block(key) else { return };
        self.wake_lanes(key, &mut block);
        let longest = match self.machine.schedule_seed {
            None => SLICE,
            Some(_) => 1 + (next_random(&mut self.random) % 4096) as i64,
        };
        loop {
            let slice = slice(&self.config, self.instructions, 1).min(longest);
            let threads_before = block.counters.thread_instructions;
            let stop = block::run(&self.machine, &mut block, slice);
            self.instructions += block.counters.thread_instructions - threads_before;
            self.collect(&mut block);
            match stop {
                BlockStop::Done => {
                    self.end_block(key, grid, block);
                    return;
                }
                BlockStop::Service { warp, path, lanes } => {
                    if let Err(fault) = self.serve(key, grid, &mut block, warp, path, lanes) {
                        self.fail(fault);
                        return;
                    }
                    if block.runtime.launches >= LAUNCHES_A_PAUSE {
                        block.runtime.launches = 0;
                        self.drain_ready();
                        self.put_block(key, block);
                        self.queue_block(key, grid, 1);
                        return;
                    }
                }
                BlockStop::Slice => {
                    self.put_block(key, block);
                    self.queue_block(key, grid, 0);
                    return;
                }
                BlockStop::Spin => {
                    if self.spins_forever(&block) {
                        let fault = block::deadlock(&self.machine, &block);
                        self.fail(fault);
                        return;
                    }
                    self.put_block(key, block);
                    self.queue_block(key, grid, 1);
                    return;
                }
                BlockStop::Waiting | BlockStop::Together => {
                    self.put_block(key, block);
                    self.park_block(key, grid);
                    return;
                }
                BlockStop::Fault(fault) => {
                    self.fail(fault);
                    return;
                }
            }
        }
    }

    /// Errors of the device runtime that the threads of a block never asked about: launches that never
    /// happened, most of all.
    fn warn_of_errors(&mut self, block: &Block) {
        let mut failed = block.last_errors.iter().zip(0..).filter(|(code, _)| **code != 0);
        let Some((&code, thread)) = failed.next() else { return };
        let count = 1 + failed.count();
        let threads = if count == 1 { "thread" } else { "threads" };
        let name = crate::runtime::errors::name(code);
        let message = format!(
            "{count} {threads} of a block ended with an error of the device runtime that nobody asked \
             about: {name} ({code})"
        );
        let mut fault = Fault::new(ReportKind::DeviceRuntime, None, message)
            .help("a launch that fails is not made; cudaGetLastError() after it tells");
        fault.site = Some(SiteRef {
            grid: block.grid.serial,
            kernel: block.grid.kernel,
            block: block.linear,
            thread,
            function: block.grid.function,
            instruction: 0,
        });
        self.warn(&fault);
    }

    /// In lockstep mode: lanes spin for lanes that wait for them, and nothing else runs that could
    /// change what they wait for.
    fn spins_forever(&self, block: &Block) -> bool {
        block::spins_forever(&self.machine, block)
            && self.ready_blocks.is_empty()
            && self.ready_grids.is_empty()
            && self.ready_nodes.is_empty()
    }

    /// Hands a block's output, warnings and counters to the device.
    fn collect(&mut self, block: &mut Block) {
        for entry in std::mem::take(&mut block.output) {
            self.print(entry.text, entry.cost_bytes);
        }
        for warning in std::mem::take(&mut block.warnings) {
            self.warn(&warning);
        }
    }

    fn end_block(&mut self, key: BlockKey, grid: GridKey, mut block: Box<Block>) {
        self.edge_block_done(key, &mut block);
        if let Some(cluster) = &mut block.cluster {
            for peer in &mut cluster.peers {
                self.edge_block_done(key, peer);
            }
        }
        for member in block.members() {
            self.warn_of_errors(member);
        }
        let warps = block.members().flat_map(|member| &member.warps);
        let clock = block.grid.start_clock + warps.map(|w| w.clock).max().unwrap_or(0);
        let (kernel, cost) = (block.grid.kernel, block.counters.warp_instructions.max(1));
        self.count(kernel, &block.counters);
        self.drop_resident(key);
        if self.spare_blocks.len() < MAX_SPARE {
            self.spare_blocks.push(block);
        }
        if let Some(entry) = self.grid_mut(grid) {
            entry.live_blocks -= 1;
            entry.end_clock = entry.end_clock.max(clock);
            entry.block_cost = cost;
            entry.work += cost;
        }
        self.finish_later(grid);
    }

    fn count(&mut self, kernel: u32, counters: &Counters) {
        self.profile.entry(kernel).or_default().counters.add(counters);
    }

    /// One more child launch of a kernel.
    pub fn count_child(&mut self, kernel: u32) {
        let entry: &mut KernelProfile = self.profile.entry(kernel).or_default();
        entry.child_launches += 1;
    }

    fn host_threads(&self) -> usize {
        match self.config.host_threads {
            // Asked once: the system takes longer to answer than a launch takes.
            0 => *CORES.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from)),
            n => n,
        }
    }

    /// Runs blocks `first .. first + count` of an independent grid on several host threads.
    fn parallel_turn(
        &mut self,
        key: GridKey,
        info: &Arc<GridInfo>,
        first: u64,
        count: u64,
        threads: usize,
    ) {
        let next = AtomicU64::new(first);
        let end = first + count;
        let stop_before = AtomicU64::new(u64::MAX);
        let out_of_bounds = AtomicBool::new(false);
        let executed = AtomicU64::new(self.instructions);
        let results: Mutex<Vec<Finished>> = Mutex::new(Vec::with_capacity(count as usize));
        let (machine, config, started_at) = (&self.machine, &self.config, self.started_at);
        let work = || {
            let mut old = None;
            loop {
                let linear = next.fetch_add(1, Ordering::Relaxed);
                // Blocks behind one that faulted are not needed.
                if linear >= end
                    || linear > stop_before.load(Ordering::Relaxed)
                    || out_of_bounds.load(Ordering::Relaxed)
                {
                    return;
                }
                let check = |instructions: u64| {
                    let total = executed.fetch_add(instructions, Ordering::Relaxed) + instructions;
                    match bounds_fault(config, total, started_at) {
                        Some(fault) => Err(fault),
                        None => Ok(slice(config, total, threads as u64)),
                    }
                };
                let (finished, block) = run_whole(machine, info, linear, old.take(), &check);
                old = Some(block);
                if let Some(fault) = &finished.fault {
                    stop_before.fetch_min(linear, Ordering::Relaxed);
                    if matches!(fault.kind, ReportKind::Timeout | ReportKind::InstructionLimit) {
                        out_of_bounds.store(true, Ordering::Relaxed);
                    }
                }
                match results.lock() {
                    Ok(mut results) => results.push(finished),
                    Err(_) => return,
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..threads.min(count as usize) {
                scope.spawn(work);
            }
            work();
        });
        self.instructions = executed.into_inner();
        let mut results = results.into_inner().unwrap_or_default();
        results.sort_by_key(|finished| finished.linear);
        for finished in results {
            self.count(info.kernel, &finished.counters);
            for entry in finished.output {
                self.print(entry.text, entry.cost_bytes);
            }
            for warning in finished.warnings {
                self.warn(&warning);
            }
            if let Some(grid) = self.grid_mut(key) {
                grid.end_clock = grid.end_clock.max(finished.clock);
                grid.work += finished.counters.warp_instructions;
                grid.next_block += 1;
            }
            if let Some(fault) = finished.fault {
                self.fail(fault);
                return;
            }
        }
    }
}

/// Warp-instructions of the next slice: fewer near the bound on instructions, which a slice of each
/// of `threads` host threads must not run past.
fn slice(config: &crate::config::Config, instructions: u64, threads: u64) -> i64 {
    let Some(limit) = config.max_instructions else { return SLICE };
    let left = limit.saturating_sub(instructions) / 32 / threads.max(1) + 1;
    SLICE.min(left.try_into().unwrap_or(SLICE))
}

/// The fault of a run that went past one of its bounds.
fn bounds_fault(
    config: &crate::config::Config,
    instructions: u64,
    started_at: Option<Instant>,
) -> Option<Box<Fault>> {
    if let Some(limit) = config.max_instructions
        && instructions > limit
    {
        let message = format!("{instructions} thread-instructions executed; the limit is {limit}");
        return Some(Fault::new(ReportKind::InstructionLimit, None, message));
    }
    let (limit, started): (Duration, Instant) = (config.timeout?, started_at?);
    let ran = started.elapsed();
    if ran > limit {
        let message =
            format!("ran for {} ms; the limit is {} ms", ran.as_millis(), limit.as_millis());
        return Some(Fault::new(ReportKind::Timeout, None, message));
    }
    None
}

/// Runs one independent block from start to end.
fn run_whole(
    machine: &Machine,
    info: &Arc<GridInfo>,
    linear: u64,
    old: Option<Box<Block>>,
    check: &impl Fn(u64) -> Result<i64, Box<Fault>>,
) -> (Finished, Box<Block>) {
    let mut block = block::start(machine, info, linear, old);
    let mut counted = 0;
    let mut bound = check(0);
    let fault = loop {
        let stop = block::run(machine, &mut block, *bound.as_ref().unwrap_or(&SLICE));
        let executed = block.counters.thread_instructions;
        bound = check(executed - counted);
        counted = executed;
        match stop {
            BlockStop::Done => break None,
            BlockStop::Fault(fault) => break Some(fault),
            // Nothing that other blocks do reaches an independent one.
            BlockStop::Spin if block::spins_forever(machine, &block) => {
                break Some(block::deadlock(machine, &block));
            }
            BlockStop::Slice | BlockStop::Spin => {
                if let Err(mut fault) = bound {
                    fault.site = block::waiters(machine, &block).first().map(|w| w.site);
                    break Some(fault);
                }
            }
            // Kernels that call the device are not independent.
            BlockStop::Service { .. } | BlockStop::Waiting | BlockStop::Together => {
                let message = "an independent block called the device";
                break Some(Fault::new(ReportKind::DeviceRuntime, None, message));
            }
        }
    };
    let clock = info.start_clock + block.warps.iter().map(|w| w.clock).max().unwrap_or(0);
    let finished = Finished {
        linear,
        output: std::mem::take(&mut block.output),
        warnings: std::mem::take(&mut block.warnings),
        counters: block.counters,
        clock,
        fault,
    };
    (finished, block)
}
