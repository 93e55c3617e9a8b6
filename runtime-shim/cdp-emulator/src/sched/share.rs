//! Blocks that run on other host threads, with everything that they launch, and what comes of it.
//!
//! A grid whose blocks cannot see each other's progress, nor that of any grid that could be launched below
//! it (`Kernel::apart`), is the same whenever its blocks run. So blocks at its end can be given to another
//! thread, which runs them and what they launch in a scheduler of its own. What they print, launch into the
//! tail, count and do wrong is put in its place when their turn comes: the text of a program does not depend
//! on who gave what to whom, nor on the number of threads.
//!
//! Work is given only when a thread has none, while no grid is there that might look: the whole core is of
//! such grids, or a core of its own is made for one ([`Core::apart_turn`]).

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use rustc_hash::FxHashMap;

use super::pool::{Pool, Task};
use super::{Action, Core, Grid, KernelProfile, Lineage, TraceEvent, TraceGrid};
use crate::config::{Config, Limits};
use crate::exec::fault::Fault;
use crate::exec::{Counters, GridInfo, Machine};
use crate::load::Program;
use crate::report::ReportKind;
use crate::work::GridKey;

/// Warp-instructions below which blocks are not worth another thread.
const WORTH: u64 = 4000;
/// Turns of a device before it gets threads: small programs need none.
const WARM_UP_TURNS: u32 = 48;
/// Thread-instructions after which it gets them sooner.
const WARM_UP_INSTRUCTIONS: u64 = 1 << 20;
/// Ready grids that are looked at for one to give.
const LOOKED_AT: usize = 8;
/// Serial numbers of a core of level n begin at n << LEVEL_SHIFT until they are put in their place.
const LEVEL_SHIFT: u32 = 40;

/// Stops a core and all that it gave work to.
#[derive(Debug, Default)]
pub struct Cancel {
    stop: AtomicBool,
    above: Option<Arc<Cancel>>,
}

impl Cancel {
    fn is_set(&self) -> bool {
        let above = || self.above.as_ref().is_some_and(|above| above.is_set());
        self.stop.load(Ordering::Relaxed) || above()
    }
}

/// Blocks of a grid that were given away.
#[derive(Debug)]
pub struct Given {
    first: u64,
    end: u64,
    /// Pending launches at their turn, when they were given.
    pending: u32,
    task: Arc<Task>,
}

/// Blocks to run, and all that is needed for it.
#[derive(Debug)]
pub struct Lent {
    machine: Arc<Machine>,
    program: Arc<Program>,
    pool: Arc<Pool>,
    config: Config,
    limits: Limits,
    cancel: Arc<Cancel>,
    started_at: Option<Instant>,
    info: Arc<GridInfo>,
    lineage: Option<Lineage>,
    first: u64,
    end: u64,
    depth: u32,
    block_cost: u64,
    pending: u32,
    level: u32,
}

/// A report in the making: names are looked up when it is in its place.
#[derive(Debug)]
pub struct Raw {
    fault: Fault,
    /// The grids from that of the fault upwards.
    chain: Vec<(u64, Lineage)>,
    ends: bool,
}

/// What came of blocks that were run elsewhere.
#[derive(Debug)]
pub struct Outcome {
    level: u32,
    grids: u64,
    raw: Vec<Raw>,
    output: VecDeque<(Vec<u8>, u64)>,
    profile: FxHashMap<u32, KernelProfile>,
    trace: Vec<TraceGrid>,
    events: Vec<TraceEvent>,
    counters: Counters,
    peak: u32,
    instructions: u64,
    /// Virtual time if it was 0 before, and how much of it was added whatever it was.
    clock: u64,
    copied: u64,
    end_clock: u64,
    block_cost: u64,
    work: u64,
    tails: Vec<(Option<Action>, Option<(Grid, Lineage)>)>,
    /// Launches that hold a slot in the end, and slots lost.
    pending: u32,
    lost: u32,
    next_handle: u64,
}

impl Core {
    /// True if this device uses several host threads at all.
    pub(super) fn shares(&self) -> bool {
        // A bound on instructions is kept exactly; checks and seeds follow one order.
        self.threads > 1
            && self.machine.schedule_seed.is_none()
            && self.machine.watch.is_none()
            && self.config.max_instructions.is_none()
    }

    /// Something above wants this core to end.
    pub(super) fn is_cancelled(&self) -> bool {
        self.level > 0 && self.cancel.is_set()
    }

