//! Graphs that kernels may launch (`cudaGraphInstantiateFlagDeviceLaunch`): the device has them as a whole. Their
//! nodes are kernels, copies within the device, and sets; graphs in graphs become their nodes.

use std::collections::{BTreeSet, HashMap};

use super::{Graph, NodeId, Op, with};
use crate::capi;
use crate::device::{GraphStep, GraphWork};
use crate::error::{CudaError, Result};
use crate::process;
use crate::stdio;

/// Makes a graph executable by the device.
///
/// # Errors
/// `cudaErrorInvalidValue` for nodes that such graphs cannot have, as on an H200, those of the device for what they do.
pub fn create(graph: u64, flags: u64) -> Result<u64> {
    let content = with(|graphs| Ok(graphs.graph(graph)?.clone()))?;
    let device = &process::current()?.device;
    let made = device.create_graph(&steps(&content, &BTreeSet::new())?)?;
    with(|graphs| graphs.instantiate_as(made, graph, flags))
}

/// Tells the device that an executable has changed, if it is one of the device.
///
/// # Errors
/// As for [`create`].
pub fn renew(executable: u64) -> Result<()> {
    let found = with(|graphs| Ok(graphs.executable(executable)?.clone()))?;
    if !found.is_launchable() {
        return Ok(());
    }
    let steps = steps(&found.graph, &found.disabled)?;
    process::current()?.device.change_graph(executable, &steps)
}

fn steps(graph: &Graph, disabled: &BTreeSet<NodeId>) -> Result<Vec<GraphStep>> {
    let mut steps = Vec::new();
    add(graph, disabled, None, &mut steps)?;
    Ok(steps)
}

/// Adds the nodes of a graph, behind a step if one is given.
fn add(
    graph: &Graph,
    disabled: &BTreeSet<NodeId>,
    behind: Option<usize>,
    steps: &mut Vec<GraphStep>,
) -> Result<()> {
    let mut places: HashMap<NodeId, usize> = HashMap::new();
    for id in graph.order()? {
        let node = &graph.nodes[&id];
        let mut after: Vec<usize> = node.after.iter().map(|before| places[before]).collect();
        if after.is_empty() {
            after.extend(behind);
        }
        let works = match &node.op {
            _ if disabled.contains(&id) => vec![GraphWork::Nothing],
            Op::Child(child) => {
                steps.push(GraphStep { work: GraphWork::Nothing, after });
                let first = steps.len() - 1;
                add(child, &BTreeSet::new(), Some(first), steps)?;
                // What follows waits for all of it.
                after = (first..steps.len()).collect();
                vec![GraphWork::Nothing]
            }
            op => works(op)?,
        };
        for work in works {
            steps.push(GraphStep { work, after });
            after = vec![steps.len() - 1];
        }
        places.insert(id, steps.len() - 1);
    }
    Ok(())
}

/// What a node does, one after the other.
fn works(op: &Op) -> Result<Vec<GraphWork>> {
    Ok(match op {
        Op::Empty => vec![GraphWork::Nothing],
        Op::Kernel(kernel) => vec![GraphWork::Launch {
            kernel: process::current()?.kernel(kernel.handle)?.kernel,
            grid: kernel.grid,
            block: kernel.block,
            shared_bytes: kernel.shared_bytes,
            attributes: kernel.attributes.clone(),
            params: kernel.params.clone(),
        }],
        Op::Set(set) => vec![GraphWork::Set {
            dst: set.dst as u64,
            pitch_bytes: if set.height > 1 {
                set.pitch
            } else {
                set.width * set.element_bytes as usize
            },
            value: set.value,
            element_bytes: set.element_bytes,
            width: set.width,
            height: set.height,
        }],
        Op::Rectangle(copy, _) => vec![GraphWork::Copy(*copy)],
        Op::Described(parameters) => {
            let copies: Vec<GraphWork> = capi::rectangles(parameters)
                .ok_or(CudaError::NOT_SUPPORTED)?
                .map(GraphWork::Copy)
                .collect();
            if copies.is_empty() { vec![GraphWork::Nothing] } else { copies }
        }
        _ => {
            stdio::complain(
                "a graph that kernels launch can have kernels, copies within the device and sets only",
            );
            return Err(CudaError::INVALID_VALUE.into());
        }
    })
}
