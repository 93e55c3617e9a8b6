//! Checks that a run can ask for: data races, conflicts between sibling grids, memory that was never
//! written, memory that is never released.
//!
//! Everything a program does to memory passes [`crate::exec::door`], and everything that orders it
//! passes the functions here that are named after what happens: [`block::BlockState`] for barriers
//! and exchanges, [`sync`] for atomics and fences, [`graph`] for launches, streams, events and the
//! host. With no check on there is no [`Watch`], and a door is one comparison with nothing.
//!
//! The race checker finds every pair of accesses that it still remembers and that nothing orders, in
//! the run that it watches; it never guesses, so what it reports is a race. It remembers the last
//! write of every byte, beneath an atomic one a plain one and an atomic of another thread, and reads by up to four threads
//! since the last plain write (see [`record`], [`beneath`], [`shadow`]). What
//! orders accesses is the memory model of PTX with two allowances that are told in
//! `compiler/docs/checks.md`.
//!
//! Nothing here prints. What a program does changes by one thing only: strong reads may see an older value that is as right ([`older`]).

pub mod access;
pub mod ahead;
pub mod apart;
pub mod beneath;
pub mod block;
pub mod bounds;
pub mod copies;
pub mod cover;
pub mod findings;
pub mod graph;
pub mod holds;
pub mod host;
pub mod init;
pub mod neighbours;
pub mod older;
pub mod parts;
pub mod plane;
pub mod quick;
pub mod race;
pub mod record;
pub mod release;
pub mod runs;
pub mod shadow;
pub mod sync;
pub mod view;

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::code::Async;
use crate::config::Checks;
use crate::memory::SiteRef;
use crate::work::NodeId;

use block::BlockState;
use findings::Findings;
use holds::Holds;
use init::Fresh;
use older::Older;
use shadow::Shadow;
use sync::SyncVar;
use view::{Known, View};

/// Which block did something, when, and by which instruction.
#[derive(Clone, Copy, Debug)]
pub struct Stamp {
    /// The block.
    pub block: u32,
    /// The block's time.
    pub time: u32,
    /// The instruction.
    pub origin: Origin,
}

/// An instruction, or something that the runtime does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Origin {
    /// Function, or [`Origin::RUNTIME`].
    pub function: u32,
    /// Instruction in it; which of the runtime's doings.
    pub instruction: u32,
}

impl Origin {
    /// In place of a function: a copy or set.
    pub const RUNTIME: u32 = u32::MAX;
    /// In place of a function: host code, by its place in the log (`crate::host_code`).
    pub const HOST_CODE: u32 = u32::MAX - 1;
    /// A copy within the device.
    pub const COPY: Origin = Origin { function: Origin::RUNTIME, instruction: 0 };
    /// A set.
    pub const SET: Origin = Origin { function: Origin::RUNTIME, instruction: 1 };
    /// A copy from or to the host.
    pub const HOST: Origin = Origin { function: Origin::RUNTIME, instruction: 2 };
    /// The same, as a node of a graph.
    pub const GRAPH: Origin = Origin { function: Origin::RUNTIME, instruction: 3 };
    /// A release in a stream.
    pub const RELEASE: Origin = Origin { function: Origin::RUNTIME, instruction: 4 };
    /// An allocation in a stream.
    pub const ALLOCATION: Origin = Origin { function: Origin::RUNTIME, instruction: 5 };
}

/// A block, as records name it.
#[derive(Clone, Copy, Debug)]
pub struct BlockMeta {
    /// Its grid.
    pub grid: u32,
    /// Linear index in the grid.
    pub linear: u64,
    /// It stands for what the block does asynchronously, of this kind.
    pub later: Option<Async>,
}

/// A grid, copy or set, as blocks name it.
#[derive(Clone, Debug, Default)]
pub struct GridMeta {
    /// Serial number of the grid; 0 for the host, copies and sets.
    pub serial: u64,
    /// Kernel.
    pub kernel: u32,
    /// The grid that launched it; 0 for the host.
    pub parent: u32,
    /// Its chain, and its position in it from 1.
    pub chain: u32,
    pub position: u32,
    /// For a grid of a tail stream: the grid, launched otherwise, in whose tail it runs.
    pub root: u32,
    /// The chain of the tail streams below this grid, and its length.
    pub tails: (u32, u32),
    /// Which stream of which block it was launched into, to know siblings; 0 for none.
    pub stream: u64,
    /// The first stamp that it may have made, once it has begun.
    pub floor: u32,
    /// Where it was launched.
    pub launched_at: Option<SiteRef>,
    /// What its threads know when they begin.
    pub base: Known,
    /// What they learned from others since.
    pub learned: Known,
    /// It may begin before the grid that it follows in its stream is done.
    pub programmatic: bool,
    /// What its threads know once they have waited for that one.
    pub awaited: Known,
    /// What comes after it knows (set when its blocks and children are done).
    pub after: Known,
}

