//! Kernels: launches, attributes, occupancy.

use std::ffi::{c_char, c_void};

use super::super::kernel::{described, launch};
use super::super::param_buffer::in_buffer;
use super::*;
use crate::device::{KernelAttributes, LaunchAttribute, LaunchConfig, StreamHandle};

type Function = *mut c_void;
type Stream = *mut c_void;
type Args = *mut *mut c_void;

/// `CUlaunchConfig`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct DriverConfig {
    grid: [u32; 3],
    block: [u32; 3],
    shared_bytes: u32,
    stream: *mut c_void,
    attributes: *const LaunchAttribute,
    attribute_count: u32,
}

impl DriverConfig {
    fn for_runtime(&self) -> RuntimeLaunchConfig {
        let [grid, block] = [self.grid, self.block].map(|[x, y, z]| Dim3 { x, y, z });
        RuntimeLaunchConfig {
            grid,
            block,
            shared_bytes: self.shared_bytes as usize,
            stream: self.stream,
            attributes: self.attributes,
            attribute_count: self.attribute_count,
        }
    }
}

/// Launches with parameters of either kind.
///
/// # Safety
/// As CUDA demands of the caller.
unsafe fn start(function: Function, config: LaunchConfig<'_>, params: Args, extra: Args) -> u32 {
    call(|| {
        if extra.is_null() {
            return unsafe { launch(function, config, params) };
        }
        let mut pointers = unsafe { in_buffer(function, params, extra)? };
        unsafe { launch(function, config, pointers.as_mut_ptr()) }
    })
}

/// A `CUfunction_attribute`.
fn attribute(known: &KernelAttributes, number: u32) -> Result<i32> {
    Ok(match number {
        0 => known.max_block_threads,
        1 => known.shared_bytes as i32,
        2 => known.constant_bytes as i32,
        3 => known.local_bytes as i32,
        4 => known.registers,
        5 => known.ptx_version,
        6 => known.binary_version,
        7 => known.cache_mode_ca,
        8 => known.max_dynamic_shared_bytes,
        9 => known.preferred_carveout,
        10 => known.cluster_must_be_set,
        11..=13 => known.required_cluster[number as usize - 11],
        14 => known.non_portable_cluster,
        15 => known.cluster_scheduling_policy,
        _ => return Err(CudaError::INVALID_VALUE.into()),
    })
}

/// # Safety
/// `value` is null or valid.
unsafe fn read_attribute(value: *mut i32, number: u32, function: Function) -> u32 {
    call(|| {
        let state = process::current()?;
        let entry = state.kernel(function as usize)?;
        unsafe { put(value, attribute(&state.device.kernel_attributes(entry.kernel)?, number)?) }
    })
}

/// `CUoccupancyB2DSize`: shared memory for a size of block.
type SharedBytes = Option<unsafe extern "C" fn(i32) -> usize>;

/// # Safety
/// As CUDA demands of the caller.
unsafe fn block_size(
    targets: (*mut i32, *mut i32),
    function: Function,
    of_block: SharedBytes,
    shared_bytes: usize,
    limit: i32,
    flags: u32,
) -> u32 {
    if of_block.is_some() {
        return call(|| {
            stdio::complain(
                "a block's shared memory by a function is not supported by the CPU device",
            );
            Err(CudaError::NOT_SUPPORTED.into())
        });
    }
    unsafe {
        cudaOccupancyMaxPotentialBlockSizeWithFlags(
            targets.0,
            targets.1,
            function,
            shared_bytes,
            limit,
            flags,
        )
    }
}

