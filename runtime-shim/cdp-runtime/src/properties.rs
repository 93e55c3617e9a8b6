//! `cudaDeviceProp` as CUDA 13.0 lays it out, filled from a device's attributes.
//!
//! Which attribute goes where is the CUDA runtime manual's description of `cudaDeviceProp` and
//! `cudaDeviceAttr`. No values are invented here: a device that lacks an attribute has 0 there.

use crate::device::Device;
use crate::error::Result;

/// The struct that `cudaGetDeviceProperties` fills: 1,008 bytes in CUDA 13.0.
#[repr(C)]
#[derive(Clone, Debug)]
#[allow(missing_docs)] // Named as in the runtime manual, in snake case.
pub struct DeviceProp {
    pub name: [u8; 256],
    pub uuid: [u8; 16],
    pub luid: [u8; 8],
    pub luid_device_node_mask: u32,
    pub total_global_mem: usize,
    pub shared_mem_per_block: usize,
    pub regs_per_block: i32,
    pub warp_size: i32,
    pub mem_pitch: usize,
    pub max_threads_per_block: i32,
    pub max_threads_dim: [i32; 3],
    pub max_grid_size: [i32; 3],
    pub total_const_mem: usize,
    pub major: i32,
    pub minor: i32,
    pub texture_alignment: usize,
    pub texture_pitch_alignment: usize,
    pub multi_processor_count: i32,
    pub integrated: i32,
    pub can_map_host_memory: i32,
    pub max_texture_1d: i32,
    pub max_texture_1d_mipmap: i32,
    pub max_texture_2d: [i32; 2],
    pub max_texture_2d_mipmap: [i32; 2],
    pub max_texture_2d_linear: [i32; 3],
    pub max_texture_2d_gather: [i32; 2],
    pub max_texture_3d: [i32; 3],
    pub max_texture_3d_alt: [i32; 3],
    pub max_texture_cubemap: i32,
    pub max_texture_1d_layered: [i32; 2],
    pub max_texture_2d_layered: [i32; 3],
    pub max_texture_cubemap_layered: [i32; 2],
    pub max_surface_1d: i32,
    pub max_surface_2d: [i32; 2],
    pub max_surface_3d: [i32; 3],
    pub max_surface_1d_layered: [i32; 2],
    pub max_surface_2d_layered: [i32; 3],
    pub max_surface_cubemap: i32,
    pub max_surface_cubemap_layered: [i32; 2],
    pub surface_alignment: usize,
    pub concurrent_kernels: i32,
    pub ecc_enabled: i32,
    pub pci_bus_id: i32,
    pub pci_device_id: i32,
    pub pci_domain_id: i32,
    pub tcc_driver: i32,
    pub async_engine_count: i32,
    pub unified_addressing: i32,
    pub memory_bus_width: i32,
    pub l2_cache_size: i32,
    pub persisting_l2_cache_max_size: i32,
    pub max_threads_per_multi_processor: i32,
    pub stream_priorities_supported: i32,
    pub global_l1_cache_supported: i32,
    pub local_l1_cache_supported: i32,
    pub shared_mem_per_multiprocessor: usize,
    pub regs_per_multiprocessor: i32,
    pub managed_memory: i32,
    pub is_multi_gpu_board: i32,
    pub multi_gpu_board_group_id: i32,
    pub host_native_atomic_supported: i32,
    pub pageable_memory_access: i32,
    pub concurrent_managed_access: i32,
    pub compute_preemption_supported: i32,
    pub can_use_host_pointer_for_registered_mem: i32,
    pub cooperative_launch: i32,
    pub shared_mem_per_block_optin: usize,
    pub pageable_memory_access_uses_host_page_tables: i32,
    pub direct_managed_mem_access_from_host: i32,
    pub max_blocks_per_multi_processor: i32,
    pub access_policy_max_window_size: i32,
    pub reserved_shared_mem_per_block: usize,
    pub host_register_supported: i32,
    pub sparse_cuda_array_supported: i32,
    pub host_register_read_only_supported: i32,
    pub timeline_semaphore_interop_supported: i32,
    pub memory_pools_supported: i32,
    pub gpu_direct_rdma_supported: i32,
    pub gpu_direct_rdma_flush_writes_options: u32,
    pub gpu_direct_rdma_writes_ordering: i32,
    pub memory_pool_supported_handle_types: u32,
    pub deferred_mapping_cuda_array_supported: i32,
    pub ipc_event_supported: i32,
    pub cluster_launch: i32,
    pub unified_function_pointers: i32,
    pub device_numa_config: i32,
    pub device_numa_id: i32,
    pub mps_enabled: i32,
    pub host_numa_id: i32,
    pub gpu_pci_device_id: u32,
    pub gpu_pci_subsystem_id: u32,
    pub host_numa_multinode_ipc_supported: i32,
    pub reserved: [i32; 56],
}

/// Where the properties with an attribute each come from.
macro_rules! fill {
    ($prop:ident, $get:ident; $($($field:ident)? $([$array:ident $index:literal])? = $number:literal;)*) => {
        $( $( $prop.$field = $get($number) as _; )? $( $prop.$array[$index] = $get($number) as _; )? )*
    };
}

