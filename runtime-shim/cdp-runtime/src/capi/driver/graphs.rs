//! Graphs and their nodes. The driver describes nodes as the runtime does, but for copies, which are its own, and
//! for kernels, which it calls by two kinds of handles.

use std::ffi::{c_char, c_void};

use super::super::graph::{add, kernel_op, set_in_executable, set_in_graph};
use super::super::graph_read;
use super::*;
use crate::driver_copy::Cuboid;
use crate::graph::{Op, Set};

type Graph = *mut c_void;
type Node = *mut c_void;
type Made = *mut *mut c_void;
type Nodes = *const *mut c_void;
type Stream = *mut c_void;
type Edges = *const c_void;

/// `CUDA_KERNEL_NODE_PARAMS`, as of CUDA 12.
#[repr(C)]
pub struct KernelNode {
    params: KernelNodeParams,
    kernel: *mut c_void,
    context: *mut c_void,
}

impl KernelNode {
    /// The function, or the kernel that is given in its place, launched so.
    ///
    /// # Safety
    /// As for [`kernel_op`].
    unsafe fn op(given: *const KernelNode) -> Result<Op> {
        let given = unsafe { given.as_ref() }.ok_or(CudaError::INVALID_VALUE)?;
        let KernelNodeParams { function, grid, block, shared_bytes, params, extra } = given.params;
        let function = if function.is_null() { given.kernel } else { function };
        unsafe {
            kernel_op(&KernelNodeParams { function, grid, block, shared_bytes, params, extra })
        }
    }
}

/// `CUDA_MEMCPY_NODE_PARAMS`
#[repr(C)]
struct CopyNode {
    flags: i32,
    reserved: i32,
    context: *mut c_void,
    copy: Cuboid,
}

/// # Safety
/// `copy` is null or valid.
unsafe fn copy_op(copy: *const Cuboid) -> Result<Op> {
    let given = unsafe { copy.as_ref() }.ok_or(CudaError::INVALID_VALUE)?;
    Ok(Op::Box(given.copy()?, given.kind()))
}

/// The description of what a node copies; `None` if it does something else.
fn copied(op: &Op) -> Option<Cuboid> {
    match op {
        Op::Box(copy, kind) => Some(Cuboid::new(copy, *kind)),
        Op::Rectangle(copy, kind) => Some(Cuboid::rectangle(copy, *kind)),
        _ => None,
    }
}

/// What a described node does where the runtime's description of it is another; else `None`.
///
/// # Safety
/// `params` is null or valid, its union that of its kind.
unsafe fn own_op(params: *const NodeParams) -> Option<Result<Op>> {
    const KERNEL: u32 = 0;
    const COPY: u32 = 1;
    let params = unsafe { params.as_ref() }?;
    let of = &raw const params.of;
    match params.kind {
        KERNEL => Some(unsafe { KernelNode::op(of.cast()) }),
        COPY => Some(unsafe { copy_op(&raw const (*of.cast::<CopyNode>()).copy) }),
        _ => None,
    }
}

/// `cuGraphAddNode`
///
/// # Safety
/// As CUDA demands of the caller.
unsafe fn add_any(
    (node, graph): (Made, Graph),
    (after, edges, count): (Nodes, Edges, usize),
    params: *mut NodeParams,
) -> u32 {
    match unsafe { own_op(params) } {
        Some(op) => unsafe { add(node, graph, after, count, || op) },
        None => unsafe { cudaGraphAddNode(node, graph, after, edges, count, params) },
    }
}

