//! Memory apart from its addresses: ranges of addresses are reserved, memory is created and mapped to them, and a device
//! is let to it. The driver's calls alone ask for it, which on a GPU go to the driver: the CPU device has it.

use super::memory::Location;
use crate::error::{CudaError, Result};

/// `CUmemAllocationProp`
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct MemoryProps {
    /// `CUmemAllocationType`
    pub kind: u32,
    /// `CUmemAllocationHandleType`: how it may be exported.
    pub handle_types: u32,
    /// Where the memory is.
    pub location: Location,
    /// Windows alone has it.
    pub security: *const std::ffi::c_void,
    /// Compression and use by other devices, which have no consequence here.
    pub flags: [u8; 8],
}

impl MemoryProps {
    /// `CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR`
    pub const FILE_DESCRIPTOR: u32 = 1;
}

/// What may be done with memory: `CUmemAccess_flags`
pub mod access {
    /// Nothing.
    pub const NONE: u32 = 0;
    /// It may be read.
    pub const READ: u32 = 1;
    /// It may be read and written.
    pub const READ_WRITE: u32 = 3;
}

fn not_here<T>() -> Result<T> {
    Err(CudaError::NOT_SUPPORTED.into())
}

/// Ranges of addresses and memory that is mapped to them.
pub trait VirtualMemory {
    /// Sizes and places of memory are multiples of this.
    fn granularity(&self) -> u64 {
        2 << 20
    }
    /// Reserves addresses, aligned and at `wanted` where that is free; 0 is anywhere.
    fn reserve_range(&self, _bytes: u64, _align_bytes: u64, _wanted: u64) -> Result<u64> {
        not_here()
    }
    /// Gives up a whole reservation, to which nothing is mapped.
    fn free_range(&self, _address: u64, _bytes: u64) -> Result<()> {
        not_here()
    }
    /// Creates memory; its handle.
    fn create_memory(&self, _bytes: u64, _props: &MemoryProps) -> Result<u64> {
        not_here()
    }
    /// Gives up a handle, and the memory once it is mapped nowhere.
    fn release_memory(&self, _handle: u64) -> Result<()> {
        not_here()
    }
    /// Maps the first bytes of memory to addresses, where nobody may use it yet.
    fn map_memory(&self, _address: u64, _bytes: u64, _handle: u64) -> Result<()> {
        not_here()
    }
    /// Undoes [`VirtualMemory::map_memory`] for whole mappings.
    fn unmap_memory(&self, _address: u64, _bytes: u64) -> Result<()> {
        not_here()
    }
    /// What kernels may do with whole mappings ([`access`]).
    fn set_access(&self, _address: u64, _bytes: u64, _access: u32) -> Result<()> {
        not_here()
    }
    /// What they may do at an address.
    fn access(&self, _address: u64) -> Result<u32> {
        not_here()
    }
    /// The handle of the memory at an address, once more.
    fn memory_at(&self, _address: u64) -> Result<u64> {
        not_here()
    }
    /// What memory was created with.
    fn memory_props(&self, _handle: u64) -> Result<MemoryProps> {
        not_here()
    }
    /// A descriptor of the file that memory is, which another process may import.
    fn export_memory(&self, _handle: u64) -> Result<i32> {
        not_here()
    }
    /// The memory of such a descriptor, which stays the program's.
    fn import_memory(&self, _descriptor: i32) -> Result<u64> {
        not_here()
    }
    /// First address and bytes of the allocation or mapping around an address.
    fn range_of(&self, _address: u64) -> Result<(u64, u64)> {
        not_here()
    }
    /// The same of the allocation, or of the reservation that the mapping is in.
    fn reservation_of(&self, _address: u64) -> Result<(u64, u64)> {
        not_here()
    }
}
