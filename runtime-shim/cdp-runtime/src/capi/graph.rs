//! Graphs: making them node by node, making them executable, launching and changing them.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::PoisonError;

use super::copies::{Memcpy3DParms, copy_kind, line};
use super::host::HostFunction;
use super::param_buffer::in_buffer;
use super::{Dim3, call, given, put, user_object};
use crate::device::{EventHandle, StreamHandle};
use crate::error::{CudaError, Result};
use crate::graph::{
    self, Difference, Executable, Kernel, NodeId, Op, Set, capture, condition, launchable,
};
use crate::process;

/// `cudaKernelNodeParams`
#[repr(C)]
#[allow(missing_docs)]
pub struct KernelNodeParams {
    pub function: *mut c_void,
    pub grid: Dim3,
    pub block: Dim3,
    pub shared_bytes: u32,
    pub params: *mut *mut c_void,
    pub extra: *mut *mut c_void,
}

/// `cudaHostNodeParams`
#[repr(C)]
#[allow(missing_docs)]
pub struct HostNodeParams {
    pub function: Option<HostFunction>,
    pub data: *mut c_void,
}

/// `cudaGraphInstantiateParams`
#[repr(C)]
#[allow(missing_docs)]
pub struct InstantiateParams {
    pub flags: u64,
    pub upload_stream: *mut c_void,
    pub error_node: *mut c_void,
    pub result: u32,
}

/// `cudaGraphExecUpdateResultInfo`
#[repr(C)]
#[allow(missing_docs)]
pub struct UpdateResult {
    pub result: u32,
    pub error_node: *mut c_void,
    pub error_from_node: *mut c_void,
}

/// # Safety
/// `first` is null with `count` 0, or points to `count` handles.
pub(super) unsafe fn handles(first: *const *mut c_void, count: usize) -> Result<Vec<u64>> {
    if count == 0 {
        return Ok(Vec::new());
    }
    given(first.cast_mut())?;
    // SAFETY: the caller's promise.
    let all = unsafe { std::slice::from_raw_parts(first, count) };
    Ok(all.iter().map(|handle| *handle as u64).collect())
}

/// Adds a node for what `op` makes.
///
/// # Safety
/// `node` is null or valid, `after` of `count` elements.
pub(super) unsafe fn add(
    node: *mut *mut c_void,
    graph: *mut c_void,
    after: *const *mut c_void,
    count: usize,
    op: impl FnOnce() -> Result<Op>,
) -> u32 {
    call(|| {
        given(node)?;
        // SAFETY: the caller's promise, here and below.
        let after = unsafe { handles(after, count)? };
        let op = op()?;
        let made = graph::with(|graphs| graphs.add(graph as u64, op, &after))?;
        unsafe { put(node, made as *mut c_void) }
    })
}

/// # Safety
/// The parameters are valid, those of the kernel as its host function declares them.
pub(super) unsafe fn kernel_op(params: *const KernelNodeParams) -> Result<Op> {
    // SAFETY: the caller's promise, here and below.
    let given = unsafe { params.as_ref() }.ok_or(CudaError::INVALID_VALUE)?;
    let (grid, block) = (given.grid, given.block);
    let mut in_buffer = match given.extra.is_null() {
        true => None,
        false => Some(unsafe { in_buffer(given.function, given.params, given.extra)? }),
    };
    let pointers = in_buffer.as_mut().map_or(given.params, |pointers| pointers.as_mut_ptr());
    let params = unsafe { super::kernel::param_bytes(given.function, pointers)? };
    Ok(Op::Kernel(Kernel {
        handle: given.function as usize,
        grid: [grid.x, grid.y, grid.z],
        block: [block.x, block.y, block.z],
        shared_bytes: u64::from(given.shared_bytes),
        attributes: Vec::new(),
        params: params.iter().map(|bytes| Box::from(*bytes)).collect(),
    }))
}

pub(super) unsafe fn set_op(params: *const Set) -> Result<Op> {
    // SAFETY: null or valid, as CUDA demands of the caller; here and below.
    let set = unsafe { params.as_ref() }.ok_or(CudaError::INVALID_VALUE)?;
    match set.element_bytes {
        1 | 2 | 4 => Ok(Op::Set(*set)),
        _ => Err(CudaError::INVALID_VALUE.into()),
    }
}

