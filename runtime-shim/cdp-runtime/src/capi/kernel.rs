//! Kernels: launches, attributes, occupancy.

use std::ffi::c_void;

use super::{call, given, put};
use crate::device::{
    Device, DeviceKind, KernelAttributes, KernelHandle, LaunchAttribute, LaunchConfig, StreamHandle,
};
use crate::error::{CudaError, Result};
use crate::graph::{Kernel, Op, capture};
use crate::process::{self, KernelEntry};
use crate::stdio;

/// `dim3`
#[repr(C)]
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub struct Dim3 {
    pub x: u32,
    pub y: u32,
    pub z: u32,
}

/// The bytes of each parameter of a kernel.
///
/// # Safety
/// `args` holds a pointer to the bytes of each parameter, which live as long as the result is used.
pub(super) unsafe fn param_bytes<'a>(
    handle: *const c_void,
    args: *mut *mut c_void,
) -> Result<Vec<&'a [u8]>> {
    let KernelEntry { param_sizes, .. } = process::current()?.kernel(handle as usize)?;
    let mut params: Vec<&[u8]> = Vec::with_capacity(param_sizes.len());
    for (index, &bytes) in param_sizes.iter().enumerate() {
        // SAFETY: the caller's promise; the number of parameters is the kernel's.
        let param = if args.is_null() { args.cast() } else { unsafe { *args.add(index) } };
        if param.is_null() {
            return Err(CudaError::INVALID_VALUE.into());
        }
        // SAFETY: the caller's promise.
        params.push(unsafe { std::slice::from_raw_parts(param.cast::<u8>(), bytes as usize) });
    }
    Ok(params)
}

/// Launches the kernel that host code knows by `handle`, or makes a node of it if its stream is captured.
///
/// # Safety
/// `args` holds a pointer to the bytes of each parameter.
pub(super) unsafe fn launch(
    handle: *const c_void,
    config: LaunchConfig<'_>,
    args: *mut *mut c_void,
) -> Result<()> {
    let node = || {
        // SAFETY: the caller's promise.
        let params = unsafe { param_bytes(handle, args)? };
        Ok(Op::Kernel(Kernel {
            handle: handle as usize,
            grid: config.grid,
            block: config.block,
            shared_bytes: config.shared_bytes,
            attributes: config.attributes.to_vec(),
            params: params.iter().map(|bytes| Box::from(*bytes)).collect(),
        }))
    };
    if capture::recorded(Some(config.stream), node)? {
        return Ok(());
    }
    // SAFETY: the caller's promise.
    unsafe { launch_now(handle, config, args) }
}

/// Launches the kernel that host code knows by `handle`.
///
/// # Safety
/// `args` holds a pointer to the bytes of each parameter.
pub(crate) unsafe fn launch_now(
    handle: *const c_void,
    config: LaunchConfig<'_>,
    args: *mut *mut c_void,
) -> Result<()> {
    let state = process::current()?;
    let kernel = state.kernel(handle as usize)?.kernel;
    // SAFETY: the caller's promise.
    let params = unsafe { param_bytes(handle, args)? };
    // SAFETY: what the kernel is given is the program's affair.
    let launched = unsafe { state.device.launch(kernel, &config, &params) };
    if let Err(error) = &launched
        && state.device.kind() == DeviceKind::Cpu
        && error.detail.is_some()
    {
        // Easily missed in CUDA: the launch does nothing and only cudaGetLastError tells.
        stdio::complain(&error.to_string());
    }
    launched
}

/// `kernel<<<grid, block, shared_bytes, stream>>>(args...)`, as compiled host code calls it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cdp_launch(
    handle: *const c_void,
    grid: *const [u32; 3],
    block: *const [u32; 3],
    shared_bytes: usize,
    stream: *mut c_void,
    args: *mut *mut c_void,
) -> u32 {
    call(|| {
        // SAFETY: compiled code passes both.
        let (grid, block) = unsafe { (*grid, *block) };
        let stream = StreamHandle(stream as u64);
        let shared_bytes = shared_bytes as u64;
        let config = LaunchConfig { grid, block, shared_bytes, stream, attributes: &[] };
        unsafe { launch(handle, config, args) }
    })
}

fn config(
    grid: Dim3,
    block: Dim3,
    shared_bytes: usize,
    stream: *mut c_void,
    attributes: &[LaunchAttribute],
) -> LaunchConfig<'_> {
    LaunchConfig {
        grid: [grid.x, grid.y, grid.z],
        block: [block.x, block.y, block.z],
        shared_bytes: shared_bytes as u64,
        stream: StreamHandle(stream as u64),
        attributes,
    }
}

/// `cudaLaunchKernel`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaLaunchKernel(
    function: *const c_void,
    grid: Dim3,
    block: Dim3,
    args: *mut *mut c_void,
    shared_bytes: usize,
    stream: *mut c_void,
) -> u32 {
    call(|| {
        let config = config(grid, block, shared_bytes, stream, &[]);
        unsafe { launch(function, config, args) }
    })
}

