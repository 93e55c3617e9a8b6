//! Grids: launch, start, completion of the whole tree below, and the table of resident blocks.

use std::cmp::Reverse;
use std::collections::VecDeque;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::{Action, Core, Grid, Lineage, TraceGrid, time};
use crate::exec::{GridInfo, OfGraph, next_random};
use crate::hardware::{MAX_CLUSTER_BLOCKS, MAX_SHARED_BYTES, PORTABLE_CLUSTER_BLOCKS};
use crate::load::Kernel;
use crate::memory::SiteRef;
use crate::work::GridKey;

/// Tables of parameter buffers that are kept for other grids, and places in the largest of them.
const MOST_SPARE: usize = 64;

/// A launch, checked or not.
#[derive(Clone, Debug)]
pub struct LaunchRequest {
    /// Number of the kernel.
    pub kernel: u32,
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads a block.
    pub block: [u32; 3],
    /// Dynamic shared memory in bytes.
    pub shared_bytes: u32,
    /// Parameter buffer.
    pub params: Arc<[u8]>,
    /// Address of the barrier of a cooperative grid, 0 for others.
    pub barrier: u64,
    /// Blocks a cluster in x, y, z, if the launch says so.
    pub cluster: Option<[u32; 3]>,
    /// The graph that it is a step of.
    pub of_graph: OfGraph,
}

impl Grid {
    /// A grid whose blocks have yet to run.
    pub(super) fn new(
        info: Arc<GridInfo>,
        parent: Option<GridKey>,
        depth: u32,
        clock: u64,
    ) -> Grid {
        Grid {
            generation: 0,
            end_block: info.blocks(),
            info,
            node: None,
            parent,
            depth,
            next_block: 0,
            live_blocks: 0,
            order: 0,
            apart: true,
            tail: false,
            given: Vec::new(),
            outstanding: 0,
            tails: VecDeque::new(),
            tail_running: false,
            streams: FxHashMap::default(),
            events: FxHashMap::default(),
            buffers: FxHashMap::default(),
            holds_slot: false,
            end_clock: clock,
            block_cost: 0,
            work: 0,
            counters: Default::default(),
            trace: None,
            started: false,
        }
    }
}

impl Core {
    pub(super) fn grid_mut(&mut self, key: GridKey) -> Option<&mut Grid> {
        self.grids
            .get_mut(key.index as usize)
            .and_then(Option::as_mut)
            .filter(|grid| grid.generation == key.generation)
    }

    /// A grid that is queued or running.
    pub fn grid(&self, key: GridKey) -> Option<&Grid> {
        self.grids
            .get(key.index as usize)
            .and_then(Option::as_ref)
            .filter(|grid| grid.generation == key.generation)
    }

    /// As [`Core::grid`], to change its streams, events and buffers.
    pub fn grid_state(&mut self, key: GridKey) -> Option<&mut Grid> {
        self.grid_mut(key)
    }

    /// Why a launch configuration is refused, if it is.
    pub fn check_configuration(&self, request: &LaunchRequest) -> Result<(), String> {
        let kernel = &self.program.kernels[request.kernel as usize];
        let [gx, gy, gz] = request.grid;
        let [bx, by, bz] = request.block;
        if gx == 0 || gy == 0 || gz == 0 || bx == 0 || by == 0 || bz == 0 {
            return Err(format!(
                "grid ({gx},{gy},{gz}) of blocks ({bx},{by},{bz}): no dimension may be 0"
            ));
        }
        if gx > i32::MAX as u32 || gy > 65_535 || gz > 65_535 {
            return Err(format!("grid ({gx},{gy},{gz}); the limits are (2147483647,65535,65535)"));
        }
        if bx > 1024 || by > 1024 || bz > 64 {
            return Err(format!("block ({bx},{by},{bz}); the limits are (1024,1024,64)"));
        }
        let threads = u64::from(bx) * u64::from(by) * u64::from(bz);
        let most = u64::from(kernel.info.max_threads);
        if threads > most {
            return Err(format!(
                "{threads} threads a block; `{}` can have {most}",
                kernel.info.name
            ));
        }
        if let Some(required) = kernel.info.required_threads
            && required.map(|n| n.max(1)) != request.block
        {
            let [x, y, z] = required;
            return Err(format!(
                "block ({bx},{by},{bz}); `{}` needs ({x},{y},{z})",
                kernel.info.name
            ));
        }
        let dynamic = u64::from(request.shared_bytes);
        // The system's part does not count.
        let reserved = u64::from(kernel.reserved_shared.end - kernel.reserved_shared.start);
        let own = kernel.info.shared_bytes - reserved;
        let most = own + kernel.most_dynamic_bytes();
        let shared = own + dynamic;
        if shared > most.min(MAX_SHARED_BYTES) {
            return Err(format!("{shared} bytes of shared memory a block; the limit is {most}"));
        }
        Ok(())
    }