driver_functions! {
    Context fn cuLaunchKernel(
        function: Function, grid_x: u32, grid_y: u32, grid_z: u32, block_x: u32, block_y: u32, block_z: u32,
        shared_bytes: u32, stream: Stream, params: Args, extra: Args,
    ) {
        let config = LaunchConfig {
            grid: [grid_x, grid_y, grid_z],
            block: [block_x, block_y, block_z],
            shared_bytes: shared_bytes.into(),
            stream: StreamHandle(stream as u64),
            attributes: &[],
        };
        start(function, config, params, extra)
    }
    Context fn cuLaunchCooperativeKernel(
        function: Function, grid_x: u32, grid_y: u32, grid_z: u32, block_x: u32, block_y: u32, block_z: u32,
        shared_bytes: u32, stream: Stream, params: Args,
    ) {
        let config = LaunchConfig {
            grid: [grid_x, grid_y, grid_z],
            block: [block_x, block_y, block_z],
            shared_bytes: shared_bytes.into(),
            stream: StreamHandle(stream as u64),
            attributes: &[LaunchAttribute::cooperative()],
        };
        start(function, config, params, std::ptr::null_mut())
    }
    Context fn cuLaunchKernelEx(config: *const DriverConfig, function: Function, params: Args, extra: Args) {
        match config.as_ref() {
            None => CudaError::INVALID_VALUE.0,
            Some(given) => match described(&given.for_runtime()) {
                Ok(config) => start(function, config, params, extra),
                Err(error) => error.code.0,
            },
        }
    }
    Context fn cuFuncGetAttribute(value: *mut i32, number: u32, function: Function) {
        read_attribute(value, number, function)
    }
    Context fn cuFuncSetAttribute(function: Function, number: u32, value: i32) {
        cudaFuncSetAttribute(function, number, value)
    }
    Context fn cuFuncSetCacheConfig(function: Function, config: u32) { cudaFuncSetCacheConfig(function, config) }
    Context fn cuFuncSetSharedMemConfig(function: Function, config: u32) {
        cudaFuncSetSharedMemConfig(function, config)
    }
    Context fn cuFuncGetName(name: *mut *const c_char, function: Function) { cudaFuncGetName(name, function) }
    Context fn cuFuncGetParamInfo(function: Function, index: usize, offset: *mut usize, bytes: *mut usize) {
        cudaFuncGetParamInfo(function, index, offset, bytes)
    }
    Context fn cuFuncLoad(function: Function) { call(|| process::current()?.kernel(function as usize).map(|_| ())) }
    Context fn cuFuncIsLoaded(state: *mut u32, function: Function) {
        const LOADED: u32 = 1;
        call(|| {
            process::current()?.kernel(function as usize)?;
            put(state, LOADED)
        })
    }
    Start fn cuKernelGetFunction(target: *mut *mut c_void, kernel: Function) { cudaGetKernel(target, kernel) }
    Start fn cuKernelGetName(name: *mut *const c_char, kernel: Function) { cudaFuncGetName(name, kernel) }
    Start fn cuKernelGetParamInfo(kernel: Function, index: usize, offset: *mut usize, bytes: *mut usize) {
        cudaFuncGetParamInfo(kernel, index, offset, bytes)
    }
    Start fn cuKernelGetAttribute(value: *mut i32, number: u32, kernel: Function, _device: i32) {
        read_attribute(value, number, kernel)
    }
    Start fn cuKernelSetAttribute(number: u32, value: i32, kernel: Function, _device: i32) {
        cudaFuncSetAttribute(kernel, number, value)
    }
    Start fn cuKernelSetCacheConfig(kernel: Function, config: u32, _device: i32) {
        cudaFuncSetCacheConfig(kernel, config)
    }
    Context fn cuOccupancyMaxActiveBlocksPerMultiprocessor(
        blocks: *mut i32, function: Function, block_threads: i32, shared_bytes: usize,
    ) {
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, block_threads, shared_bytes)
    }
    Context fn cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        blocks: *mut i32, function: Function, block_threads: i32, shared_bytes: usize, flags: u32,
    ) {
        cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
            blocks, function, block_threads, shared_bytes, flags,
        )
    }
    Context fn cuOccupancyAvailableDynamicSMemPerBlock(
        bytes: *mut usize, function: Function, blocks: i32, block_threads: i32,
    ) {
        cudaOccupancyAvailableDynamicSMemPerBlock(bytes, function, blocks, block_threads)
    }
    Context fn cuOccupancyMaxPotentialBlockSize(
        grid: *mut i32, block: *mut i32, function: Function, of_block: SharedBytes, shared_bytes: usize, limit: i32,
    ) {
        block_size((grid, block), function, of_block, shared_bytes, limit, 0)
    }
    Context fn cuOccupancyMaxPotentialBlockSizeWithFlags(
        grid: *mut i32, block: *mut i32, function: Function, of_block: SharedBytes, shared_bytes: usize, limit: i32,
        flags: u32,
    ) {
        block_size((grid, block), function, of_block, shared_bytes, limit, flags)
    }
    Context fn cuOccupancyMaxPotentialClusterSize(blocks: *mut i32, function: Function, config: *const DriverConfig) {
        match config.as_ref() {
            None => CudaError::INVALID_VALUE.0,
            Some(config) => cudaOccupancyMaxPotentialClusterSize(blocks, function, &config.for_runtime()),
        }
    }
    Context fn cuOccupancyMaxActiveClusters(clusters: *mut i32, function: Function, config: *const DriverConfig) {
        match config.as_ref() {
            None => CudaError::INVALID_VALUE.0,
            Some(config) => cudaOccupancyMaxActiveClusters(clusters, function, &config.for_runtime()),
        }
    }
}

per_thread_variants! {
    cuLaunchKernel_ptsz = cuLaunchKernel(function: Function, grid_x: u32, grid_y: u32, grid_z: u32, block_x: u32, block_y: u32, block_z: u32, shared_bytes: u32, stream: Stream, params: Args, extra: Args) in stream;
    cuLaunchCooperativeKernel_ptsz = cuLaunchCooperativeKernel(function: Function, grid_x: u32, grid_y: u32, grid_z: u32, block_x: u32, block_y: u32, block_z: u32, shared_bytes: u32, stream: Stream, params: Args) in stream;
}

/// `cuLaunchKernelEx` in the calling thread's stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLaunchKernelEx_ptsz(
    config: *const DriverConfig,
    function: Function,
    params: Args,
    extra: Args,
) -> u32 {
    match unsafe { config.as_ref() } {
        None => CudaError::INVALID_VALUE.0,
        Some(given) => {
            let config = DriverConfig { stream: per_thread(given.stream), ..*given };
            unsafe { cuLaunchKernelEx(&config, function, params, extra) }
        }
    }
}
