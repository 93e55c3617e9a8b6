//! Calls that CUDA 12's headers and nvcc 12 make by names that CUDA 13's runtime has no more. Those that have kept their
//! names and take other arguments since are the headers' matter (`__cdp_toolkit_12.h` in crate cdp): a name has one meaning
//! here, that of CUDA 13.

mod properties;

use super::*;
use crate::Location;

pub use self::properties::DeviceProp12;

/// `cudaGetDeviceProperties` of CUDA 12.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaGetDeviceProperties_v2(
    properties: *mut DeviceProp12,
    ordinal: i32,
) -> u32 {
    call(|| {
        given(properties)?;
        let found = properties::from_device(&*process::runtime()?.device(ordinal)?.device)?;
        unsafe { put(properties, found) }
    })
}

/// Calls that are others by now.
macro_rules! renamed {
    ($($name:ident = $target:ident($($arg:ident: $ty:ty),* $(,)?);)*) => {$(
        #[doc = concat!("`", stringify!($target), "` by its name in CUDA 12.")]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($arg: $ty),*) -> u32 {
            #[allow(unused_unsafe)]
            unsafe { $target($($arg),*) }
        }
    )*};
}

renamed! {
    cudaThreadSynchronize = cudaDeviceSynchronize();
    cudaThreadExit = cudaDeviceReset();
    cudaThreadSetLimit = cudaDeviceSetLimit(number: u32, value: usize);
    cudaThreadGetLimit = cudaDeviceGetLimit(value: *mut usize, number: u32);
    cudaThreadSetCacheConfig = cudaDeviceSetCacheConfig(config: u32);
    cudaThreadGetCacheConfig = cudaDeviceGetCacheConfig(config: *mut u32);
    cudaEventElapsedTime_v2 = cudaEventElapsedTime(milliseconds: *mut f32, start: *mut c_void, end: *mut c_void);
    cudaGraphAddDependencies_v2 = cudaGraphAddDependencies(graph: *mut c_void, from: *const *mut c_void, to: *const *mut c_void, edge_data: *const c_void, count: usize);
    cudaGraphAddNode_v2 = cudaGraphAddNode(node: *mut *mut c_void, graph: *mut c_void, after: *const *mut c_void, edge_data: *const c_void, count: usize, params: *mut NodeParams);
    cudaGraphGetEdges_v2 = cudaGraphGetEdges(graph: *mut c_void, from: *mut *mut c_void, to: *mut *mut c_void, edge_data: *mut c_void, count: *mut usize);
    cudaGraphNodeGetDependencies_v2 = cudaGraphNodeGetDependencies(node: *mut c_void, nodes: *mut *mut c_void, edge_data: *mut c_void, count: *mut usize);
    cudaGraphNodeGetDependentNodes_v2 = cudaGraphNodeGetDependentNodes(node: *mut c_void, nodes: *mut *mut c_void, edge_data: *mut c_void, count: *mut usize);
    cudaGraphRemoveDependencies_v2 = cudaGraphRemoveDependencies(graph: *mut c_void, from: *const *mut c_void, to: *const *mut c_void, edge_data: *const c_void, count: usize);
    cudaMemAdvise_v2 = cudaMemAdvise(address: *const c_void, bytes: usize, advice: u32, location: Location);
    cudaMemPrefetchAsync_v2 = cudaMemPrefetchAsync(address: *const c_void, bytes: usize, location: Location, flags: u32, stream: *mut c_void);
    cudaMemPrefetchAsync_v2_ptsz = cudaMemPrefetchAsync_ptsz(address: *const c_void, bytes: usize, location: Location, flags: u32, stream: *mut c_void);
    cudaStreamGetCaptureInfo_v3 = cudaStreamGetCaptureInfo(stream: *mut c_void, status: *mut u32, id: *mut u64, graph: *mut *mut c_void, nodes: *mut *const *mut c_void, edge_data: *mut *const c_void, count: *mut usize);
    cudaStreamGetCaptureInfo_v3_ptsz = cudaStreamGetCaptureInfo_ptsz(stream: *mut c_void, status: *mut u32, id: *mut u64, graph: *mut *mut c_void, nodes: *mut *const *mut c_void, edge_data: *mut *const c_void, count: *mut usize);
    cudaStreamUpdateCaptureDependencies_v2 = cudaStreamUpdateCaptureDependencies(stream: *mut c_void, nodes: *const *mut c_void, edge_data: *const c_void, count: usize, flags: u32);
    cudaStreamUpdateCaptureDependencies_v2_ptsz = cudaStreamUpdateCaptureDependencies_ptsz(stream: *mut c_void, nodes: *const *mut c_void, edge_data: *const c_void, count: usize, flags: u32);
}

/// `cudaStreamGetCaptureInfo` of CUDA 12, which says nothing of edges.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaStreamGetCaptureInfo_v2(
    stream: *mut c_void,
    status: *mut u32,
    id: *mut u64,
    graph: *mut *mut c_void,
    nodes: *mut *const *mut c_void,
    count: *mut usize,
) -> u32 {
    unsafe {
        cudaStreamGetCaptureInfo(stream, status, id, graph, nodes, std::ptr::null_mut(), count)
    }
}
