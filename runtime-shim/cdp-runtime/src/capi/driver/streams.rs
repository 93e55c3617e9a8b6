//! Streams, events, functions of the host, and captures.

use std::ffi::c_void;

use super::*;

type Stream = *mut c_void;
type Event = *mut c_void;
type Graph = *mut c_void;
type Nodes = *const *mut c_void;
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
    Context fn cuStreamBeginCaptureToGraph(
        stream: Stream, graph: Graph, after: Nodes, edges: *const c_void, count: usize, mode: u32,
    ) {
        cudaStreamBeginCaptureToGraph(stream, graph, after, edges, count, mode)
    }
    Context fn cuStreamGetCaptureInfo(stream: Stream, status: *mut u32, id: *mut u64) {
        let (graph, nodes) = (std::ptr::null_mut(), std::ptr::null_mut());
        cudaStreamGetCaptureInfo(stream, status, id, graph, nodes, std::ptr::null_mut(), std::ptr::null_mut())
    }
    Context fn cuStreamGetCaptureInfo_v2(
        stream: Stream, status: *mut u32, id: *mut u64, graph: Made, nodes: *mut Nodes, count: *mut usize,
    ) {
        cudaStreamGetCaptureInfo(stream, status, id, graph, nodes, std::ptr::null_mut(), count)
    }
    Context fn cuStreamGetCaptureInfo_v3(
        stream: Stream, status: *mut u32, id: *mut u64, graph: Made, nodes: *mut Nodes,
        edges: *mut *const c_void, count: *mut usize,
    ) {
        cudaStreamGetCaptureInfo(stream, status, id, graph, nodes, edges, count)
    }
    Context fn cuStreamUpdateCaptureDependencies(stream: Stream, nodes: Nodes, count: usize, flags: u32) {
        cudaStreamUpdateCaptureDependencies(stream, nodes, std::ptr::null(), count, flags)
    }
    Context fn cuStreamUpdateCaptureDependencies_v2(
        stream: Stream, nodes: Nodes, edges: *const c_void, count: usize, flags: u32,
    ) {
        cudaStreamUpdateCaptureDependencies(stream, nodes, edges, count, flags)
    }
    Context fn cuStreamIsCapturing(stream: Stream, status: *mut u32) { cudaStreamIsCapturing(stream, status) }
    Context fn cuThreadExchangeStreamCaptureMode(mode: *mut u32) { cudaThreadExchangeStreamCaptureMode(mode) }
}

per_thread_variants! {
    cuStreamSynchronize_ptsz = cuStreamSynchronize(stream: Stream) in stream;
    cuStreamQuery_ptsz = cuStreamQuery(stream: Stream) in stream;
    cuStreamWaitEvent_ptsz = cuStreamWaitEvent(stream: Stream, event: Event, flags: u32) in stream;
    cuStreamAddCallback_ptsz = cuStreamAddCallback(stream: Stream, callback: Option<StreamCallback>, data: *mut c_void, flags: u32) in stream;
    cuLaunchHostFunc_ptsz = cuLaunchHostFunc(stream: Stream, function: Option<HostFunction>, data: *mut c_void) in stream;
    cuEventRecord_ptsz = cuEventRecord(event: Event, stream: Stream) in stream;
    cuStreamBeginCapture_v2_ptsz = cuStreamBeginCapture_v2(stream: Stream, mode: u32) in stream;
    cuStreamEndCapture_ptsz = cuStreamEndCapture(stream: Stream, graph: Made) in stream;
    cuStreamBeginCaptureToGraph_ptsz = cuStreamBeginCaptureToGraph(stream: Stream, graph: Graph, after: Nodes, edges: *const c_void, count: usize, mode: u32) in stream;
    cuStreamGetCaptureInfo_ptsz = cuStreamGetCaptureInfo(stream: Stream, status: *mut u32, id: *mut u64) in stream;
    cuStreamGetCaptureInfo_v2_ptsz = cuStreamGetCaptureInfo_v2(stream: Stream, status: *mut u32, id: *mut u64, graph: Made, nodes: *mut Nodes, count: *mut usize) in stream;
    cuStreamGetCaptureInfo_v3_ptsz = cuStreamGetCaptureInfo_v3(stream: Stream, status: *mut u32, id: *mut u64, graph: Made, nodes: *mut Nodes, edges: *mut *const c_void, count: *mut usize) in stream;
    cuStreamUpdateCaptureDependencies_ptsz = cuStreamUpdateCaptureDependencies(stream: Stream, nodes: Nodes, count: usize, flags: u32) in stream;
    cuStreamUpdateCaptureDependencies_v2_ptsz = cuStreamUpdateCaptureDependencies_v2(stream: Stream, nodes: Nodes, edges: *const c_void, count: usize, flags: u32) in stream;
    cuStreamIsCapturing_ptsz = cuStreamIsCapturing(stream: Stream, status: *mut u32) in stream;
    cuStreamGetFlags_ptsz = cuStreamGetFlags(stream: Stream, flags: *mut u32) in stream;
    cuStreamGetPriority_ptsz = cuStreamGetPriority(stream: Stream, priority: *mut i32) in stream;
    cuStreamGetId_ptsz = cuStreamGetId(stream: Stream, id: *mut u64) in stream;
    cuStreamGetDevice_ptsz = cuStreamGetDevice(stream: Stream, device: *mut i32) in stream;
    cuStreamGetCtx_ptsz = cuStreamGetCtx(stream: Stream, target: Made) in stream;
    cuStreamGetAttribute_ptsz = cuStreamGetAttribute(stream: Stream, attribute: u32, value: *mut [u64; 8]) in stream;
    cuStreamSetAttribute_ptsz = cuStreamSetAttribute(stream: Stream, attribute: u32, value: *const [u64; 8]) in stream;
    cuStreamAttachMemAsync_ptsz = cuStreamAttachMemAsync(stream: Stream, address: u64, bytes: usize, flags: u32) in stream;
    cuEventRecordWithFlags_ptsz = cuEventRecordWithFlags(event: Event, stream: Stream, flags: u32) in stream;
}
