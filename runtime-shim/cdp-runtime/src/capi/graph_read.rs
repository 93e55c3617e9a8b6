//! What the nodes of a graph do, read back; attributes of kernels' nodes; a picture of a graph.

use std::ffi::{CStr, c_char, c_void};
use std::fmt::Write;

use super::graph::{child_op, set_in_executable};
use super::{Dim3, HostNodeParams, KernelNodeParams, Memcpy3DParms, call, given, put};
use crate::device::LaunchAttribute;
use crate::error::{CudaError, DeviceError, Result};
use crate::graph::{self, Graph, Kernel, NodeId, Op};

/// Values on their way out of the graphs' lock.
struct Out<T>(T);

// SAFETY: pointers of the program, which the program gets back on the thread that asks.
unsafe impl<T> Send for Out<T> {}

/// What `find` finds in a node; another kind of node is an error.
pub(super) fn read<T>(node: *mut c_void, find: impl FnOnce(&Op) -> Option<T>) -> Result<T> {
    let found = graph::with(|graphs| {
        let found = find(&graphs.node(node as NodeId)?.op);
        found.map(Out).ok_or_else(|| DeviceError::from(CudaError::INVALID_VALUE))
    });
    found.map(|found| found.0)
}

fn dim(size: [u32; 3]) -> Dim3 {
    Dim3 { x: size[0], y: size[1], z: size[2] }
}

/// `cudaGraphKernelNodeGetParams`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaGraphKernelNodeGetParams(
    node: *mut c_void,
    params: *mut KernelNodeParams,
) -> u32 {
    call(|| {
        given(params)?;
        let pointers = graph::with(|graphs| graphs.pointers(node as NodeId))?;
        let found = read(node, |op| match op {
            Op::Kernel(kernel) => Some(KernelNodeParams {
                function: kernel.handle as *mut c_void,
                grid: dim(kernel.grid),
                block: dim(kernel.block),
                shared_bytes: kernel.shared_bytes as u32,
                params: pointers as *mut *mut c_void,
                extra: std::ptr::null_mut(),
            }),
            _ => None,
        })?;
        unsafe { put(params, found) }
    })
}

/// `cudaGraphHostNodeGetParams`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaGraphHostNodeGetParams(
    node: *mut c_void,
    params: *mut HostNodeParams,
) -> u32 {
    call(|| {
        let found = read(node, |op| match op {
            Op::Host(function, data) => Some(HostNodeParams { function: *function, data: *data }),
            _ => None,
        })?;
        unsafe { put(params, found) }
    })
}

/// `cudaGraphMemcpyNodeGetParams`, for copies that were described as a whole.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaGraphMemcpyNodeGetParams(
    node: *mut c_void,
    params: *mut Memcpy3DParms,
) -> u32 {
    call(|| {
        let found = read(node, |op| match op {
            Op::Described(described) => Some(*described),
            Op::Rectangle(copy, kind) => Some(Memcpy3DParms::of_rectangle(copy, *kind)),
            _ => None,
        })?;
        unsafe { put(params, found) }
    })
}

/// The functions that tell a node's event.
macro_rules! event_getters {
    ($($name:ident = $op:ident;)*) => {$(
        #[doc = concat!("`", stringify!($name), "`")]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(node: *mut c_void, event: *mut *mut c_void) -> u32 {
            call(|| {
                let found = read(node, |op| match op {
                    Op::$op(event) => Some(event.0),
                    _ => None,
                })?;
                unsafe { put(event, found as *mut c_void) }
            })
        }
    )*};
}

event_getters! {
    cudaGraphEventRecordNodeGetEvent = Record;
    cudaGraphEventWaitNodeGetEvent = Wait;
}

/// `cudaGraphChildGraphNodeGetGraph`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaGraphChildGraphNodeGetGraph(
    node: *mut c_void,
    graph: *mut *mut c_void,
) -> u32 {
    call(|| {
        given(graph)?;
        let found = graph::with(|graphs| graphs.child_of(node as NodeId))?;
        unsafe { put(graph, found as *mut c_void) }
    })
}