pub(super) unsafe fn copy_op(params: *const Memcpy3DParms) -> Result<Op> {
    let params = unsafe { params.as_ref() }.ok_or(CudaError::INVALID_VALUE)?;
    copy_kind(params.kind)?;
    Ok(Op::Described(*params))
}

pub(super) unsafe fn host_op(params: *const HostNodeParams) -> Result<Op> {
    let params = unsafe { params.as_ref() }.ok_or(CudaError::INVALID_VALUE)?;
    Ok(Op::Host(Some(params.function.ok_or(CudaError::INVALID_VALUE)?), params.data))
}

pub(super) fn child_op(child: u64) -> Result<Op> {
    graph::with(|graphs| Op::child(graphs.whole(child)?))
}

pub(super) fn event_of(event: *mut c_void) -> EventHandle {
    EventHandle(event as u64)
}

/// The functions that add a node of one kind.
macro_rules! adders {
    ($($name:ident($($arg:ident: $ty:ty),*) = $op:expr;)*) => {$(
        #[doc = concat!("`", stringify!($name), "`")]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            node: *mut *mut c_void,
            graph: *mut c_void,
            after: *const *mut c_void,
            count: usize,
            $($arg: $ty),*
        ) -> u32 {
            #[allow(unused_unsafe)]
            unsafe { add(node, graph, after, count, || $op) }
        }
    )*};
}

adders! {
    cudaGraphAddEmptyNode() = Ok(Op::Empty);
    cudaGraphAddKernelNode(params: *const KernelNodeParams) = kernel_op(params);
    cudaGraphAddMemcpyNode(params: *const Memcpy3DParms) = copy_op(params);
    cudaGraphAddMemsetNode(params: *const Set) = set_op(params);
    cudaGraphAddHostNode(params: *const HostNodeParams) = host_op(params);
    cudaGraphAddEventRecordNode(event: *mut c_void) = Ok(Op::Record(event_of(event)));
    cudaGraphAddEventWaitNode(event: *mut c_void) = Ok(Op::Wait(event_of(event)));
    cudaGraphAddMemcpyNode1D(dst: *mut c_void, src: *const c_void, bytes: usize, kind: u32) =
        Ok(line(dst as u64, src as u64, bytes, copy_kind(kind)?));
    cudaGraphAddMemcpyNodeToSymbol(
        symbol: *const c_void, src: *const c_void, bytes: usize, offset: usize, kind: u32
    ) = Ok(line(super::symbol::part_of(symbol, bytes, offset)?, src as u64, bytes, copy_kind(kind)?));
    cudaGraphAddMemcpyNodeFromSymbol(
        dst: *mut c_void, symbol: *const c_void, bytes: usize, offset: usize, kind: u32
    ) = Ok(line(dst as u64, super::symbol::part_of(symbol, bytes, offset)?, bytes, copy_kind(kind)?));
    cudaGraphAddChildGraphNode(child: *mut c_void) = child_op(child as u64);
}

/// Has a node of a graph do something else of its kind.
pub(super) fn set_in_graph(node: *mut c_void, op: impl FnOnce() -> Result<Op>) -> u32 {
    call(|| {
        let op = op()?;
        graph::with(|graphs| replace(&mut graphs.node(node as NodeId)?.op, op))
    })
}

/// Has a node of an executable do something else of its kind.
pub(super) fn set_in_executable(
    executable: *mut c_void,
    node: *mut c_void,
    op: impl FnOnce() -> Result<Op>,
) -> u32 {
    call(|| {
        let op = op()?;
        let before = graph::with(|graphs| {
            let executable = graphs.executable(executable as u64)?;
            let before = executable.before();
            let node = executable.graph.node_mut(node as NodeId).ok_or(CudaError::INVALID_VALUE)?;
            replace(&mut node.op, op)?;
            Ok(before)
        })?;
        launchable::renew_or_restore(executable as u64, before).map_err(|error| match error.code {
            CudaError::GRAPH_EXEC_UPDATE_FAILURE => CudaError::INVALID_VALUE.into(),
            _ => error,
        })
    })
}

