//! The door of order for grids, copies, events and the host: tells the checks what the work graph
//! does. Nothing here decides what runs.

use std::collections::HashSet;
use std::sync::PoisonError;

use super::{Action, Core};
use crate::api::StreamId;
use crate::check::{Actor, Origin, Watch};
use crate::error::Error;
use crate::exec::{Block, Warp};
use crate::memory::{SiteRef, Table};
use crate::work::{BlockKey, GridKey, NodeId};

/// A block's key as a number.
fn number(key: BlockKey) -> u64 {
    u64::from(key.index) << 32 | u64::from(key.generation)
}

impl Core {
    /// The checks that this run asked for.
    pub fn watch_mut(&mut self) -> Option<&mut Watch> {
        self.watch_and_memory().map(|(watch, _)| watch)
    }

    fn watch_and_memory(&mut self) -> Option<(&mut Watch, &Table)> {
        self.machine.watch.as_ref()?;
        let machine = self.machine_mut();
        let watch = machine.watch.as_mut()?.get_mut().unwrap_or_else(PoisonError::into_inner);
        Some((watch, &machine.memory))
    }

    /// A thread is about to queue work into stream `stream`, behind `last`.
    pub fn acts(
        &mut self,
        block: &mut Block,
        warp: &Warp,
        lane: usize,
        site: SiteRef,
        stream: u64,
        last: Option<NodeId>,
    ) {
        let Some(state) = block.state.as_deref_mut() else { return };
        let thread = warp.index * 32 + lane as u32;
        let Some(watch) = self.watch_mut() else { return };
        let mut actor: Actor = watch.actor(state, thread, site);
        // Streams are numbered by their block (or by their own handle), so that siblings are known.
        actor.stream = stream;
        actor.ignored = last.filter(|_| watch.checks.siblings);
        self.actor = Some(actor);
    }

    /// Who queues what follows a node that is about to end: someone who knows what it waited for.
    pub(super) fn acts_after(&mut self, id: NodeId) {
        self.actor = self.watch_mut().and_then(|watch| watch.actor_after(id));
    }

    /// A node was added behind `waits`.
    pub(super) fn edge_added(
        &mut self,
        id: NodeId,
        waits: &[NodeId],
        owner: Option<GridKey>,
        tail: bool,
    ) {
        let actor = self.actor.take();
        if self.machine.watch.is_none() {
            return;
        }
        let grid = match self.nodes[id.index as usize].action {
            Some(Action::Grid(key)) => self.grid(key).map(|grid| grid.info.watched),
            _ => None,
        };
        let tail_of = owner.filter(|_| tail).and_then(|key| self.grid(key)).map(|g| g.info.watched);
        if let Some(watch) = self.watch_mut() {
            watch.add_node(id, waits, actor, tail_of, grid);
        }
    }

    /// A grid, not yet queued, may begin before the one that it follows is done.
    pub fn edge_begins_early(&mut self, key: GridKey) {
        let number = self.grid(key).map(|grid| grid.info.watched);
        if let (Some(watch), Some(number)) = (self.watch_mut(), number) {
            watch.may_begin_early(number);
        }
    }

    /// A grid may start.
    pub(super) fn edge_started(&mut self, id: NodeId, key: GridKey) {
        let number = self.grid(key).map(|grid| grid.info.watched);
        if let (Some(watch), Some(number)) = (self.watch_mut(), number) {
            watch.start_grid(id, number);
        }
    }

    /// A grid and everything that it launched is done.
    pub(super) fn edge_grid_done(&mut self, id: NodeId, watched: u32) {
        if let Some(watch) = self.watch_mut() {
            watch.end_grid(id, watched);
        }
    }

    /// A node is done: those behind it, and the block that launched it, may know.
    pub(super) fn edge_done(&mut self, id: NodeId, dependents: &[NodeId], block: Option<BlockKey>) {
        let Some(watch) = self.watch_mut() else { return };
        let done = watch.done_view(id).or_else(|| watch.end_other(id));
        for dependent in dependents {
            watch.follow(*dependent, id, &done);
        }
        if let Some(block) = block {
            watch.child_done(number(block), &done);
        }
    }

    /// A block has ended.
    pub(super) fn edge_block_done(&mut self, key: BlockKey, block: &mut Block) {
        let Some(state) = block.state.as_deref_mut() else { return };
        if let Some(watch) = self.watch_mut() {
            watch.end_block(state);
            watch.drop_children(number(key));
        }
    }