/// `cudaGraphExecChildGraphNodeSetParams`
#[unsafe(no_mangle)]
pub extern "C" fn cudaGraphExecChildGraphNodeSetParams(
    executable: *mut c_void,
    node: *mut c_void,
    child: *mut c_void,
) -> u32 {
    set_in_executable(executable, node, || {
        let op = child_op(child as u64)?;
        graph::with(|graphs| {
            let graph = &mut graphs.executable(executable as u64)?.graph;
            match (graph.node_mut(node as NodeId).map(|node| &node.op), &op) {
                (Some(Op::Child(old)), Op::Child(new))
                    if old.content.difference(&new.content).is_none() =>
                {
                    Ok(())
                }
                _ => Err(CudaError::INVALID_VALUE.into()),
            }
        })?;
        Ok(op)
    })
}

fn kernel_of(op: &mut Op) -> Result<&mut Kernel> {
    match op {
        Op::Kernel(kernel) => Ok(kernel),
        _ => Err(CudaError::INVALID_VALUE.into()),
    }
}

/// `cudaGraphKernelNodeSetAttribute`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaGraphKernelNodeSetAttribute(
    node: *mut c_void,
    id: u32,
    value: *const [u64; 8],
) -> u32 {
    call(|| {
        // SAFETY: null or valid, as CUDA demands of the caller.
        let value = *unsafe { value.as_ref() }.ok_or(CudaError::INVALID_VALUE)?;
        graph::with(|graphs| {
            let kernel = kernel_of(&mut graphs.node(node as NodeId)?.op)?;
            kernel.attributes.retain(|known| known.id != id);
            kernel.attributes.push(LaunchAttribute { id, pad: 0, value });
            Ok(())
        })
    })
}

/// `cudaGraphKernelNodeGetAttribute`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaGraphKernelNodeGetAttribute(
    node: *mut c_void,
    id: u32,
    value: *mut [u64; 8],
) -> u32 {
    call(|| {
        let found = graph::with(|graphs| {
            let kernel = kernel_of(&mut graphs.node(node as NodeId)?.op)?;
            let found = kernel.attributes.iter().find(|known| known.id == id);
            Ok(found.map_or([0; 8], |found| found.value))
        })?;
        unsafe { put(value, found) }
    })
}

/// `cudaGraphKernelNodeCopyAttributes`
#[unsafe(no_mangle)]
pub extern "C" fn cudaGraphKernelNodeCopyAttributes(to: *mut c_void, from: *mut c_void) -> u32 {
    call(|| {
        graph::with(|graphs| {
            let source = kernel_of(&mut graphs.node(from as NodeId)?.op)?.attributes.clone();
            kernel_of(&mut graphs.node(to as NodeId)?.op)?.attributes = source;
            Ok(())
        })
    })
}

const KINDS: [&str; 14] = [
    "KERNEL",
    "MEMCPY",
    "MEMSET",
    "HOST",
    "GRAPH",
    "EMPTY",
    "WAIT_EVENT",
    "EVENT_RECORD",
    "EXT_SEMAS_SIGNAL",
    "EXT_SEMAS_WAIT",
    "MEM_ALLOC",
    "MEM_FREE",
    "BATCH_MEM_OP",
    "CONDITIONAL",
];

/// The nodes and edges in the language of Graphviz.
fn picture(graph: &Graph) -> String {
    let mut text = "digraph dot {\n".to_string();
    let places: Vec<NodeId> = graph.nodes.keys().copied().collect();
    let place = |node: &NodeId| places.iter().position(|known| known == node).unwrap_or_default();
    for (node, content) in &graph.nodes {
        let (number, kind) = (place(node), KINDS[content.op.kind() as usize]);
        // Writing to a string does not fail.
        let _ = writeln!(text, "\"node_{number}\" [label=\"{number}\\n{kind}\" shape=\"box\"];");
    }
    for (node, content) in &graph.nodes {
        for before in &content.after {
            let _ = writeln!(text, "\"node_{}\" -> \"node_{}\";", place(before), place(node));
        }
    }
    text + "}\n"
}

/// `cudaGraphDebugDotPrint`: kinds and edges; the flags ask for more, which is not written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaGraphDebugDotPrint(
    graph: *mut c_void,
    path: *const c_char,
    _flags: u32,
) -> u32 {
    call(|| {
        given(path.cast_mut())?;
        // SAFETY: a string, as CUDA demands of the caller.
        let path = unsafe { CStr::from_ptr(path) }.to_string_lossy().into_owned();
        let text = graph::with(|graphs| Ok(picture(graphs.graph(graph as u64)?)))?;
        std::fs::write(path, text).map_err(|_| CudaError::OPERATING_SYSTEM.into())
    })
}
