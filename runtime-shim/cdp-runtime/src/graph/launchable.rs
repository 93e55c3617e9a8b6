//! Graphs that kernels may launch (`cudaGraphInstantiateFlagDeviceLaunch`): the device has them as a whole. Their
//! nodes are kernels, copies within the device, and sets; graphs in graphs become their nodes. Those with conditional
//! nodes, where a device has them as a whole, may have copies of other memory and functions of the host as well.

use std::collections::HashMap;

use super::{Executable, Graph, NodeId, Op, with};
use crate::capi;
use crate::device::{DeviceKind, GraphStep, GraphWork};
use crate::error::{CudaError, Result};
use crate::{process, stdio};

/// Makes a graph executable by the device.
///
/// # Errors
/// `cudaErrorInvalidValue` for nodes that such graphs cannot have, as on an H200, those of the device for what they do.
pub fn create(graph: u64, flags: u64) -> Result<u64> {
    let content = with(|graphs| Ok(graphs.graph(graph)?.clone()))?;
    let device = &process::current()?.device;
    let made = device.create_graph(&steps(&content, false)?, true)?;
    with(|graphs| graphs.instantiate_as(made, graph, flags))
}

/// Tells the device that an executable has changed, if it is one of the device.
///
/// # Errors
/// As for [`create`].
pub fn renew(executable: u64) -> Result<()> {
    let (found, whole) = with(|graphs| {
        let found = graphs.executable(executable)?;
        let whole = found.whole.take();
        Ok((found.clone(), whole))
    })?;
    if let Some(whole) = whole {
        process::current()?.device.destroy_graph(whole)?;
    }
    if !found.is_of_device() {
        return Ok(());
    }
    let home = found.graph.home;
    let steps = steps(&found.graph, home.is_some())?;
    process::current()?.device.change_graph(executable, home, &steps)
}

/// As [`renew`]; what the device refuses leaves the executable as it was before ([`Executable::before`]).
///
/// # Errors
/// As for [`create`].
pub fn renew_or_restore(executable: u64, before: Option<Graph>) -> Result<()> {
    let renewed = renew(executable);
    if let (Err(_), Some(before)) = (&renewed, before) {
        with(|graphs| {
            graphs.executable(executable)?.graph = before;
            Ok(())
        })?;
    }
    renewed
}

impl Executable {
    /// What it does before a change, if the device may refuse that.
    pub fn before(&self) -> Option<Graph> {
        (self.is_of_device() || self.whole.is_some()).then(|| self.graph.clone())
    }
}

/// What a GPU has an executable as, once there are graphs that kernels may launch: there kernels of the driver's graphs
/// alone may, and those of a replayed one are in none. `None` where it is replayed all the same, because it has memory of
/// its own or the driver refuses it. (The CPU device follows replays: [`crate::device::Graphs::begin_replay`].)
///
/// # Errors
/// `cudaErrorInvalidValue` if there is no such executable.
pub fn whole(executable: u64) -> Result<Option<u64>> {
    let device = &process::current()?.device;
    if device.kind() != DeviceKind::Gpu {
        return Ok(None);
    }
    let (found, is_wanted) = with(|graphs| {
        let is_wanted = graphs.executables.values().any(Executable::is_launchable);
        Ok((graphs.executable(executable)?.clone(), is_wanted))
    })?;
    if found.whole.is_some() || !is_wanted || found.graph.has_memory() {
        return Ok(found.whole);
    }
    let Ok(made) = steps(&found.graph, true).and_then(|steps| device.create_graph(&steps, false))
    else {
        return Ok(None);
    };
    with(|graphs| {
        graphs.executable(executable)?.whole = Some(made);
        Ok(Some(made))
    })
}

impl Graph {
    /// It has nodes that allocate memory or free it.
    fn has_memory(&self) -> bool {
        self.nodes.values().any(|node| match &node.op {
            Op::Allocate { .. } | Op::Free { .. } => true,
            Op::Child(child) => child.content.has_memory(),
            _ => false,
        })
    }
}

/// The steps of a graph that kernels do not launch.
///
/// # Errors
/// `cudaErrorNotSupported` for nodes that no device has in such graphs.
pub fn steps_of_all(graph: &Graph) -> Result<Vec<GraphStep>> {
    steps(graph, true)
}

fn steps(graph: &Graph, any: bool) -> Result<Vec<GraphStep>> {
    let mut steps = Vec::new();
    add(graph, None, any, &mut steps)?;
    Ok(steps)
}

/// Adds the nodes of a graph, behind a step if one is given.
fn add(graph: &Graph, behind: Option<usize>, any: bool, steps: &mut Vec<GraphStep>) -> Result<()> {
    let mut places: HashMap<NodeId, usize> = HashMap::new();
    for id in graph.order()? {
        let node = &graph.nodes[&id];
        let mut after: Vec<usize> = node.after.iter().map(|before| places[before]).collect();
        if after.is_empty() {
            after.extend(behind);
        }
        let works = match &node.op {
            Op::Child(child) => {
                steps.push(GraphStep { work: GraphWork::Nothing, after, is_off: false });
                let first = steps.len() - 1;
                add(&child.content, Some(first), any, steps)?;
                // What follows waits for all of it.
                after = (first..steps.len()).collect();
                vec![GraphWork::Nothing]
            }
            op => works(op, any)?,
        };
        for work in works {
            steps.push(GraphStep { work, after, is_off: node.is_off });
            after = vec![steps.len() - 1];
        }
        places.insert(id, steps.len() - 1);
    }
    Ok(())
}

/// What a node does, one after the other; `any` if kernels do not launch it.
fn works(op: &Op, any: bool) -> Result<Vec<GraphWork>> {
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
        Op::Rectangle(copy, kind) if any => vec![GraphWork::Transfer(*copy, *kind)],
        Op::Rectangle(copy, _) => vec![GraphWork::Copy(*copy)],
        Op::Host(function, data) if any => {
            vec![function.map_or(GraphWork::Nothing, |function| GraphWork::Host(function, *data))]
        }
        Op::Record(event) if any => vec![GraphWork::Record(*event)],
        Op::Wait(event) if any => vec![GraphWork::Wait(*event)],
        // The memory is there since the node was made.
        Op::Allocate { .. } | Op::Free { .. } if any => vec![GraphWork::Nothing],
        Op::Conditional(conditional) if any => {
            let (condition, choice, bodies) = conditional.parts();
            let bodies = bodies.map(steps_of_all).collect::<Result<_>>()?;
            vec![GraphWork::Conditional { condition, choice, bodies }]
        }
        Op::Box(copy, kind) if any => vec![GraphWork::Box(*copy, *kind)],
        Op::Described(parameters) => {
            let kind = capi::copy_kind(parameters.kind)?;
            let work = |copy| match any {
                true => GraphWork::Transfer(copy, kind),
                false => GraphWork::Copy(copy),
            };
            match capi::rectangles(parameters) {
                Some(all) if parameters.extent.depth > 0 => all.map(work).collect(),
                Some(_) => vec![GraphWork::Nothing],
                None if any => vec![GraphWork::Box(capi::box_of(parameters)?, kind)],
                None => return Err(CudaError::NOT_SUPPORTED.into()),
            }
        }
        _ => {
            stdio::complain(
                "a graph that kernels launch can have kernels, copies within the device and sets only",
            );
            return Err(CudaError::INVALID_VALUE.into());
        }
    })
}