/// Order among what was launched, in the words of the work graph.
#[derive(Debug, Default)]
pub struct NodeWatch {
    /// What is known when its turn comes.
    pub before: Known,
    /// Its chain and position.
    pub chain: (u32, u32),
    /// What is known when it is done.
    pub done: Known,
    /// Its grid, or 0.
    pub grid: u32,
    /// What was known when its turn came, of a grid.
    pub began: Known,
    /// Predecessor that the check of siblings does not count.
    pub ignored: Option<NodeId>,
    /// Stream, to know siblings.
    pub stream: u64,
    /// Who queued it.
    pub site: Option<SiteRef>,
    /// Grid that queued it.
    pub parent: u32,
}

/// Who queues work, and what it knows.
#[derive(Clone, Debug)]
pub struct Actor {
    /// What it knows.
    pub view: Arc<View>,
    /// Where it is.
    pub site: Option<SiteRef>,
    /// Its grid.
    pub parent: u32,
    /// The stream's last work, if the check of siblings is on.
    pub ignored: Option<NodeId>,
    /// The stream.
    pub stream: u64,
}

/// The state of all checks of a device.
#[derive(Debug)]
pub struct Watch {
    /// What is looked for.
    pub checks: Checks,
    first_stamp: u32,
    stamps: Vec<Stamp>,
    blocks: Vec<BlockMeta>,
    /// The first is the host.
    pub grids: Vec<GridMeta>,
    shadow: Shadow,
    /// What was never written.
    pub fresh: Fresh,
    vars: FxHashMap<u64, SyncVar>,
    /// Places of memory through which releases came more than once.
    places: u32,
    /// Values from before writes.
    pub older: Older,
    /// Lanes that are held before accesses.
    pub holds: Holds,
    /// What was found.
    pub findings: Findings,
    chains: Vec<u32>,
    nodes: FxHashMap<NodeId, NodeWatch>,
    prune_at: usize,
    /// What the children of a block know when they are done, for `cudaDeviceSynchronize`.
    children: FxHashMap<u64, Known>,
    /// Device code may wait for children: some of it is for the older device runtime.
    pub waits_for_children: bool,
    host: View,
    /// What functions in streams know that host code has not met yet.
    told: Known,
    /// A function in a stream waits, not host code.
    pub function_waits: bool,
    /// Host code tells of what it does.
    pub host_tells: bool,
    host_state: Box<BlockState>,
    /// What the host queues is queued as of then.
    replay: Option<HostView>,
    /// Times that everything so far was forgotten.
    epoch: u32,
}

/// What the host knew when it began to replay a graph.
#[derive(Clone, Debug)]
pub struct HostView {
    view: Arc<View>,
    epoch: u32,
}

/// The block number of the host.
const HOST_BLOCK: u32 = 1;

impl Watch {
    /// Nothing seen yet.
    pub fn new(checks: Checks) -> Watch {
        let mut watch = Watch {
            checks,
            first_stamp: 1,
            stamps: Vec::new(),
            blocks: Vec::new(),
            grids: Vec::new(),
            shadow: Shadow::default(),
            fresh: Fresh::default(),
            vars: FxHashMap::default(),
            places: 0,
            older: Older::default(),
            holds: Holds::default(),
            findings: Findings::default(),
            chains: Vec::new(),
            nodes: FxHashMap::default(),
            prune_at: 1 << 16,
            children: FxHashMap::default(),
            waits_for_children: false,
            host: View::default(),
            told: None,
            function_waits: false,
            host_tells: false,
            host_state: Box::default(),
            replay: None,
            epoch: 0,
        };
        watch.begin();
        watch
    }