    /// The threads, made when there seems to be enough to do.
    fn hungry_pool(&mut self) -> Option<Arc<Pool>> {
        if let Some(pool) = &self.pool {
            return pool.is_hungry().then(|| pool.clone());
        }
        self.turns += 1;
        if self.turns > WARM_UP_TURNS || self.instructions > WARM_UP_INSTRUCTIONS {
            let pool = Arc::new(Pool::new(self.threads - 1));
            self.pool = Some(pool.clone());
            return Some(pool);
        }
        None
    }

    /// Gives work to threads that have none.
    pub(super) fn share(&mut self) {
        if self.watching_grids > 0 || !self.shares() {
            return;
        }
        let Some(pool) = self.hungry_pool() else { return };
        while pool.is_hungry() {
            let Some((key, first, end)) = self.to_give(pool.hungry().max(1)) else { return };
            let Some(pending) = self.pending_at(key) else { return };
            let Some(lent) = self.lend(&pool, key, first, end, pending) else { return };
            let task = pool.give(Box::new(lent));
            self.given += 1;
            if let Some(grid) = self.grid_mut(key) {
                grid.given.push(Given { first, end, pending, task });
            }
        }
    }

    /// Blocks that another thread could run: of the grid whose turn is last; if it has begun or is what this thread comes
    /// to next, one share of them for each of so many threads and this one. The last block of a grid that has begun is
    /// given as well while the turn is that of what the others launched.
    fn to_give(&self, threads: u64) -> Option<(GridKey, u64, u64)> {
        let front = *self.ready_grids.values().next()?;
        let front_is_next = self.ready_blocks.is_empty()
            || self.ready_grids.keys().next() < self.ready_blocks.keys().next();
        for &key in self.ready_grids.values().rev().take(LOOKED_AT) {
            let Some(grid) = self.grid(key) else { continue };
            let end = grid.given.last().map_or(grid.end_block, |given| given.first);
            let left = end.saturating_sub(grid.next_block);
            let cost = match (grid.block_cost, self.profile.get(&grid.info.kernel)) {
                (0, Some(known)) if known.blocks > 0 && known.counters.warp_instructions > 0 => {
                    known.counters.warp_instructions / known.blocks
                }
                (0, _) => WORTH,
                (cost, _) => cost,
            };
            let launches = self.program.kernels[grid.info.kernel as usize].launches;
            let is_front = key == front && (front_is_next || grid.started);
            let given = match left {
                2.. if is_front || grid.started => (left / (threads + 1)).max(1),
                _ if is_front => 0,
                _ => left,
            };
            let keep = left - given;
            if given > 0 && (launches || given.saturating_mul(cost) >= WORTH) {
                return Some((key, grid.next_block + keep, end));
            }
        }
        None
    }

    /// Launches that will hold a slot when a ready grid's turn comes: its own, those of the grids above it,
    /// and all that come after it.
    fn pending_at(&self, key: GridKey) -> Option<u32> {
        let place = |grid: &Grid| (std::cmp::Reverse(grid.depth), grid.order);
        let own = place(self.grid(key)?);
        let before = |grid: &&Grid| {
            // What is in a tail has its turn when the grid is done.
            let whose =
                if grid.tail { grid.parent.and_then(|p| self.grid(p)) } else { Some(*grid) };
            grid.holds_slot && whose.is_some_and(|grid| place(grid) < own)
        };
        let before = self.grids.iter().flatten().filter(before).count() as u32;
        Some(self.pending_launches.saturating_sub(before))
    }

    fn lend(
        &self,
        pool: &Arc<Pool>,
        key: GridKey,
        first: u64,
        end: u64,
        pending: u32,
    ) -> Option<Lent> {
        let grid = self.grid(key)?;
        Some(Lent {
            machine: self.machine.clone(),
            program: self.program.clone(),
            pool: pool.clone(),
            config: self.config.clone(),
            limits: self.limits,
            cancel: Arc::new(Cancel { above: Some(self.cancel.clone()), ..Cancel::default() }),
            started_at: self.started_at,
            info: grid.info.clone(),
            lineage: self.lineage.get(&grid.info.serial).copied(),
            first,
            end,
            depth: grid.depth,
            block_cost: grid.block_cost,
            pending,
            level: self.level + 1,
        })
    }

    /// The turn of blocks that were given away has come. False if no thread had begun them, so that they are
    /// this thread's again.
    pub(super) fn given_turn(&mut self, key: GridKey) -> bool {
        let Some(grid) = self.grid_mut(key) else { return false };
        let next = grid.next_block;
        let Some(given) = grid.given.pop_if(|given| given.first == next) else { return false };
        self.given -= 1;
        let Some(pool) = self.pool.clone() else { return false };
        if pool.take_back(&given.task) {
            return false;
        }
        match pool.wait(&given.task, self.nested) {
            Some(outcome) => self.put_in_place(key, *outcome, given.end, given.pending),
            None => self.fail(Fault::new(
                ReportKind::DeviceRuntime,
                None,
                "a host thread of the CPU device failed",
            )),
        }
        true
    }

