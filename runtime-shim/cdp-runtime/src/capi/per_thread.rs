//! The calls that files compiled with `--default-stream per-thread` make: NULL is the calling thread's own
//! stream in those whose names end in `_ptsz`, and those that end in `_ptds` wait for that stream alone.

use std::ffi::{c_char, c_void};

use super::*;
use crate::Location;

/// Calls that take a stream.
macro_rules! in_stream {
    ($($name:ident = $target:ident($($arg:ident: $ty:ty),* $(,)?) in $stream:ident;)*) => {$(
        #[doc = concat!("`", stringify!($target), "` in the calling thread's stream.")]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($arg: $ty),*) -> u32 {
            let $stream = per_thread($stream);
            #[allow(unused_unsafe)]
            unsafe { $target($($arg),*) }
        }
    )*};
}

/// Calls that wait, by the call that does not.
macro_rules! waiting {
    ($($name:ident = $target:ident($($arg:ident: $ty:ty),* $(,)?);)*) => {$(
        #[doc = concat!("`", stringify!($target), "` in the calling thread's stream, and waits for it.")]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($arg: $ty),*) -> u32 {
            let stream = per_thread(std::ptr::null_mut());
            match unsafe { $target($($arg,)* stream) } {
                0 => cudaStreamSynchronize(stream),
                failed => failed,
            }
        }
    )*};
}

