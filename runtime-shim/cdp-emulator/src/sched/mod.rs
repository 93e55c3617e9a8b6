//! The scheduler: which grid and block runs when, and what waits for what.
//!
//! Everything queued (kernels, copies, event records) is a node of a graph; a stream is nothing but
//! the last node put into it. A node whose predecessors are done becomes ready; ready grids start
//! blocks. Grids and blocks are entries in tables, never host stack frames, so nesting depth and
//! the number of grids are limited by memory alone.
//!
//! The default schedule is one order, always the same: blocks in order of index; a launched grid
//! starts when its parent's block pauses, before anything that was there before it (so trees are
//! walked depth first and few grids are pending). A block pauses when it ends, waits, spins, or
//! has launched a few times (a launch takes long on a GPU too). Seeded schedules choose otherwise.
//!
//! Kernels that cannot observe the progress of other blocks and grids (no atomics with results, no
//! volatile accesses; see `decode`), and that can only launch such kernels, run strictly nested: a block
//! goes on when everything that it launched until its pause is done, and the next block begins when it is.
//! Which host thread runs what is then invisible (`share`). Programs with data races between such blocks
//! and grids are the exception to determinism; `host_threads: 1` removes it.

mod drive;
mod edges;
mod findings;
pub mod graphs;
mod grids;
mod lapses;
mod nodes;
mod pool;
pub mod profile;
mod reports;
mod resident;
mod share;
mod stall;
mod standstill;
mod time;
pub mod trace;

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use rustc_hash::FxHashMap;

use crate::api::{EventId, StreamId};
use crate::check::{Actor, Watch};
use crate::code::Function;
use crate::config::{Config, Limits};
use crate::error::Error;
use crate::exec::{Block, Counters, GridInfo, Machine};
use crate::host_code::HostAccess;
use crate::load::Program;
use crate::memory::{Arena, SiteRef, Slots, Table};
use crate::report::{Report, ReportKind};
use crate::work::{BlockKey, DeviceStream, GridKey, NodeId};

pub use grids::LaunchRequest;
pub use profile::KernelProfile;
pub use trace::{TraceEvent, TraceGrid};

/// What a node does when its turn comes.
#[derive(Clone, Debug)]
pub enum Action {
    /// Run a grid.
    Grid(GridKey),
    /// Copy rows of bytes.
    Copy { dst: u64, dst_pitch: u64, src: u64, src_pitch: u64, width: u64, rows: u64 },
    /// Fill rows with a pattern of 1, 2 or 4 bytes.
    Set { dst: u64, pitch: u64, pattern: [u8; 4], pattern_bytes: u8, width: u64, rows: u64 },
    /// Tell the checks of a copy that the host makes for a graph, and that is made when this is done.
    HostCopy { address: u64, width: u64, writes: bool },
    /// Tell the checks what a function of the host did.
    HostCode(Arc<[HostAccess]>),
    /// Tell the checks that memory is there from now on.
    Allocation { address: u64, width: u64 },
    /// Tell the checks that memory goes away.
    Release { address: u64, width: u64 },
    /// Note the time for a host event.
    Event(EventId),
    /// End a run of a graph, or begin what is in its tail.
    GraphEnd(u64),
}

/// A piece of queued work.
#[derive(Debug)]
pub struct Node {
    generation: u32,
    /// False once done.
    pending: bool,
    /// Predecessors not yet done.
    waits_for: u32,
    dependents: Vec<NodeId>,
    action: Option<Action>,
    /// The grid that launched it.
    owner: Option<GridKey>,
    /// The block that launched it, for `cudaDeviceSynchronize`.
    owner_block: Option<BlockKey>,
    /// It runs in its owner's tail.
    tail: bool,
}