    /// Why the clusters of a launch are refused, if they are.
    pub fn check_cluster(&self, request: &LaunchRequest) -> Result<(), String> {
        check_cluster(&self.program.kernels[request.kernel as usize], request)
    }

    /// Enters a grid into the table, not yet queued.
    pub fn add_grid(
        &mut self,
        request: LaunchRequest,
        parent: Option<GridKey>,
        launched_at: Option<SiteRef>,
        launch_clock: u64,
        holds_slot: bool,
    ) -> GridKey {
        self.grid_serial += 1;
        let serial = self.grid_serial;
        let blocks = request.grid.iter().fold(1u64, |n, &d| n.saturating_mul(u64::from(d)));
        let depth = parent.and_then(|key| self.grid(key)).map_or(0, |grid| grid.depth + 1);
        let parent_serial =
            parent.and_then(|key| self.grid(key)).map_or(0, |grid| grid.info.serial);
        let latency = if parent.is_some() { time::DEVICE_LAUNCH } else { 0 };
        let above = parent.and_then(|key| self.grid(key)).map_or(0, |grid| grid.info.watched);
        let number = request.kernel;
        let older = self.program.kernels[number as usize].info.target_sm < 90;
        let looks = self.program.looks;
        let watched = self.watch_mut().map_or(0, |watch| {
            watch.waits_for_children |= older;
            watch.older.is_asked |= looks;
            watch.add_grid(serial, number, above, launched_at)
        });
        let kernel = &self.program.kernels[request.kernel as usize];
        let info = GridInfo {
            serial,
            function: kernel.function,
            kernel: request.kernel,
            grid: request.grid,
            block: request.block,
            cluster: request.cluster.or(kernel.info.cluster).unwrap_or([1; 3]),
            explicit_cluster: request.cluster.is_some() || kernel.info.cluster_must_be_set,
            dynamic_bytes: request.shared_bytes,
            shared_bytes: (kernel.info.shared_bytes as u32)
                .saturating_add(request.shared_bytes)
                .saturating_add(kernel.shared_gaps),
            shared_gaps: kernel.shared_gaps,
            stack_bytes: self.limits.stack_bytes.max(kernel.stack_need),
            reserved_shared: kernel.reserved_shared.clone(),
            params: request.params,
            start_clock: launch_clock + latency,
            first_block_serial: self.block_serial,
            watched,
            barrier: request.barrier,
            of_graph: request.of_graph,
        };
        self.block_serial = self.block_serial.wrapping_add(blocks);
        let lineage = Lineage {
            kernel: request.kernel,
            grid: request.grid,
            block: request.block,
            parent: parent_serial,
            launched_at,
            tails: 0,
        };
        self.lineage.insert(serial, lineage);
        let trace =
            self.config.trace.then(|| self.trace_grid(serial, lineage, depth, launch_clock));
        let alone = info.barrier == 0 && info.cluster_blocks() == 1;
        let apart = alone && self.program.kernels[info.kernel as usize].apart;
        self.turn_serial += 1;
        self.insert_grid(Grid {
            apart,
            holds_slot,
            trace,
            order: self.turn_serial,
            ..Grid::new(Arc::new(info), parent, depth, launch_clock)
        })
    }

    /// Enters a grid into the trace, and returns where.
    fn trace_grid(&mut self, serial: u64, of: Lineage, depth: u32, launch_clock: u64) -> usize {
        let Lineage { kernel, grid, block, parent, launched_at, .. } = of;
        let launched_by =
            launched_at.and_then(|site| Some(self.lineage.get(&site.grid)?.indices(&site)));
        self.trace.push(TraceGrid {
            grid: serial,
            kernel: self.program.kernels[kernel as usize].info.name.clone(),
            parent,
            launched_by,
            launched_at: launched_at.and_then(|site| self.launch_line(&site)),
            stream: String::new(),
            depth,
            grid_size: grid,
            block_size: block,
            launched_clock: launch_clock,
            start_clock: launch_clock,
            end_clock: launch_clock,
            counters: Default::default(),
        });
        self.trace.len() - 1
    }