/// `cudaLaunchCooperativeKernel`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaLaunchCooperativeKernel(
    function: *const c_void,
    grid: Dim3,
    block: Dim3,
    args: *mut *mut c_void,
    shared_bytes: usize,
    stream: *mut c_void,
) -> u32 {
    call(|| {
        let cooperative = [LaunchAttribute::cooperative()];
        let config = config(grid, block, shared_bytes, stream, &cooperative);
        unsafe { launch(function, config, args) }
    })
}

/// `cudaLaunchConfig_t`
#[repr(C)]
#[allow(missing_docs)]
pub struct RuntimeLaunchConfig {
    pub grid: Dim3,
    pub block: Dim3,
    pub shared_bytes: usize,
    pub stream: *mut c_void,
    pub attributes: *const LaunchAttribute,
    pub attribute_count: u32,
}

/// `cudaLaunchKernelExC`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaLaunchKernelExC(
    config: *const RuntimeLaunchConfig,
    function: *const c_void,
    args: *mut *mut c_void,
) -> u32 {
    call(|| unsafe { launch(function, described(config)?, args) })
}

/// The launch that host code describes.
///
/// # Safety
/// `config` is null or valid, with as many attributes as it says.
pub(super) unsafe fn described<'a>(config: *const RuntimeLaunchConfig) -> Result<LaunchConfig<'a>> {
    // SAFETY: the caller's promise, here and below.
    let given = unsafe { config.as_ref() }.ok_or(CudaError::INVALID_VALUE)?;
    let attributes = match given.attribute_count {
        0 => &[],
        _ if given.attributes.is_null() => return Err(CudaError::INVALID_VALUE.into()),
        count => unsafe { std::slice::from_raw_parts(given.attributes, count as usize) },
    };
    Ok(self::config(given.grid, given.block, given.shared_bytes, given.stream, attributes))
}

/// `cudaOccupancyMaxActiveClusters`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaOccupancyMaxActiveClusters(
    clusters: *mut i32,
    function: *const c_void,
    config: *const RuntimeLaunchConfig,
) -> u32 {
    unsafe {
        of_clusters(clusters, function, config, |device, kernel, config| {
            device.max_active_clusters(kernel, config)
        })
    }
}

/// `cudaOccupancyMaxPotentialClusterSize`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaOccupancyMaxPotentialClusterSize(
    blocks: *mut i32,
    function: *const c_void,
    config: *const RuntimeLaunchConfig,
) -> u32 {
    unsafe {
        of_clusters(blocks, function, config, |device, kernel, config| {
            device.max_cluster_blocks(kernel, config)
        })
    }
}

/// Answers a question about the clusters of a kernel.
///
/// # Safety
/// As for [`described`].
unsafe fn of_clusters(
    target: *mut i32,
    function: *const c_void,
    config: *const RuntimeLaunchConfig,
    ask: impl FnOnce(&dyn Device, KernelHandle, &LaunchConfig<'_>) -> Result<i32>,
) -> u32 {
    call(|| {
        given(target)?;
        let state = process::current()?;
        let kernel = state.kernel(function as usize)?.kernel;
        // SAFETY: the caller's promise.
        let found = ask(&*state.device, kernel, &unsafe { described(config)? })?;
        unsafe { put(target, found) }
    })
}

/// `cudaGetKernel`: a kernel is known by its host function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaGetKernel(kernel: *mut *mut c_void, function: *const c_void) -> u32 {
    call(|| {
        given(kernel)?;
        process::current()?.kernel(function as usize)?;
        unsafe { put(kernel, function.cast_mut()) }
    })
}

/// `cudaFuncAttributes`, CUDA 13.0.
#[repr(C)]
#[allow(missing_docs)]
pub struct FuncAttributes {
    pub shared_size_bytes: usize,
    pub const_size_bytes: usize,
    pub local_size_bytes: usize,
    pub max_threads_per_block: i32,
    pub num_regs: i32,
    pub ptx_version: i32,
    pub binary_version: i32,
    pub cache_mode_ca: i32,
    pub max_dynamic_shared_size_bytes: i32,
    pub preferred_shmem_carveout: i32,
    pub cluster_dim_must_be_set: i32,
    pub required_cluster_width: i32,
    pub required_cluster_height: i32,
    pub required_cluster_depth: i32,
    pub cluster_scheduling_policy_preference: i32,
    pub non_portable_cluster_size_allowed: i32,
    pub reserved: [i32; 16],
}

impl From<KernelAttributes> for FuncAttributes {
    fn from(known: KernelAttributes) -> FuncAttributes {
        FuncAttributes {
            shared_size_bytes: known.shared_bytes as usize,
            const_size_bytes: known.constant_bytes as usize,
            local_size_bytes: known.local_bytes as usize,
            max_threads_per_block: known.max_block_threads,
            num_regs: known.registers,
            ptx_version: known.ptx_version,
            binary_version: known.binary_version,
            cache_mode_ca: known.cache_mode_ca,
            max_dynamic_shared_size_bytes: known.max_dynamic_shared_bytes,
            preferred_shmem_carveout: known.preferred_carveout,
            cluster_dim_must_be_set: known.cluster_must_be_set,
            required_cluster_width: known.required_cluster[0],
            required_cluster_height: known.required_cluster[1],
            required_cluster_depth: known.required_cluster[2],
            cluster_scheduling_policy_preference: known.cluster_scheduling_policy,
            non_portable_cluster_size_allowed: known.non_portable_cluster,
            reserved: [0; 16],
        }
    }
}

