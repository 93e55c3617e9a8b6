//! Replays of graphs: each node is a call of this library, in a stream that it shares only with nodes before it; events
//! keep the graph's edges. Branches overlap where the device can, and nothing but edges orders them. What the nodes
//! do is in [`super::op`].

use std::collections::{BTreeSet, HashMap};
use std::sync::PoisonError;

use super::{Executable, Graph, NodeId};
use crate::device::{Device, DeviceKind, EventHandle, StreamHandle};
use crate::error::Result;
use crate::process;

/// `cudaEventDisableTiming`
const NO_TIMING: u32 = 2;
/// `cudaStreamNonBlocking`
const NON_BLOCKING: u32 = 1;
/// Streams that an executable has on a GPU, whose drivers have few queues: more branches share them.
const GPU_STREAMS: usize = 16;

/// The streams and events of an executable's launches, of which one goes on at a time.
#[derive(Default)]
pub struct Lanes {
    streams: Vec<StreamHandle>,
    events: Vec<EventHandle>,
    /// How many of each the present launch uses.
    used: (usize, usize),
    /// The end of the last launch.
    end: Option<EventHandle>,
}

impl Lanes {
    fn stream(&mut self, device: &dyn Device) -> Result<StreamHandle> {
        let place = match device.kind() {
            DeviceKind::Cpu => self.used.0,
            DeviceKind::Gpu => self.used.0 % GPU_STREAMS,
        };
        self.used.0 += 1;
        if place == self.streams.len() {
            self.streams.push(device.create_stream(NON_BLOCKING, 0)?);
        }
        Ok(self.streams[place])
    }

    /// An event at the present end of a stream.
    fn mark(&mut self, stream: StreamHandle, device: &dyn Device) -> Result<EventHandle> {
        if self.used.1 == self.events.len() {
            self.events.push(device.create_event(NO_TIMING)?);
        }
        let event = self.events[self.used.1];
        self.used.1 += 1;
        device.record_event(event, stream, 0)?;
        Ok(event)
    }

    /// What is in use, for [`Lanes::give_back`].
    pub fn used(&self) -> (usize, usize) {
        self.used
    }

    /// What was taken since may be used again behind what used it.
    pub fn give_back(&mut self, used: (usize, usize)) {
        self.used = used;
    }

    /// Gives the streams and events back to the device; what is queued in them still runs.
    pub fn destroy(&mut self, device: &dyn Device) {
        // A device that was reset meanwhile has none of them.
        for stream in self.streams.drain(..) {
            let _ = device.destroy_stream(stream);
        }
        for event in self.events.drain(..).chain(self.end.take()) {
            let _ = device.destroy_event(event);
        }
    }
}

/// Tells the device of a replay for as long as it lives.
struct Replaying<'a>(&'a dyn Device);

impl<'a> Replaying<'a> {
    fn on(device: &'a dyn Device) -> Replaying<'a> {
        device.replays(true);
        Replaying(device)
    }
}

impl Drop for Replaying<'_> {
    fn drop(&mut self) {
        self.0.replays(false);
    }
}

impl Executable {
    /// Does everything behind what is now in a stream, as what the device has the executable as.
    ///
    /// # Errors
    /// Those of the device.
    pub fn launch_whole(&self, whole: u64, stream: StreamHandle) -> Result<()> {
        let device = &process::current()?.device;
        let lanes = self.lanes.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(end) = lanes.end {
            // It was replayed before there were graphs that its kernels could launch.
            device.stream_wait_event(stream, end, 0)?;
        }
        device.launch_graph(whole, stream)
    }

    /// Does everything behind what is now in a stream and behind its last launch; what comes into the stream next
    /// waits for all of it.
    ///
    /// # Errors
    /// Those of its nodes.
    pub fn launch(&self, stream: StreamHandle) -> Result<()> {
        let state = process::current()?;
        let device = &*state.device;
        let mut lanes = self.lanes.lock().unwrap_or_else(PoisonError::into_inner);
        let end = match lanes.end {
            Some(end) => {
                device.stream_wait_event(stream, end, 0)?;
                end
            }
            None => *lanes.end.insert(device.create_event(NO_TIMING)?),
        };
        lanes.give_back((0, 0));
        let replaying = Replaying::on(device);
        device.begin_replay();
        let done = self.graph.begin(stream).and_then(|()| self.graph.replay(stream, &mut lanes));
        drop(replaying);
        let done = done.and(device.end_replay(stream)).and(self.graph.end(stream));
        done.and(device.record_event(end, stream, 0))
    }
}

/// Where the nodes of a graph go: nodes of one lane follow each other.
struct Plan {
    order: Vec<NodeId>,
    lane: HashMap<NodeId, usize>,
    lanes: usize,
    /// Nodes for which another lane, or the end, waits.
    awaited: BTreeSet<NodeId>,
    /// Those for which the end waits.
    leaves: BTreeSet<NodeId>,
}

impl Graph {
    fn plan(&self) -> Result<Plan> {
        let order = self.order()?;
        let (mut lane, mut lanes) = (HashMap::new(), 0);
        let mut continued: BTreeSet<NodeId> = BTreeSet::new();
        for id in &order {
            let after = &self.nodes[id].after;
            let free = after.iter().find(|before| !continued.contains(before));
            let own = match free {
                Some(before) => {
                    continued.insert(*before);
                    lane[before]
                }
                None => {
                    lanes += 1;
                    lanes - 1
                }
            };
            lane.insert(*id, own);
        }
        let leaves: BTreeSet<NodeId> =
            self.leaves().into_iter().filter(|leaf| lane[leaf] != 0).collect();
        let mut awaited = leaves.clone();
        for id in &order {
            let others = self.nodes[id].after.iter().filter(|before| lane[before] != lane[id]);
            awaited.extend(others);
        }
        Ok(Plan { order, lane, lanes, awaited, leaves })
    }

    /// Does everything behind what is now in a stream; what comes into the stream next waits for all of it.
    ///
    /// # Errors
    /// Those of its nodes. What was begun is waited for then too.
    pub fn replay(&self, stream: StreamHandle, lanes: &mut Lanes) -> Result<()> {
        let state = process::current()?;
        let device = &*state.device;
        let plan = self.plan()?;
        let mut streams = vec![stream];
        for _ in 1..plan.lanes {
            streams.push(lanes.stream(device)?);
        }
        let fork = if plan.lanes > 1 { Some(lanes.mark(stream, device)?) } else { None };
        let mut marks: HashMap<NodeId, EventHandle> = HashMap::new();
        let mut run = |id: &NodeId| {
            let (node, lane) = (&self.nodes[id], plan.lane[id]);
            let own = streams[lane];
            let start = fork.filter(|_| node.after.is_empty() && lane != 0);
            let others = node.after.iter().filter(|before| plan.lane[before] != lane);
            for event in start.into_iter().chain(others.map(|before| marks[before])) {
                device.stream_wait_event(own, event, 0)?;
            }
            if !node.is_off {
                node.op.run(own, lanes)?;
            }
            if plan.awaited.contains(id) {
                marks.insert(*id, lanes.mark(own, device)?);
            }
            Ok(())
        };
        let done = plan.order.iter().try_for_each(&mut run);
        let ends = plan.leaves.iter().filter_map(|leaf| marks.get(leaf));
        let ends = match done {
            Ok(()) => ends.copied().collect(),
            Err(_) => streams[1..]
                .iter()
                .map(|own| lanes.mark(*own, device))
                .collect::<Result<Vec<EventHandle>>>()?,
        };
        for end in ends {
            device.stream_wait_event(stream, end, 0)?;
        }
        done
    }
}
