//! Running: picks what comes next, gives blocks their slices, and checks the bounds of the run.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use super::{Core, KernelProfile};
use crate::config::Config;
use crate::exec::fault::Fault;
use crate::exec::{Block, BlockStop, Counters, block, next_random};
use crate::memory::SiteRef;
use crate::report::ReportKind;
use crate::work::{BlockKey, GridKey, NodeId};

/// Warp-instructions of a slice.
const SLICE: i64 = 1 << 18;
/// The same of grids that cannot watch others: between slices threads without work are given some.
const SLICE_APART: i64 = 1 << 14;
/// Launches by warps of a block after which it pauses.
const LAUNCHES_A_PAUSE: u32 = 2;
/// Grids that wait for nothing after which it does, if they may run on several host threads.
const APART_A_PAUSE: u32 = 16;
/// Most blocks that are in execution at once, unless there is no other way to go on.
pub(super) const MAX_RESIDENT: usize = 264;
/// Warp-instructions left in a grid above which host threads are worth starting.
const PARALLEL_COST: u64 = 50_000;
/// Cores of the host.
static CORES: OnceLock<usize> = OnceLock::new();
/// Grids of a chain of launches above which it looks endless.
const MANY: u64 = 1000;
/// Groups of waiting lanes that a report of a bound shows.
const MOST_WAITERS: usize = 8;
/// Spare blocks whose storage is kept.
const MAX_SPARE: usize = 64;

impl Core {
    /// Runs until all nodes are done, or nothing can run, or the program faulted. True if done.
    pub fn run_until_done(&mut self, nodes: &[NodeId]) -> bool {
        let done = self.run_nodes(nodes);
        self.rest();
        done
    }

    /// Nothing runs on other threads when the host's code goes on.
    fn rest(&mut self) {
        match self.has_failed() {
            true => self.abandon(),
            false => self.settle(),
        }
    }

