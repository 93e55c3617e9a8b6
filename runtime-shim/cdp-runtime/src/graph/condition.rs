//! Conditional nodes: they do what other graphs do, by a value that kernels set. A GPU's driver tests the value
//! itself, so that such a graph is the driver's as a whole; on the CPU device a launch waits for what comes before
//! the node and tests it.
//!
//! Source: CUDA Runtime API, `cudaConditionalNodeParams`, `cudaGraphConditionalHandleCreate`.

use std::sync::Arc;

use super::replay::Lanes;
use super::{Difference, Executable, Graph, Graphs, Node, NodeId, Op, launchable, with};
use crate::device::{Choice, StreamHandle};
use crate::error::{CudaError, Result};
use crate::{process, stdio};

/// A value that conditional nodes of a graph test.
#[derive(Clone, Copy, Debug)]
pub struct Condition {
    /// What kernels and nodes know it by.
    pub handle: u64,
    /// What it is at the beginning of each launch, if that is given.
    pub first: Option<u32>,
    /// A node tests it: one can.
    is_tested: bool,
}

/// A graph of a conditional node.
#[derive(Clone)]
struct Body {
    /// Where its nodes are added.
    graph: u64,
    /// What they were when the whole was made executable.
    content: Option<Graph>,
}

/// What a conditional node does.
#[derive(Clone)]
pub struct Conditional {
    condition: u64,
    choice: Choice,
    bodies: Vec<Body>,
    /// `phGraph_out`, which lives as long as the node.
    pub handles: Arc<[u64]>,
}

impl Conditional {
    /// The graph that a value chooses.
    fn chosen(&self, value: u32) -> Option<&Body> {
        let place = match self.choice {
            Choice::If | Choice::While => usize::from(value == 0),
            Choice::Switch => value as usize,
        };
        self.bodies.get(place)
    }

    /// Tests the value, and does what it chooses, in a stream.
    pub fn run(&self, stream: StreamHandle, lanes: &mut Lanes) -> Result<()> {
        let state = process::current()?;
        let used = lanes.used();
        loop {
            state.device.synchronize_stream(stream)?;
            let value = state.device.condition(self.condition)?;
            let content = self.chosen(value).and_then(|body| body.content.as_ref());
            if let Some(content) = content {
                // One time round follows the other in the stream.
                lanes.give_back(used);
                content.replay(stream, lanes)?;
            }
            if self.choice != Choice::While || value == 0 {
                return Ok(());
            }
        }
    }

    /// What keeps another node from updating this one.
    pub(super) fn difference(&self, other: &Conditional) -> Option<Difference> {
        if (self.choice, self.bodies.len()) != (other.choice, other.bodies.len()) {
            return Some(Difference::NotSupported);
        }
        let mut bodies = self.contents().zip(other.contents());
        bodies.find_map(|(mine, theirs)| mine.difference(theirs))
    }

    /// Takes what a node that is alike tests and does.
    pub(super) fn update(&mut self, other: &Conditional) {
        self.condition = other.condition;
        let mine = self.bodies.iter_mut().filter_map(|body| body.content.as_mut());
        mine.zip(other.contents()).for_each(|(mine, theirs)| mine.update(theirs));
    }

    fn contents(&self) -> impl Iterator<Item = &Graph> {
        self.bodies.iter().filter_map(|body| body.content.as_ref())
    }

    /// What devices that test conditions themselves are to do.
    pub fn parts(&self) -> (u64, Choice, impl Iterator<Item = &Graph>) {
        (self.condition, self.choice, self.contents())
    }
}

impl Graph {
    /// A node of this graph or of one below it that the program has a handle of.
    pub fn node_mut(&mut self, node: NodeId) -> Option<&mut Node> {
        if self.nodes.contains_key(&node) {
            return self.nodes.get_mut(&node);
        }
        self.bodies_mut().find_map(|body| body.node_mut(node))
    }

    fn bodies_mut(&mut self) -> impl Iterator<Item = &mut Graph> {
        self.nodes.values_mut().flat_map(|node| {
            let (bodies, child) = match &mut node.op {
                Op::Conditional(conditional) => (conditional.bodies.as_mut_slice(), None),
                Op::Child(child) if child.graph.is_some() => {
                    (Default::default(), Some(&mut child.content))
                }
                _ => Default::default(),
            };
            bodies.iter_mut().filter_map(|body| body.content.as_mut()).chain(child)
        })
    }

