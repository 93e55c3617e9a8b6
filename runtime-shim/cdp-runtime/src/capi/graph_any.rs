//! Nodes of any kind by one description, `cudaGraphNodeParams`: the calls for one kind are in `graph`.

use std::ffi::c_void;

use super::graph::{
    add, child_op, copy_op, event_of, handles, host_op, kernel_op, set_in_executable, set_in_graph,
    set_op,
};
use super::{HostNodeParams, KernelNodeParams, Memcpy3DParms, call, given, graph_memory, put};
use crate::error::{CudaError, Result};
use crate::graph::{Op, Set, condition};
use crate::stdio;

/// `cudaGraphNodeParams`
#[repr(C)]
#[allow(missing_docs)]
pub struct NodeParams {
    pub kind: u32,
    pub reserved: [i32; 3],
    pub of: NodeUnion,
    pub reserved_too: i64,
}

/// The union of `cudaGraphNodeParams`. The kinds' own descriptions begin as those of the older calls.
#[repr(C)]
#[allow(missing_docs)]
pub union NodeUnion {
    pub kernel: std::mem::ManuallyDrop<KernelNodeParams>,
    pub copy: CopyNodeParams,
    pub set: Set,
    pub host: std::mem::ManuallyDrop<HostNodeParams>,
    /// A graph or an event.
    pub handle: *mut c_void,
    pub conditional: ConditionalNodeParams,
    pub reserved: [i64; 29],
}

/// `cudaMemcpyNodeParams`
#[repr(C)]
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub struct CopyNodeParams {
    pub flags: i32,
    pub reserved: [i32; 3],
    pub params: Memcpy3DParms,
}

/// `cudaConditionalNodeParams`
#[repr(C)]
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub struct ConditionalNodeParams {
    pub condition: u64,
    pub choice: u32,
    pub count: u32,
    /// Written: the graphs.
    pub bodies: *const u64,
}

const _: () = assert!(size_of::<NodeParams>() == 256);

/// What a described node does.
///
/// # Safety
/// `params` is null or valid, its union that of its kind.
unsafe fn any_op(params: *const NodeParams) -> Result<Op> {
    // SAFETY: the caller's promise, here and below.
    let params = unsafe { params.as_ref() }.ok_or(CudaError::INVALID_VALUE)?;
    let of = &params.of;
    unsafe {
        match params.kind {
            0 => kernel_op(&*of.kernel),
            1 => copy_op(&of.copy.params),
            2 => set_op(&of.set),
            3 => host_op(&*of.host),
            4 => child_op(of.handle as u64),
            5 => Ok(Op::Empty),
            6 => Ok(Op::Wait(event_of(of.handle))),
            7 => Ok(Op::Record(event_of(of.handle))),
            11 => graph_memory::free_op(of.handle),
            8..=10 | 13 => {
                let kind = match params.kind {
                    8 | 9 => "semaphores of other programming interfaces",
                    10 => "other parameters for memory that a node allocates",
                    _ => "other parameters for conditional nodes",
                };
                stdio::complain(&format!("graphs: {kind}: not supported"));
                Err(CudaError::NOT_SUPPORTED.into())
            }
            _ => Err(CudaError::INVALID_VALUE.into()),
        }
    }
}

/// `cudaGraphAddNode`. What is said of the edges lets nodes overlap, and is not followed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaGraphAddNode(
    node: *mut *mut c_void,
    graph: *mut c_void,
    after: *const *mut c_void,
    _edge_data: *const c_void,
    count: usize,
    params: *mut NodeParams,
) -> u32 {
    const ALLOCATION: u32 = 10;
    const CONDITIONAL: u32 = 13;
    // SAFETY: null or valid, as CUDA demands of the caller; here and below.
    match unsafe { params.as_ref() }.map(|params| params.kind) {
        Some(ALLOCATION) => {
            let params = unsafe { &raw mut (*params).of }.cast();
            return unsafe { add(node, graph, after, count, || graph_memory::alloc_op(params)) };
        }
        Some(CONDITIONAL) => {}
        _ => return unsafe { add(node, graph, after, count, || any_op(params)) },
    }
    call(|| {
        given(node)?;
        let after = unsafe { handles(after, count)? };
        let params = unsafe { &mut (*params).of.conditional };
        let ConditionalNodeParams { condition, choice, count, .. } = *params;
        let (made, bodies) = condition::add(graph as u64, &after, condition, choice, count)?;
        params.bodies = bodies.as_ptr();
        unsafe { put(node, made as *mut c_void) }
    })
}

/// `cudaGraphConditionalHandleCreate`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaGraphConditionalHandleCreate(
    target: *mut u64,
    graph: *mut c_void,
    first: u32,
    flags: u32,
) -> u32 {
    call(|| {
        given(target)?;
        let made = condition::create(graph as u64, first, flags)?;
        unsafe { put(target, made) }
    })
}

/// `cudaGraphNodeSetParams`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaGraphNodeSetParams(
    node: *mut c_void,
    params: *const NodeParams,
) -> u32 {
    set_in_graph(node, || unsafe { any_op(params) })
}

/// `cudaGraphExecNodeSetParams`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaGraphExecNodeSetParams(
    executable: *mut c_void,
    node: *mut c_void,
    params: *const NodeParams,
) -> u32 {
    set_in_executable(executable, node, || unsafe { any_op(params) })
}
