//! CUDA graphs of host code: what nodes do, how they depend on each other, and the capture of streams. A
//! launch [replays](replay) the nodes, each a call of this library, so that both devices are served alike. Graphs that kernels may launch are the device's ([`launchable`]), and on a GPU
//! those with conditional nodes ([`condition`]).
//!
//! The C functions are in [`crate::capi`]. Semaphores are not known.

pub mod capture;
mod child;
pub mod condition;
pub mod launchable;
mod op;
pub mod replay;
mod update;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

pub use self::op::{Kernel, Op, Set};
pub use self::update::Difference;

use crate::error::{CudaError, DeviceError, Result};

/// A `cudaGraphNode_t` as host code holds it.
pub type NodeId = u64;

/// What is done, and after what.
#[derive(Clone)]
pub struct Node {
    /// What is done.
    pub op: Op,
    /// What must be done before.
    pub after: Vec<NodeId>,
    /// The node that it was cloned from.
    pub original: Option<NodeId>,
    /// It is left out, in an executable.
    pub is_off: bool,
}

/// Nodes in the order in which they were made.
#[derive(Clone, Default)]
pub struct Graph {
    /// By handle.
    pub nodes: BTreeMap<NodeId, Node>,
    /// How many references of objects of the program it holds.
    pub objects: BTreeMap<u64, u64>,
    /// What its conditional nodes test.
    pub conditions: Vec<condition::Condition>,
    /// What a device that tests conditions itself keeps for it.
    pub home: Option<u64>,
    /// The graph of the conditional node, or of the node with a graph, that it is below.
    pub above: Option<u64>,
}

/// A graph that can be launched.
#[derive(Clone)]
pub struct Executable {
    /// Its own copy of the graph, under the handles of the graph's nodes.
    pub graph: Graph,
    /// The graph that it was made of.
    pub source: u64,
    /// The flags that it was made with.
    pub flags: u64,
    /// Where its launches run.
    pub lanes: Arc<Mutex<replay::Lanes>>,
    /// What the device has it as, where it does so only because its kernels may launch graphs.
    pub whole: Option<u64>,
}

impl Executable {
    /// `cudaGraphInstantiateFlagDeviceLaunch`
    pub const DEVICE_LAUNCH: u64 = 4;

    /// Kernels may launch it: it is a graph of the device too.
    pub fn is_launchable(&self) -> bool {
        self.flags & Self::DEVICE_LAUNCH != 0
    }

    /// The device has it as a whole.
    pub fn is_of_device(&self) -> bool {
        self.is_launchable() || self.graph.home.is_some()
    }
}

/// All graphs of the process.
#[derive(Default)]
pub struct Graphs {
    /// By handle.
    pub graphs: HashMap<u64, Graph>,
    /// By handle.
    pub executables: HashMap<u64, Executable>,
    owners: HashMap<NodeId, u64>,
    /// Pointers to the parameters of kernels' nodes, for programs that asked for them.
    shown: HashMap<NodeId, Box<[usize]>>,
    captures: capture::Captures,
    made: u64,
}

static GRAPHS: Mutex<Option<Graphs>> = Mutex::new(None);

/// Works on the process's graphs. Nothing that is done there calls a device or the program.
pub fn with<T>(work: impl FnOnce(&mut Graphs) -> Result<T>) -> Result<T> {
    let mut graphs = GRAPHS.lock().unwrap_or_else(PoisonError::into_inner);
    work(graphs.get_or_insert_with(Graphs::default))
}

fn invalid() -> DeviceError {
    CudaError::INVALID_VALUE.into()
}

impl Graphs {
    /// A number that no other graph, node or executable has. Pointers in C, so that 0 is none.
    fn handle(&mut self) -> u64 {
        self.made += 16;
        0x4000 + self.made
    }

    /// Makes an empty graph.
    pub fn create(&mut self) -> u64 {
        let handle = self.handle();
        self.graphs.insert(handle, Graph::default());
        handle
    }

    /// A graph.
    pub fn graph(&mut self, handle: u64) -> Result<&mut Graph> {
        self.graphs.get_mut(&handle).ok_or_else(invalid)
    }

    /// An executable.
    pub fn executable(&mut self, handle: u64) -> Result<&mut Executable> {
        self.executables.get_mut(&handle).ok_or_else(invalid)
    }

    /// A node, in whichever graph.
    pub fn node(&mut self, node: NodeId) -> Result<&mut Node> {
        let owner = *self.owners.get(&node).ok_or_else(invalid)?;
        self.graph(owner)?.nodes.get_mut(&node).ok_or_else(invalid)
    }

    /// Pointers to the parameters of a kernel's node, good until it is changed or destroyed.
    pub fn pointers(&mut self, node: NodeId) -> Result<usize> {
        let Op::Kernel(kernel) = &self.node(node)?.op else { return Err(invalid()) };
        let all: Box<[usize]> = kernel.params.iter().map(|bytes| bytes.as_ptr() as usize).collect();
        let first = if all.is_empty() { 0 } else { all.as_ptr() as usize };
        self.shown.insert(node, all);
        Ok(first)
    }

    /// The graph of a node.
    pub fn owner(&mut self, node: NodeId) -> Result<&mut Graph> {
        let owner = *self.owners.get(&node).ok_or_else(invalid)?;
        self.graph(owner)
    }

    /// Adds a node to a graph.
    pub fn add(&mut self, graph: u64, op: Op, after: &[NodeId]) -> Result<NodeId> {
        let nodes = &self.graph(graph)?.nodes;
        let distinct: BTreeSet<&NodeId> = after.iter().collect();
        if distinct.len() != after.len() || after.iter().any(|node| !nodes.contains_key(node)) {
            return Err(invalid());
        }
        let handle = self.handle();
        let node = Node { op, after: after.to_vec(), original: None, is_off: false };
        self.graph(graph)?.nodes.insert(handle, node);
        self.owners.insert(handle, graph);
        Ok(handle)
    }