    /// Runs the rest of a grid that nothing can watch in a core of its own, so that other threads can help
    /// although grids that might look are there too.
    pub(super) fn apart_turn(&mut self, key: GridKey) -> bool {
        self.hungry_pool();
        let Some(pool) = self.pool.clone() else { return false };
        let (Some(grid), pending) = (self.grid(key), self.pending_launches) else { return false };
        let (first, end) = (grid.next_block, grid.end_block);
        let Some(lent) = self.lend(&pool, key, first, end, pending) else { return false };
        let outcome = lent.run(self.nested);
        self.put_in_place(key, *outcome, end, pending);
        true
    }

    /// Waits until no thread works on what this core gave away. What came of it keeps its place.
    pub(super) fn settle(&mut self) {
        if self.given == 0 {
            return;
        }
        let Some(pool) = self.pool.clone() else { return };
        let mut waited: Vec<(GridKey, Vec<Given>)> = Vec::new();
        for (index, entry) in self.grids.iter_mut().enumerate() {
            let Some(grid) = entry else { continue };
            let key = GridKey { index: index as u32, generation: grid.generation };
            if !grid.given.is_empty() {
                waited.push((key, std::mem::take(&mut grid.given)));
            }
        }
        for (key, mut given) in waited {
            given.retain(|given| {
                let back = pool.take_back(&given.task);
                if !back {
                    pool.finish(&given.task, self.nested);
                }
                self.given -= usize::from(back);
                !back
            });
            if let Some(grid) = self.grid_mut(key) {
                grid.given = given;
            }
        }
    }

    /// Ends the work of others after a fault.
    pub(super) fn abandon(&mut self) {
        self.cancel.stop.store(true, Ordering::Relaxed);
        self.settle();
    }

    /// A serial number of another core as one of this one.
    fn renumbered(&self, serial: u64, level: u32) -> u64 {
        if serial >> LEVEL_SHIFT == u64::from(level) {
            self.grid_serial + (serial & ((1 << LEVEL_SHIFT) - 1))
        } else {
            serial
        }
    }

    /// Puts what came of a grid's blocks up to `end` in its place.
    fn put_in_place(&mut self, key: GridKey, outcome: Outcome, end: u64, pending_before: u32) {
        let level = outcome.level;
        for (text, cost) in outcome.output {
            self.print(text, cost);
        }
        let trace_at = self.trace.len();
        for mut entry in outcome.trace {
            entry.grid = self.renumbered(entry.grid, level);
            entry.parent = self.renumbered(entry.parent, level);
            self.trace.push(entry);
        }
        self.events_traced.extend(outcome.events);
        self.pending_peak = self.pending_peak.max(outcome.peak);
        for (kernel, counted) in outcome.profile {
            let name = &self.program.kernels[kernel as usize].info.name;
            let entry = self.profile.entry(kernel).or_default();
            if entry.kernel.is_empty() {
                entry.kernel.clone_from(name);
            }
            entry.add(&counted);
        }
        self.instructions += outcome.instructions;
        self.clock = (self.clock + outcome.copied).max(outcome.clock);
        self.copied += outcome.copied;
        self.next_handle = self.next_handle.max(outcome.next_handle);
        self.pending_launches += outcome.pending.saturating_sub(pending_before);
        self.lost_slots += outcome.lost;
        if let Some(grid) = self.grid_mut(key) {
            grid.next_block = end;
            grid.end_clock = grid.end_clock.max(outcome.end_clock);
            grid.block_cost = outcome.block_cost;
            grid.work += outcome.work;
            grid.counters.add(&outcome.counters);
        }
        for (action, grid) in outcome.tails {
            let action = match (action, grid) {
                (_, Some((grid, lineage))) => {
                    Action::Grid(self.adopt(key, grid, lineage, level, trace_at))
                }
                (Some(action), None) => action,
                (None, None) => continue,
            };
            self.add_tail(key, action);
        }
        for raw in outcome.raw {
            self.put_report(raw, level);
        }
        self.grid_serial += outcome.grids;
    }

