//! Memory of a device: what is allocated, copied and filled, what an address is, and memory of the host that
//! kernels use. Arrays are in [`super::arrays`].

use super::streams::StreamHandle;
use crate::error::{CudaError, Result};

/// `cudaMemcpyKind`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum CopyKind {
    HostToHost,
    HostToDevice,
    DeviceToHost,
    DeviceToDevice,
    /// Direction found from the addresses.
    Default,
}

impl CopyKind {
    /// From the C enumerator's number.
    pub fn from_raw(raw: u32) -> Option<CopyKind> {
        Some(match raw {
            0 => CopyKind::HostToHost,
            1 => CopyKind::HostToDevice,
            2 => CopyKind::DeviceToHost,
            3 => CopyKind::DeviceToDevice,
            4 => CopyKind::Default,
            _ => return None,
        })
    }
}

/// A rectangle of bytes to copy; `height` rows of `width_bytes`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copy2D {
    /// First destination byte.
    pub dst: u64,
    /// Bytes from one destination row to the next.
    pub dst_pitch_bytes: usize,
    /// First source byte.
    pub src: u64,
    /// Bytes from one source row to the next.
    pub src_pitch_bytes: usize,
    /// Bytes of a row.
    pub width_bytes: usize,
    /// Rows.
    pub height: usize,
}

/// `cudaMemoryType`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum MemoryType {
    Unregistered = 0,
    Host = 1,
    Device = 2,
    Managed = 3,
}

/// `cudaMemLocation`
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Location {
    /// `cudaMemLocationType`
    pub kind: u32,
    /// Which device or node of the host.
    pub id: i32,
}

impl Location {
    /// `cudaMemLocationTypeDevice`
    pub const DEVICE: u32 = 1;
    /// `cudaMemLocationTypeHost`
    pub const HOST: u32 = 2;

    /// Whether it is the device, the only place whose memory is mapped.
    ///
    /// # Errors
    /// Another device, or no device.
    pub fn expect_device(&self) -> Result<()> {
        match (self.kind, self.id) {
            (Location::DEVICE, 0) => Ok(()),
            (Location::DEVICE, _) => Err(CudaError::INVALID_DEVICE.into()),
            _ => Err(CudaError::NOT_SUPPORTED.into()),
        }
    }
}

/// What a device knows about an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PointerInfo {
    /// Kind of memory.
    pub memory: MemoryType,
    /// The address kernels use, 0 if they cannot.
    pub device_address: u64,
    /// The address host code uses, 0 if it cannot.
    pub host_address: u64,
}

/// Memory of a device.
pub trait Memory {
    /// Allocates device memory, aligned to 256 bytes or more. Zero bytes give address 0.
    fn allocate(&self, bytes: u64) -> Result<u64>;
    /// Allocates rows of `width_bytes`; address and pitch.
    fn allocate_pitched(&self, width_bytes: u64, height: u64) -> Result<(u64, u64)>;
    /// Allocates memory that host and device use by one address.
    fn allocate_managed(&self, bytes: u64, flags: u32) -> Result<u64>;
    /// Allocates page-locked host memory; the flags of `cudaHostAlloc`.
    fn allocate_host(&self, bytes: u64, flags: u32) -> Result<u64>;
    /// The flags with which [`Memory::allocate_host`] gave the memory around an address.
    fn host_flags(&self, address: u64) -> Result<u32>;
    /// Frees what [`Memory::allocate`] and [`Memory::allocate_managed`] gave. 0 is ignored.
    fn free(&self, address: u64) -> Result<()>;
    /// Who may use what [`Memory::allocate`] gave: what comes behind the work of a stream. Devices that look for
    /// races want to know.
    fn allocated_in_stream(&self, _address: u64, _stream: StreamHandle) -> Result<()> {
        Ok(())
    }
    /// What [`Memory::allocate`] gave stays, but is of no use behind the work of a stream until it is allocated
    /// there again. Devices that look for races want to know.
    fn unused_in_stream(&self, _address: u64, _stream: StreamHandle) -> Result<()> {
        Ok(())
    }
    /// Frees what [`Memory::allocate`] gave behind the work of a stream, which alone is known to come before
    /// that. 0 is ignored.
    fn free_in_stream(&self, address: u64, stream: StreamHandle) -> Result<()>;
    /// Frees what [`Memory::allocate_host`] gave. 0 is ignored.
    fn free_host(&self, address: u64) -> Result<()>;
    /// What the address belongs to.
    fn pointer_info(&self, address: u64) -> Result<PointerInfo>;

    /// Lets kernels use host memory of the program; the flags of `cudaHostRegister`.
    fn register_host(&self, address: u64, bytes: u64, flags: u32) -> Result<()>;
    /// Undoes [`Memory::register_host`].
    fn unregister_host(&self, address: u64) -> Result<()>;
    /// `cudaMemAdvise` of managed memory.
    fn advise(&self, address: u64, bytes: u64, advice: u32, location: Location) -> Result<()>;
    /// `cudaMemPrefetchAsync` of managed memory.
    fn prefetch(
        &self,
        address: u64,
        bytes: u64,
        location: Location,
        stream: StreamHandle,
    ) -> Result<()>;
    /// `cudaMemRangeGetAttribute` of managed memory.
    fn range_attribute(
        &self,
        attribute: u32,
        address: u64,
        bytes: u64,
        data: &mut [u8],
    ) -> Result<()>;

    /// Copies bytes: in stream order if a stream is given, else at once as `cudaMemcpy`.
    ///
    /// # Safety
    /// Host addresses must be valid for `bytes` until the copy has been made.
    unsafe fn copy(
        &self,
        dst: u64,
        src: u64,
        bytes: u64,
        kind: CopyKind,
        stream: Option<StreamHandle>,
    ) -> Result<()>;
    /// Copies a rectangle.
    ///
    /// # Safety
    /// As for [`Memory::copy`].
    unsafe fn copy_2d(
        &self,
        copy: &Copy2D,
        kind: CopyKind,
        stream: Option<StreamHandle>,
    ) -> Result<()>;
    /// Sets `bytes` bytes to `value`.
    ///
    /// # Safety
    /// Managed and host addresses must be valid until it is done.
    unsafe fn fill(
        &self,
        dst: u64,
        value: u8,
        bytes: u64,
        stream: Option<StreamHandle>,
    ) -> Result<()>;
    /// Sets `height` rows of `width_bytes`, `pitch_bytes` apart.
    ///
    /// # Safety
    /// As for [`Memory::fill`].
    unsafe fn fill_2d(
        &self,
        dst: u64,
        pitch_bytes: u64,
        value: u8,
        width_bytes: u64,
        height: u64,
        stream: Option<StreamHandle>,
    ) -> Result<()>;
}
