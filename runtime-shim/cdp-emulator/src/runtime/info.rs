//! Queries of device code: attributes, limits, function attributes, occupancy.
//!
//! The device answers as an H200 would, where that does not contradict what it is.

use super::{Caller, Outcome, errors};
use crate::config::{MAX_L2_FETCH_BYTES, PERSISTING_L2_BYTES};
use crate::exec::Step;
use crate::hardware::{MAX_SHARED_BYTES, MULTIPROCESSORS};
use crate::sched::Core;

/// What `cudaRuntimeGetVersion` gives in device code, whatever the toolkit: measured on an H200 with
/// libcudadevrt 13.0.
pub const DEVICE_RUNTIME_VERSION: u32 = 6_000;

/// `cudaSharedMemBankSizeFourByte`, what `cudaDeviceGetSharedMemConfig` gives in device code on an H200.
pub const FOUR_BYTE_BANKS: u32 = 1;

/// The value of a `cudaDeviceAttr`; `None` for numbers that are no attribute.
pub fn device_attribute(attribute: u32, compute_capability: u32) -> Option<u32> {
    Some(match attribute {
        1 => 1024,             // MaxThreadsPerBlock
        2 | 3 => 1024,         // MaxBlockDimX, Y
        4 => 64,               // MaxBlockDimZ
        5 => i32::MAX as u32,  // MaxGridDimX
        6 | 7 => 65_535,       // MaxGridDimY, Z
        8 => 48 << 10,         // MaxSharedMemoryPerBlock
        9 => 64 << 10,         // TotalConstantMemory
        10 => 32,              // WarpSize
        11 => i32::MAX as u32, // MaxPitch
        12 => 65_536,          // MaxRegistersPerBlock
        13 => 1_000_000,       // ClockRate, kHz: the virtual clock has 1 cycle a nanosecond
        14 => 512,             // TextureAlignment
        15 => 1,               // GpuOverlap
        16 => MULTIPROCESSORS, // MultiProcessorCount
        17 => 0,               // KernelExecTimeout
        18 => 1,               // Integrated: it shares the host's memory
        19 => 1,               // CanMapHostMemory
        20 => 0,               // ComputeMode
        31 => 1,               // ConcurrentKernels
        32 => 0,               // EccEnabled
        33..=35 => 0,          // PciBusId, PciDeviceId, TccDriver
        36 => 1_000_000,       // MemoryClockRate
        37 => 64,              // GlobalMemoryBusWidth
        38 => 50 << 20,        // L2CacheSize
        39 => 2048,            // MaxThreadsPerMultiProcessor
        40 => 0,               // AsyncEngineCount
        41 => 1,               // UnifiedAddressing
        75 => compute_capability / 10,
        76 => compute_capability % 10,
        78 => 1,         // StreamPrioritiesSupported
        81 => 228 << 10, // MaxSharedMemoryPerMultiprocessor
        82 => 65_536,    // MaxRegistersPerMultiprocessor
        83 => 1,         // ManagedMemory
        84 => 0,         // IsMultiGpuBoard
        86 => 1,         // HostNativeAtomicSupported
        88 => 1,         // PageableMemoryAccess
        89 => 1,         // ConcurrentManagedAccess
        95 => 1,         // CooperativeLaunch
        97 => MAX_SHARED_BYTES as u32,
        106 => 32,                                  // MaxBlocksPerMultiprocessor
        111 => 1024,                                // ReservedSharedMemoryPerBlock
        120 => u32::from(compute_capability >= 90), // ClusterLaunch
        79 | 80 => 1,                               // GlobalL1CacheSupported, LocalL1CacheSupported
        87 => 2,                                    // SingleToDoublePrecisionPerfRatio of an H200
        90 => 1,                                    // ComputePreemptionSupported
        91 => 1,                                    // CanUseHostPointerForRegisteredMem
        99 => 1,                                    // HostRegisterSupported
        102 | 103 => 1, // VirtualMemoryManagementSupported, HandleTypePosixFileDescriptorSupported
        115 => 1,       // MemoryPoolsSupported
        122 | 123 => 1, // stream memory operations: of 64 bits, and with NOR
        21..=30 | 42..=74 | 77 => texture_attribute(attribute),
        85 | 92..=94 | 96 | 98 | 100 | 101 | 104 | 105 | 107..=110 | 112..=114 | 116..=119 => 0,
        121 | 124..=150 => 0,
        _ => return None,
    })
}

/// Most elements of textures and surfaces, by the programming guide's table of compute capabilities: the same from 6.0
/// to 9.0.
fn texture_attribute(attribute: u32) -> u32 {
    match attribute {
        21 => 131_072,                    // MaxTexture1DWidth
        22 | 56 => 131_072,               // MaxTexture2DWidth, MaxSurface2DWidth
        23 | 57 => 65_536,                // their heights
        24..=26 | 58..=60 => 16_384,      // MaxTexture3D, MaxSurface3D
        27 | 28 | 63 | 64 => 32_768,      // layered ones of two dimensions
        42 | 61 => 32_768,                // of one
        29 | 43 | 62 | 65 => 2_048,       // their layers
        30 => 512,                        // SurfaceAlignment
        45 | 46 => 32_768,                // MaxTexture2DGather
        47 | 48 => 8_192,                 // MaxTexture3DWidthAlt, HeightAlt
        49 => 32_768,                     // DepthAlt
        51 => 32,                         // TexturePitchAlignment
        52 | 53 | 55 | 66 | 67 => 32_768, // cube maps, MaxSurface1DWidth
        54 | 68 => 2_046,                 // their layers
        69 => 1 << 28,                    // MaxTexture1DLinearWidth
        70 => 131_072,                    // MaxTexture2DLinearWidth
        71 => 65_000,                     // height
        72 => 2_097_120,                  // pitch
        73 | 74 | 77 => 32_768,           // mipmapped ones
        _ => 0,
    }
}