    /// Enters a grid into the table.
    pub(super) fn insert_grid(&mut self, mut grid: Grid) -> GridKey {
        let (index, generation) = match self.free_grids.pop() {
            Some(free) => free,
            None => {
                self.grids.push(None);
                (self.grids.len() as u32 - 1, 0)
            }
        };
        grid.generation = generation;
        self.watching_grids += usize::from(!grid.apart);
        self.grids[index as usize] = Some(grid);
        GridKey { index, generation }
    }

    /// Numbers a child's blocks by the block that launched it, so that its addresses of shared and local
    /// memory are the same on whatever thread it runs. The checks need numbers that differ for certain.
    pub fn number_blocks(&mut self, key: GridKey, launcher: u64, nth: u64) {
        if self.machine.watch.is_some() {
            return;
        }
        let mut state = launcher << 32 ^ nth;
        if let Some(grid) = self.grid_mut(key)
            && let Some(info) = Arc::get_mut(&mut grid.info)
        {
            info.first_block_serial = next_random(&mut state);
        }
    }

    /// The grid's turn in its stream has come: its blocks may start.
    pub(super) fn start_grid(&mut self, key: GridKey) {
        let clock = self.clock;
        let Some(grid) = self.grid_mut(key) else { return };
        // Grids that waited for others in their stream begin when those ended.
        let begins = if grid.parent.is_some() {
            grid.info.start_clock
        } else {
            grid.info.start_clock.max(clock) + time::HOST_LAUNCH
        };
        if begins != grid.info.start_clock
            && let Some(info) = Arc::get_mut(&mut grid.info)
        {
            info.start_clock = begins;
        }
        grid.end_clock = begins;
        self.enqueue_grid(key);
    }

    /// The grid's blocks may run.
    pub(super) fn enqueue_grid(&mut self, key: GridKey) {
        let round = self.round;
        let Some(grid) = self.grid_mut(key) else { return };
        let turn = (round, Reverse(grid.depth), grid.order, u64::MAX);
        self.ready_grids.insert(turn, key);
    }

    /// First block of a grid begins.
    pub(super) fn note_started(&mut self, key: GridKey) {
        let Some(grid) = self.grid_mut(key) else { return };
        if std::mem::replace(&mut grid.started, true) {
            return;
        }
        let (kernel, blocks, threads) = (grid.info.kernel, grid.info.blocks(), grid.info.threads());
        let (trace, start) = (grid.trace, grid.info.start_clock);
        if let Some(at) = trace {
            self.trace[at].start_clock = start;
        }
        let name = &self.program.kernels[kernel as usize].info.name;
        let entry = self.profile.entry(kernel).or_default();
        if entry.kernel.is_empty() {
            entry.kernel.clone_from(name);
        }
        entry.launches += 1;
        entry.blocks += blocks;
        entry.threads += blocks * u64::from(threads);
    }

    /// A grid is done, and so is all that it launched but for its tail: its launch is no longer pending. The
    /// next grid in the tail has a slot of its own.
    fn leave_pool(&mut self, key: GridKey) {
        let held = self.grid_mut(key).is_some_and(|grid| std::mem::take(&mut grid.holds_slot));
        if held {
            self.release_slot();
        }
    }

    /// Gives a slot of the pending pool back. Leaked slots come back when the pool is empty.
    pub fn release_slot(&mut self) {
        self.pending_launches = self.pending_launches.saturating_sub(1);
        if self.pending_launches == self.lost_slots {
            self.pending_launches = 0;
            self.lost_slots = 0;
        }
    }

    /// Work in a grid's tail stream.
    pub fn add_tail(&mut self, key: GridKey, action: Action) {
        if let Action::Grid(tail) = action
            && let Some(tail) = self.grid_mut(tail)
        {
            tail.tail = true;
        }
        if let Some(grid) = self.grid_mut(key) {
            grid.tails.push_back(action);
        }
    }

    /// Looks whether a grid is complete, and so on up the tree. Not recursive: completing a grid's
    /// node queues its parent through `complete_node`.
    pub(super) fn finish_later(&mut self, key: GridKey) {
        let mut next = Some(key);
        while let Some(key) = next.take() {
            let Some(grid) = self.grid_mut(key) else { return };
            let running = grid.next_block < grid.end_block || grid.live_blocks > 0;
            if running || grid.outstanding > 0 || grid.tail_running || !grid.started {
                return;
            }
            if self.root == Some(key) {
                self.root_done = true;
                return;
            }
            self.leave_pool(key);
            let Some(grid) = self.grid_mut(key) else { return };
            if let Some(action) = grid.tails.pop_front() {
                grid.tail_running = true;
                let above = grid.info.serial;
                if let Action::Grid(tail) = action {
                    self.count_tail(above, tail);
                }
                let _ = self.add_node(&[], action, Some(key), None, true);
                return;
            }
            next = self.retire_grid(key);
        }
    }