    /// It has conditional nodes, or values for them.
    pub fn is_conditional(&self) -> bool {
        let is_conditional = |op: &Op| matches!(op, Op::Conditional(_));
        !self.conditions.is_empty() || self.nodes.values().any(|node| is_conditional(&node.op))
    }

    /// Both test the same values: one is made of the other, or was updated by it.
    fn shares_conditions(&self, other: &Graph) -> bool {
        let first = |graph: &Graph| graph.conditions.first().map(|condition| condition.handle);
        first(self).is_some() && first(self) == first(other)
    }

    /// Gives its conditions their first values, after the work now in a stream. From then on kernels may set them,
    /// until [`Graph::end`].
    pub fn begin(&self, stream: StreamHandle) -> Result<()> {
        if self.conditions.is_empty() {
            return Ok(());
        }
        let device = &process::current()?.device;
        device.synchronize_stream(stream)?;
        let mut conditions = self.conditions.iter();
        conditions.try_for_each(|known| device.open_condition(known.handle, known.first))
    }

    /// Waits for a run of it in a stream, after which nobody may set its conditions.
    pub fn end(&self, stream: StreamHandle) -> Result<()> {
        if self.conditions.is_empty() {
            return Ok(());
        }
        let device = &process::current()?.device;
        let done = device.synchronize_stream(stream);
        let mut conditions = self.conditions.iter();
        done.and(conditions.try_for_each(|known| device.close_condition(known.handle)))
    }
}

impl Graphs {
    /// A graph as it is now, with what the graphs below its nodes are now.
    pub fn whole(&self, graph: u64) -> Result<Graph> {
        let mut found = self.graphs.get(&graph).ok_or(CudaError::INVALID_VALUE)?.clone();
        for node in found.nodes.values_mut() {
            match &mut node.op {
                Op::Conditional(conditional) => {
                    for body in &mut conditional.bodies {
                        body.content = Some(self.whole(body.graph)?);
                    }
                }
                Op::Child(child) => {
                    if let Some(graph) = child.graph {
                        child.content = self.whole(graph)?;
                    }
                }
                _ => {}
            }
        }
        Ok(found)
    }

    /// The graph that a graph below nodes belongs to.
    fn root(&self, mut graph: u64) -> Result<u64> {
        loop {
            match self.graphs.get(&graph).ok_or(CudaError::INVALID_VALUE)?.above {
                Some(above) => graph = above,
                None => return Ok(graph),
            }
        }
    }

    /// Notes whether a node of a graph tests a value.
    fn set_tested(&mut self, graph: u64, condition: u64, is_tested: bool) -> Result<()> {
        let root = self.root(graph)?;
        let conditions = &mut self.graph(root)?.conditions;
        if let Some(known) = conditions.iter_mut().find(|known| known.handle == condition) {
            known.is_tested = is_tested;
        }
        Ok(())
    }

    /// A node is gone from a graph: another one may test what it tested.
    pub(super) fn tested_no_more(&mut self, graph: u64, op: &Op) -> Result<()> {
        match op {
            Op::Conditional(conditional) => self.set_tested(graph, conditional.condition, false),
            _ => Ok(()),
        }
    }

    /// The graphs below a node, which go with it.
    pub(super) fn bodies(op: &Op) -> Vec<u64> {
        match op {
            Op::Conditional(conditional) => conditional.handles.to_vec(),
            Op::Child(child) => child.graph.into_iter().collect(),
            _ => Vec::new(),
        }
    }
}

/// Makes a value for conditional nodes of a graph.
pub fn create(graph: u64, first: u32, flags: u32) -> Result<u64> {
    const ASSIGN_DEFAULT: u32 = 1;
    if flags & !ASSIGN_DEFAULT != 0 {
        return Err(CudaError::INVALID_VALUE.into());
    }
    let (root, home) = with(|graphs| {
        let root = graphs.root(graph)?;
        Ok((root, graphs.graph(root)?.home))
    })?;
    let (home, handle) = process::current()?.device.create_condition(home, first, flags)?;
    with(|graphs| {
        let root = graphs.graph(root)?;
        root.home = home;
        let first = (flags & ASSIGN_DEFAULT != 0).then_some(first);
        root.conditions.push(Condition { handle, first, is_tested: false });
        Ok(handle)
    })
}