driver_functions! {
    Context fn cuGraphCreate(graph: Made, flags: u32) { cudaGraphCreate(graph, flags) }
    Context fn cuGraphDestroy(graph: Graph) { cudaGraphDestroy(graph) }
    Context fn cuGraphClone(clone: Made, graph: Graph) { cudaGraphClone(clone, graph) }
    Context fn cuGraphGetNodes(graph: Graph, nodes: Made, count: *mut usize) { cudaGraphGetNodes(graph, nodes, count) }
    Context fn cuGraphInstantiateWithFlags(executable: Made, graph: Graph, flags: u64) {
        cudaGraphInstantiateWithFlags(executable, graph, flags)
    }
    Context fn cuGraphUpload(executable: Graph, stream: Stream) { cudaGraphUpload(executable, stream) }
    Context fn cuGraphLaunch(executable: Graph, stream: Stream) { cudaGraphLaunch(executable, stream) }
    Context fn cuGraphExecDestroy(executable: Graph) { cudaGraphExecDestroy(executable) }
    Context fn cuGraphDebugDotPrint(graph: Graph, path: *const c_char, flags: u32) {
        cudaGraphDebugDotPrint(graph, path, flags)
    }
    Context fn cuGraphInstantiate(executable: Made, graph: Graph, error: Made, log: *mut c_char, bytes: usize) {
        cuGraphInstantiate_v2(executable, graph, error, log, bytes)
    }
    Context fn cuGraphInstantiate_v2(executable: Made, graph: Graph, error: Made, log: *mut c_char, bytes: usize) {
        offer(error, std::ptr::null_mut());
        if !log.is_null() && bytes > 0 {
            log.write(0);
        }
        cudaGraphInstantiate(executable, graph, 0)
    }
    Context fn cuGraphInstantiateWithParams(executable: Made, graph: Graph, params: *mut InstantiateParams) {
        cudaGraphInstantiateWithParams(executable, graph, params)
    }
    Context fn cuGraphExecGetFlags(executable: Graph, flags: *mut u64) { cudaGraphExecGetFlags(executable, flags) }
    Context fn cuGraphExecUpdate(executable: Graph, graph: Graph, error: Made, result: *mut u32) {
        let none = std::ptr::null_mut();
        let mut known = UpdateResult { result: 0, error_node: none, error_from_node: none };
        let code = cudaGraphExecUpdate(executable, graph, &mut known);
        offer(error, known.error_node);
        offer(result, known.result);
        code
    }
    Context fn cuGraphExecUpdate_v2(executable: Graph, graph: Graph, result: *mut UpdateResult) {
        cudaGraphExecUpdate(executable, graph, result)
    }
    Context fn cuGraphDestroyNode(node: Node) { cudaGraphDestroyNode(node) }
    Context fn cuGraphNodeFindInClone(found: Made, node: Node, clone: Graph) {
        cudaGraphNodeFindInClone(found, node, clone)
    }
    Context fn cuGraphNodeGetType(node: Node, kind: *mut u32) { cudaGraphNodeGetType(node, kind) }
    Context fn cuGraphNodeGetEnabled(executable: Graph, node: Node, enabled: *mut u32) {
        cudaGraphNodeGetEnabled(executable, node, enabled)
    }
    Context fn cuGraphNodeSetEnabled(executable: Graph, node: Node, enabled: u32) {
        cudaGraphNodeSetEnabled(executable, node, enabled)
    }
    Context fn cuGraphGetRootNodes(graph: Graph, nodes: Made, count: *mut usize) {
        cudaGraphGetRootNodes(graph, nodes, count)
    }
    Context fn cuGraphGetEdges(graph: Graph, from: Made, to: Made, count: *mut usize) {
        cudaGraphGetEdges(graph, from, to, std::ptr::null_mut(), count)
    }
    Context fn cuGraphGetEdges_v2(graph: Graph, from: Made, to: Made, edges: *mut c_void, count: *mut usize) {
        cudaGraphGetEdges(graph, from, to, edges, count)
    }
    Context fn cuGraphNodeGetDependencies(node: Node, nodes: Made, count: *mut usize) {
        cudaGraphNodeGetDependencies(node, nodes, std::ptr::null_mut(), count)
    }
    Context fn cuGraphNodeGetDependencies_v2(node: Node, nodes: Made, edges: *mut c_void, count: *mut usize) {
        cudaGraphNodeGetDependencies(node, nodes, edges, count)
    }
    Context fn cuGraphNodeGetDependentNodes(node: Node, nodes: Made, count: *mut usize) {
        cudaGraphNodeGetDependentNodes(node, nodes, std::ptr::null_mut(), count)
    }
    Context fn cuGraphNodeGetDependentNodes_v2(node: Node, nodes: Made, edges: *mut c_void, count: *mut usize) {
        cudaGraphNodeGetDependentNodes(node, nodes, edges, count)
    }
    Context fn cuGraphAddDependencies(graph: Graph, from: Nodes, to: Nodes, count: usize) {
        cudaGraphAddDependencies(graph, from, to, std::ptr::null(), count)
    }
    Context fn cuGraphAddDependencies_v2(graph: Graph, from: Nodes, to: Nodes, edges: Edges, count: usize) {
        cudaGraphAddDependencies(graph, from, to, edges, count)
    }
    Context fn cuGraphRemoveDependencies(graph: Graph, from: Nodes, to: Nodes, count: usize) {
        cudaGraphRemoveDependencies(graph, from, to, std::ptr::null(), count)
    }
    Context fn cuGraphRemoveDependencies_v2(graph: Graph, from: Nodes, to: Nodes, edges: Edges, count: usize) {
        cudaGraphRemoveDependencies(graph, from, to, edges, count)
    }
    Context fn cuGraphAddEmptyNode(node: Made, graph: Graph, after: Nodes, count: usize) {
        cudaGraphAddEmptyNode(node, graph, after, count)
    }
    Context fn cuGraphAddKernelNode(node: Made, graph: Graph, after: Nodes, count: usize, params: *const KernelNodeParams) {
        cudaGraphAddKernelNode(node, graph, after, count, params)
    }
    Context fn cuGraphAddKernelNode_v2(node: Made, graph: Graph, after: Nodes, count: usize, params: *const KernelNode) {
        add(node, graph, after, count, || KernelNode::op(params))
    }
    Context fn cuGraphAddMemcpyNode(
        node: Made, graph: Graph, after: Nodes, count: usize, copy: *const Cuboid, _context: *mut c_void,
    ) {
        add(node, graph, after, count, || copy_op(copy))
    }
    Context fn cuGraphAddMemsetNode(
        node: Made, graph: Graph, after: Nodes, count: usize, set: *const Set, _context: *mut c_void,
    ) {
        cudaGraphAddMemsetNode(node, graph, after, count, set)
    }
    Context fn cuGraphAddHostNode(node: Made, graph: Graph, after: Nodes, count: usize, params: *const HostNodeParams) {
        cudaGraphAddHostNode(node, graph, after, count, params)
    }
    Context fn cuGraphAddChildGraphNode(node: Made, graph: Graph, after: Nodes, count: usize, child: Graph) {
        cudaGraphAddChildGraphNode(node, graph, after, count, child)
    }
    Context fn cuGraphAddEventRecordNode(node: Made, graph: Graph, after: Nodes, count: usize, event: *mut c_void) {
        cudaGraphAddEventRecordNode(node, graph, after, count, event)
    }
    Context fn cuGraphAddEventWaitNode(node: Made, graph: Graph, after: Nodes, count: usize, event: *mut c_void) {
        cudaGraphAddEventWaitNode(node, graph, after, count, event)
    }
    Context fn cuGraphAddMemAllocNode(node: Made, graph: Graph, after: Nodes, count: usize, params: *mut AllocNodeParams) {
        cudaGraphAddMemAllocNode(node, graph, after, count, params)
    }
    Context fn cuGraphAddMemFreeNode(node: Made, graph: Graph, after: Nodes, count: usize, address: u64) {
        cudaGraphAddMemFreeNode(node, graph, after, count, address as *mut c_void)
    }
    Context fn cuGraphAddNode(node: Made, graph: Graph, after: Nodes, count: usize, params: *mut NodeParams) {
        add_any((node, graph), (after, std::ptr::null(), count), params)
    }
    Context fn cuGraphAddNode_v2(
        node: Made, graph: Graph, after: Nodes, edges: Edges, count: usize, params: *mut NodeParams,
    ) {
        add_any((node, graph), (after, edges, count), params)
    }
    Context fn cuGraphNodeSetParams(node: Node, params: *mut NodeParams) {
        match own_op(params) {
            Some(op) => set_in_graph(node, || op),
            None => cudaGraphNodeSetParams(node, params),
        }
    }
    Context fn cuGraphExecNodeSetParams(executable: Graph, node: Node, params: *mut NodeParams) {
        match own_op(params) {
            Some(op) => set_in_executable(executable, node, || op),
            None => cudaGraphExecNodeSetParams(executable, node, params),
        }
    }
    Context fn cuGraphKernelNodeGetParams(node: Node, params: *mut KernelNodeParams) {
        cudaGraphKernelNodeGetParams(node, params)
    }
    Context fn cuGraphKernelNodeGetParams_v2(node: Node, target: *mut KernelNode) {
        match target.as_mut() {
            None => CudaError::INVALID_VALUE.0,
            Some(target) => {
                target.kernel = std::ptr::null_mut();
                target.context = context::current() as *mut c_void;
                cudaGraphKernelNodeGetParams(node, &mut target.params)
            }
        }
    }
    Context fn cuGraphKernelNodeSetParams(node: Node, params: *const KernelNodeParams) {
        cudaGraphKernelNodeSetParams(node, params)
    }
    Context fn cuGraphKernelNodeSetParams_v2(node: Node, params: *const KernelNode) {
        set_in_graph(node, || KernelNode::op(params))
    }
    Context fn cuGraphExecKernelNodeSetParams(executable: Graph, node: Node, params: *const KernelNodeParams) {
        cudaGraphExecKernelNodeSetParams(executable, node, params)
    }
    Context fn cuGraphExecKernelNodeSetParams_v2(executable: Graph, node: Node, params: *const KernelNode) {
        set_in_executable(executable, node, || KernelNode::op(params))
    }
    Context fn cuGraphKernelNodeGetAttribute(node: Node, id: u32, value: *mut [u64; 8]) {
        cudaGraphKernelNodeGetAttribute(node, id, value)
    }
    Context fn cuGraphKernelNodeSetAttribute(node: Node, id: u32, value: *const [u64; 8]) {
        cudaGraphKernelNodeSetAttribute(node, id, value)
    }
    Context fn cuGraphKernelNodeCopyAttributes(to: Node, from: Node) { cudaGraphKernelNodeCopyAttributes(to, from) }
    Context fn cuGraphMemcpyNodeGetParams(node: Node, copy: *mut Cuboid) {
        call(|| {
            given(copy)?;
            put(copy, graph_read::read(node, copied)?)
        })
    }
    Context fn cuGraphMemcpyNodeSetParams(node: Node, copy: *const Cuboid) { set_in_graph(node, || copy_op(copy)) }
    Context fn cuGraphExecMemcpyNodeSetParams(
        executable: Graph, node: Node, copy: *const Cuboid, _context: *mut c_void,
    ) {
        set_in_executable(executable, node, || copy_op(copy))
    }
    Context fn cuGraphMemsetNodeGetParams(node: Node, set: *mut Set) { cudaGraphMemsetNodeGetParams(node, set) }
    Context fn cuGraphMemsetNodeSetParams(node: Node, set: *const Set) { cudaGraphMemsetNodeSetParams(node, set) }
    Context fn cuGraphExecMemsetNodeSetParams(executable: Graph, node: Node, set: *const Set, _context: *mut c_void) {
        cudaGraphExecMemsetNodeSetParams(executable, node, set)
    }
    Context fn cuGraphHostNodeGetParams(node: Node, params: *mut HostNodeParams) {
        cudaGraphHostNodeGetParams(node, params)
    }
    Context fn cuGraphHostNodeSetParams(node: Node, params: *const HostNodeParams) {
        cudaGraphHostNodeSetParams(node, params)
    }
    Context fn cuGraphExecHostNodeSetParams(executable: Graph, node: Node, params: *const HostNodeParams) {
        cudaGraphExecHostNodeSetParams(executable, node, params)
    }
    Context fn cuGraphChildGraphNodeGetGraph(node: Node, graph: Made) { cudaGraphChildGraphNodeGetGraph(node, graph) }
    Context fn cuGraphExecChildGraphNodeSetParams(executable: Graph, node: Node, child: Graph) {
        cudaGraphExecChildGraphNodeSetParams(executable, node, child)
    }
    Context fn cuGraphEventRecordNodeGetEvent(node: Node, event: Made) { cudaGraphEventRecordNodeGetEvent(node, event) }
    Context fn cuGraphEventRecordNodeSetEvent(node: Node, event: *mut c_void) {
        cudaGraphEventRecordNodeSetEvent(node, event)
    }
    Context fn cuGraphExecEventRecordNodeSetEvent(executable: Graph, node: Node, event: *mut c_void) {
        cudaGraphExecEventRecordNodeSetEvent(executable, node, event)
    }
    Context fn cuGraphEventWaitNodeGetEvent(node: Node, event: Made) { cudaGraphEventWaitNodeGetEvent(node, event) }
    Context fn cuGraphEventWaitNodeSetEvent(node: Node, event: *mut c_void) { cudaGraphEventWaitNodeSetEvent(node, event) }
    Context fn cuGraphExecEventWaitNodeSetEvent(executable: Graph, node: Node, event: *mut c_void) {
        cudaGraphExecEventWaitNodeSetEvent(executable, node, event)
    }
    Context fn cuGraphMemAllocNodeGetParams(node: Node, params: *mut AllocNodeParams) {
        cudaGraphMemAllocNodeGetParams(node, params)
    }
    Context fn cuGraphMemFreeNodeGetParams(node: Node, address: *mut u64) {
        cudaGraphMemFreeNodeGetParams(node, address.cast())
    }
    Context fn cuGraphConditionalHandleCreate(
        handle: *mut u64, graph: Graph, _context: *mut c_void, first: u32, flags: u32,
    ) {
        cudaGraphConditionalHandleCreate(handle, graph, first, flags)
    }
    Context fn cuGraphRetainUserObject(graph: Graph, object: *mut c_void, count: u32, flags: u32) {
        cudaGraphRetainUserObject(graph, object, count, flags)
    }
    Context fn cuGraphReleaseUserObject(graph: Graph, object: *mut c_void, count: u32) {
        cudaGraphReleaseUserObject(graph, object, count)
    }
    Start fn cuUserObjectCreate(
        object: Made, data: *mut c_void, destroy: Option<HostFunction>, references: u32, flags: u32,
    ) {
        cudaUserObjectCreate(object, data, destroy, references, flags)
    }
    Start fn cuUserObjectRetain(object: *mut c_void, count: u32) { cudaUserObjectRetain(object, count) }
    Start fn cuUserObjectRelease(object: *mut c_void, count: u32) { cudaUserObjectRelease(object, count) }
    Start fn cuDeviceGetGraphMemAttribute(device: i32, attribute: u32, value: *mut c_void) {
        cudaDeviceGetGraphMemAttribute(device, attribute, value)
    }
    Start fn cuDeviceSetGraphMemAttribute(device: i32, attribute: u32, value: *mut c_void) {
        cudaDeviceSetGraphMemAttribute(device, attribute, value)
    }
    Start fn cuDeviceGraphMemTrim(device: i32) { cudaDeviceGraphMemTrim(device) }
}

per_thread_variants! {
    cuGraphLaunch_ptsz = cuGraphLaunch(executable: Graph, stream: Stream) in stream;
    cuGraphUpload_ptsz = cuGraphUpload(executable: Graph, stream: Stream) in stream;
}

waiting_variants! {
    cuGraphInstantiateWithParams_ptsz = cuGraphInstantiateWithParams(executable: Made, graph: Graph, params: *mut InstantiateParams);
}
