//! Occupancy of the CPU device: how many blocks a multiprocessor of the claimed device would hold.
//!
//! Threads, shared memory and the number of blocks limit it, by the device's own attributes.
//! Registers do not: no register allocator has run. `__launch_bounds__` does not either, as on an
//! H200 it does not.

use cdp_emulator::Emulator;

/// `cudaDeviceAttr` numbers.
const MAX_BLOCK_THREADS: u32 = 1;
const MAX_THREADS_PER_MULTIPROCESSOR: u32 = 39;
const MAX_SHARED_BYTES_PER_MULTIPROCESSOR: u32 = 81;
const MAX_BLOCKS_PER_MULTIPROCESSOR: u32 = 106;
const RESERVED_SHARED_BYTES_PER_BLOCK: u32 = 111;

/// Blocks of `block_threads` threads and `shared_bytes` of shared memory (static and dynamic) that
/// fit on a multiprocessor.
pub fn max_active_blocks(emulator: &Emulator, block_threads: u32, shared_bytes: u64) -> i32 {
    let get = |attribute| u64::from(emulator.device_attribute(attribute).unwrap_or(0));
    if u64::from(block_threads) > get(MAX_BLOCK_THREADS) {
        return 0;
    }
    let threads = u64::from(block_threads.max(1)).next_multiple_of(32);
    let taken = (shared_bytes + get(RESERVED_SHARED_BYTES_PER_BLOCK)).next_multiple_of(128).max(1);
    let by_threads = get(MAX_THREADS_PER_MULTIPROCESSOR) / threads;
    let by_shared = get(MAX_SHARED_BYTES_PER_MULTIPROCESSOR) / taken;
    by_threads.min(by_shared).min(get(MAX_BLOCKS_PER_MULTIPROCESSOR)) as i32
}

#[cfg(test)]
mod tests {
    use super::*;
    use cdp_emulator::Config;

    #[test]
    fn occupancy_is_bound_by_the_scarcest() {
        let config = Config { reserve_bytes: 64 << 20, ..Config::default() };
        let emulator = Emulator::new(config).unwrap();
        assert_eq!(max_active_blocks(&emulator, 256, 0), 8);
        assert_eq!(max_active_blocks(&emulator, 32, 0), 32);
        assert_eq!(max_active_blocks(&emulator, 1024, 100 * 1024), 2);
        assert_eq!(max_active_blocks(&emulator, 1025, 0), 0);
    }
}
