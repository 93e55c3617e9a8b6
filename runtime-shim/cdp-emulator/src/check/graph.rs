//! Order among grids, copies, sets, events and the host: the edges of the work graph.
//!
//! A node of the graph knows, when its turn comes, what the one who queued it knew and what its
//! predecessors know; when it is done, those after it know all of that and that it is complete. Work
//! that follows other work in a stream continues the other's chain, so that a stream of a thousand
//! grids is one number in a view.

use std::sync::Arc;

use super::access::{Access, Manner};
use super::block::BlockState;
use super::view::{Known, View, learn};
use super::{Actor, BlockMeta, GridMeta, HOST_BLOCK, HostView, NodeWatch, Origin, Watch};
use crate::code::Order;
use crate::memory::SiteRef;
use crate::work::NodeId;

/// As what a copy counts, if it stands for a block: one that reads and one that writes.
const COPY_THREADS: u32 = 2;

impl Watch {
    /// A grid was made. Its number.
    pub fn add_grid(&mut self, serial: u64, kernel: u32, parent: u32, at: Option<SiteRef>) -> u32 {
        let meta = GridMeta { serial, kernel, parent, launched_at: at, ..GridMeta::default() };
        self.grids.push(meta);
        self.grids.len() as u32 - 1
    }

    /// A grid, not yet queued, may begin before the one that it follows is done.
    pub fn may_begin_early(&mut self, grid: u32) {
        self.grids[grid as usize].programmatic = true;
    }

    /// What the host knows now.
    pub fn host_view(&mut self) -> HostView {
        HostView { view: self.host_actor().view, epoch: self.epoch }
    }

    /// Who replays a graph queues its nodes as of the time when it began, and knows no more by what it waits for
    /// meanwhile: a program that launches a graph does not wait.
    pub fn set_replay(&mut self, replay: Option<HostView>) {
        self.replay = replay;
    }

    /// A graph is being replayed.
    pub fn is_replaying(&self) -> bool {
        self.replay.is_some()
    }

    /// What the host knows when it queues work.
    fn host_actor(&mut self) -> Actor {
        if let Some(replay) = self.replay.as_ref().filter(|replay| replay.epoch == self.epoch) {
            let view = replay.view.clone();
            return Actor { view, site: None, parent: 0, ignored: None, stream: 0 };
        }
        let now = self.host_state.release();
        let mut view = self.host.clone();
        let clocks = super::view::Clocks { all: now, parts: Vec::new() };
        view.raise_block(HOST_BLOCK, &clocks);
        Actor { view: Arc::new(view), site: None, parent: 0, ignored: None, stream: 0 }
    }

    /// What a thread knows when it queues work.
    pub fn actor(&mut self, state: &mut BlockState, thread: u32, site: SiteRef) -> Actor {
        let mut view = state.view_of(thread);
        view.prune(|view, block| block != state.id && self.covers(view, block));
        Actor {
            view: Arc::new(view),
            site: Some(site),
            parent: state.grid,
            ignored: None,
            stream: 0,
        }
    }

    /// Someone who knows what a node knows whose turn has come.
    pub fn actor_after(&self, id: NodeId) -> Option<Actor> {
        let view = self.nodes.get(&id)?.before.clone()?;
        Some(Actor { view, site: None, parent: 0, ignored: None, stream: 0 })
    }

    /// Work was queued behind `waits`. Who queued it: `actor`; else the tail of grid `tail_of`; else
    /// the host.
    pub fn add_node(
        &mut self,
        id: NodeId,
        waits: &[NodeId],
        actor: Option<Actor>,
        tail_of: Option<u32>,
        grid: Option<u32>,
    ) {
        let actor = match (actor, tail_of) {
            (Some(actor), _) => actor,
            (None, Some(grid)) => self.tail_actor(grid),
            (None, None) => self.host_actor(),
        };
        let mut before = Some(actor.view);
        let mut awaited: Known = None;
        let programmatic = grid.is_some_and(|grid| self.grids[grid as usize].programmatic);
        let mut chain = None;
        for wait in waits {
            let Some(node) = self.nodes.get(wait) else { continue };
            if chain.is_none() && self.chains[node.chain.0 as usize] == node.chain.1 {
                chain = Some(node.chain.0);
            }
            if actor.ignored == Some(*wait) {
                continue;
            }
            // A grid that may begin early knows at first what the other one knew when it began.
            let early = programmatic && node.grid != 0;
            if let Some(done) = &node.done {
                learn(if early { &mut awaited } else { &mut before }, done);
            }
            if early && let Some(began) = &node.began {
                learn(&mut before, began);
            }
        }
        let chain = match tail_of {
            Some(grid) => self.tail_chain(grid),
            None => chain.unwrap_or_else(|| self.new_chain()),
        };
        self.chains[chain as usize] += 1;
        let chain = (chain, self.chains[chain as usize]);
        if let Some(grid) = grid {
            let root = tail_of.map_or(0, |owner| self.root_of(owner));
            let meta = &mut self.grids[grid as usize];
            (meta.chain, meta.position, meta.root) = (chain.0, chain.1, root);
            meta.stream = actor.stream;
            meta.awaited = awaited;
        }
        let node = NodeWatch {
            before,
            chain,
            done: None,
            grid: grid.unwrap_or(0),
            began: None,
            ignored: actor.ignored,
            stream: actor.stream,
            site: actor.site,
            parent: actor.parent,
        };
        self.nodes.insert(id, node);
    }

