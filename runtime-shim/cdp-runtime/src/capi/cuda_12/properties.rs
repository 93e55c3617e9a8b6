//! `cudaDeviceProp` as CUDA 12 has it: that of CUDA 13 with eight numbers more, which are attributes now.

use crate::device::Device;
use crate::error::Result;
use crate::properties::{self, DeviceProp};

/// The structure, in the order of CUDA 12's header, and where each number of it comes from: the `same` one of CUDA 13's, or
/// what an attribute is `asked` for.
macro_rules! properties {
    ($($field:ident: $ty:ty = $from:ident $($number:literal)?,)*) => {
        /// `cudaDeviceProp` of CUDA 12.
        #[repr(C)]
        #[derive(Clone, Copy)]
        #[allow(missing_docs)]
        pub struct DeviceProp12 {
            $(pub $field: $ty,)*
        }

        /// All of them, of a device.
        pub(super) fn from_device<D: Device + ?Sized>(device: &D) -> Result<DeviceProp12> {
            let known: DeviceProp = properties::from_device(device)?;
            let get = |number: u32| device.attribute(number).unwrap_or(0);
            Ok(DeviceProp12 { $($field: properties!(@$from known get $field $($number)?),)* })
        }
    };
    (@same $known:ident $get:ident $field:ident) => { $known.$field };
    (@asked $known:ident $get:ident $field:ident $number:literal) => { $get($number) };
    (@none $known:ident $get:ident $field:ident) => { [0; 63] };
}

properties! {
    name: [u8; 256] = same,
    uuid: [u8; 16] = same,
    luid: [u8; 8] = same,
    luid_device_node_mask: u32 = same,
    total_global_mem: usize = same,
    shared_mem_per_block: usize = same,
    regs_per_block: i32 = same,
    warp_size: i32 = same,
    mem_pitch: usize = same,
    max_threads_per_block: i32 = same,
    max_threads_dim: [i32; 3] = same,
    max_grid_size: [i32; 3] = same,
    clock_rate: i32 = asked 13,
    total_const_mem: usize = same,
    major: i32 = same,
    minor: i32 = same,
    texture_alignment: usize = same,
    texture_pitch_alignment: usize = same,
    device_overlap: i32 = asked 15,
    multi_processor_count: i32 = same,
    kernel_exec_timeout_enabled: i32 = asked 17,
    integrated: i32 = same,
    can_map_host_memory: i32 = same,
    compute_mode: i32 = asked 20,
    max_texture_1d: i32 = same,
    max_texture_1d_mipmap: i32 = same,
    max_texture_1d_linear: i32 = asked 69,
    max_texture_2d: [i32; 2] = same,
    max_texture_2d_mipmap: [i32; 2] = same,
    max_texture_2d_linear: [i32; 3] = same,
    max_texture_2d_gather: [i32; 2] = same,
    max_texture_3d: [i32; 3] = same,
    max_texture_3d_alt: [i32; 3] = same,
    max_texture_cubemap: i32 = same,
    max_texture_1d_layered: [i32; 2] = same,
    max_texture_2d_layered: [i32; 3] = same,
    max_texture_cubemap_layered: [i32; 2] = same,
    max_surface_1d: i32 = same,
    max_surface_2d: [i32; 2] = same,
    max_surface_3d: [i32; 3] = same,
    max_surface_1d_layered: [i32; 2] = same,
    max_surface_2d_layered: [i32; 3] = same,
    max_surface_cubemap: i32 = same,
    max_surface_cubemap_layered: [i32; 2] = same,
    surface_alignment: usize = same,
    concurrent_kernels: i32 = same,
    ecc_enabled: i32 = same,
    pci_bus_id: i32 = same,
    pci_device_id: i32 = same,
    pci_domain_id: i32 = same,
    tcc_driver: i32 = same,
    async_engine_count: i32 = same,
    unified_addressing: i32 = same,
    memory_clock_rate: i32 = asked 36,
    memory_bus_width: i32 = same,
    l2_cache_size: i32 = same,
    persisting_l2_cache_max_size: i32 = same,
    max_threads_per_multi_processor: i32 = same,
    stream_priorities_supported: i32 = same,
    global_l1_cache_supported: i32 = same,
    local_l1_cache_supported: i32 = same,
    shared_mem_per_multiprocessor: usize = same,
    regs_per_multiprocessor: i32 = same,
    managed_memory: i32 = same,
    is_multi_gpu_board: i32 = same,
    multi_gpu_board_group_id: i32 = same,
    host_native_atomic_supported: i32 = same,
    single_to_double_precision_perf_ratio: i32 = asked 87,
    pageable_memory_access: i32 = same,
    concurrent_managed_access: i32 = same,
    compute_preemption_supported: i32 = same,
    can_use_host_pointer_for_registered_mem: i32 = same,
    cooperative_launch: i32 = same,
    cooperative_multi_device_launch: i32 = asked 96,
    shared_mem_per_block_optin: usize = same,
    pageable_memory_access_uses_host_page_tables: i32 = same,
    direct_managed_mem_access_from_host: i32 = same,
    max_blocks_per_multi_processor: i32 = same,
    access_policy_max_window_size: i32 = same,
    reserved_shared_mem_per_block: usize = same,
    host_register_supported: i32 = same,
    sparse_cuda_array_supported: i32 = same,
    host_register_read_only_supported: i32 = same,
    timeline_semaphore_interop_supported: i32 = same,
    memory_pools_supported: i32 = same,
    gpu_direct_rdma_supported: i32 = same,
    gpu_direct_rdma_flush_writes_options: u32 = same,
    gpu_direct_rdma_writes_ordering: i32 = same,
    memory_pool_supported_handle_types: u32 = same,
    deferred_mapping_cuda_array_supported: i32 = same,
    ipc_event_supported: i32 = same,
    cluster_launch: i32 = same,
    unified_function_pointers: i32 = same,
    reserved: [i32; 63] = none,
}