    /// Notes that a grid follows another one in its tail.
    fn count_tail(&mut self, above: u64, tail: GridKey) {
        let before = self.lineage.get(&above).map_or(0, |lineage| lineage.tails);
        let serial = self.grid(tail).map_or(0, |grid| grid.info.serial);
        if let Some(lineage) = self.lineage.get_mut(&serial) {
            lineage.tails = before + 1;
        }
    }

    /// Takes a complete grid out of the table and completes its node. Returns the parent, whose
    /// completion is to be looked at next.
    fn retire_grid(&mut self, key: GridKey) -> Option<GridKey> {
        let mut grid = self.grids[key.index as usize].take()?;
        let least = grid.info.start_clock + time::of_work(grid.work);
        grid.end_clock = grid.end_clock.max(least);
        self.watching_grids -= usize::from(!grid.apart);
        self.free_grids.push((key.index, key.generation.wrapping_add(1)));
        self.clock = self.clock.max(grid.end_clock);
        if let Some(at) = grid.trace {
            self.trace[at].end_clock = grid.end_clock;
            self.trace[at].counters = grid.counters;
        }
        for buffer in grid.buffers.keys() {
            self.release_params(*buffer);
            self.release_slot();
        }
        if (1..MOST_SPARE).contains(&grid.buffers.capacity())
            && self.spare_buffers.len() < MOST_SPARE
        {
            grid.buffers.clear();
            self.spare_buffers.push(std::mem::take(&mut grid.buffers));
        }
        if let Some(parent) = grid.parent
            && let Some(parent) = self.grid_mut(parent)
        {
            parent.end_clock = parent.end_clock.max(grid.end_clock);
        }
        // Reports about the past may name the grid.
        let keep = self.machine.memory.heap_bytes() > 0 || self.machine.watch.is_some();
        if !keep {
            self.lineage.remove(&grid.info.serial);
        }
        // `complete_node` calls `finish_later` for the owner; to keep that from nesting a level a
        // generation, the owner is taken off the node here and returned.
        let node = grid.node?;
        self.edge_grid_done(node, grid.info.watched);
        let entry = &mut self.nodes[node.index as usize];
        if entry.generation != node.generation {
            return None;
        }
        let owner = entry.owner.take();
        let tail = entry.tail;
        self.complete_node(node);
        let owner = owner?;
        if let Some(parent) = self.grid_mut(owner) {
            if tail {
                parent.tail_running = false;
            } else {
                parent.outstanding -= 1;
            }
        }
        Some(owner)
    }
}

/// As [`Core::check_cluster`], of a kernel.
fn check_cluster(kernel: &Kernel, request: &LaunchRequest) -> Result<(), String> {
    let (name, own) = (&kernel.info.name, kernel.info.cluster);
    let text = |[x, y, z]: [u32; 3]| format!("({x},{y},{z})");
    if own.is_none() && request.cluster.is_none() {
        return match kernel.info.cluster_must_be_set {
            true => Err(format!("`{name}` must be launched in clusters")),
            false => Ok(()),
        };
    }
    if let (Some(own), Some(asked)) = (own, request.cluster)
        && own != asked
    {
        return Err(format!("clusters of {} blocks; `{name}` needs {}", text(asked), text(own)));
    }
    let cluster = request.cluster.or(own).unwrap_or([1; 3]);
    if cluster.contains(&0) {
        return Err(format!("clusters of {} blocks: no dimension may be 0", text(cluster)));
    }
    let blocks = cluster.iter().fold(1u32, |all, n| all.saturating_mul(*n));
    let usual = if kernel.large_clusters { MAX_CLUSTER_BLOCKS } else { PORTABLE_CLUSTER_BLOCKS };
    let most = kernel.most_cluster_blocks.unwrap_or(usual).min(MAX_CLUSTER_BLOCKS);
    if blocks > most {
        return Err(format!("clusters of {blocks} blocks; `{name}` can have {most}"));
    }
    if (0..3).any(|d| !request.grid[d].is_multiple_of(cluster[d])) {
        let (grid, cluster) = (text(request.grid), text(cluster));
        return Err(format!("a grid of {grid} blocks is no whole number of clusters of {cluster}"));
    }
    Ok(())
}
