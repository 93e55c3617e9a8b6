//! Graphs that kernels may launch, and their runs. A run is a node for each step and one at its end; what is in
//! its tail, and what it fired and forgot, is done before the end is. Other graphs, which host code replays node by
//! node, have runs as well, because their kernels may launch those.
//!
//! Source: CUDA Programming Guide, "Device Graph Launch".

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use super::{Action, Core, LaunchRequest};
use crate::api::StreamId;
use crate::error::Error;
use crate::exec::OfGraph;
use crate::memory::SiteRef;
use crate::work::NodeId;

/// How far apart handles are, so that they look like addresses.
const HANDLE_STEP: u64 = 16;
/// Where handles begin: no memory of the device and no handle of host code lies there.
const FIRST_HANDLE: u64 = 0x5000_0000_0000;
/// The same for the values that conditional nodes test.
const FIRST_CONDITION: u64 = 0x5800_0000_0000;

/// What a step does.
#[derive(Clone, Debug)]
pub enum PlannedWork {
    /// Runs a grid.
    Grid(LaunchRequest),
    /// Something else.
    Other(Action),
}

/// A step of a graph.
#[derive(Clone, Debug)]
pub struct PlannedStep {
    /// What is done.
    pub work: PlannedWork,
    /// The earlier steps that are done before.
    pub after: Vec<usize>,
}

/// A graph.
#[derive(Debug)]
struct Known {
    steps: Arc<[PlannedStep]>,
    /// Runs that are queued or running.
    busy: u32,
}

/// A graph that was launched and is not done.
#[derive(Debug)]
struct Run {
    graph: u64,
    /// `None` as long as host code replays it.
    end: Option<NodeId>,
    /// What is done before the end, as long as there is none.
    before_end: Vec<NodeId>,
    /// The run that is not done before this one is.
    above: Option<u64>,
    /// Graphs that run when everything of this run is done.
    tails: VecDeque<u64>,
    /// It is, and what is in its tail runs.
    is_done: bool,
}

impl Run {
    fn of(graph: u64, above: Option<u64>) -> Run {
        let (before_end, tails) = (Vec::new(), VecDeque::new());
        Run { graph, end: None, before_end, above, tails, is_done: false }
    }
}

/// All graphs of a device.
#[derive(Debug, Default)]
pub struct Graphs {
    known: HashMap<u64, Known>,
    runs: HashMap<u64, Run>,
    made: u64,
    begun: u64,
    /// What conditional nodes test, by handle.
    conditions: HashMap<u64, Condition>,
}

/// What conditional nodes of a graph of host code test.
#[derive(Clone, Copy, Debug, Default)]
pub struct Condition {
    pub value: u32,
    /// The graph runs: kernels set it only then.
    pub is_open: bool,
}

/// The named stream that a kernel launches a graph into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GraphStream {
    /// At once; the launching graph waits for it.
    FireAndForget,
    /// When the launching graph is done.
    Tail,
    /// At once; what the launching graph belongs to waits for it.
    Sibling,
}

impl Graphs {
    /// A new graph; what kernels know it by.
    pub fn add(&mut self, steps: Vec<PlannedStep>) -> u64 {
        self.made += 1;
        let handle = FIRST_HANDLE + self.made * HANDLE_STEP;
        self.known.insert(handle, Known { steps: steps.into(), busy: 0 });
        handle
    }

    /// A new value that conditional nodes of host code's graphs test; what kernels know it by.
    pub fn add_condition(&mut self, value: u32) -> u64 {
        self.made += 1;
        let handle = FIRST_CONDITION + self.made * HANDLE_STEP;
        self.conditions.insert(handle, Condition { value, is_open: false });
        handle
    }

    /// Such a value.
    pub fn condition(&self, handle: u64) -> Option<Condition> {
        self.conditions.get(&handle).copied()
    }

    /// The same, to change it.
    pub fn condition_mut(&mut self, handle: u64) -> Option<&mut Condition> {
        self.conditions.get_mut(&handle)
    }

    /// Forgets such a value.
    pub fn remove_condition(&mut self, handle: u64) -> bool {
        self.conditions.remove(&handle).is_some()
    }

    /// Changes what later runs of a graph do. False if there is no such graph.
    pub fn change(&mut self, graph: u64, steps: Vec<PlannedStep>) -> bool {
        let known = self.known.get_mut(&graph);
        known.map(|known| known.steps = steps.into()).is_some()
    }

    /// Forgets a graph; its runs go on. False if there is no such graph.
    pub fn remove(&mut self, graph: u64) -> bool {
        self.known.remove(&graph).is_some()
    }

    /// One more run of a graph is queued.
    pub fn add_busy(&mut self, graph: u64) {
        if let Some(known) = self.known.get_mut(&graph) {
            known.busy += 1;
        }
    }

    /// The graph of a run may be launched again, from its tail too.
    fn work_is_done(&mut self, run: u64) {
        if let Some(run) = self.runs.get_mut(&run)
            && !std::mem::replace(&mut run.is_done, true)
            && let Some(known) = self.known.get_mut(&run.graph)
        {
            known.busy = known.busy.saturating_sub(1);
        }
    }

