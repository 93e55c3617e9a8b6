//! The graph of queued work: adding nodes, completing them, running those that are not grids.

use super::{Action, Core, Node, TraceEvent};
use crate::work::{BlockKey, GridKey, NodeId};

impl Core {
    /// True if the node is not done. Nodes that were forgotten are done.
    pub fn is_pending(&self, node: NodeId) -> bool {
        self.nodes
            .get(node.index as usize)
            .is_some_and(|n| n.generation == node.generation && n.pending)
    }

    /// Nothing is queued or runs.
    pub fn is_idle(&self) -> bool {
        self.pending_nodes == 0
    }

    /// Adds a node that waits for others.
    pub fn add_node(
        &mut self,
        waits: &[NodeId],
        action: Action,
        owner: Option<GridKey>,
        owner_block: Option<BlockKey>,
        tail: bool,
    ) -> NodeId {
        let index = match self.free_nodes.pop() {
            Some(index) => index,
            None => {
                self.nodes.push(Node {
                    generation: 0,
                    pending: false,
                    waits_for: 0,
                    dependents: Vec::new(),
                    action: None,
                    owner: None,
                    owner_block: None,
                    tail: false,
                });
                self.nodes.len() as u32 - 1
            }
        };
        let id = NodeId { index, generation: self.nodes[index as usize].generation };
        let mut waits_for = 0;
        for wait in waits {
            if self.is_pending(*wait) {
                self.nodes[wait.index as usize].dependents.push(id);
                waits_for += 1;
            }
        }
        if let Action::Grid(key) = action
            && let Some(grid) = self.grid_mut(key)
        {
            grid.node = Some(id);
        }
        let node = &mut self.nodes[index as usize];
        node.pending = true;
        node.waits_for = waits_for;
        node.action = Some(action);
        node.owner = owner;
        node.owner_block = owner_block;
        node.tail = tail;
        self.pending_nodes += 1;
        self.edge_added(id, waits, owner, tail);
        if !tail && let Some(key) = owner {
            if let Some(grid) = self.grid_mut(key) {
                grid.outstanding += 1;
            }
            if let Some(block) = owner_block {
                self.add_outstanding(block);
            }
        }
        if waits_for == 0 {
            self.ready_nodes.push_back(id);
        }
        id
    }

    /// Performs ready copies and records, and queues ready grids, until there are none.
    pub(super) fn drain_ready(&mut self) {
        while let Some(id) = self.ready_nodes.pop_front() {
            let Some(action) = self.nodes[id.index as usize].action.take() else { continue };
            match action {
                Action::Grid(key) => {
                    self.nodes[id.index as usize].action = Some(Action::Grid(key));
                    self.edge_started(id, key);
                    self.start_grid(key);
                }
                Action::Copy { dst, dst_pitch, src, src_pitch, width, rows } => {
                    self.rows_pass(id, &action);
                    self.trace_rows(id, "copy", width * rows);
                    self.copy_rows(dst, dst_pitch, src, src_pitch, width, rows);
                    self.pass_copy(width.saturating_mul(rows));
                    self.complete_node(id);
                }
                Action::Set { dst, pitch, pattern, pattern_bytes, width, rows } => {
                    self.rows_pass(id, &action);
                    self.trace_rows(id, "set", width * rows);
                    self.set_rows(dst, pitch, &pattern[..usize::from(pattern_bytes)], width, rows);
                    self.pass_copy(width.saturating_mul(rows));
                    self.complete_node(id);
                }
                Action::HostCopy { .. }
                | Action::HostCode(_)
                | Action::Allocation { .. }
                | Action::Release { .. } => {
                    self.rows_pass(id, &action);
                    self.complete_node(id);
                }
                Action::Event(event) => {
                    let clock = self.clock;
                    if let Some(Some(entry)) = self.events.get_mut(event.0 as usize)
                        && entry.node == Some(id)
                    {
                        entry.clock = Some(clock);
                    }
                    self.complete_node(id);
                }
                Action::GraphEnd(run) => self.end_run(id, run),
            }
        }
    }

    /// Makes a pending node wait for one more.
    pub(super) fn wait_also(&mut self, id: NodeId, before: NodeId) {
        if self.is_pending(before) {
            self.nodes[before.index as usize].dependents.push(id);
            self.nodes[id.index as usize].waits_for += 1;
        }
    }

    /// Marks a node done: its dependents may become ready, its owner may become complete.
    pub(super) fn complete_node(&mut self, id: NodeId) {
        let node = &mut self.nodes[id.index as usize];
        if node.generation != id.generation || !node.pending {
            return;
        }
        node.pending = false;
        node.generation = node.generation.wrapping_add(1);
        node.action = None;
        let dependents = std::mem::take(&mut node.dependents);
        let (owner, owner_block, tail) = (node.owner.take(), node.owner_block.take(), node.tail);
        self.free_nodes.push(id.index);
        self.pending_nodes -= 1;
        self.edge_done(id, &dependents, owner_block);
        for dependent in dependents {
            let entry = &mut self.nodes[dependent.index as usize];
            if entry.generation == dependent.generation {
                entry.waits_for -= 1;
                if entry.waits_for == 0 {
                    self.ready_nodes.push_back(dependent);
                }
            }
        }
        if let Some(block) = owner_block {
            self.drop_outstanding(block);
        }
        if let Some(key) = owner {
            if let Some(grid) = self.grid_mut(key) {
                if tail {
                    grid.tail_running = false;
                } else {
                    grid.outstanding -= 1;
                }
            }
            self.finish_later(key);
        }
    }

    /// Notes a copy or set of device memory, if there is a trace.
    fn trace_rows(&mut self, id: NodeId, what: &'static str, bytes: u64) {
        if bytes == 0 || !self.config.trace {
            return;
        }
        let owner = self.nodes[id.index as usize].owner.and_then(|key| self.grid(key));
        // A core that works for another one has no clock of the host's.
        let (stream, clock) = match owner {
            Some(grid) => ("device memory, by kernels", grid.info.start_clock),
            None => ("device memory", self.clock),
        };
        let stream = stream.to_string();
        self.events_traced.push(TraceEvent { what, stream, bytes, clock });
    }

    /// Copies rows that were checked when the copy was queued; rows whose memory is gone by now are
    /// left out.
    fn copy_rows(
        &mut self,
        dst: u64,
        dst_pitch: u64,
        src: u64,
        src_pitch: u64,
        width: u64,
        rows: u64,
    ) {
        for row in 0..rows {
            let (to, from) = (dst + row * dst_pitch, src + row * src_pitch);
            let memory = &self.machine.memory;
            if width > 0 && memory.contains(to, width) && memory.contains(from, width) {
                // SAFETY: both ranges lie in live allocations; they may overlap.
                unsafe { (to as *mut u8).copy_from(from as *const u8, width as usize) };
            }
        }
    }

    fn set_rows(&mut self, dst: u64, pitch: u64, pattern: &[u8], width: u64, rows: u64) {
        for row in 0..rows {
            let to = dst + row * pitch;
            if width == 0 || !self.machine.memory.contains(to, width) {
                continue;
            }
            if let [byte] = pattern {
                // SAFETY: the range lies in a live allocation.
                unsafe { (to as *mut u8).write_bytes(*byte, width as usize) };
                continue;
            }
            for at in 0..width {
                let byte = pattern[(at % pattern.len() as u64) as usize];
                // SAFETY: as above.
                unsafe { ((to + at) as *mut u8).write(byte) };
            }
        }
    }
}