    fn new_chain(&mut self) -> u32 {
        self.chains.push(0);
        self.chains.len() as u32 - 1
    }

    /// The grid in whose tail stream everything below runs.
    fn root_of(&self, grid: u32) -> u32 {
        match self.grids[grid as usize].root {
            0 => grid,
            root => root,
        }
    }

    fn tail_chain(&mut self, grid: u32) -> u32 {
        let root = self.root_of(grid);
        if self.grids[root as usize].tails.0 == 0 {
            let chain = self.new_chain();
            self.grids[root as usize].tails.0 = chain;
        }
        self.grids[root as usize].tails.0
    }

    /// What a grid's tail knows: everything of the grid is done.
    fn tail_actor(&mut self, grid: u32) -> Actor {
        let view = self.body_done(grid);
        let site = None;
        Actor { view, site, parent: grid, ignored: None, stream: 0 }
    }

    /// What is known once the blocks and children of a grid are done.
    fn body_done(&mut self, grid: u32) -> Arc<View> {
        let meta = &self.grids[grid as usize];
        let mut view = match &meta.after {
            Some(after) => (**after).clone(),
            None => meta.base.as_deref().cloned().unwrap_or_default(),
        };
        if let Some(learned) = &meta.learned {
            view.join(learned);
        }
        view.raise_chain(meta.chain, 2 * meta.position - 1);
        view.prune(|view, block| self.covers(view, block));
        let view = Arc::new(view);
        self.grids[grid as usize].after = Some(view.clone());
        view
    }

    /// A grid's turn has come.
    pub fn start_grid(&mut self, id: NodeId, grid: u32) {
        let Some(node) = self.nodes.get_mut(&id) else { return };
        let Some(mut view) = node.before.take() else { return };
        Arc::make_mut(&mut view).prune(|view, block| self.covers(view, block));
        if let Some(node) = self.nodes.get_mut(&id) {
            node.began = Some(view.clone());
        }
        self.grids[grid as usize].base = Some(view);
    }

    /// A grid and everything below it is done.
    pub fn end_grid(&mut self, id: NodeId, grid: u32) -> Arc<View> {
        let meta = &mut self.grids[grid as usize];
        let mut view = match meta.after.take() {
            Some(after) => (*after).clone(),
            None => meta.base.as_deref().cloned().unwrap_or_default(),
        };
        meta.base = None;
        // What follows in the stream follows both.
        if let Some(awaited) = meta.awaited.take() {
            view.join(&awaited);
        }
        if let Some(learned) = meta.learned.take() {
            view.join(&learned);
            let parent = meta.parent;
            if parent != 0 {
                learn(&mut self.grids[parent as usize].learned, &learned);
            }
        }
        let meta = &self.grids[grid as usize];
        view.raise_chain(meta.chain, 2 * meta.position);
        let (root, parent) = (meta.root, meta.parent);
        let view = Arc::new(view);
        // What runs after it in the same tail stream knows it.
        if root != 0 && parent != 0 {
            learn(&mut self.grids[parent as usize].after, &view);
        }
        if let Some(node) = self.nodes.get_mut(&id) {
            node.done = Some(view.clone());
        }
        view
    }

    /// A copy, set or record is done.
    pub fn end_other(&mut self, id: NodeId) -> Known {
        let node = self.nodes.get_mut(&id)?;
        let mut view = node.before.take().as_deref().cloned().unwrap_or_default();
        view.raise_chain(node.chain.0, 2 * node.chain.1);
        let view = Arc::new(view);
        node.done = Some(view.clone());
        Some(view)
    }

    /// A node that waited for another one learns that it is done.
    pub fn follow(&mut self, dependent: NodeId, done_id: NodeId, done: &Known) {
        let before = self.nodes.get(&done_id).map(|node| (node.grid != 0, node.began.clone()));
        let (Some(node), Some(done)) = (self.nodes.get_mut(&dependent), done) else { return };
        if node.ignored == Some(done_id) {
            return;
        }
        match before {
            Some((true, began)) if self.grids[node.grid as usize].programmatic => {
                learn(&mut self.grids[node.grid as usize].awaited, done);
                if let Some(began) = began {
                    learn(&mut node.before, &began);
                }
            }
            _ => learn(&mut node.before, done),
        }
    }

