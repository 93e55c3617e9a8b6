//! Nodes of any kind by one description, `cudaGraphNodeParams`: the calls for one kind are in `graph`.

use std::ffi::c_void;

use super::graph::{
    add, copy_op, event_of, host_op, kernel_op, set_in_executable, set_in_graph, set_op,
};
use super::{HostNodeParams, KernelNodeParams, Memcpy3DParms};
use crate::error::{CudaError, Result};
use crate::graph::{self, Op, Set};
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
            4 => graph::with(|graphs| Ok(Op::Child(graphs.graph(of.handle as u64)?.clone()))),
            5 => Ok(Op::Empty),
            6 => Ok(Op::Wait(event_of(of.handle))),
            7 => Ok(Op::Record(event_of(of.handle))),
            8..=11 | 13 => {
                let kind = match params.kind {
                    8 | 9 => "semaphores of other programming interfaces",
                    10 | 11 => "memory that a node allocates or frees (use cudaMallocAsync)",
                    _ => "conditional nodes",
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
    params: *const NodeParams,
) -> u32 {
    unsafe { add(node, graph, after, count, || any_op(params)) }
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