    /// Whether a thread of run `by` may launch a graph: one that neither runs nor waits in a tail. A graph may
    /// follow itself, once.
    fn is_free(&self, graph: u64, by: &Run, stream: GraphStream) -> bool {
        let Some(known) = self.known.get(&graph) else { return false };
        let own = stream == GraphStream::Tail && by.graph == graph && !by.tails.contains(&graph);
        known.busy == u32::from(own)
    }
}

impl Core {
    /// Queues the steps of a graph behind `waits`, and its end. `None` if there is no such graph.
    pub fn begin_run(
        &mut self,
        graph: u64,
        waits: &[NodeId],
        above: Option<u64>,
        site: Option<SiteRef>,
    ) -> Option<NodeId> {
        let steps = self.graphs.known.get(&graph)?.steps.clone();
        self.graphs.begun += 1;
        let run = self.graphs.begun;
        // Whoever launches it queues all of it.
        let actor = self.actor.take();
        let mut nodes: Vec<NodeId> = Vec::with_capacity(steps.len());
        let mut is_last = vec![true; steps.len()];
        for step in steps.iter() {
            let mut before: Vec<NodeId> = step.after.iter().map(|before| nodes[*before]).collect();
            step.after.iter().for_each(|before| is_last[*before] = false);
            if before.is_empty() {
                before.extend_from_slice(waits);
            }
            let action = match &step.work {
                PlannedWork::Grid(request) => {
                    let of_graph = OfGraph { graph, run };
                    let request = LaunchRequest { of_graph, ..request.clone() };
                    let key = self.add_grid(request, None, site, self.clock, false);
                    self.trace_stream(key, || "graph".to_string());
                    Action::Grid(key)
                }
                PlannedWork::Other(action) => action.clone(),
            };
            self.actor.clone_from(&actor);
            nodes.push(self.add_node(&before, action, None, None, false));
        }
        let mut last: Vec<NodeId> =
            nodes.iter().zip(is_last).filter(|(_, last)| *last).map(|(node, _)| *node).collect();
        if last.is_empty() {
            last.extend_from_slice(waits);
        }
        self.actor = actor;
        let end = self.add_node(&last, Action::GraphEnd(run), None, None, false);
        if let Some(above) = above.and_then(|above| self.graphs.runs.get_mut(&above)) {
            match above.end {
                Some(above) => self.wait_also(above, end),
                None => above.before_end.push(end),
            }
        }
        self.graphs.runs.insert(run, Run { end: Some(end), ..Run::of(graph, above) });
        Some(end)
    }

    /// Host code begins to replay a graph that is no graph of the device: the kernels that it launches as nodes of
    /// the run may launch those that are. `None` if there is none.
    pub fn begin_replay(&mut self) -> Option<u64> {
        if self.graphs.known.is_empty() {
            return None;
        }
        self.graphs.begun += 1;
        self.graphs.runs.insert(self.graphs.begun, Run::of(0, None));
        Some(self.graphs.begun)
    }

    /// Everything of such a run is in a stream: what comes into the stream next waits for what its kernels launched
    /// as well.
    pub fn end_replay(&mut self, run: u64, stream: StreamId) -> Result<(), Error> {
        let mut waits = self.host_dependencies(stream)?;
        if let Some(run) = self.graphs.runs.get_mut(&run) {
            waits.append(&mut run.before_end);
        }
        let end = self.add_node(&waits, Action::GraphEnd(run), None, None, false);
        if let Some(run) = self.graphs.runs.get_mut(&run) {
            run.end = Some(end);
        }
        self.live_stream(stream)?.stream.last = Some(end);
        Ok(())
    }

    /// A thread of a graph's kernel launches a graph. False if it may not.
    pub fn launch_graph(
        &mut self,
        by: u64,
        graph: u64,
        stream: GraphStream,
        site: SiteRef,
    ) -> bool {
        let Some(run) = self.graphs.runs.get(&by) else { return false };
        if !self.graphs.is_free(graph, run, stream) {
            return false;
        }
        let above = run.above;
        self.graphs.add_busy(graph);
        match stream {
            GraphStream::Tail => {
                if let Some(run) = self.graphs.runs.get_mut(&by) {
                    run.tails.push_back(graph);
                }
                true
            }
            GraphStream::FireAndForget => {
                self.begin_run(graph, &[], Some(by), Some(site)).is_some()
            }
            GraphStream::Sibling => self.begin_run(graph, &[], above, Some(site)).is_some(),
        }
    }

    /// The end of a run: everything that it did is done. What is in its tail comes next, one after the other.
    pub(super) fn end_run(&mut self, id: NodeId, run: u64) {
        self.graphs.work_is_done(run);
        while let Some(entry) = self.graphs.runs.get_mut(&run) {
            let Some(graph) = entry.tails.pop_front() else { break };
            let above = entry.above;
            self.acts_after(id);
            if let Some(end) = self.begin_run(graph, &[], above, None) {
                self.nodes[id.index as usize].action = Some(Action::GraphEnd(run));
                self.wait_also(id, end);
                return;
            }
        }
        self.graphs.runs.remove(&run);
        self.complete_node(id);
    }
}
