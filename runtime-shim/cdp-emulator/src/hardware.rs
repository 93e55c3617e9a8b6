//! The GPU whose place the CPU device takes: numbers that programs can ask for or run into.

/// Multiprocessors: those of an H200.
pub const MULTIPROCESSORS: u32 = 132;
/// Dynamic and static shared memory a block may use without opting in.
pub const DEFAULT_SHARED_BYTES: u64 = 48 << 10;
/// Static and dynamic shared memory a block may use at all (compute capability 9.0).
pub const MAX_SHARED_BYTES: u64 = 227 << 10;
/// Most blocks of a cluster that every device with clusters has.
pub const PORTABLE_CLUSTER_BLOCKS: u32 = 8;
/// Most blocks of a cluster of a kernel that may have more (an H200).
pub const MAX_CLUSTER_BLOCKS: u32 = 16;
