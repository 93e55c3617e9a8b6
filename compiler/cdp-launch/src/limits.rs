//! What a launch configuration may be, as far as a compiler can know (CUDA guide, "Technical
//! Specifications per Compute Capability"; FACTS.md, "Run-time limits and errors"). A launch beyond
//! these returns `cudaErrorInvalidConfiguration` (9) at run time.

use std::fmt;

/// Threads in a block, and the largest x or y of a block.
pub const MAX_BLOCK_THREADS: u64 = 1024;
/// Registers that each thread of the largest block may have: a multiprocessor has 65,536 on every architecture from sm_50
/// on that does not have [fewer](has_fewer_registers).
pub const REGISTERS_OF_LARGEST_BLOCK: u32 = 64;

/// Whether multiprocessors of an architecture, 53 for `sm_53`, have fewer registers than others.
pub fn has_fewer_registers(sm: u32) -> bool {
    matches!(sm, 53 | 62)
}

/// The largest z of a block.
pub const MAX_BLOCK_Z: u64 = 64;
/// The largest x of a grid.
pub const MAX_GRID_X: u64 = (1 << 31) - 1;
/// The largest y or z of a grid.
pub const MAX_GRID_YZ: u64 = 65_535;
/// Shared memory of a block without an opt-in from the host, static and dynamic together, in bytes.
pub const DEFAULT_SHARED_BYTES: u64 = 48 * 1024;
/// Static shared memory of a kernel, in bytes, on every architecture.
pub const MAX_STATIC_SHARED_BYTES: u64 = 48 * 1024;
/// Pending launches that a device takes unless the host raises
/// `cudaLimitDevRuntimePendingLaunchCount`.
pub const DEFAULT_PENDING_LAUNCHES: u64 = 2048;

/// The most shared memory a block can have on an architecture, in bytes, when the host has opted in
/// with `cudaFuncAttributeMaxDynamicSharedMemorySize` (for sm_88 CUDA's `cuda_occupancy.h`). `None` for an unknown
/// architecture.
pub fn max_shared_bytes(arch_sm: u32) -> Option<u64> {
    let kib = match arch_sm {
        50 | 52 | 53 | 60 | 61 | 62 => 48,
        70 | 72 => 96,
        75 => 64,
        80 | 87 => 163,
        86 | 88 | 89 => 99,
        90 | 100 | 101 | 103 | 110 => 227,
        120 | 121 => 99,
        _ => return None,
    };
    Some(kib * 1024)
}

/// A part of a configuration that cannot work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitError {
    /// A dimension is zero.
    ZeroDimension {
        /// 0 is x.
        axis: usize,
    },
    /// The product of a block's dimensions.
    BlockThreads {
        /// In the block.
        threads: u64,
    },
    /// One dimension of a block.
    BlockAxis {
        /// 0 is x.
        axis: usize,
        /// What was given.
        value: u64,
        /// The most that is possible.
        limit: u64,
    },
    /// One dimension of a grid.
    GridAxis {
        /// 0 is x.
        axis: usize,
        /// What was given.
        value: u64,
        /// The most that is possible.
        limit: u64,
    },
    /// Dynamic shared memory, alone or with the kernel's static part.
    SharedBytes {
        /// What was asked for.
        bytes: u64,
        /// The most that a block can have.
        limit: u64,
        /// The number of the architecture.
        arch_sm: u32,
    },
}

impl fmt::Display for LimitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |axis: &usize| ["x", "y", "z"].get(*axis).copied().unwrap_or("?");
        match self {
            LimitError::ZeroDimension { axis } => write!(f, "the {} dimension is zero", name(axis)),
            LimitError::BlockThreads { threads } => {
                write!(f, "a block of {threads} threads; the limit is {MAX_BLOCK_THREADS}")
            }
            LimitError::BlockAxis { axis, value, limit } => {
                write!(f, "a block's {} of {value}; the limit is {limit}", name(axis))
            }
            LimitError::GridAxis { axis, value, limit } => {
                write!(f, "a grid's {} of {value}; the limit is {limit}", name(axis))
            }
            LimitError::SharedBytes { bytes, limit, arch_sm } => {
                write!(f, "{bytes} bytes of shared memory; a block on sm_{arch_sm} has {limit}")
            }
        }
    }
}

/// Judges a block's dimensions, as far as they are known (`None` is any value).
pub fn check_block(dims: [Option<u64>; 3]) -> Result<(), LimitError> {
    let limits = [MAX_BLOCK_THREADS, MAX_BLOCK_THREADS, MAX_BLOCK_Z];
    let mut threads = 1u64;
    for (axis, (dim, limit)) in dims.into_iter().zip(limits).enumerate() {
        let Some(value) = dim else { continue };
        if value == 0 {
            return Err(LimitError::ZeroDimension { axis });
        }
        if value > limit {
            return Err(LimitError::BlockAxis { axis, value, limit });
        }
        threads = threads.saturating_mul(value);
    }
    if threads > MAX_BLOCK_THREADS {
        return Err(LimitError::BlockThreads { threads });
    }
    Ok(())
}

/// Judges a grid's dimensions, as far as they are known.
pub fn check_grid(dims: [Option<u64>; 3]) -> Result<(), LimitError> {
    let limits = [MAX_GRID_X, MAX_GRID_YZ, MAX_GRID_YZ];
    for (axis, (dim, limit)) in dims.into_iter().zip(limits).enumerate() {
        match dim {
            Some(0) => return Err(LimitError::ZeroDimension { axis }),
            Some(value) if value > limit => {
                return Err(LimitError::GridAxis { axis, value, limit });
            }
            _ => {}
        }
    }
    Ok(())
}

/// Judges shared memory: dynamic bytes of the launch plus the kernel's static bytes, against the
/// most the architecture can give. An unknown architecture is not judged.
pub fn check_shared(dynamic: u64, static_bytes: u64, arch_sm: u32) -> Result<(), LimitError> {
    let bytes = dynamic.saturating_add(static_bytes);
    match max_shared_bytes(arch_sm) {
        Some(limit) if bytes > limit => Err(LimitError::SharedBytes { bytes, limit, arch_sm }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_and_grids_at_their_limits() {
        let some = |dims: [u64; 3]| dims.map(Some);
        assert_eq!(check_block(some([1024, 1, 1])), Ok(()));
        assert_eq!(check_block(some([16, 1, 64])), Ok(()));
        let threads = LimitError::BlockThreads { threads: 2048 };
        assert_eq!(check_block(some([32, 64, 1])), Err(threads));
        let z = LimitError::BlockAxis { axis: 2, value: 65, limit: 64 };
        assert_eq!(check_block([None, None, Some(65)]), Err(z));
        assert_eq!(check_block([Some(0), None, None]), Err(LimitError::ZeroDimension { axis: 0 }));
        assert_eq!(check_grid(some([MAX_GRID_X, 65_535, 65_535])), Ok(()));
        let y = LimitError::GridAxis { axis: 1, value: 65_536, limit: 65_535 };
        assert_eq!(check_grid(some([1, 65_536, 1])), Err(y));
    }

    #[test]
    fn shared_memory_depends_on_the_architecture() {
        assert_eq!(check_shared(200 * 1024, 0, 90), Ok(()));
        assert!(check_shared(200 * 1024, 0, 89).is_err());
        assert!(check_shared(48 * 1024, 1, 60).is_err());
        assert!(check_shared(100 * 1024, 0, 88).is_err());
        assert_eq!(check_shared(u64::MAX, 1, 9999), Ok(()));
    }
}