    /// A thread has waited for what its block launched.
    pub fn edge_children_done(&mut self, key: BlockKey, block: &mut Block, thread: u32) {
        let Some(state) = block.state.as_deref_mut() else { return };
        if let Some(watch) = self.watch_mut() {
            watch.waited_for_children(number(key), state, thread);
        }
    }

    /// The host has waited for these.
    pub fn edge_host_waited(&mut self, nodes: &[NodeId]) {
        if let Some(watch) = self.watch_mut() {
            watch.host_waited(nodes);
        }
    }

    /// The host has waited for everything.
    pub fn edge_host_waited_for_all(&mut self) {
        let idle = self.is_idle();
        if let Some(watch) = self.watch_mut()
            && idle
            && !watch.is_replaying()
        {
            watch.forget_history();
        }
    }

    /// Hears what host code did until now, before it does something that could order.
    pub fn hear_host(&mut self) {
        let Some(log) = self.machine.host.clone() else { return };
        if let Some((watch, memory)) = self.watch_and_memory() {
            watch.hear(&log, memory);
        }
    }

    /// Says whether a function in a stream waits from now on.
    pub fn function_waits(&mut self, waits: bool) {
        if let Some(watch) = self.watch_mut() {
            watch.function_waits = waits;
        }
    }

    /// A function in a stream has done what the log tells of.
    pub fn function_did(&mut self, stream: StreamId) -> Result<(), Error> {
        let Some(log) = self.machine.host.clone() else { return Ok(()) };
        let accesses = log.take_of_functions();
        if accesses.is_empty() || self.has_failed() {
            return Ok(());
        }
        let Some((watch, memory)) = self.watch_and_memory() else { return Ok(()) };
        watch.contents_of_host(&accesses, memory);
        if !watch.follows_order() {
            return Ok(());
        }
        let node = self.enqueue_host(stream, Action::HostCode(accesses.into()))?;
        self.run_until_done(&[node]);
        Ok(())
    }

    /// The host touches device memory behind what is in a stream, which is done.
    pub fn host_touches(
        &mut self,
        stream: StreamId,
        address: u64,
        width: u64,
        writes: bool,
    ) -> Result<(), Error> {
        if self.machine.watch.is_none() {
            return Ok(());
        }
        if self.watch_mut().is_some_and(|watch| watch.is_replaying()) {
            // What knows of a graph's copy are the nodes behind it, not the host.
            let node = self.enqueue_host(stream, Action::HostCopy { address, width, writes })?;
            self.run_until_done(&[node]);
            return Ok(());
        }
        let after = self.stream_turn(stream)?;
        self.host_touches_after(&after, address, width, writes);
        Ok(())
    }

    /// Memory is there for what comes behind the work of a stream.
    pub fn allocated_in_stream(
        &mut self,
        stream: StreamId,
        address: u64,
        width: u64,
    ) -> Result<(), Error> {
        if self.watch_mut().is_some_and(|watch| watch.follows_order()) {
            self.enqueue_host(stream, Action::Allocation { address, width })?;
        }
        Ok(())
    }

    /// Memory is released behind what is in a stream.
    pub fn released_in_stream(
        &mut self,
        stream: StreamId,
        address: u64,
        width: u64,
    ) -> Result<(), Error> {
        if self.watch_mut().is_some_and(|watch| watch.follows_order()) {
            let node = self.enqueue_host(stream, Action::Release { address, width })?;
            self.run_until_done(&[node]);
        }
        Ok(())
    }

    /// Memory that stays is of no use behind what is in a stream, until it is allocated again.
    pub fn unused_in_stream(
        &mut self,
        stream: StreamId,
        address: u64,
        width: u64,
    ) -> Result<(), Error> {
        if self.watch_mut().is_some_and(|watch| watch.follows_order()) {
            self.enqueue_host(stream, Action::Release { address, width })?;
        }
        Ok(())
    }

    /// A thread is about to release memory.
    pub fn thread_releases(&mut self, block: &mut Block, site: SiteRef, address: u64) {
        if self.machine.watch.is_none() {
            return;
        }
        let record = self.machine.memory.record_at(address);
        let size = record.filter(|r| r.live && r.base == address).map_or(0, |r| r.size_bytes);
        let Some(state) = block.state.as_deref_mut() else { return };
        let Some(watch) = self.watch_mut().filter(|watch| watch.follows_order()) else { return };
        let origin = Origin { function: site.function, instruction: site.instruction };
        watch.release(state, origin, site.thread, address, size);
    }