fn replace(old: &mut Op, new: Op) -> Result<()> {
    if old.kind() != new.kind() {
        return Err(CudaError::INVALID_VALUE.into());
    }
    *old = new;
    Ok(())
}

/// The functions that change what a node does: in a graph, and in an executable.
macro_rules! setters {
    ($($in_graph:ident, $in_executable:ident($($arg:ident: $ty:ty),*) = $op:expr;)*) => {$(
        #[doc = concat!("`", stringify!($in_graph), "`")]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $in_graph(node: *mut c_void, $($arg: $ty),*) -> u32 {
            #[allow(unused_unsafe)]
            set_in_graph(node, || unsafe { $op })
        }

        #[doc = concat!("`", stringify!($in_executable), "`")]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $in_executable(
            executable: *mut c_void,
            node: *mut c_void,
            $($arg: $ty),*
        ) -> u32 {
            #[allow(unused_unsafe)]
            set_in_executable(executable, node, || unsafe { $op })
        }
    )*};
}

setters! {
    cudaGraphKernelNodeSetParams, cudaGraphExecKernelNodeSetParams(
        params: *const KernelNodeParams
    ) = kernel_op(params);
    cudaGraphMemcpyNodeSetParams, cudaGraphExecMemcpyNodeSetParams(
        params: *const Memcpy3DParms
    ) = copy_op(params);
    cudaGraphMemcpyNodeSetParams1D, cudaGraphExecMemcpyNodeSetParams1D(
        dst: *mut c_void, src: *const c_void, bytes: usize, kind: u32
    ) = copy_kind(kind).map(|kind| line(dst as u64, src as u64, bytes, kind));
    cudaGraphMemcpyNodeSetParamsToSymbol, cudaGraphExecMemcpyNodeSetParamsToSymbol(
        symbol: *const c_void, src: *const c_void, bytes: usize, offset: usize, kind: u32
    ) = super::symbol::part_of(symbol, bytes, offset)
        .and_then(|to| Ok(line(to, src as u64, bytes, copy_kind(kind)?)));
    cudaGraphMemcpyNodeSetParamsFromSymbol, cudaGraphExecMemcpyNodeSetParamsFromSymbol(
        dst: *mut c_void, symbol: *const c_void, bytes: usize, offset: usize, kind: u32
    ) = super::symbol::part_of(symbol, bytes, offset)
        .and_then(|from| Ok(line(dst as u64, from, bytes, copy_kind(kind)?)));
    cudaGraphMemsetNodeSetParams, cudaGraphExecMemsetNodeSetParams(params: *const Set) = set_op(params);
    cudaGraphHostNodeSetParams, cudaGraphExecHostNodeSetParams(params: *const HostNodeParams) =
        host_op(params);
    cudaGraphEventRecordNodeSetEvent, cudaGraphExecEventRecordNodeSetEvent(event: *mut c_void) =
        Result::Ok(Op::Record(event_of(event)));
    cudaGraphEventWaitNodeSetEvent, cudaGraphExecEventWaitNodeSetEvent(event: *mut c_void) =
        Result::Ok(Op::Wait(event_of(event)));
}

/// `cudaGraphCreate`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaGraphCreate(target: *mut *mut c_void, flags: u32) -> u32 {
    call(|| {
        given(target)?;
        if flags != 0 {
            return Err(CudaError::INVALID_VALUE.into());
        }
        let made = graph::with(|graphs| Ok(graphs.create()))?;
        unsafe { put(target, made as *mut c_void) }
    })
}

/// `cudaGraphDestroy`
#[unsafe(no_mangle)]
pub extern "C" fn cudaGraphDestroy(handle: *mut c_void) -> u32 {
    call(|| {
        let removed = graph::with(|graphs| {
            // Graphs of nodes go with their nodes.
            if graphs.graph(handle as u64)?.above.is_some() {
                return Err(CudaError::INVALID_VALUE.into());
            }
            graphs.destroy(handle as u64)
        })?;
        condition::forget(&removed)?;
        release_all(&removed.objects)
    })
}