/// `cudaFuncGetAttributes`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaFuncGetAttributes(
    attributes: *mut FuncAttributes,
    function: *const c_void,
) -> u32 {
    call(|| {
        given(attributes)?;
        let state = process::current()?;
        let entry = state.kernel(function as usize)?;
        let known = state.device.kernel_attributes(entry.kernel)?;
        unsafe { put(attributes, known.into()) }
    })
}

/// `cudaFuncSetAttribute`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaFuncSetAttribute(
    function: *const c_void,
    attribute: u32,
    value: i32,
) -> u32 {
    call(|| {
        let state = process::current()?;
        let entry = state.kernel(function as usize)?;
        state.device.set_kernel_attribute(entry.kernel, attribute, value)
    })
}

/// `cudaFuncSetCacheConfig`: a preference, checked and not followed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaFuncSetCacheConfig(function: *const c_void, config: u32) -> u32 {
    call(|| {
        process::current()?.kernel(function as usize)?;
        if config > 3 { Err(CudaError::INVALID_VALUE.into()) } else { Ok(()) }
    })
}

/// `cudaOccupancyMaxActiveBlocksPerMultiprocessor`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaOccupancyMaxActiveBlocksPerMultiprocessor(
    blocks: *mut i32,
    function: *const c_void,
    block_threads: i32,
    shared_bytes: usize,
) -> u32 {
    unsafe {
        cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
            blocks,
            function,
            block_threads,
            shared_bytes,
            0,
        )
    }
}

/// `cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    blocks: *mut i32,
    function: *const c_void,
    block_threads: i32,
    shared_bytes: usize,
    flags: u32,
) -> u32 {
    call(|| {
        given(blocks)?;
        let state = process::current()?;
        let entry = state.kernel(function as usize)?;
        let device = &state.device;
        let found =
            device.max_active_blocks(entry.kernel, block_threads, shared_bytes as u64, flags)?;
        unsafe { put(blocks, found) }
    })
}

/// The block size that keeps most threads on a multiprocessor, and the smallest grid that fills the
/// device with it. `limit` bounds the block size unless 0.
fn max_potential_block_size(
    function: usize,
    shared_bytes: u64,
    limit: i32,
    flags: u32,
) -> Result<(i32, i32)> {
    const MAX_THREADS_PER_MULTIPROCESSOR: u32 = 39;
    const MULTIPROCESSORS: u32 = 16;
    const WARP: u32 = 10;
    const MAX_THREADS_PER_BLOCK: u32 = 1;
    let state = process::current()?;
    let entry = state.kernel(function)?;
    let device: &dyn Device = &*state.device;
    let most_threads = device.attribute(MAX_THREADS_PER_MULTIPROCESSOR)?;
    let warp = device.attribute(WARP)?.max(1);
    let mut limit = if limit == 0 { i32::MAX } else { limit };
    limit = limit.min(device.attribute(MAX_THREADS_PER_BLOCK)?);
    limit = limit.min(device.kernel_attributes(entry.kernel)?.max_block_threads);
    let (mut best_threads, mut best) = (0, (0, 0));
    let mut rounded = (limit + warp - 1) / warp * warp;
    // Larger blocks win ties, so they are tried first.
    while rounded > 0 {
        let block = rounded.min(limit);
        let blocks = device.max_active_blocks(entry.kernel, block, shared_bytes, flags)?;
        if blocks * block > best_threads {
            best_threads = blocks * block;
            best = (blocks, block);
        }
        if best_threads >= most_threads {
            break;
        }
        rounded -= warp;
    }
    Ok((best.0 * device.attribute(MULTIPROCESSORS)?, best.1))
}

/// `cudaOccupancyMaxPotentialBlockSize`, a template in C++, here for any kernel.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaOccupancyMaxPotentialBlockSize(
    min_grid: *mut i32,
    block: *mut i32,
    function: *const c_void,
    shared_bytes: usize,
    limit: i32,
) -> u32 {
    unsafe {
        cudaOccupancyMaxPotentialBlockSizeWithFlags(
            min_grid,
            block,
            function,
            shared_bytes,
            limit,
            0,
        )
    }
}

/// `cudaOccupancyMaxPotentialBlockSizeWithFlags`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaOccupancyMaxPotentialBlockSizeWithFlags(
    min_grid: *mut i32,
    block: *mut i32,
    function: *const c_void,
    shared_bytes: usize,
    limit: i32,
    flags: u32,
) -> u32 {
    call(|| {
        given(min_grid)?;
        given(block)?;
        let found = max_potential_block_size(function as usize, shared_bytes as u64, limit, flags)?;
        unsafe { put(min_grid, found.0)? };
        unsafe { put(block, found.1) }
    })
}