in_stream! {
    cudaEventRecordWithFlags_ptsz = cudaEventRecordWithFlags(handle: *mut c_void, into: *mut c_void, flags: u32) in into;
    cudaEventRecord_ptsz = cudaEventRecord(handle: *mut c_void, into: *mut c_void) in into;
    cudaFreeAsync_ptsz = cudaFreeAsync(address: *mut c_void, stream: *mut c_void) in stream;
    cudaGraphLaunch_ptsz = cudaGraphLaunch(executable: *mut c_void, stream: *mut c_void) in stream;
    cudaGraphUpload_ptsz = cudaGraphUpload(executable: *mut c_void, stream: *mut c_void) in stream;
    cudaLaunchCooperativeKernel_ptsz = cudaLaunchCooperativeKernel(function: *const c_void, grid: Dim3, block: Dim3, args: *mut *mut c_void, shared_bytes: usize, stream: *mut c_void) in stream;
    cudaLaunchHostFunc_ptsz = cudaLaunchHostFunc(stream: *mut c_void, function: Option<HostFunction>, data: *mut c_void) in stream;
    cudaLaunchKernel_ptsz = cudaLaunchKernel(function: *const c_void, grid: Dim3, block: Dim3, args: *mut *mut c_void, shared_bytes: usize, stream: *mut c_void) in stream;
    cudaMallocAsync_ptsz = cudaMallocAsync(address: *mut *mut c_void, bytes: usize, stream: *mut c_void) in stream;
    cudaMallocFromPoolAsync_ptsz = cudaMallocFromPoolAsync(address: *mut *mut c_void, bytes: usize, pool: *mut c_void, stream: *mut c_void) in stream;
    cudaMemPrefetchAsync_ptsz = cudaMemPrefetchAsync(address: *const c_void, bytes: usize, location: Location, flags: u32, stream: *mut c_void) in stream;
    cudaMemcpy2DAsync_ptsz = cudaMemcpy2DAsync(dst: *mut c_void, dst_pitch_bytes: usize, src: *const c_void, src_pitch_bytes: usize, width_bytes: usize, height: usize, kind: u32, stream: *mut c_void) in stream;
    cudaMemcpy2DFromArrayAsync_ptsz = cudaMemcpy2DFromArrayAsync(dst: *mut c_void, pitch_bytes: usize, array: *const c_void, x_bytes: usize, y: usize, width_bytes: usize, height: usize, kind: u32, stream: *mut c_void) in stream;
    cudaMemcpy2DToArrayAsync_ptsz = cudaMemcpy2DToArrayAsync(array: *mut c_void, x_bytes: usize, y: usize, src: *const c_void, pitch_bytes: usize, width_bytes: usize, height: usize, kind: u32, stream: *mut c_void) in stream;
    cudaMemcpy3DAsync_ptsz = cudaMemcpy3DAsync(parameters: *const Memcpy3DParms, stream: *mut c_void) in stream;
    cudaMemcpy3DPeerAsync_ptsz = cudaMemcpy3DPeerAsync(parameters: *const Memcpy3DPeerParms, stream: *mut c_void) in stream;
    cudaMemcpyAsync_ptsz = cudaMemcpyAsync(dst: *mut c_void, src: *const c_void, bytes: usize, kind: u32, stream: *mut c_void) in stream;
    cudaMemcpyBatchAsync_ptsz = cudaMemcpyBatchAsync(dsts: *const *mut c_void, srcs: *const *const c_void, sizes: *const usize, count: usize, attributes: *const c_void, attribute_indices: *const usize, attribute_count: usize, stream: *mut c_void) in stream;
    cudaMemcpyFromArrayAsync_ptsz = cudaMemcpyFromArrayAsync(dst: *mut c_void, array: *const c_void, x_bytes: usize, y: usize, bytes: usize, kind: u32, stream: *mut c_void) in stream;
    cudaMemcpyFromSymbolAsync_ptsz = cudaMemcpyFromSymbolAsync(dst: *mut c_void, symbol: *const c_void, count: usize, offset: usize, kind: u32, stream: *mut c_void) in stream;
    cudaMemcpyToArrayAsync_ptsz = cudaMemcpyToArrayAsync(array: *mut c_void, x_bytes: usize, y: usize, src: *const c_void, bytes: usize, kind: u32, stream: *mut c_void) in stream;
    cudaMemcpyToSymbolAsync_ptsz = cudaMemcpyToSymbolAsync(symbol: *const c_void, src: *const c_void, count: usize, offset: usize, kind: u32, stream: *mut c_void) in stream;
    cudaMemset2DAsync_ptsz = cudaMemset2DAsync(dst: *mut c_void, pitch_bytes: usize, value: i32, width_bytes: usize, height: usize, stream: *mut c_void) in stream;
    cudaMemset3DAsync_ptsz = cudaMemset3DAsync(dst: PitchedPtr, value: i32, extent: Extent, stream: *mut c_void) in stream;
    cudaMemsetAsync_ptsz = cudaMemsetAsync(dst: *mut c_void, value: i32, bytes: usize, stream: *mut c_void) in stream;
    cudaStreamAddCallback_ptsz = cudaStreamAddCallback(stream: *mut c_void, callback: Option<StreamCallback>, data: *mut c_void, flags: u32) in stream;
    cudaStreamAttachMemAsync_ptsz = cudaStreamAttachMemAsync(stream: *mut c_void, address: *mut c_void, _bytes: usize, flags: u32) in stream;
    cudaStreamBeginCaptureToGraph_ptsz = cudaStreamBeginCaptureToGraph(stream: *mut c_void, graph: *mut c_void, after: *const *mut c_void, _edge_data: *const c_void, count: usize, mode: u32) in stream;
    cudaStreamBeginCapture_ptsz = cudaStreamBeginCapture(stream: *mut c_void, mode: u32) in stream;
    cudaStreamEndCapture_ptsz = cudaStreamEndCapture(stream: *mut c_void, graph: *mut *mut c_void) in stream;
    cudaStreamGetAttribute_ptsz = cudaStreamGetAttribute(stream: *mut c_void, attribute: u32, value: *mut [u64; 8]) in stream;
    cudaStreamGetCaptureInfo_ptsz = cudaStreamGetCaptureInfo(stream: *mut c_void, status: *mut u32, id: *mut u64, graph: *mut *mut c_void, nodes: *mut *const *mut c_void, edge_data: *mut *const c_void, count: *mut usize) in stream;
    cudaStreamGetCaptureInfo_v2_ptsz = cudaStreamGetCaptureInfo_v2(stream: *mut c_void, status: *mut u32, id: *mut u64, graph: *mut *mut c_void, nodes: *mut *const *mut c_void, count: *mut usize) in stream;
    cudaStreamGetDevice_ptsz = cudaStreamGetDevice(stream: *mut c_void, ordinal: *mut i32) in stream;
    cudaStreamGetFlags_ptsz = cudaStreamGetFlags(handle: *mut c_void, flags: *mut u32) in handle;
    cudaStreamGetId_ptsz = cudaStreamGetId(stream: *mut c_void, id: *mut u64) in stream;
    cudaStreamGetPriority_ptsz = cudaStreamGetPriority(handle: *mut c_void, priority: *mut i32) in handle;
    cudaStreamIsCapturing_ptsz = cudaStreamIsCapturing(stream: *mut c_void, status: *mut u32) in stream;
    cudaStreamQuery_ptsz = cudaStreamQuery(handle: *mut c_void) in handle;
    cudaStreamSetAttribute_ptsz = cudaStreamSetAttribute(stream: *mut c_void, attribute: u32, value: *const [u64; 8]) in stream;
    cudaStreamSynchronize_ptsz = cudaStreamSynchronize(handle: *mut c_void) in handle;
    cudaStreamUpdateCaptureDependencies_ptsz = cudaStreamUpdateCaptureDependencies(stream: *mut c_void, nodes: *const *mut c_void, _edge_data: *const c_void, count: usize, flags: u32) in stream;
    cudaStreamWaitEvent_ptsz = cudaStreamWaitEvent(handle: *mut c_void, awaited: *mut c_void, flags: u32) in handle;
}