/// `cudaGraphDestroyNode`
#[unsafe(no_mangle)]
pub extern "C" fn cudaGraphDestroyNode(node: *mut c_void) -> u32 {
    call(|| graph::with(|graphs| graphs.remove(node as NodeId)))
}

/// `cudaGraphClone`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaGraphClone(target: *mut *mut c_void, source: *mut c_void) -> u32 {
    call(|| {
        given(target)?;
        let made = graph::with(|graphs| graphs.clone_of(source as u64))?;
        unsafe { put(target, made as *mut c_void) }
    })
}

/// `cudaGraphNodeFindInClone`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaGraphNodeFindInClone(
    target: *mut *mut c_void,
    node: *mut c_void,
    clone: *mut c_void,
) -> u32 {
    call(|| {
        let found = graph::with(|graphs| {
            let nodes = &graphs.graph(clone as u64)?.nodes;
            let found = nodes.iter().find(|(_, known)| known.original == Some(node as NodeId));
            Ok(*found.ok_or(CudaError::INVALID_VALUE)?.0)
        })?;
        unsafe { put(target, found as *mut c_void) }
    })
}

/// `cudaGraphInstantiate`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaGraphInstantiate(
    target: *mut *mut c_void,
    graph: *mut c_void,
    flags: u64,
) -> u32 {
    call(|| {
        given(target)?;
        // Free memory on launch, upload, launch from the device, priorities of nodes.
        if flags & !15 != 0 {
            return Err(CudaError::INVALID_VALUE.into());
        }
        let is_conditional =
            graph::with(|graphs| Ok(graphs.graph(graph as u64)?.is_conditional()))?;
        let made = if is_conditional {
            condition::instantiate(graph as u64, flags)?
        } else if flags & Executable::DEVICE_LAUNCH != 0 {
            launchable::create(graph as u64, flags)?
        } else {
            graph::with(|graphs| graphs.instantiate(graph as u64, flags))?
        };
        retain_all(made)?;
        unsafe { put(target, made as *mut c_void) }
    })
}

/// An executable holds the objects that its graph holds.
fn retain_all(executable: u64) -> Result<()> {
    let held = graph::with(|graphs| Ok(graphs.executable(executable)?.graph.objects.clone()))?;
    held.iter().try_for_each(|(object, count)| user_object::retain(*object, *count))
}

/// Objects that a graph or an executable held.
fn release_all(held: &BTreeMap<u64, u64>) -> Result<()> {
    held.iter().try_for_each(|(object, count)| user_object::release(*object, *count))
}

/// `cudaGraphInstantiateWithFlags`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaGraphInstantiateWithFlags(
    target: *mut *mut c_void,
    graph: *mut c_void,
    flags: u64,
) -> u32 {
    unsafe { cudaGraphInstantiate(target, graph, flags) }
}

/// `cudaGraphInstantiateWithParams`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaGraphInstantiateWithParams(
    target: *mut *mut c_void,
    graph: *mut c_void,
    params: *mut InstantiateParams,
) -> u32 {
    // SAFETY: null or valid, as CUDA demands of the caller.
    let Some(params) = (unsafe { params.as_mut() }) else {
        return call(|| Err(CudaError::INVALID_VALUE.into()));
    };
    let code = unsafe { cudaGraphInstantiate(target, graph, params.flags) };
    params.error_node = std::ptr::null_mut();
    // Success, or an error that the returned code tells.
    params.result = u32::from(code != 0);
    code
}

/// `cudaGraphExecDestroy`
#[unsafe(no_mangle)]
pub extern "C" fn cudaGraphExecDestroy(executable: *mut c_void) -> u32 {
    call(|| {
        let removed =
            graph::with(|graphs| match graphs.executables.remove(&(executable as u64)) {
                Some(removed) => Ok(removed),
                None => Err(CudaError::INVALID_VALUE.into()),
            })?;
        let state = process::current()?;
        let of_device = removed.is_of_device().then_some(executable as u64);
        for graph in of_device.into_iter().chain(removed.whole) {
            state.device.destroy_graph(graph)?;
        }
        let mut lanes = removed.lanes.lock().unwrap_or_else(PoisonError::into_inner);
        lanes.destroy(&*state.device);
        condition::forget(&removed.graph)?;
        release_all(&removed.graph.objects)
    })
}