/// Adds a conditional node with empty graphs below it.
pub fn add(
    graph: u64,
    after: &[NodeId],
    condition: u64,
    choice: u32,
    count: u32,
) -> Result<(NodeId, Arc<[u64]>)> {
    let choice = match (choice, count) {
        (0, 1 | 2) => Choice::If,
        (1, 1) => Choice::While,
        (2, 1..) => Choice::Switch,
        _ => return Err(CudaError::INVALID_VALUE.into()),
    };
    with(|graphs| {
        let root = graphs.root(graph)?;
        let is_free = |known: &&mut Condition| known.handle == condition && !known.is_tested;
        if graphs.graph(root)?.conditions.iter_mut().find(is_free).is_none() {
            return Err(CudaError::INVALID_VALUE.into());
        }
        let empty = Conditional { condition, choice, bodies: Vec::new(), handles: Arc::new([]) };
        let node = graphs.add(graph, Op::Conditional(empty), after)?;
        let handles: Arc<[u64]> = (0..count).map(|_| graphs.create()).collect();
        for body in handles.iter() {
            graphs.graph(*body)?.above = Some(graph);
        }
        let bodies = handles.iter().map(|graph| Body { graph: *graph, content: None }).collect();
        let full = Conditional { condition, choice, bodies, handles: handles.clone() };
        graphs.node(node)?.op = Op::Conditional(full);
        graphs.set_tested(graph, condition, true)?;
        Ok((node, handles))
    })
}

/// Makes a graph with conditional nodes executable.
pub fn instantiate(graph: u64, flags: u64) -> Result<u64> {
    let (content, home) = with(|graphs| {
        let is_used = |made: &Executable| made.source == graph;
        if flags & Executable::DEVICE_LAUNCH != 0 || graphs.executables.values().any(is_used) {
            stdio::complain(
                "a graph with conditional nodes has one executable at a time, which kernels cannot launch",
            );
            return Err(CudaError::NOT_SUPPORTED.into());
        }
        let content = graphs.whole(graph)?;
        if content.conditions.iter().any(|condition| !condition.is_tested) {
            return Err(CudaError::INVALID_VALUE.into());
        }
        let home = content.home;
        Ok((content, home))
    })?;
    may_stand(&content, false)?;
    let Some(home) = home else { return with(|graphs| graphs.instantiate(graph, flags)) };
    let device = &process::current()?.device;
    let made = device.create_conditional_graph(home, &launchable::steps_of_all(&content)?)?;
    with(|graphs| graphs.instantiate_as(made, graph, flags))
}

/// Refuses what a graph with conditional nodes cannot have: below such a node, functions of the host, events, memory
/// of the graph, and copies from or to memory that the device does not reach by itself.
///
/// Source: CUDA Programming Guide, conditional graph nodes, body graph requirements; an H200 gives error 1.
fn may_stand(graph: &Graph, is_body: bool) -> Result<()> {
    graph.nodes.values().try_for_each(|node| match &node.op {
        Op::Conditional(conditional) => {
            conditional.contents().try_for_each(|body| may_stand(body, true))
        }
        Op::Child(child) => may_stand(&child.content, is_body),
        op if is_body && !op.is_of_device_alone()? => {
            stdio::complain(
                "the body of a conditional node has kernels, sets, copies of pinned, managed and device memory, and graphs of these",
            );
            Err(CudaError::INVALID_VALUE.into())
        }
        _ => Ok(()),
    })
}

/// Gives back what a device keeps for a graph or an executable that is gone, unless another one uses it still.
pub fn forget(gone: &Graph) -> Result<()> {
    if gone.conditions.is_empty() {
        return Ok(());
    }
    let is_used = with(|graphs| {
        let executables = graphs.executables.values().map(|executable| &executable.graph);
        let mut others = graphs.graphs.values().chain(executables);
        Ok(others.any(|other| other.shares_conditions(gone)))
    })?;
    if is_used {
        return Ok(());
    }
    let device = &process::current()?.device;
    for condition in &gone.conditions {
        device.destroy_condition(condition.handle)?;
    }
    gone.home.map_or(Ok(()), |home| device.destroy_home(home))
}