/// Fills all properties of `device` from its attributes.
pub fn from_device<D: Device + ?Sized>(device: &D) -> Result<DeviceProp> {
    // SAFETY: plain integers and byte arrays, for which zero is a value.
    let mut prop: DeviceProp = unsafe { std::mem::zeroed() };
    let name = device.name();
    let length = name.len().min(prop.name.len() - 1);
    prop.name[..length].copy_from_slice(&name.as_bytes()[..length]);
    prop.uuid = device.uuid();
    prop.total_global_mem = device.memory_bytes()?.1 as usize;
    let get = |number: u32| device.attribute(number).unwrap_or(0);
    fill_general(&mut prop, get);
    fill_textures(&mut prop, get);
    Ok(prop)
}

fn fill_general(prop: &mut DeviceProp, get: impl Fn(u32) -> i32) {
    fill! { prop, get;
        max_threads_per_block = 1; [max_threads_dim 0] = 2; [max_threads_dim 1] = 3;
        [max_threads_dim 2] = 4; [max_grid_size 0] = 5; [max_grid_size 1] = 6;
        [max_grid_size 2] = 7; shared_mem_per_block = 8; total_const_mem = 9; warp_size = 10;
        mem_pitch = 11; regs_per_block = 12; texture_alignment = 14; multi_processor_count = 16;
        integrated = 18; can_map_host_memory = 19; surface_alignment = 30; concurrent_kernels = 31;
        ecc_enabled = 32; pci_bus_id = 33; pci_device_id = 34; tcc_driver = 35;
        memory_bus_width = 37; l2_cache_size = 38; max_threads_per_multi_processor = 39;
        async_engine_count = 40; unified_addressing = 41; pci_domain_id = 50;
        texture_pitch_alignment = 51; major = 75; minor = 76; stream_priorities_supported = 78;
        global_l1_cache_supported = 79; local_l1_cache_supported = 80;
        shared_mem_per_multiprocessor = 81; regs_per_multiprocessor = 82; managed_memory = 83;
        is_multi_gpu_board = 84; multi_gpu_board_group_id = 85; host_native_atomic_supported = 86;
        pageable_memory_access = 88; concurrent_managed_access = 89;
        compute_preemption_supported = 90; can_use_host_pointer_for_registered_mem = 91;
        cooperative_launch = 95; shared_mem_per_block_optin = 97; host_register_supported = 99;
        pageable_memory_access_uses_host_page_tables = 100;
        direct_managed_mem_access_from_host = 101; max_blocks_per_multi_processor = 106;
        persisting_l2_cache_max_size = 108; access_policy_max_window_size = 109;
        reserved_shared_mem_per_block = 111; sparse_cuda_array_supported = 112;
        host_register_read_only_supported = 113; timeline_semaphore_interop_supported = 114;
        memory_pools_supported = 115; gpu_direct_rdma_supported = 116;
        gpu_direct_rdma_flush_writes_options = 117; gpu_direct_rdma_writes_ordering = 118;
        memory_pool_supported_handle_types = 119; cluster_launch = 120;
        deferred_mapping_cuda_array_supported = 121; ipc_event_supported = 125;
        unified_function_pointers = 129; device_numa_config = 130; device_numa_id = 131;
        mps_enabled = 133; host_numa_id = 134; gpu_pci_device_id = 139;
        gpu_pci_subsystem_id = 140; host_numa_multinode_ipc_supported = 143;
    }
}

fn fill_textures(prop: &mut DeviceProp, get: impl Fn(u32) -> i32) {
    fill! { prop, get;
        max_texture_1d = 21; [max_texture_2d 0] = 22; [max_texture_2d 1] = 23;
        [max_texture_3d 0] = 24; [max_texture_3d 1] = 25; [max_texture_3d 2] = 26;
        [max_texture_2d_layered 0] = 27; [max_texture_2d_layered 1] = 28;
        [max_texture_2d_layered 2] = 29; [max_texture_1d_layered 0] = 42;
        [max_texture_1d_layered 1] = 43; [max_texture_2d_gather 0] = 45;
        [max_texture_2d_gather 1] = 46; [max_texture_3d_alt 0] = 47; [max_texture_3d_alt 1] = 48;
        [max_texture_3d_alt 2] = 49; max_texture_cubemap = 52; [max_texture_cubemap_layered 0] = 53;
        [max_texture_cubemap_layered 1] = 54; max_surface_1d = 55; [max_surface_2d 0] = 56;
        [max_surface_2d 1] = 57; [max_surface_3d 0] = 58; [max_surface_3d 1] = 59;
        [max_surface_3d 2] = 60; [max_surface_1d_layered 0] = 61; [max_surface_1d_layered 1] = 62;
        [max_surface_2d_layered 0] = 63; [max_surface_2d_layered 1] = 64;
        [max_surface_2d_layered 2] = 65; max_surface_cubemap = 66;
        [max_surface_cubemap_layered 0] = 67; [max_surface_cubemap_layered 1] = 68;
        [max_texture_2d_linear 0] = 70; [max_texture_2d_linear 1] = 71;
        [max_texture_2d_linear 2] = 72; [max_texture_2d_mipmap 0] = 73;
        [max_texture_2d_mipmap 1] = 74; max_texture_1d_mipmap = 77;
    }
}