/// `cudaGraphExecGetFlags`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaGraphExecGetFlags(executable: *mut c_void, flags: *mut u64) -> u32 {
    call(|| {
        let found = graph::with(|graphs| Ok(graphs.executable(executable as u64)?.flags))?;
        unsafe { put(flags, found) }
    })
}

/// `cudaGraphLaunch`
#[unsafe(no_mangle)]
pub extern "C" fn cudaGraphLaunch(executable: *mut c_void, stream: *mut c_void) -> u32 {
    call(|| {
        let stream = StreamHandle(stream as u64);
        let found = graph::with(|graphs| Ok(graphs.executable(executable as u64)?.clone()))?;
        process::current()?.device.stream_flags(stream)?;
        let child = || Op::child(found.graph.clone());
        if capture::recorded(Some(stream), child)? {
            return Ok(());
        }
        if found.is_of_device() {
            return process::current()?.device.launch_graph(executable as u64, stream);
        }
        match launchable::whole(executable as u64)? {
            Some(whole) => found.launch_whole(whole, stream),
            None => found.launch(stream),
        }
    })
}

/// `cudaGraphUpload`: there is something to upload for kernels that launch it only.
#[unsafe(no_mangle)]
pub extern "C" fn cudaGraphUpload(executable: *mut c_void, stream: *mut c_void) -> u32 {
    call(|| {
        let (device, stream) = (&process::current()?.device, StreamHandle(stream as u64));
        device.stream_flags(stream)?;
        let found = graph::with(|graphs| Ok(graphs.executable(executable as u64)?.is_of_device()))?;
        if found { device.upload_graph(executable as u64, stream) } else { Ok(()) }
    })
}

/// `cudaGraphNodeSetEnabled`
#[unsafe(no_mangle)]
pub extern "C" fn cudaGraphNodeSetEnabled(
    executable: *mut c_void,
    node: *mut c_void,
    enabled: u32,
) -> u32 {
    call(|| {
        graph::with(|graphs| {
            let executable = graphs.executable(executable as u64)?;
            // Kernels, copies and fills only.
            match executable.graph.node_mut(node as NodeId) {
                Some(known) if known.op.kind() <= 2 => known.is_off = enabled == 0,
                _ => return Err(CudaError::INVALID_VALUE.into()),
            }
            Ok(())
        })?;
        launchable::renew(executable as u64)
    })
}

/// `cudaGraphNodeGetEnabled`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaGraphNodeGetEnabled(
    executable: *mut c_void,
    node: *mut c_void,
    enabled: *mut u32,
) -> u32 {
    call(|| {
        let found = graph::with(|graphs| {
            let executable = graphs.executable(executable as u64)?;
            let known = executable.graph.node_mut(node as NodeId);
            Ok(u32::from(!known.ok_or(CudaError::INVALID_VALUE)?.is_off))
        })?;
        unsafe { put(enabled, found) }
    })
}

/// `cudaGraphExecUpdate`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaGraphExecUpdate(
    executable: *mut c_void,
    graph: *mut c_void,
    result: *mut UpdateResult,
) -> u32 {
    call(|| {
        let (mut difference, before) = graph::with(|graphs| {
            let wanted = graphs.whole(graph as u64)?;
            let executable = graphs.executable(executable as u64)?;
            let before = executable.before();
            let difference = executable.graph.difference(&wanted);
            if difference.is_none() {
                executable.graph.update(&wanted);
            }
            Ok((difference, before))
        })?;
        if difference.is_none() && launchable::renew_or_restore(executable as u64, before).is_err()
        {
            difference = Some(Difference::Function);
        }
        if !result.is_null() {
            let (none, code) = (std::ptr::null_mut(), difference.map_or(0, |found| found as u32));
            let value = UpdateResult { result: code, error_node: none, error_from_node: none };
            unsafe { put(result, value)? };
        }
        match difference {
            None => Ok(()),
            Some(_) => Err(CudaError::GRAPH_EXEC_UPDATE_FAILURE.into()),
        }
    })
}