/// A grid that is queued or running.
#[derive(Debug)]
pub struct Grid {
    generation: u32,
    info: Arc<GridInfo>,
    node: Option<NodeId>,
    parent: Option<GridKey>,
    /// 0 for grids of the host.
    pub depth: u32,
    next_block: u64,
    /// One past the last block that is to run here.
    end_block: u64,
    live_blocks: u64,
    /// Place among what is ready: launches in their order.
    order: u64,
    /// Nothing that it does or launches can watch others, so that it may run on any host thread.
    pub apart: bool,
    /// It is in the tail of its parent.
    tail: bool,
    /// Blocks that other host threads have, the last ones first.
    given: Vec<share::Given>,
    /// Launched work not yet done, tail work excluded.
    outstanding: u64,
    tails: VecDeque<Action>,
    tail_running: bool,
    /// Streams created by its threads.
    pub streams: FxHashMap<u64, DeviceStream>,
    /// Events created by its threads: the recorded node.
    pub events: FxHashMap<u64, Option<NodeId>>,
    /// Parameter buffers handed out and not launched yet.
    pub buffers: FxHashMap<u64, ParameterBuffer>,
    holds_slot: bool,
    end_clock: u64,
    /// Warp-instructions of a block that has ended, to judge what the others will cost.
    block_cost: u64,
    /// Warp-instructions of all blocks that have ended.
    work: u64,
    /// What its threads did, if there is a trace.
    counters: Counters,
    trace: Option<usize>,
    started: bool,
}

/// A parameter buffer of the device runtime.
#[derive(Clone, Copy, Debug)]
pub struct ParameterBuffer {
    /// Bytes asked for.
    pub size_bytes: u64,
    /// What `GetParameterBufferV2` was told: function, grid, block, shared bytes.
    pub config: Option<(u64, [u32; 3], [u32; 3], u32)>,
}

/// A block in the table.
#[derive(Debug)]
struct Resident {
    generation: u32,
    /// `None` while it runs.
    block: Option<Box<Block>>,
    grid: GridKey,
    /// Its index in the grid.
    linear: u64,
    /// Launched work not yet done.
    outstanding: u64,
    /// It waits for `outstanding` to become 0, and is in no queue.
    waiting: bool,
}

/// Order of what can run: round, then depth (deeper first), then age, then block.
type Turn = (u64, Reverse<u32>, u64, u64);

/// A host stream.
#[derive(Clone, Debug, Default)]
struct HostStream {
    stream: DeviceStream,
    non_blocking: bool,
}

/// A host event.
#[derive(Clone, Copy, Debug, Default)]
struct HostEvent {
    node: Option<NodeId>,
    clock: Option<u64>,
}

/// The device: machine, program, queues.
#[derive(Debug)]
pub struct Core {
    /// What it was made with.
    pub config: Config,
    /// Limits in force.
    pub limits: Limits,
    /// Functions and memory.
    pub machine: Arc<Machine>,
    /// Modules and kernels.
    pub program: Arc<Program>,
    /// Host threads that may be used.
    threads: usize,
    /// Those threads, once there is work for them.
    pool: Option<Arc<pool::Pool>>,
    /// Turns before there was a pool.
    turns: u32,
    /// Pieces of work given away and not yet in their place.
    given: usize,
    /// Grids that could watch others.
    watching_grids: usize,
    /// Ends this core and those that work for it.
    cancel: Arc<share::Cancel>,
    /// 0 for the device, else one more than the core that gave it work.
    level: u32,
    /// Pieces of work that this host thread is in.
    nested: u32,
    /// The grid that it works on, for another core.
    root: Option<GridKey>,
    root_done: bool,
    /// Reports for the core that it works for, and whether one ends the program.
    raw: Vec<share::Raw>,
    raw_fault: bool,
    nodes: Vec<Node>,
    free_nodes: Vec<u32>,
    ready_nodes: VecDeque<NodeId>,
    pending_nodes: u64,
    grids: Vec<Option<Grid>>,
    free_grids: Vec<(u32, u32)>,
    blocks: Vec<Resident>,
    free_blocks: Vec<u32>,
    resident_blocks: usize,
    /// Barriers of cooperative grids by stream.
    pub grid_barriers: HashMap<StreamId, u64>,
    /// Graphs that kernels may launch, and their runs.
    pub graphs: graphs::Graphs,
    ready_grids: BTreeMap<Turn, GridKey>,
    ready_blocks: BTreeMap<Turn, BlockKey>,
    round: u64,
    /// Whether blocks only wait.
    stall: stall::Stall,
    /// While host code waits for the device: whether nothing else of it could write to memory now.
    pub host_waits: Option<fn() -> bool>,
    turn_serial: u64,
    // Boxed, because they come and go as boxes: nothing is moved.
    #[allow(clippy::vec_box)]
    spare_blocks: Vec<Box<Block>>,
    streams: Vec<Option<HostStream>>,
    events: Vec<Option<HostEvent>>,
    /// Tables of parameter buffers that grids no longer need, all empty.
    pub spare_buffers: Vec<FxHashMap<u64, ParameterBuffer>>,
    /// The function whose call of the device runtime was served last, by its number.
    pub served: Option<(u32, Arc<Function>)>,
    /// Free slots for parameter buffers.
    pub param_slots: Slots,
    /// Launches that hold a slot of the pending pool.
    pub pending_launches: u32,
    /// Most of them at once.
    pub pending_peak: u32,
    /// Slots lost to launches that failed in a way that leaks.
    pub lost_slots: u32,
    grid_serial: u64,
    block_serial: u64,
    /// Device streams and events: next handle.
    pub next_handle: u64,
    /// Virtual time in cycles.
    pub clock: u64,
    /// Time that copies and sets took.
    copied: u64,
    /// `printf` output: entries and their cost.
    output: VecDeque<(Vec<u8>, u64)>,
    output_cost: u64,
    output_lost: u64,
    reports: Vec<Arc<Report>>,
    /// What was warned of, and at which instructions.
    warned: HashSet<(ReportKind, u32, u32)>,
    fault: Option<Arc<Report>>,
    /// Counters by kernel.
    pub profile: FxHashMap<u32, KernelProfile>,
    trace: Vec<TraceGrid>,
    events_traced: Vec<TraceEvent>,
    /// Kernel and launch site of every grid whose site might still be asked for.
    lineage: FxHashMap<u64, Lineage>,
    instructions: u64,
    started_at: Option<Instant>,
    random: u64,
    /// Who queues the next node, if a thread does and checks are on.
    pub actor: Option<Actor>,
    /// Device allocations that were refused because the heap was used up.
    pub heap_refusals: u64,
    /// Texts that the device runtime handed out, by content.
    pub runtime_texts: HashMap<String, u64>,
}