    /// A grid of another core's table, launched into the tail of `parent`.
    fn adopt(
        &mut self,
        parent: GridKey,
        mut grid: Grid,
        mut lineage: Lineage,
        level: u32,
        trace_at: usize,
    ) -> GridKey {
        let serial = self.renumbered(grid.info.serial, level);
        if let Some(info) = Arc::get_mut(&mut grid.info) {
            info.serial = serial;
        }
        self.renumber_lineage(&mut lineage, level);
        self.lineage.insert(serial, lineage);
        self.turn_serial += 1;
        grid.order = self.turn_serial;
        grid.parent = Some(parent);
        grid.trace = grid.trace.map(|at| at + trace_at);
        self.insert_grid(grid)
    }

    fn renumber_lineage(&self, lineage: &mut Lineage, level: u32) {
        lineage.parent = self.renumbered(lineage.parent, level);
        if let Some(site) = &mut lineage.launched_at {
            site.grid = self.renumbered(site.grid, level);
        }
    }

    fn put_report(&mut self, mut raw: Raw, level: u32) {
        let sites = raw.fault.site.iter_mut();
        for site in sites.chain(raw.fault.waiters.iter_mut().map(|waiter| &mut waiter.site)) {
            site.grid = self.renumbered(site.grid, level);
        }
        for (serial, lineage) in &mut raw.chain {
            *serial = self.renumbered(*serial, level);
            self.renumber_lineage(lineage, level);
        }
        if self.level > 0 {
            self.raw_fault |= raw.ends;
            self.raw.push(raw);
            return;
        }
        self.lineage.extend(raw.chain);
        if raw.ends {
            self.fail(Box::new(raw.fault));
        } else {
            self.warn(&raw.fault);
        }
    }

    /// Keeps a report for the core that this one works for.
    pub(super) fn keep_report(&mut self, fault: Fault, ends: bool) {
        let mut chain = Vec::new();
        let mut at = fault.site.map_or(0, |site| site.grid);
        while let Some(lineage) = self.lineage.get(&at) {
            chain.push((at, *lineage));
            at = lineage.parent;
        }
        self.raw_fault |= ends;
        self.raw.push(Raw { fault, chain, ends });
    }
}

impl Lent {
    /// Runs the blocks and everything that they launch, tails of the grid itself excepted.
    pub(super) fn run(self, nested: u32) -> Box<Outcome> {
        let mut core = Core::on(self.config, self.machine, self.program);
        core.limits = self.limits;
        core.pool = Some(self.pool);
        core.cancel = self.cancel;
        core.started_at = self.started_at;
        core.level = self.level;
        core.nested = nested;
        core.grid_serial = u64::from(self.level) << LEVEL_SHIFT;
        core.pending_launches = self.pending;
        core.lineage.extend(self.lineage.map(|lineage| (self.info.serial, lineage)));
        let level = self.level;
        let clock = self.info.start_clock;
        let mut grid = Grid::new(self.info, None, self.depth, clock);
        grid.next_block = self.first;
        grid.end_block = self.end;
        grid.block_cost = self.block_cost;
        grid.started = true;
        let key = core.insert_grid(grid);
        core.root = Some(key);
        core.enqueue_grid(key);
        core.run_root();
        core.into_outcome(key, level)
    }
}

impl Core {
    /// Runs until the root grid's blocks are done.
    fn run_root(&mut self) {
        loop {
            self.drain_ready();
            if self.has_failed() || self.is_cancelled() {
                self.abandon();
                return;
            }
            if self.root_done || !self.step() {
                return;
            }
        }
    }

    fn into_outcome(mut self, key: GridKey, level: u32) -> Box<Outcome> {
        let of_grid = |grid: &Grid| (grid.end_clock, grid.block_cost, grid.work, grid.counters);
        let (end_clock, block_cost, work, counters) =
            self.grid(key).map(of_grid).unwrap_or_default();
        let actions = self.grid_mut(key).map(|grid| std::mem::take(&mut grid.tails));
        let mut tails = Vec::new();
        for action in actions.unwrap_or_default() {
            let Action::Grid(tail) = action else {
                tails.push((Some(action), None));
                continue;
            };
            if let Some(grid) = self.grids[tail.index as usize].take()
                && let Some(lineage) = self.lineage.get(&grid.info.serial)
            {
                tails.push((None, Some((grid, *lineage))));
            }
        }
        self.machine.memory.params.give_back(&mut self.param_slots);
        Box::new(Outcome {
            level,
            grids: self.grid_serial - (u64::from(level) << LEVEL_SHIFT),
            raw: self.raw,
            output: self.output,
            profile: self.profile,
            trace: self.trace,
            events: self.events_traced,
            counters,
            peak: self.pending_peak,
            instructions: self.instructions,
            clock: self.clock,
            copied: self.copied,
            end_clock,
            block_cost,
            work,
            tails,
            pending: self.pending_launches,
            lost: self.lost_slots,
            next_handle: self.next_handle,
        })
    }
}