    fn host_touches_after(&mut self, after: &[NodeId], address: u64, width: u64, writes: bool) {
        let Some(watch) = self.watch_mut() else { return };
        if watch.checks.uninitialized && writes {
            watch.fresh.write(address, width);
        }
        if watch.follows_order() {
            watch.host_access(after, address, width, writes);
        }
    }

    /// Memory gets a new owner; `fresh`: who allocated it is the one to write it.
    pub fn memory_begins(&mut self, address: u64, size_bytes: u64, fresh: bool) {
        if let Some(watch) = self.watch_mut()
            && address != 0
        {
            watch.forget_memory(address, size_bytes);
            match (watch.checks.uninitialized, fresh) {
                (true, true) => watch.fresh.begin(address, size_bytes),
                (true, false) => watch.fresh.write(address, size_bytes),
                (false, _) => {}
            }
        }
    }

    /// A copy or set passes the door of memory: rows that it reads, then rows that it writes.
    pub(super) fn rows_pass(&mut self, id: NodeId, action: &Action) {
        let Some(watch) = self.watch_mut() else { return };
        if watch.checks.uninitialized {
            move_fresh(watch, action);
        }
        if !watch.follows_order() {
            return;
        }
        let mut state = watch.start_other(id);
        match *action {
            Action::HostCode(ref accesses) => watch.function_does(&mut state, accesses),
            Action::Copy { dst, dst_pitch, src, src_pitch, width, rows } => {
                for row in 0..rows {
                    watch.touch_range(
                        &mut state,
                        Origin::COPY,
                        src + row * src_pitch,
                        width,
                        false,
                    );
                }
                for row in 0..rows {
                    let to = dst + row * dst_pitch;
                    match dst == src {
                        // Nothing changes.
                        true => watch.touch_range(&mut state, Origin::COPY, to, width, true),
                        false => watch.copy_writes(&mut state, to, width),
                    }
                }
            }
            Action::Set { dst, pitch, width, rows, .. } => {
                for row in 0..rows {
                    watch.touch_range(&mut state, Origin::SET, dst + row * pitch, width, true);
                }
            }
            Action::HostCopy { address, width, writes } => {
                watch.touch_range(&mut state, Origin::GRAPH, address, width, writes);
            }
            Action::Allocation { address, width } => watch.allocated(&mut state, address, width),
            Action::Release { address, width } => watch.ended(&mut state, address, width),
            Action::Grid(_) | Action::Event(_) | Action::GraphEnd(_) => {}
        }
    }

    /// Forgets done nodes that nobody names any more, when there are many.
    pub(super) fn thin_edges(&mut self) {
        if !self.watch_mut().is_some_and(|watch| watch.is_crowded()) {
            return;
        }
        let mut named: HashSet<NodeId> = HashSet::new();
        let host = self.streams.iter().flatten().map(|entry| &entry.stream);
        let blocks =
            self.blocks.iter().filter_map(|entry| entry.block.as_ref()).map(|b| &b.runtime);
        let grids = || self.grids.iter().flatten();
        let of_blocks =
            blocks.flat_map(|r| std::iter::once(&r.null_stream).chain(r.thread_streams.values()));
        let of_grids = grids().flat_map(|grid| grid.streams.values());
        for stream in host.chain(of_blocks).chain(of_grids) {
            named.extend(stream.last);
            named.extend(&stream.waits);
        }
        named.extend(grids().flat_map(|grid| grid.events.values().flatten()));
        named.extend(self.events.iter().flatten().filter_map(|event| event.node));
        if let Some(watch) = self.watch_mut() {
            watch.keep_nodes(&named);
        }
    }
}

/// Copies take along whether bytes were ever written; sets write them.
fn move_fresh(watch: &mut Watch, action: &Action) {
    match *action {
        Action::Copy { dst, dst_pitch, src, src_pitch, width, rows } => {
            for row in 0..rows {
                watch.fresh.copy(dst + row * dst_pitch, src + row * src_pitch, width);
            }
        }
        Action::Set { dst, pitch, width, rows, .. } => {
            for row in 0..rows {
                watch.fresh.write(dst + row * pitch, width);
            }
        }
        Action::HostCopy { address, width, writes: true } => watch.fresh.write(address, width),
        Action::Grid(_)
        | Action::Event(_)
        | Action::GraphEnd(_)
        | Action::HostCopy { .. }
        | Action::HostCode(_)
        | Action::Allocation { .. }
        | Action::Release { .. } => {}
    }
}