/// The value of which this is the only owner.
fn unshared<T>(shared: &mut Arc<T>) -> &mut T {
    while Arc::get_mut(shared).is_none() {
        std::thread::yield_now();
    }
    match Arc::get_mut(shared) {
        Some(value) => value,
        None => unreachable!("only the owner makes others"),
    }
}

/// What is kept of a grid for messages.
#[derive(Clone, Copy, Debug)]
struct Lineage {
    kernel: u32,
    grid: [u32; 3],
    block: [u32; 3],
    parent: u64,
    launched_at: Option<SiteRef>,
    /// Tail launches in a row that led to it.
    tails: u64,
}

impl Lineage {
    /// The indices of the block and of the thread that are at a place in this grid.
    fn indices(&self, site: &SiteRef) -> ([u32; 3], [u32; 3]) {
        let index = |size: [u32; 3], n: u64| {
            let (x, y) = (u64::from(size[0].max(1)), u64::from(size[1].max(1)));
            [(n % x) as u32, (n / x % y) as u32, (n / (x * y)) as u32]
        };
        (index(self.grid, site.block), index(self.block, u64::from(site.thread)))
    }
}

impl Core {
    /// An empty device.
    pub fn new(config: Config) -> Result<Core, Error> {
        let arena = Arena::reserve(config.reserve_bytes)
            .ok_or(Error::HostMemory { asked_bytes: config.reserve_bytes })?;
        let mut memory = Table::new(arena, config.memory_bytes);
        if config.checks.bounds {
            memory.spread();
        }
        let machine = Machine {
            functions: Vec::new(),
            shared: Vec::new(),
            memory,
            textures: Vec::new(),
            checks: config.checks,
            warp_scheduling: config.warp_scheduling,
            schedule_seed: config.schedule_seed,
            clocks: Default::default(),
            avx2: crate::alu::has_avx2(),
            stack_bytes: config.limits.stack_bytes,
            watch: config.checks.watches().then(|| Mutex::new(Watch::new(config.checks))),
            host: None,
            native: config.native.clone().map(crate::native::Workshop::new),
        };
        Ok(Core::on(config, Arc::new(machine), Arc::default()))
    }