    fn begin(&mut self) {
        self.blocks = vec![BlockMeta { grid: 0, linear: 0, later: None }; 2];
        self.grids = vec![GridMeta::default()];
        self.chains = vec![0];
        self.host = View::default();
        self.told = None;
        self.host_state.start(HOST_BLOCK, 0, 1, self.first_stamp, None);
    }

    /// Everything so far comes before everything from now on: the host waited for the whole device.
    pub fn forget_history(&mut self) {
        self.epoch = self.epoch.wrapping_add(1);
        self.first_stamp += self.stamps.len() as u32;
        if self.first_stamp > u32::MAX / 2 {
            // Numbers get scarce: begin anew.
            self.shadow = Shadow::default();
            self.first_stamp = 1;
        }
        self.stamps.clear();
        self.shadow.forget_beginnings();
        self.vars.clear();
        self.older.clear();
        self.holds.clear();
        self.nodes.clear();
        self.children.clear();
        self.begin();
    }

    /// Memory has a new owner.
    pub fn forget_memory(&mut self, address: u64, size_bytes: u64) {
        self.shadow.forget(address, size_bytes);
        if !self.vars.is_empty() {
            self.vars.retain(|at, _| !(address..address + size_bytes).contains(at));
        }
    }

    /// A check is on that follows order.
    pub fn follows_order(&self) -> bool {
        self.checks.races || self.checks.siblings
    }

    /// The first stamp that is not yet made.
    pub fn now(&self) -> u32 {
        self.first_stamp + self.stamps.len() as u32
    }

    /// The stamp of a record.
    pub fn stamp(&self, stamp: u32) -> &Stamp {
        &self.stamps[(stamp - self.first_stamp) as usize]
    }

    /// Who and where, for reports; for copies and sets who queued them, if a thread did.
    pub fn site(&self, stamp: &Stamp, thread: u32) -> SiteRef {
        let meta = &self.blocks[stamp.block as usize];
        let grid = &self.grids[meta.grid as usize];
        if let (Origin::RUNTIME, Some(at)) = (stamp.origin.function, grid.launched_at) {
            return at;
        }
        SiteRef {
            grid: grid.serial,
            kernel: grid.kernel,
            block: meta.linear,
            thread,
            function: stamp.origin.function,
            instruction: stamp.origin.instruction,
        }
    }

    fn new_stamp(&mut self, block: u32, time: u32, origin: Origin) -> u32 {
        self.stamps.push(Stamp { block, time, origin });
        self.first_stamp + self.stamps.len() as u32 - 1
    }

    /// A block begins.
    pub fn start_block(
        &mut self,
        grid: u32,
        linear: u64,
        threads: u32,
        old: Option<Box<BlockState>>,
    ) -> Box<BlockState> {
        self.blocks.push(BlockMeta { grid, linear, later: None });
        let id = self.blocks.len() as u32 - 1;
        let mut state = old.unwrap_or_default();
        let floor = self.first_stamp + self.stamps.len() as u32;
        let meta = &mut self.grids[grid as usize];
        if meta.floor == 0 {
            meta.floor = floor;
        }
        state.start(id, grid, threads, floor, meta.base.clone());
        state.grid_floor = meta.floor;
        state
    }

    /// A block has ended: what it learned, its grid has learned.
    pub fn end_block(&mut self, state: &mut BlockState) {
        let learned = state.learned_by_all();
        if let Some(learned) = learned {
            view::learn(&mut self.grids[state.grid as usize].learned, &learned);
        }
    }

    /// True if everything of a block is known through complete work.
    fn covers(&self, view: &View, block: u32) -> bool {
        let mut at = self.blocks[block as usize].grid;
        let mut whole = 0;
        loop {
            let grid = &self.grids[at as usize];
            if grid.chain == 0 {
                return false;
            }
            if view.chain(grid.chain) >= 2 * grid.position - 1 + whole {
                return true;
            }
            // A child is done before its parent's body is, a tail before its root as a whole.
            (at, whole) = if grid.root != 0 { (grid.root, 1) } else { (grid.parent, 0) };
            if at == 0 {
                return false;
            }
        }
    }

    /// True if an access of a thread of another block, at a time, is known.
    fn knows(&self, view: &View, stamp: &Stamp, thread: u32) -> bool {
        view.block(stamp.block).is_some_and(|clocks| clocks.of(thread) >= stamp.time)
            || self.covers(view, stamp.block)
    }
}
