//! Updates of executables: how the graph of one differs from another graph, and what it takes of one that is alike. The
//! nodes of an executable stay those of the graph that it was made of. The C function is in [`crate::capi`].
//!
//! Source: CUDA Runtime API, `cudaGraphExecUpdate`; what an H200 does is in `compiler/docs/facts.md`.

use std::collections::{BTreeSet, HashMap};

use super::{Graph, NodeId, Op};

/// Why a graph cannot update an executable; the numbers are those of `cudaGraphExecUpdateResult`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Difference {
    /// Other nodes, or other edges.
    Topology = 2,
    /// A node of another kind.
    Kind = 3,
    /// Another kind of conditional node.
    NotSupported = 6,
    /// Another kernel, which the device does not take in its place.
    Function = 7,
}

impl Graph {
    /// What keeps another graph from updating this one: it needs the same nodes in the same order with the same
    /// dependencies, and so on in the graphs below.
    pub fn difference(&self, other: &Graph) -> Option<Difference> {
        let place = |graph: &Graph| -> HashMap<NodeId, usize> {
            graph.nodes.keys().enumerate().map(|(index, node)| (*node, index)).collect()
        };
        let (mine, theirs) = (place(self), place(other));
        if self.nodes.len() != other.nodes.len() {
            return Some(Difference::Topology);
        }
        self.nodes.values().zip(other.nodes.values()).find_map(|(one, two)| {
            let places = |after: &[NodeId], of: &HashMap<NodeId, usize>| -> BTreeSet<usize> {
                after.iter().map(|node| of[node]).collect()
            };
            match places(&one.after, &mine) == places(&two.after, &theirs) {
                true => one.op.difference(&two.op),
                false => Some(Difference::Topology),
            }
        })
    }

    /// Takes what the nodes of a graph that [is alike](Self::difference) do, and the values that they test.
    pub fn update(&mut self, other: &Graph) {
        for (mine, theirs) in self.nodes.values_mut().zip(other.nodes.values()) {
            mine.op.update(&theirs.op);
        }
        self.conditions.clone_from(&other.conditions);
        self.home = other.home;
    }
}

impl Op {
    fn difference(&self, other: &Op) -> Option<Difference> {
        match (self, other) {
            (Op::Conditional(mine), Op::Conditional(theirs)) => mine.difference(theirs),
            (Op::Child(mine), Op::Child(theirs)) => mine.content.difference(&theirs.content),
            _ => (self.kind() != other.kind()).then_some(Difference::Kind),
        }
    }

    /// Nodes of graphs below keep their names.
    fn update(&mut self, other: &Op) {
        match (self, other) {
            (Op::Conditional(mine), Op::Conditional(theirs)) => mine.update(theirs),
            (Op::Child(mine), Op::Child(theirs)) => mine.content.update(&theirs.content),
            (mine, theirs) => *mine = theirs.clone(),
        }
    }
}