    /// A scheduler with nothing to do.
    fn on(config: Config, machine: Arc<Machine>, program: Arc<Program>) -> Core {
        Core {
            threads: drive::host_threads(&config),
            pool: None,
            turns: 0,
            given: 0,
            watching_grids: 0,
            cancel: Arc::default(),
            level: 0,
            nested: 0,
            root: None,
            root_done: false,
            raw: Vec::new(),
            raw_fault: false,
            limits: config.limits,
            machine,
            program,
            nodes: Vec::new(),
            free_nodes: Vec::new(),
            ready_nodes: VecDeque::new(),
            pending_nodes: 0,
            grids: Vec::new(),
            free_grids: Vec::new(),
            blocks: Vec::new(),
            free_blocks: Vec::new(),
            resident_blocks: 0,
            ready_grids: BTreeMap::new(),
            ready_blocks: BTreeMap::new(),
            round: 0,
            host_waits: None,
            stall: stall::Stall::default(),
            turn_serial: 0,
            spare_blocks: Vec::new(),
            streams: vec![Some(HostStream::default())],
            events: Vec::new(),
            spare_buffers: Vec::new(),
            served: None,
            param_slots: Slots::default(),
            pending_launches: 0,
            lost_slots: 0,
            grid_barriers: HashMap::new(),
            graphs: graphs::Graphs::default(),
            grid_serial: 0,
            block_serial: 1,
            next_handle: 0x1000,
            clock: 0,
            copied: 0,
            output: VecDeque::new(),
            output_cost: 0,
            output_lost: 0,
            reports: Vec::new(),
            warned: HashSet::new(),
            fault: None,
            profile: FxHashMap::default(),
            trace: Vec::new(),
            events_traced: Vec::new(),
            pending_peak: 0,
            lineage: FxHashMap::default(),
            instructions: 0,
            started_at: None,
            random: config.schedule_seed.unwrap_or(0),
            actor: None,
            heap_refusals: 0,
            runtime_texts: HashMap::new(),
            config,
        }
    }

    /// Functions and memory, to be changed. Nothing runs on other threads then, but one may be about to
    /// let go of it.
    pub fn machine_mut(&mut self) -> &mut Machine {
        self.served = None;
        unshared(&mut self.machine)
    }

    /// Functions and memory, modules and kernels, to be changed.
    pub fn loaded_mut(&mut self) -> (&mut Machine, &mut Program) {
        self.served = None;
        (unshared(&mut self.machine), unshared(&mut self.program))
    }

    /// The program did something wrong and goes no further.
    fn has_failed(&self) -> bool {
        self.fault.is_some() || self.raw_fault
    }

    /// The report that ended the program.
    pub fn fault(&self) -> Option<&Arc<Report>> {
        self.fault.as_ref()
    }

    /// Reports since the last call.
    pub fn take_reports(&mut self) -> Vec<Arc<Report>> {
        std::mem::take(&mut self.reports)
    }

    /// `printf` output since the last call.
    pub fn take_output(&mut self) -> Vec<u8> {
        self.output_cost = 0;
        let mut out = Vec::new();
        for (text, _) in self.output.drain(..) {
            out.extend_from_slice(&text);
        }
        out
    }

    /// Adds output; as on a GPU, the oldest is lost when the buffer is full.
    fn print(&mut self, text: Vec<u8>, cost_bytes: u64) {
        self.output_cost += cost_bytes;
        self.output.push_back((text, cost_bytes));
        // The buffer is the device's: a part of its output is not yet in its place.
        while self.level == 0 && self.output_cost > self.limits.printf_fifo_bytes {
            let Some((_, cost)) = self.output.pop_front() else { break };
            self.output_cost -= cost;
            self.output_lost += 1;
        }
    }

    fn live_stream(&mut self, stream: StreamId) -> Result<&mut HostStream, Error> {
        self.streams
            .get_mut(stream.0 as usize)
            .and_then(Option::as_mut)
            .ok_or(Error::InvalidHandle { what: "stream" })
    }

    fn live_event(&mut self, event: EventId) -> Result<&mut HostEvent, Error> {
        self.events
            .get_mut(event.0 as usize)
            .and_then(Option::as_mut)
            .ok_or(Error::InvalidHandle { what: "event" })
    }

    // Host streams and events.

    /// A new host stream.
    pub fn create_stream(&mut self, non_blocking: bool) -> StreamId {
        self.streams.push(Some(HostStream { non_blocking, ..HostStream::default() }));
        StreamId(self.streams.len() as u32 - 1)
    }

