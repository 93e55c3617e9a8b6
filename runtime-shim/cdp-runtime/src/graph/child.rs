//! Graphs inside nodes. A node has a copy of the graph that it was made with; a program that asks for it gets a
//! graph of its own nodes, which the node goes on with as it is changed, and which goes with the node.
//!
//! Source: CUDA Runtime API, `cudaGraphChildGraphNodeGetGraph`.

use super::{Graph, Graphs, NodeId, Op, invalid};
use crate::error::Result;

impl Graph {
    /// A copy that no change of another graph reaches.
    pub(super) fn apart(mut self) -> Graph {
        for node in self.nodes.values_mut() {
            if let Op::Child(child) = &mut node.op {
                child.graph = None;
                child.content = std::mem::take(&mut child.content).apart();
            }
        }
        self.above = None;
        self
    }
}

impl Graphs {
    /// The graph of a node, for a program to look at and to change.
    pub fn child_of(&mut self, node: NodeId) -> Result<u64> {
        let owner = *self.owners.get(&node).ok_or_else(invalid)?;
        let Op::Child(child) = &self.node(node)?.op else { return Err(invalid()) };
        if let Some(known) = child.graph {
            return Ok(known);
        }
        let content = child.content.clone();
        let made = self.with_own_nodes(content)?;
        self.graph(made)?.above = Some(owner);
        if let Op::Child(child) = &mut self.node(node)?.op {
            child.graph = Some(made);
        }
        Ok(made)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_graph_of_a_node_is_changed_in_its_place() {
        let mut graphs = Graphs::default();
        let (inner, outer) = (graphs.create(), graphs.create());
        let first = graphs.add(inner, Op::Empty, &[]).unwrap();
        let op = Op::child(graphs.whole(inner).unwrap()).unwrap();
        let node = graphs.add(outer, op, &[]).unwrap();
        let asked = graphs.child_of(node).unwrap();
        assert_eq!(graphs.child_of(node).unwrap(), asked);
        assert!(graphs.child_of(first).is_err() && asked != inner);
        graphs.add(asked, Op::Record(crate::device::EventHandle(1)), &[]).unwrap();
        let inside = |graph: &Graph| match &graph.nodes.values().next().unwrap().op {
            Op::Child(child) => child.content.nodes.len(),
            _ => 0,
        };
        let mut whole = graphs.whole(outer).unwrap();
        assert_eq!((inside(&whole), graphs.graph(inner).unwrap().nodes.len()), (2, 1));
        // Executables know the nodes below by the program's names for them.
        let below = *graphs.graph(asked).unwrap().nodes.keys().next().unwrap();
        assert!(whole.node_mut(below).is_some() && whole.node_mut(first).is_none());
        let clone = graphs.clone_of(outer).unwrap();
        graphs.remove(below).unwrap();
        assert_eq!(inside(&graphs.whole(outer).unwrap()), 1);
        assert_eq!(inside(&graphs.whole(clone).unwrap()), 2);
        graphs.destroy(outer).unwrap();
        assert!(graphs.graph(asked).is_err());
    }
}
