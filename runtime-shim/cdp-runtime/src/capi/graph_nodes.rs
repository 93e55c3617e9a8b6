//! What a graph consists of: its nodes, what depends on what, and what a node is.

use std::ffi::c_void;

use super::graph::handles;
use super::{call, given, put};
use crate::error::{CudaError, Result};
use crate::graph::{self, Graphs, NodeId, Op, Set};

/// Gives out handles by CUDA's rule: their number without a target, else as many as there is room for, and
/// nulls behind them.
///
/// # Safety
/// `count` is valid, `target` null or of `*count` elements.
unsafe fn give(found: &[u64], target: *mut *mut c_void, count: *mut usize) -> Result<()> {
    given(count)?;
    // SAFETY: the caller's promise, here and below.
    unsafe {
        if !target.is_null() {
            for index in 0..*count {
                let handle = found.get(index).copied().unwrap_or(0);
                target.add(index).write(handle as *mut c_void);
            }
        }
        if target.is_null() || *count > found.len() {
            count.write(found.len());
        }
    }
    Ok(())
}

unsafe fn edges(
    graph: *mut c_void,
    from: *const *mut c_void,
    to: *const *mut c_void,
    count: usize,
    change: impl Fn(&mut Vec<NodeId>, NodeId) -> bool,
) -> Result<()> {
    // SAFETY: arrays of `count` elements, as CUDA demands of the caller.
    let (from, to) = unsafe { (handles(from, count)?, handles(to, count)?) };
    graph::with(|graphs| {
        let nodes = &mut graphs.graph(graph as u64)?.nodes;
        for (from, to) in from.iter().zip(&to) {
            let known = nodes.contains_key(from) && from != to;
            let node = nodes.get_mut(to).filter(|_| known).ok_or(CudaError::INVALID_VALUE)?;
            if !change(&mut node.after, *from) {
                return Err(CudaError::INVALID_VALUE.into());
            }
        }
        Ok(())
    })
}

/// `cudaGraphAddDependencies`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaGraphAddDependencies(
    graph: *mut c_void,
    from: *const *mut c_void,
    to: *const *mut c_void,
    _edge_data: *const c_void,
    count: usize,
) -> u32 {
    let add = |after: &mut Vec<NodeId>, node: NodeId| {
        let is_new = !after.contains(&node);
        after.push(node);
        is_new
    };
    call(|| unsafe { edges(graph, from, to, count, add) })
}

/// `cudaGraphRemoveDependencies`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaGraphRemoveDependencies(
    graph: *mut c_void,
    from: *const *mut c_void,
    to: *const *mut c_void,
    _edge_data: *const c_void,
    count: usize,
) -> u32 {
    let remove = |after: &mut Vec<NodeId>, node: NodeId| {
        let before = after.len();
        after.retain(|known| *known != node);
        after.len() < before
    };
    call(|| unsafe { edges(graph, from, to, count, remove) })
}

/// Gives out what `find` finds among the graphs.
unsafe fn list(
    target: *mut *mut c_void,
    count: *mut usize,
    find: impl FnOnce(&mut Graphs) -> Result<Vec<NodeId>>,
) -> u32 {
    call(|| {
        let found = graph::with(find)?;
        unsafe { give(&found, target, count) }
    })
}

/// `cudaGraphGetNodes`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaGraphGetNodes(
    graph: *mut c_void,
    nodes: *mut *mut c_void,
    count: *mut usize,
) -> u32 {
    let all = |graphs: &mut Graphs| Ok(graphs.graph(graph as u64)?.nodes.keys().copied().collect());
    unsafe { list(nodes, count, all) }
}

/// `cudaGraphGetRootNodes`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaGraphGetRootNodes(
    graph: *mut c_void,
    nodes: *mut *mut c_void,
    count: *mut usize,
) -> u32 {
    let roots = |graphs: &mut Graphs| {
        let nodes = &graphs.graph(graph as u64)?.nodes;
        let roots = nodes.iter().filter(|(_, node)| node.after.is_empty());
        Ok(roots.map(|(handle, _)| *handle).collect())
    };
    unsafe { list(nodes, count, roots) }
}

/// `cudaGraphGetEdges`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaGraphGetEdges(
    graph: *mut c_void,
    from: *mut *mut c_void,
    to: *mut *mut c_void,
    _edge_data: *mut c_void,
    count: *mut usize,
) -> u32 {
    call(|| {
        let found: Vec<(NodeId, NodeId)> = graph::with(|graphs| {
            let nodes = &graphs.graph(graph as u64)?.nodes;
            let into = |(to, node): (&NodeId, &graph::Node)| {
                let to = *to;
                node.after.clone().into_iter().map(move |from| (from, to))
            };
            Ok(nodes.iter().flat_map(into).collect())
        })?;
        let (sources, targets): (Vec<u64>, Vec<u64>) = found.into_iter().unzip();
        given(count)?;
        unsafe {
            let mut room = *count;
            give(&sources, from, &mut room)?;
            give(&targets, to, count)
        }
    })
}

/// `cudaGraphNodeGetDependencies`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaGraphNodeGetDependencies(
    node: *mut c_void,
    nodes: *mut *mut c_void,
    _edge_data: *mut c_void,
    count: *mut usize,
) -> u32 {
    unsafe { list(nodes, count, |graphs| Ok(graphs.node(node as NodeId)?.after.clone())) }
}

/// `cudaGraphNodeGetDependentNodes`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaGraphNodeGetDependentNodes(
    node: *mut c_void,
    nodes: *mut *mut c_void,
    _edge_data: *mut c_void,
    count: *mut usize,
) -> u32 {
    let dependents = |graphs: &mut Graphs| {
        let all = &graphs.owner(node as NodeId)?.nodes;
        let found = all.iter().filter(|(_, other)| other.after.contains(&(node as NodeId)));
        Ok(found.map(|(handle, _)| *handle).collect())
    };
    unsafe { list(nodes, count, dependents) }
}

/// `cudaGraphNodeGetType`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaGraphNodeGetType(node: *mut c_void, kind: *mut u32) -> u32 {
    call(|| {
        let found = graph::with(|graphs| Ok(graphs.node(node as NodeId)?.op.kind()))?;
        unsafe { put(kind, found) }
    })
}

/// `cudaGraphMemsetNodeGetParams`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaGraphMemsetNodeGetParams(node: *mut c_void, params: *mut Set) -> u32 {
    call(|| {
        let found = graph::with(|graphs| match graphs.node(node as NodeId)?.op {
            Op::Set(set) => Ok(SendSet(set)),
            _ => Err(CudaError::INVALID_VALUE.into()),
        })?;
        unsafe { put(params, found.0) }
    })
}

/// A fill on its way out of the graphs' lock.
struct SendSet(Set);