    /// Removes a node and what leads to it and from it.
    pub fn remove(&mut self, node: NodeId) -> Result<()> {
        let owner = *self.owners.get(&node).ok_or_else(invalid)?;
        let graph = self.graph(owner)?;
        let removed = graph.nodes.remove(&node).ok_or_else(invalid)?;
        graph.nodes.values_mut().for_each(|other| other.after.retain(|before| *before != node));
        self.owners.remove(&node);
        self.shown.remove(&node);
        self.tested_no_more(owner, &removed.op)?;
        Self::bodies(&removed.op).into_iter().try_for_each(|body| self.destroy(body).map(drop))
    }

    /// Removes a graph. Executables that were made of it live on.
    pub fn destroy(&mut self, graph: u64) -> Result<Graph> {
        let removed = self.graphs.remove(&graph).ok_or_else(invalid)?;
        self.owners.retain(|node, _| !removed.nodes.contains_key(node));
        self.shown.retain(|node, _| !removed.nodes.contains_key(node));
        for node in removed.nodes.values() {
            Self::bodies(&node.op).into_iter().try_for_each(|body| self.destroy(body).map(drop))?;
        }
        Ok(removed)
    }

    /// A graph with nodes of its own that do the same.
    pub fn clone_of(&mut self, graph: u64) -> Result<u64> {
        let source = self.whole(graph)?;
        match source.is_conditional() {
            true => Err(CudaError::NOT_SUPPORTED.into()),
            false => self.with_own_nodes(source.apart()),
        }
    }

    /// A graph that does the same as another, with handles of its own for its nodes.
    fn with_own_nodes(&mut self, source: Graph) -> Result<u64> {
        let clone = self.create();
        let names: HashMap<NodeId, NodeId> =
            source.nodes.keys().map(|node| (*node, self.handle())).collect();
        for (node, content) in source.nodes {
            let after = content.after.iter().map(|before| names[before]).collect();
            let copied = Node { after, original: Some(node), ..content };
            self.graph(clone)?.nodes.insert(names[&node], copied);
            self.owners.insert(names[&node], clone);
        }
        Ok(clone)
    }

    /// Makes a graph executable.
    pub fn instantiate(&mut self, graph: u64, flags: u64) -> Result<u64> {
        let handle = self.handle();
        self.instantiate_as(handle, graph, flags)
    }

    /// Makes a graph executable, under a handle of the device.
    pub fn instantiate_as(&mut self, handle: u64, graph: u64, flags: u64) -> Result<u64> {
        let (source, graph) = (graph, self.whole(graph)?);
        graph.order()?;
        let lanes = Default::default();
        self.executables.insert(handle, Executable { graph, source, flags, lanes, whole: None });
        Ok(handle)
    }
}

impl Graph {
    /// The nodes in an order in which each comes after what it depends on.
    ///
    /// # Errors
    /// `cudaErrorInvalidValue` if they depend on each other in a circle.
    pub fn order(&self) -> Result<Vec<NodeId>> {
        let (mut order, mut done) = (Vec::with_capacity(self.nodes.len()), BTreeSet::new());
        let mut waiting: Vec<NodeId> = self.nodes.keys().copied().collect();
        while !waiting.is_empty() {
            let before = waiting.len();
            waiting.retain(|node| {
                let ready = self.nodes[node].after.iter().all(|before| done.contains(before));
                if ready {
                    order.push(*node);
                    done.insert(*node);
                }
                !ready
            });
            if waiting.len() == before {
                return Err(invalid());
            }
        }
        Ok(order)
    }

    /// Nodes on which none depends.
    pub fn leaves(&self) -> BTreeSet<NodeId> {
        let inner: BTreeSet<NodeId> =
            self.nodes.values().flat_map(|node| node.after.iter().copied()).collect();
        self.nodes.keys().copied().filter(|node| !inner.contains(node)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_ordered_by_what_they_depend_on() {
        let mut graphs = Graphs::default();
        let graph = graphs.create();
        let first = graphs.add(graph, Op::Empty, &[]).unwrap();
        let second = graphs.add(graph, Op::Empty, &[]).unwrap();
        let third = graphs.add(graph, Op::Empty, &[second]).unwrap();
        assert!(graphs.add(graph, Op::Empty, &[first, first]).is_err());
        assert!(graphs.add(graph, Op::Empty, &[7]).is_err());
        graphs.node(first).unwrap().after.push(third);
        let content = graphs.graph(graph).unwrap();
        assert_eq!(content.order().unwrap(), [second, third, first]);
        assert_eq!(content.leaves(), BTreeSet::from([first]));
        let clone = graphs.clone_of(graph).unwrap();
        let (one, two) =
            (graphs.graph(graph).unwrap().clone(), graphs.graph(clone).unwrap().clone());
        assert!(
            one.difference(&two).is_none()
                && two.nodes.values().all(|node| node.original.is_some())
        );
        graphs.node(second).unwrap().after.push(first);
        assert!(graphs.instantiate(graph, 0).is_err(), "a circle");
        graphs.remove(third).unwrap();
        assert_eq!(graphs.graph(graph).unwrap().order().unwrap(), [first, second]);
        assert_eq!(graphs.graph(graph).unwrap().difference(&two), Some(Difference::Topology));
        graphs.destroy(graph).unwrap();
        assert!(graphs.node(first).is_err());
    }
}
