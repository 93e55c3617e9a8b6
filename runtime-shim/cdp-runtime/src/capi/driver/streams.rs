//! Streams, events, functions of the host, captures and graphs. The structs of a graph's nodes are the runtime's.

use std::ffi::{c_char, c_void};

use super::*;

type Stream = *mut c_void;
type Event = *mut c_void;
type Graph = *mut c_void;
type Made = *mut *mut c_void;

driver_functions! {
    Context fn cuStreamCreate(stream: Made, flags: u32) { cudaStreamCreateWithFlags(stream, flags) }
    Context fn cuStreamCreateWithPriority(stream: Made, flags: u32, priority: i32) {
        cudaStreamCreateWithPriority(stream, flags, priority)
    }
    Context fn cuStreamDestroy_v2(stream: Stream) { cudaStreamDestroy(stream) }
    Context fn cuStreamSynchronize(stream: Stream) { cudaStreamSynchronize(stream) }
    Context fn cuStreamQuery(stream: Stream) { cudaStreamQuery(stream) }
    Context fn cuStreamWaitEvent(stream: Stream, event: Event, flags: u32) { cudaStreamWaitEvent(stream, event, flags) }
    Context fn cuStreamGetFlags(stream: Stream, flags: *mut u32) { cudaStreamGetFlags(stream, flags) }
    Context fn cuStreamGetPriority(stream: Stream, priority: *mut i32) { cudaStreamGetPriority(stream, priority) }
    Context fn cuStreamGetId(stream: Stream, id: *mut u64) { cudaStreamGetId(stream, id) }
    Context fn cuStreamGetDevice(stream: Stream, device: *mut i32) { cudaStreamGetDevice(stream, device) }
    Context fn cuStreamGetCtx(stream: Stream, target: Made) {
        call(|| {
            process::current()?.device.stream_flags(crate::device::StreamHandle(stream as u64))?;
            put(target, context::current() as *mut c_void)
        })
    }
    Context fn cuStreamGetAttribute(stream: Stream, attribute: u32, value: *mut [u64; 8]) {
        cudaStreamGetAttribute(stream, attribute, value)
    }
    Context fn cuStreamSetAttribute(stream: Stream, attribute: u32, value: *const [u64; 8]) {
        cudaStreamSetAttribute(stream, attribute, value)
    }
    Context fn cuStreamCopyAttributes(dst: Stream, src: Stream) { cudaStreamCopyAttributes(dst, src) }
    Context fn cuStreamAttachMemAsync(stream: Stream, address: u64, bytes: usize, flags: u32) {
        cudaStreamAttachMemAsync(stream, address as *mut c_void, bytes, flags)
    }
    Context fn cuStreamAddCallback(stream: Stream, callback: Option<StreamCallback>, data: *mut c_void, flags: u32) {
        cudaStreamAddCallback(stream, callback, data, flags)
    }
    Context fn cuLaunchHostFunc(stream: Stream, function: Option<HostFunction>, data: *mut c_void) {
        cudaLaunchHostFunc(stream, function, data)
    }
    Context fn cuEventCreate(event: Made, flags: u32) { cudaEventCreateWithFlags(event, flags) }
    Context fn cuEventDestroy_v2(event: Event) { cudaEventDestroy(event) }
    Context fn cuEventRecord(event: Event, stream: Stream) { cudaEventRecord(event, stream) }
    Context fn cuEventRecordWithFlags(event: Event, stream: Stream, flags: u32) {
        cudaEventRecordWithFlags(event, stream, flags)
    }
    Context fn cuEventQuery(event: Event) { cudaEventQuery(event) }
    Context fn cuEventSynchronize(event: Event) { cudaEventSynchronize(event) }
    Context fn cuEventElapsedTime(milliseconds: *mut f32, start: Event, end: Event) {
        cudaEventElapsedTime(milliseconds, start, end)
    }
    Context fn cuEventElapsedTime_v2(milliseconds: *mut f32, start: Event, end: Event) {
        cudaEventElapsedTime(milliseconds, start, end)
    }
    Context fn cuStreamBeginCapture_v2(stream: Stream, mode: u32) { cudaStreamBeginCapture(stream, mode) }
    Context fn cuStreamEndCapture(stream: Stream, graph: Made) { cudaStreamEndCapture(stream, graph) }
    Context fn cuStreamIsCapturing(stream: Stream, status: *mut u32) { cudaStreamIsCapturing(stream, status) }
    Context fn cuThreadExchangeStreamCaptureMode(mode: *mut u32) { cudaThreadExchangeStreamCaptureMode(mode) }
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
}

per_thread_variants! {
    cuStreamSynchronize_ptsz = cuStreamSynchronize(stream: Stream) in stream;
    cuStreamQuery_ptsz = cuStreamQuery(stream: Stream) in stream;
    cuStreamWaitEvent_ptsz = cuStreamWaitEvent(stream: Stream, event: Event, flags: u32) in stream;
    cuStreamAddCallback_ptsz = cuStreamAddCallback(stream: Stream, callback: Option<StreamCallback>, data: *mut c_void, flags: u32) in stream;
    cuLaunchHostFunc_ptsz = cuLaunchHostFunc(stream: Stream, function: Option<HostFunction>, data: *mut c_void) in stream;
    cuEventRecord_ptsz = cuEventRecord(event: Event, stream: Stream) in stream;
    cuGraphLaunch_ptsz = cuGraphLaunch(executable: Graph, stream: Stream) in stream;
    cuStreamBeginCapture_v2_ptsz = cuStreamBeginCapture_v2(stream: Stream, mode: u32) in stream;
    cuStreamEndCapture_ptsz = cuStreamEndCapture(stream: Stream, graph: Made) in stream;
}