waiting! {
    cudaMemcpy2DFromArray_ptds = cudaMemcpy2DFromArrayAsync(dst: *mut c_void, pitch_bytes: usize, array: *const c_void, x_bytes: usize, y: usize, width_bytes: usize, height: usize, kind: u32);
    cudaMemcpy2DToArray_ptds = cudaMemcpy2DToArrayAsync(array: *mut c_void, x_bytes: usize, y: usize, src: *const c_void, pitch_bytes: usize, width_bytes: usize, height: usize, kind: u32);
    cudaMemcpy2D_ptds = cudaMemcpy2DAsync(dst: *mut c_void, dst_pitch_bytes: usize, src: *const c_void, src_pitch_bytes: usize, width_bytes: usize, height: usize, kind: u32);
    cudaMemcpy3DPeer_ptds = cudaMemcpy3DPeerAsync(parameters: *const Memcpy3DPeerParms);
    cudaMemcpy3D_ptds = cudaMemcpy3DAsync(parameters: *const Memcpy3DParms);
    cudaMemcpyFromArray_ptds = cudaMemcpyFromArrayAsync(dst: *mut c_void, array: *const c_void, x_bytes: usize, y: usize, bytes: usize, kind: u32);
    cudaMemcpyFromSymbol_ptds = cudaMemcpyFromSymbolAsync(dst: *mut c_void, symbol: *const c_void, count: usize, offset: usize, kind: u32);
    cudaMemcpyToArray_ptds = cudaMemcpyToArrayAsync(array: *mut c_void, x_bytes: usize, y: usize, src: *const c_void, bytes: usize, kind: u32);
    cudaMemcpyToSymbol_ptds = cudaMemcpyToSymbolAsync(symbol: *const c_void, src: *const c_void, count: usize, offset: usize, kind: u32);
    cudaMemcpy_ptds = cudaMemcpyAsync(dst: *mut c_void, src: *const c_void, bytes: usize, kind: u32);
    cudaMemset2D_ptds = cudaMemset2DAsync(dst: *mut c_void, pitch_bytes: usize, value: i32, width_bytes: usize, height: usize);
    cudaMemset3D_ptds = cudaMemset3DAsync(dst: PitchedPtr, value: i32, extent: Extent);
    cudaMemset_ptds = cudaMemsetAsync(dst: *mut c_void, value: i32, bytes: usize);
}

/// `cudaStreamCopyAttributes` with the calling thread's stream for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn cudaStreamCopyAttributes_ptsz(dst: *mut c_void, src: *mut c_void) -> u32 {
    cudaStreamCopyAttributes(per_thread(dst), per_thread(src))
}

/// `cudaLaunchKernelExC` with the calling thread's stream for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaLaunchKernelExC_ptsz(
    config: *const RuntimeLaunchConfig,
    function: *const c_void,
    args: *mut *mut c_void,
) -> u32 {
    match unsafe { config.as_ref() } {
        None => unsafe { cudaLaunchKernelExC(config, function, args) },
        Some(given) => {
            let config = RuntimeLaunchConfig { stream: per_thread(given.stream), ..*given };
            unsafe { cudaLaunchKernelExC(&config, function, args) }
        }
    }
}

/// `cudaGetDriverEntryPoint` of the driver's functions with a stream for each thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaGetDriverEntryPoint_ptsz(
    symbol: *const c_char,
    function: *mut *mut c_void,
    flags: u64,
    status: *mut u32,
) -> u32 {
    unsafe { cudaGetDriverEntryPoint(symbol, function, flags | PER_THREAD_FLAG, status) }
}

/// `cudaGetDriverEntryPointByVersion` of the driver's functions with a stream for each thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaGetDriverEntryPointByVersion_ptsz(
    symbol: *const c_char,
    function: *mut *mut c_void,
    version: u32,
    flags: u64,
    status: *mut u32,
) -> u32 {
    let flags = flags | PER_THREAD_FLAG;
    unsafe { cudaGetDriverEntryPointByVersion(symbol, function, version, flags, status) }
}

/// `cudaGraphInstantiateWithParams`: the stream of an upload does not matter.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaGraphInstantiateWithParams_ptsz(
    target: *mut *mut c_void,
    graph: *mut c_void,
    params: *mut InstantiateParams,
) -> u32 {
    unsafe { cudaGraphInstantiateWithParams(target, graph, params) }
}
