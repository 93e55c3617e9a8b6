//! What the CPU device says of itself: `cudaDeviceAttr` values and occupancy.
//!
//! The limits that a program can run into (block and grid sizes, shared memory, constant memory) are
//! those of the compute capability it was compiled for (CUDA guide, "Compute Capabilities"). What
//! would only describe hardware is 0.

/// Multiprocessors that the device claims. Few, because programs size their grids by it and every
/// thread costs time here.
pub const MULTIPROCESSORS: i32 = 16;
/// Clock of the virtual clock that events and `clock64` read, in kHz.
const CLOCK_KHZ: i32 = 1_000_000;
/// Shared memory of a block without opting in to more.
pub const SHARED_BYTES_PER_BLOCK: u64 = 48 * 1024;
/// Shared memory that the system takes from each block.
const RESERVED_SHARED_BYTES: u64 = 1024;

/// Shared memory of a multiprocessor in bytes, by compute capability (90 for 9.0).
fn shared_bytes_per_multiprocessor(capability: u32) -> u64 {
    let kib = match capability {
        75 => 64,
        70..=72 => 96,
        50 | 53 | 60 | 62 => 64,
        52 | 61 => 96,
        86 | 89 | 120.. => 100,
        80 | 87 => 164,
        88 => 100,
        _ => 228,
    };
    kib * 1024
}

/// Most shared memory that a block can opt in to, in bytes.
pub fn shared_bytes_optin(capability: u32) -> u64 {
    match capability {
        0..70 => SHARED_BYTES_PER_BLOCK,
        70..=72 => 96 * 1024,
        75 => 64 * 1024,
        _ => shared_bytes_per_multiprocessor(capability) - RESERVED_SHARED_BYTES,
    }
}

/// Most threads on a multiprocessor.
fn threads_per_multiprocessor(capability: u32) -> i32 {
    match capability {
        75 => 1024,
        86..=89 | 120.. => 1536,
        _ => 2048,
    }
}

/// Most blocks on a multiprocessor.
fn blocks_per_multiprocessor(capability: u32) -> i32 {
    match capability {
        75 | 86 | 87 | 88 => 16,
        89 | 120.. => 24,
        _ => 32,
    }
}

/// A `cudaDeviceAttr` by number; `None` if there is no such attribute.
pub fn attribute(number: u32, capability: u32) -> Option<i32> {
    let reserved = if capability >= 80 { RESERVED_SHARED_BYTES as i32 } else { 0 };
    Some(match number {
        1 => 1024,                          // MaxThreadsPerBlock
        2 | 3 => 1024,                      // MaxBlockDimX, Y
        4 => 64,                            // MaxBlockDimZ
        5 => i32::MAX,                      // MaxGridDimX
        6 | 7 => 65_535,                    // MaxGridDimY, Z
        8 => SHARED_BYTES_PER_BLOCK as i32, // MaxSharedMemoryPerBlock
        9 => 65_536,                        // TotalConstantMemory
        10 => 32,                           // WarpSize
        11 => i32::MAX,                     // MaxPitch
        12 | 82 => 65_536,                  // MaxRegistersPerBlock, PerMultiprocessor
        13 => CLOCK_KHZ,                    // ClockRate
        14 | 30 => 512,                     // TextureAlignment, SurfaceAlignment
        16 => MULTIPROCESSORS,              // MultiProcessorCount
        18 | 19 => 1,                       // Integrated, CanMapHostMemory
        31 => 1,                            // ConcurrentKernels
        39 => threads_per_multiprocessor(capability),
        41 => 1,                        // UnifiedAddressing
        51 => 32,                       // TexturePitchAlignment
        75 => (capability / 10) as i32, // ComputeCapabilityMajor
        76 => (capability % 10) as i32, // ComputeCapabilityMinor
        78 => 1,                        // StreamPrioritiesSupported
        79 | 80 => 1,                   // GlobalL1CacheSupported, LocalL1CacheSupported
        81 => shared_bytes_per_multiprocessor(capability) as i32,
        83 => 1, // ManagedMemory
        97 => shared_bytes_optin(capability) as i32,
        101 => 1, // DirectManagedMemAccessFromHost
        106 => blocks_per_multiprocessor(capability),
        111 => reserved, // ReservedSharedMemoryPerBlock
        // Overlap, engines, caches, PCI, textures, clusters, pools: the device has none.
        15 | 17 | 20..=29 | 32..=38 | 40 | 42..=50 | 52..=74 | 77 | 84..=96 | 98..=100 => 0,
        102..=105 | 107..=110 | 112..=147 => 0,
        _ => return None,
    })
}

/// Blocks of `block_threads` threads and `shared_bytes` of shared memory (static and dynamic) that
/// fit on a multiprocessor. Registers do not limit it: no register allocator has run.
pub fn max_active_blocks(capability: u32, block_threads: u32, shared_bytes: u64) -> i32 {
    let warps = i64::from(block_threads.div_ceil(32));
    let by_threads = i64::from(threads_per_multiprocessor(capability) / 32) / warps.max(1);
    let reserved = if capability >= 80 { RESERVED_SHARED_BYTES } else { 0 };
    let taken = (shared_bytes + reserved).next_multiple_of(128);
    let by_shared = match taken {
        0 => i64::MAX,
        taken => (shared_bytes_per_multiprocessor(capability) / taken) as i64,
    };
    let by_blocks = i64::from(blocks_per_multiprocessor(capability));
    by_threads.min(by_shared).min(by_blocks) as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn occupancy_is_bound_by_the_scarcest() {
        assert_eq!(max_active_blocks(90, 256, 0), 8);
        assert_eq!(max_active_blocks(90, 32, 0), 32);
        assert_eq!(max_active_blocks(90, 1024, 100 * 1024), 2);
        assert_eq!(max_active_blocks(75, 1024, 0), 1);
        assert_eq!(max_active_blocks(86, 1024, 0), 1);
    }
}