impl Core {
    /// `cudaDeviceGetAttribute(value, attribute, device)`
    pub(super) fn device_get_attribute(&mut self, caller: &mut Caller<'_>) -> Step<Outcome> {
        let (attribute, device) = (caller.arg(1) as u32, caller.arg(2) as u32);
        if device != 0 {
            return Ok(Outcome::Error(errors::INVALID_DEVICE));
        }
        match device_attribute(attribute, self.config.compute_capability) {
            Some(value) => self.store_u32(caller, 0, value),
            None => Ok(Outcome::Error(errors::INVALID_VALUE)),
        }
    }

    /// `cudaDeviceGetLimit(value, limit)`
    pub(super) fn device_get_limit(&mut self, caller: &mut Caller<'_>) -> Step<Outcome> {
        let value = match caller.arg(1) as u32 {
            0 => self.limits.stack_bytes,
            1 => self.limits.printf_fifo_bytes,
            2 => self.limits.malloc_heap_bytes,
            3 if self.is_cdp1(caller) => u64::from(self.limits.sync_depth),
            4 => u64::from(self.limits.pending_launches),
            5 => MAX_L2_FETCH_BYTES,
            6 => PERSISTING_L2_BYTES,
            // Measured on an H200: the depth is a limit of the first version only.
            3 => return Ok(Outcome::Error(errors::UNSUPPORTED_LIMIT)),
            _ => return Ok(Outcome::Error(errors::INVALID_VALUE)),
        };
        let pointer = caller.arg(0);
        if pointer == 0 {
            return Ok(Outcome::Error(errors::INVALID_VALUE));
        }
        caller.store(self, pointer, &value.to_le_bytes())?;
        Ok(Outcome::Error(0))
    }

    /// `cudaFuncGetAttributes(attributes, function)`: sizes of shared, constant and local memory
    /// (8 bytes each), then ints: threads, registers, PTX and binary version (both as architectures),
    /// cache mode, dynamic shared memory, carveout, clusters.
    pub(super) fn func_get_attributes(&mut self, caller: &mut Caller<'_>) -> Step<Outcome> {
        let Some(kernel) = self.kernel_at(caller.arg(1)) else {
            return Ok(Outcome::Error(errors::INVALID_DEVICE_FUNCTION));
        };
        let kernel = &self.program.kernels[kernel as usize];
        let info = &kernel.info;
        let mut bytes = Vec::new();
        for size in [info.shared_bytes, info.const_bytes, info.local_bytes] {
            bytes.extend_from_slice(&size.to_le_bytes());
        }
        let dynamic = kernel.most_dynamic_bytes() as u32;
        let capability = self.config.compute_capability;
        for value in
            [info.max_threads, info.registers.min(255), info.target_sm, capability, 0, dynamic, 0]
        {
            bytes.extend_from_slice(&value.to_le_bytes());
        }
        let pointer = caller.arg(0);
        if pointer == 0 {
            return Ok(Outcome::Error(errors::INVALID_VALUE));
        }
        caller.store(self, pointer, &bytes)?;
        Ok(Outcome::Error(0))
    }

    /// `cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, shared)`
    pub(super) fn occupancy(&mut self, caller: &mut Caller<'_>) -> Step<Outcome> {
        let Some(kernel) = self.kernel_at(caller.arg(1)) else {
            return Ok(Outcome::Error(errors::INVALID_DEVICE_FUNCTION));
        };
        let (threads, dynamic) = (caller.arg(2) as u32, caller.arg(3));
        if threads == 0 {
            return Ok(Outcome::Error(errors::INVALID_VALUE));
        }
        let blocks = self.occupancy_of(kernel, threads, dynamic);
        self.store_u32(caller, 0, blocks)
    }

    /// Blocks of a kernel that fit on a multiprocessor: bound by threads, shared memory and the
    /// number of blocks, by the device's own attributes. Registers do not bound it: no register
    /// allocator has run. `__launch_bounds__` does not either, as on an H200 it does not.
    pub fn occupancy_of(&self, kernel: u32, threads: u32, dynamic_bytes: u64) -> u32 {
        let kernel = &self.program.kernels[kernel as usize];
        if dynamic_bytes > kernel.most_dynamic_bytes() {
            return 0;
        }
        max_active_blocks(threads, kernel.info.shared_bytes + dynamic_bytes)
    }
}

/// Blocks of `threads` threads and `shared_bytes` of shared memory (static and dynamic) that fit on
/// a multiprocessor. Shared memory comes in pieces of 128 bytes, and each block takes a reserve.
fn max_active_blocks(threads: u32, shared_bytes: u64) -> u32 {
    let get = |attribute| device_attribute(attribute, 0).unwrap_or(0);
    if threads > get(1) {
        return 0;
    }
    let taken = (shared_bytes + u64::from(get(111))).next_multiple_of(128).max(1);
    let by_threads = get(39) / threads.max(1).next_multiple_of(32);
    let by_shared = (u64::from(get(81)) / taken) as u32;
    by_threads.min(by_shared).min(get(106))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn occupancy_is_bound_by_the_scarcest() {
        assert_eq!(max_active_blocks(256, 0), 8);
        assert_eq!(max_active_blocks(32, 0), 32);
        assert_eq!(max_active_blocks(1024, 100 << 10), 2);
        assert_eq!(max_active_blocks(1025, 0), 0);
    }
}