    /// What a done node lets others know.
    pub fn done_view(&self, id: NodeId) -> Known {
        self.nodes.get(&id).and_then(|node| node.done.clone())
    }

    /// The host waited for these.
    pub fn host_waited(&mut self, nodes: &[NodeId]) {
        if self.is_replaying() {
            return;
        }
        for id in nodes {
            if let Some(done) = self.nodes.get(id).and_then(|node| node.done.clone()) {
                match self.function_waits && self.host_tells {
                    true => learn(&mut self.told, &done),
                    false => self.host.join(&done),
                }
            }
        }
    }

    /// Done nodes that nobody can name any more are forgotten, when there are many. True if it is
    /// time for that.
    pub fn is_crowded(&self) -> bool {
        self.nodes.len() > self.prune_at
    }

    /// Keeps what is pending, and of what is done only `named`.
    pub fn keep_nodes(&mut self, named: &std::collections::HashSet<NodeId>) {
        self.nodes.retain(|id, node| node.done.is_none() || named.contains(id));
        self.prune_at = (2 * self.nodes.len()).max(1 << 16);
    }

    // `cudaDeviceSynchronize` in device code.

    /// Work that a block launched is done.
    pub fn child_done(&mut self, block: u64, done: &Known) {
        if let Some(done) = done
            && self.waits_for_children
        {
            learn(self.children.entry(block).or_default(), done);
        }
    }

    /// A thread waited for everything that its block launched.
    pub fn waited_for_children(&mut self, block: u64, state: &mut BlockState, thread: u32) {
        if let Some(Some(done)) = self.children.get(&block).cloned() {
            state.learn(thread, &done);
        }
    }

    /// Threads waited for the grids that theirs depends on.
    pub fn waited_for_dependencies(
        &self,
        state: &mut BlockState,
        threads: impl Iterator<Item = u32>,
    ) {
        if let Some(awaited) = &self.grids[state.grid as usize].awaited {
            threads.for_each(|thread| state.learn(thread, awaited));
        }
    }

    /// A block is gone.
    pub fn drop_children(&mut self, block: u64) {
        self.children.remove(&block);
    }

    // Copies and sets.

    /// A copy or set begins: the block that stands for it.
    pub fn start_other(&mut self, id: NodeId) -> Box<BlockState> {
        let (chain, site, parent, stream, before) = match self.nodes.get(&id) {
            Some(node) => (node.chain, node.site, node.parent, node.stream, node.before.clone()),
            None => ((0, 0), None, 0, 0, None),
        };
        let grid = self.add_grid(0, u32::MAX, parent, site);
        let meta = &mut self.grids[grid as usize];
        (meta.chain, meta.position, meta.stream) = (chain.0, chain.1, stream);
        meta.base = before;
        let base = meta.base.clone();
        self.blocks.push(BlockMeta { grid, linear: 0, later: None });
        let mut state = Box::<BlockState>::default();
        state.start(self.blocks.len() as u32 - 1, grid, COPY_THREADS, 0, base);
        state
    }

    /// A copy writes a range, in no order with what it reads: the two may not overlap.
    pub fn copy_writes(&mut self, state: &mut BlockState, address: u64, width: u64) {
        self.range(state, Origin::COPY, (address, width), COPY_THREADS - 1, true);
    }

    /// A copy or set touches a range.
    pub fn touch_range(
        &mut self,
        state: &mut BlockState,
        origin: Origin,
        address: u64,
        width: u64,
        writes: bool,
    ) {
        self.range(state, origin, (address, width), 0, writes);
    }

    fn range(
        &mut self,
        state: &mut BlockState,
        origin: Origin,
        (address, width): (u64, u64),
        thread: u32,
        writes: bool,
    ) {
        let mut at = address;
        let end = address + width;
        while at < end {
            // Whole words where there are some, else what belongs to one.
            let words = if at & 3 == 0 { (end - at) / 4 } else { 0 };
            let bytes = if words > 0 { 4 } else { (4 - (at & 3)).min(end - at) };
            let access = Access {
                origin,
                first_thread: thread,
                at: &[at; 32],
                // One thread did it all.
                lanes: 1,
                bytes,
                shared: false,
                base: 0,
                reads: !writes,
                writes,
                kind: Manner::Own,
                was: None,
                order: Order::WEAK,
                tells: true,
                value: None,
            };
            match words {
                0 => self.access(state, &access),
                words => self.words_of_one(state, &access, words as usize),
            }
            at += bytes * words.max(1);
        }
    }

    /// The host touches device memory, after what is in a stream.
    pub fn host_access(&mut self, after: &[NodeId], address: u64, width: u64, writes: bool) {
        self.host_waited(after);
        let mut state = std::mem::take(&mut self.host_state);
        state.base = Some(Arc::new(self.host.clone()));
        state.ordered = Default::default();
        self.touch_range(&mut state, Origin::HOST, address, width, writes);
        self.host_state = state;
    }
}