    fn run_nodes(&mut self, nodes: &[NodeId]) -> bool {
        self.start_clock_of_run();
        loop {
            self.drain_ready();
            if self.has_failed() {
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
        let done = self.run_queue();
        self.rest();
        done
    }

    fn run_queue(&mut self) -> bool {
        self.start_clock_of_run();
        loop {
            self.drain_ready();
            if self.has_failed() {
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
        if !self.has_failed() && !self.is_idle() {
            self.step();
        }
        self.drain_ready();
        self.rest();
    }

    /// Bounds the wall-clock time from the next work on; what ran until now does not count.
    pub fn set_timeout(&mut self, timeout: Option<Duration>) {
        self.config.timeout = timeout;
        self.started_at = None;
    }

    fn start_clock_of_run(&mut self) {
        if self.machine.stack_bytes != self.limits.stack_bytes {
            self.machine_mut().stack_bytes = self.limits.stack_bytes;
        }
        if self.config.timeout.is_some() {
            self.started_at.get_or_insert_with(Instant::now);
        }
    }

    /// One turn of a grid or block. False if there is nothing that could run.
    pub(super) fn step(&mut self) -> bool {
        if !self.check_bounds() {
            return true;
        }
        self.thin_edges();
        self.share();
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
        self.resident_blocks >= MAX_RESIDENT + self.stall.room && !is_cooperative
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
                    && let Some(help) =
                        self.endless_tail(site.grid).or_else(|| self.endless_recursion(site.grid))
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

    /// If the grid lies below many grids of its own kernel: how many, and its launch.
    fn endless_recursion(&self, serial: u64) -> Option<String> {
        let lineage = self.lineage.get(&serial)?;
        let (mut above, mut at) = (0, lineage.parent);
        while let Some(other) = self.lineage.get(&at) {
            above += u64::from(other.kernel == lineage.kernel);
            at = other.parent;
        }
        let site = lineage.launched_at.filter(|_| above >= MANY)?;
        let place = self.at_line(&site);
        Some(format!(
            "the grid was launched{place} below {above} other grids of its kernel, which all wait for what they launched: \
             what ends the recursion?"
        ))
    }

    /// The line of a launch, in words.
    fn at_line(&self, site: &SiteRef) -> String {
        self.launch_line(site).map_or_else(String::new, |line| format!(" at {line}"))
    }

    /// If the grid is one of many that each launched the next into its tail: the last such launch.
    fn endless_tail(&self, serial: u64) -> Option<String> {
        let lineage = self.lineage.get(&serial)?;
        let site = lineage.launched_at.filter(|_| lineage.tails >= MANY)?;
        let place = self.at_line(&site);
        Some(format!(
            "each grid was launched into the tail of the one before{place}, {} times in a row so far: \
             what ends the chain?",
            lineage.tails
        ))
    }

    /// Starts the next block (or a batch) of a grid.
    fn grid_turn(&mut self, turn: super::Turn, key: GridKey) {
        self.no_stall();
        self.note_started(key);
        let Some(grid) = self.grid_mut(key) else {
            self.ready_grids.remove(&turn);
            return;
        };
        let (info, linear) = (grid.info.clone(), grid.next_block);
        let elsewhere = !grid.given.is_empty() && self.given_turn(key)
            || self.is_worth_apart(key) && self.apart_turn(key);
        if elsewhere {
            if self.grid(key).is_none_or(|grid| grid.next_block >= grid.end_block) {
                self.ready_grids.remove(&turn);
            }
            self.finish_later(key);
            return;
        }
        let old = self.spare_blocks.pop();
        let block = block::start(&self.machine, &info, linear, old);
        let Some(grid) = self.grid_mut(key) else { return };
        // The blocks of a cluster are one turn.
        grid.next_block += u64::from(info.cluster_blocks());
        grid.live_blocks += 1;
        if grid.next_block >= grid.end_block {
            self.ready_grids.remove(&turn);
        }
        let block_key = self.add_resident(key, block);
        if self.machine.schedule_seed.is_some() {
            // It has begun: who goes on first is chosen among all.
            self.queue_block(block_key, key, 0);
            return;
        }
        self.block_turn(block_key);
    }

    /// Other threads could run blocks of this grid, were it not for grids that might look.
    fn is_worth_apart(&self, key: GridKey) -> bool {
        let Some(grid) = self.grid(key) else { return false };
        let left = grid.end_block.saturating_sub(grid.next_block);
        let cost = left.saturating_mul(grid.block_cost);
        grid.apart && self.watching_grids > 0 && left >= 2 && cost > PARALLEL_COST && self.shares()
    }

    /// Runs a resident block for a slice.
    fn block_turn(&mut self, key: BlockKey) {
        let Some(grid) = self.block_grid(key) else { return };
        let Some(mut block) = self.take_block(key) else { return };
        self.wake_lanes(key, &mut block);
        let longest = match self.machine.schedule_seed {
            None if self.grid(grid).is_some_and(|grid| grid.apart) => SLICE_APART,
            None => SLICE,
            Some(_) => 1 + (next_random(&mut self.random) % 4096) as i64,
        };
        loop {
            let slice = slice(&self.config, self.instructions).min(longest);
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
                    self.no_stall();
                    if let Err(fault) = self.serve(key, grid, &mut block, warp, path, lanes) {
                        self.fail(fault);
                        return;
                    }
                    if self.is_time_to_pause(&block) {
                        block.runtime.launches = 0;
                        block.runtime.launched_apart = 0;
                        self.drain_ready();
                        self.put_block(key, block);
                        self.queue_block(key, grid, 1);
                        return;
                    }
                }
                BlockStop::Slice => {
                    self.put_block(key, block);
                    self.queue_block(key, grid, 0);
                    self.note_slice();
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
                    self.note_spin();
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

    /// A block has launched so much that its children are to run before it goes on: twice, or more often if
    /// they wait for nothing and can run on several threads, and the pool of pending launches has room.
    fn is_time_to_pause(&self, block: &Block) -> bool {
        let room = self.limits.pending_launches.saturating_sub(self.pending_launches);
        block.runtime.launches >= LAUNCHES_A_PAUSE
            || block.runtime.launched_apart >= (room / 128).clamp(2, APART_A_PAUSE)
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
        self.no_stall();
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
        let (kernel, counters) = (block.grid.kernel, block.counters);
        self.count(kernel, &counters);
        self.drop_resident(key);
        if self.spare_blocks.len() < MAX_SPARE {
            self.spare_blocks.push(block);
        }
        let traced = self.config.trace;
        if let Some(entry) = self.grid_mut(grid) {
            entry.live_blocks -= 1;
            entry.end_clock = entry.end_clock.max(clock);
            entry.block_cost = counters.warp_instructions.max(1);
            entry.work += entry.block_cost;
            if traced {
                entry.counters.add(&counters);
            }
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
}

/// Host threads that a device may use.
pub(super) fn host_threads(config: &Config) -> usize {
    match config.host_threads {
        // Asked once: the system takes longer to answer than a launch takes.
        0 => *CORES.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from)),
        n => n,
    }
}

/// Warp-instructions of the next slice: fewer near the bound on instructions.
fn slice(config: &Config, instructions: u64) -> i64 {
    let Some(limit) = config.max_instructions else { return SLICE };
    let left = limit.saturating_sub(instructions) / 32 + 1;
    SLICE.min(left.try_into().unwrap_or(SLICE))
}

/// The fault of a run that went past one of its bounds.
fn bounds_fault(
    config: &Config,
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