    /// Forgets a host stream.
    pub fn destroy_stream(&mut self, stream: StreamId) -> Result<(), Error> {
        if stream == StreamId::NULL {
            return Err(Error::InvalidHandle { what: "stream" });
        }
        self.live_stream(stream)?;
        self.streams[stream.0 as usize] = None;
        Ok(())
    }

    /// A new host event.
    pub fn create_event(&mut self) -> EventId {
        self.events.push(Some(HostEvent::default()));
        EventId(self.events.len() as u32 - 1)
    }

    /// Forgets a host event.
    pub fn destroy_event(&mut self, event: EventId) -> Result<(), Error> {
        self.live_event(event)?;
        self.events[event.0 as usize] = None;
        Ok(())
    }

    /// What a node put into a host stream now would wait for.
    fn host_dependencies(&mut self, stream: StreamId) -> Result<Vec<NodeId>, Error> {
        let nodes = self.stream_turn(stream)?;
        self.live_stream(stream)?.stream.waits.clear();
        Ok(nodes)
    }

    /// What work that is queued in a host stream now waits for: beside the stream's own, that of the NULL stream,
    /// unless the stream is one that does not block.
    pub fn stream_turn(&mut self, stream: StreamId) -> Result<Vec<NodeId>, Error> {
        let mut nodes = self.stream_ends(stream)?;
        if stream != StreamId::NULL && !self.live_stream(stream)?.non_blocking {
            nodes.extend(self.streams[0].as_ref().and_then(|s| s.stream.last));
        }
        Ok(nodes)
    }

    /// Begins a run of a graph in a host stream.
    pub fn enqueue_graph(&mut self, stream: StreamId, graph: u64) -> Result<(), Error> {
        let waits = self.host_dependencies(stream)?;
        let begun = self.begin_run(graph, &waits, None, None);
        let end = begun.ok_or(Error::InvalidHandle { what: "graph" })?;
        self.graphs.add_busy(graph);
        self.live_stream(stream)?.stream.last = Some(end);
        Ok(())
    }

    /// Puts work into a host stream.
    pub fn enqueue_host(&mut self, stream: StreamId, action: Action) -> Result<NodeId, Error> {
        let waits = self.host_dependencies(stream)?;
        let node = self.add_node(&waits, action, None, None, false);
        self.live_stream(stream)?.stream.last = Some(node);
        Ok(node)
    }

    /// Records a host event.
    pub fn record_event(&mut self, event: EventId, stream: StreamId) -> Result<(), Error> {
        self.live_event(event)?.clock = None;
        let node = self.enqueue_host(stream, Action::Event(event))?;
        self.live_event(event)?.node = Some(node);
        Ok(())
    }

    /// Makes a host stream wait for an event.
    pub fn wait_event(&mut self, stream: StreamId, event: EventId) -> Result<(), Error> {
        let node = self.live_event(event)?.node;
        self.live_stream(stream)?.stream.waits.extend(node);
        Ok(())
    }

    /// The node at the end of a host stream, with what the stream waits for.
    pub fn stream_ends(&mut self, stream: StreamId) -> Result<Vec<NodeId>, Error> {
        let entry = self.live_stream(stream)?;
        let mut nodes = entry.stream.waits.clone();
        nodes.extend(entry.stream.last);
        if stream == StreamId::NULL {
            let others = self.streams.iter().skip(1).flatten().filter(|s| !s.non_blocking);
            nodes.extend(others.filter_map(|s| s.stream.last));
        }
        Ok(nodes)
    }

    /// The node of an event's last record.
    pub fn event_node(&mut self, event: EventId) -> Result<Option<NodeId>, Error> {
        Ok(self.live_event(event)?.node)
    }

    /// Clock at an event's last record, once it is reached.
    pub fn event_clock(&mut self, event: EventId) -> Result<Option<u64>, Error> {
        Ok(self.live_event(event)?.clock)
    }

    /// How far the run is.
    pub fn progress(&self) -> crate::api::Progress {
        crate::api::Progress {
            grids_started: self.profile.values().map(|entry| entry.launches).sum(),
            pending: self.pending_nodes,
            thread_instructions: self.instructions,
        }
    }

    /// `printf` entries lost because the buffer was full.
    pub fn lost_output(&self) -> u64 {
        self.output_lost
    }
}
