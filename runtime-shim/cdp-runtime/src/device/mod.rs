//! [`Device`]: what host code needs of a device, whichever it is. Implemented by [`crate::gpu`] (the
//! CUDA driver) and [`crate::cpu`] (the emulator). Each of the things that a device is has a room and a trait.
//!
//! A device works for one process and is called from any thread. It keeps no "last error" and knows
//! no host symbols: those are the CUDA runtime's ideas and live in [`crate::process`].
//!
//! Addresses are `u64`: device addresses for device memory, host addresses for host memory.
//! Methods without a stream argument that move data return when it has moved.

mod arrays;
mod graphs;
mod launches;
mod memory;
mod modules;
mod streams;
mod virtual_memory;
mod watching;

use std::ffi::CStr;
use std::fmt;

pub use self::arrays::*;
pub use self::graphs::*;
pub use self::launches::*;
pub use self::memory::*;
pub use self::modules::*;
pub use self::streams::*;
pub use self::virtual_memory::*;
pub use self::watching::*;

use crate::error::Result;
use crate::properties::{self, DeviceProp};

/// Which implementation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DeviceKind {
    /// An NVIDIA GPU behind the CUDA driver.
    Gpu,
    /// The emulator.
    Cpu,
}

impl fmt::Display for DeviceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            DeviceKind::Gpu => "gpu",
            DeviceKind::Cpu => "cpu",
        })
    }
}

/// `cudaLimit`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Limit {
    StackBytes = 0,
    PrintfFifoBytes = 1,
    MallocHeapBytes = 2,
    SyncDepth = 3,
    PendingLaunches = 4,
    MaxL2FetchGranularity = 5,
    PersistingL2Bytes = 6,
}

impl Limit {
    /// From the C enumerator's number.
    pub fn from_raw(raw: u32) -> Option<Limit> {
        use Limit::*;
        let all = [
            StackBytes,
            PrintfFifoBytes,
            MallocHeapBytes,
            SyncDepth,
            PendingLaunches,
            MaxL2FetchGranularity,
            PersistingL2Bytes,
        ];
        all.get(raw as usize).copied()
    }
}

/// A device: itself, with its limits.
pub trait Device:
    Modules
    + Launches
    + Memory
    + VirtualMemory
    + Arrays
    + Streams
    + Events
    + Graphs
    + Watching
    + Send
    + Sync
{
    /// Which implementation.
    fn kind(&self) -> DeviceKind;

    /// The device's name, as `cudaDeviceProp::name`.
    fn name(&self) -> String;

    /// A `cudaDeviceAttr` by number (= `CUdevice_attribute`). `cudaErrorInvalidValue` if unknown.
    fn attribute(&self, attribute: u32) -> Result<i32>;

    /// Bytes of device memory: free, total.
    fn memory_bytes(&self) -> Result<(u64, u64)>;

    /// 16 bytes that identify the device.
    fn uuid(&self) -> [u8; 16];

    /// All properties, from the attributes.
    fn properties(&self) -> Result<DeviceProp> {
        properties::from_device(self)
    }

    /// Waits for all work. Faults of earlier launches show here.
    fn synchronize(&self) -> Result<()>;
    /// Destroys everything on the device: memory, modules, streams, events, a sticky error.
    fn reset(&self) -> Result<()>;
    /// A limit's value.
    fn limit(&self, limit: Limit) -> Result<u64>;
    /// Sets a limit.
    fn set_limit(&self, limit: Limit, value: u64) -> Result<()>;
    /// `cudaDeviceGetCacheConfig`
    fn cache_config(&self) -> Result<u32>;
    /// `cudaDeviceSetCacheConfig`: a preference.
    fn set_cache_config(&self, config: u32) -> Result<()>;
    /// Version of the driver as 1000 * major + 10 * minor.
    fn driver_version(&self) -> Result<i32>;
    /// A function of the driver by name, 0 without a driver.
    fn driver_function(&self, _name: &CStr, _version: i32, _flags: u64) -> Result<u64> {
        Ok(0)
    }
    /// What is left to say when the process ends (traces, profiles). Work has been waited for.
    fn finish(&self) {}
}
