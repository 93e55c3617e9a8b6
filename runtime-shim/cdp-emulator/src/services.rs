//! The functions that device code calls and that no PTX defines: the device runtime, in both
//! families of names, and the small library (`vprintf`, `malloc`, `free`, `__assertfail`).
//!
//! This is the list of names and of their shapes. What the calls do is in `runtime`.
//! Sources: `cuda_device_runtime_api.h`'s list of functions, FACTS.md "Entry points".

/// A function that the device provides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Service {
    /// `int vprintf(const char *format, void *arguments)`
    Printf,
    /// `void *malloc(size_t)`
    Malloc,
    /// `void *__cuda_syscall_aligned_malloc(size_t size, size_t alignment)`, what `new` of a type
    /// with an alignment above 16 becomes.
    AlignedMalloc,
    /// `void free(void *)`
    Free,
    /// `void __assertfail(message, file, line, function, char size)`
    AssertFail,
    /// Something without contents takes effect in the lanes that call it. By no name: the loader puts such calls
    /// into functions that are to be checked.
    Unset(Lack, Unset),
    /// A call of the device runtime.
    Device {
        /// Which.
        call: DeviceCall,
        /// By its `__cudaCDP2` name.
        prefixed: bool,
        /// By its `_ptsz` name: the default stream is the calling thread's own.
        per_thread: bool,
    },
}

/// Why a value has no contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Lack {
    /// A variable that nobody has set.
    Variable,
    /// A shuffle took it from a lane that does not take part.
    Lane,
}

/// How a value without contents takes effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unset {
    /// It decides where control goes, or whether something is done.
    Decides,
    /// It is an address.
    Address,
    /// It is stored, or an operand of an atomic.
    Stored,
}

/// The calls of the device runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum DeviceCall {
    GetParameterBuffer,
    LaunchDevice,
    GetParameterBufferV2,
    LaunchDeviceV2,
    DeviceSynchronize,
    GetLastError,
    PeekAtLastError,
    GetErrorString,
    GetErrorName,
    GetDeviceCount,
    GetDevice,
    DeviceGetAttribute,
    DeviceGetLimit,
    DeviceGetCacheConfig,
    DeviceGetSharedMemConfig,
    RuntimeGetVersion,
    StreamCreateWithFlags,
    StreamDestroy,
    StreamWaitEvent,
    EventCreateWithFlags,
    EventRecord,
    EventRecordWithFlags,
    EventDestroy,
    Malloc,
    Free,
    MemcpyAsync,
    Memcpy2DAsync,
    Memcpy3DAsync,
    MemsetAsync,
    Memset2DAsync,
    Memset3DAsync,
    FuncGetAttributes,
    OccupancyMaxActiveBlocks,
    OccupancyMaxActiveBlocksWithFlags,
    GraphLaunch,
    GraphSetConditional,
}

use DeviceCall as C;

/// Each call with its name after `cuda` or `__cudaCDP2`, whether it has a `_ptsz` variant, and the
/// sizes in bytes of its parameters.
const CALLS: &[(DeviceCall, &str, bool, &[u32])] = &[
    (C::GetParameterBuffer, "GetParameterBuffer", false, &[8, 8]),
    (C::LaunchDevice, "LaunchDevice", true, &[8, 8, 12, 12, 4, 8]),
    (C::GetParameterBufferV2, "GetParameterBufferV2", false, &[8, 12, 12, 4]),
    (C::LaunchDeviceV2, "LaunchDeviceV2", true, &[8, 8]),
    (C::DeviceSynchronize, "DeviceSynchronize", false, &[]),
    (C::GetLastError, "GetLastError", false, &[]),
    (C::PeekAtLastError, "PeekAtLastError", false, &[]),
    (C::GetErrorString, "GetErrorString", false, &[4]),
    (C::GetErrorName, "GetErrorName", false, &[4]),
    (C::GetDeviceCount, "GetDeviceCount", false, &[8]),
    (C::GetDevice, "GetDevice", false, &[8]),
    (C::DeviceGetAttribute, "DeviceGetAttribute", false, &[8, 4, 4]),
    (C::DeviceGetLimit, "DeviceGetLimit", false, &[8, 4]),
    (C::DeviceGetCacheConfig, "DeviceGetCacheConfig", false, &[8]),
    (C::DeviceGetSharedMemConfig, "DeviceGetSharedMemConfig", false, &[8]),
    (C::RuntimeGetVersion, "RuntimeGetVersion", false, &[8]),
    (C::StreamCreateWithFlags, "StreamCreateWithFlags", false, &[8, 4]),
    (C::StreamDestroy, "StreamDestroy", false, &[8]),
    (C::StreamWaitEvent, "StreamWaitEvent", true, &[8, 8, 4]),
    (C::EventCreateWithFlags, "EventCreateWithFlags", false, &[8, 4]),
    (C::EventRecord, "EventRecord", true, &[8, 8]),
    (C::EventRecordWithFlags, "EventRecordWithFlags", true, &[8, 8, 4]),
    (C::EventDestroy, "EventDestroy", false, &[8]),
    (C::Malloc, "Malloc", false, &[8, 8]),
    (C::Free, "Free", false, &[8]),
    (C::MemcpyAsync, "MemcpyAsync", true, &[8, 8, 8, 4, 8]),
    (C::Memcpy2DAsync, "Memcpy2DAsync", true, &[8, 8, 8, 8, 8, 8, 4, 8]),
    (C::Memcpy3DAsync, "Memcpy3DAsync", true, &[8, 8]),
    (C::MemsetAsync, "MemsetAsync", true, &[8, 4, 8, 8]),
    (C::Memset2DAsync, "Memset2DAsync", true, &[8, 8, 4, 8, 8, 8]),
    (C::Memset3DAsync, "Memset3DAsync", true, &[32, 4, 24, 8]),
    (C::FuncGetAttributes, "FuncGetAttributes", false, &[8, 8]),
    (
        C::OccupancyMaxActiveBlocks,
        "OccupancyMaxActiveBlocksPerMultiprocessor",
        false,
        &[8, 8, 4, 8],
    ),
    (
        C::OccupancyMaxActiveBlocksWithFlags,
        "OccupancyMaxActiveBlocksPerMultiprocessorWithFlags",
        false,
        &[8, 8, 4, 8, 4],
    ),
    (C::GraphLaunch, "GraphLaunch", false, &[8, 8]),
    (C::GraphSetConditional, "GraphSetConditional", false, &[8, 4]),
];

impl Service {
    /// The service of this name.
    pub fn from_name(name: &str) -> Option<Service> {
        match name {
            "vprintf" => return Some(Service::Printf),
            "malloc" => return Some(Service::Malloc),
            "__cuda_syscall_aligned_malloc" => return Some(Service::AlignedMalloc),
            "free" => return Some(Service::Free),
            "__assertfail" => return Some(Service::AssertFail),
            "__cudaDeviceSynchronizeDeprecationAvoidance" => {
                let call = C::DeviceSynchronize;
                return Some(Service::Device { call, prefixed: false, per_thread: false });
            }
            _ => {}
        }
        let (body, prefixed) = match name.strip_prefix("__cudaCDP2") {
            Some(body) => (body, true),
            None => (name.strip_prefix("cuda")?, false),
        };
        let (body, per_thread) = match body.strip_suffix("_ptsz") {
            Some(body) => (body, true),
            None => (body, false),
        };
        let entry = CALLS.iter().find(|entry| entry.1 == body && (!per_thread || entry.2))?;
        // Functions of the driver and not of libcudadevrt have no name of CDP2.
        if prefixed && matches!(entry.0, C::GraphLaunch | C::GraphSetConditional) {
            return None;
        }
        Some(Service::Device { call: entry.0, prefixed, per_thread })
    }

    /// The sizes in bytes of the parameters, for checking declarations.
    pub fn parameter_sizes(self) -> &'static [u32] {
        match self {
            Service::Printf | Service::AlignedMalloc => &[8, 8],
            Service::Malloc | Service::Free => &[8],
            Service::AssertFail => &[8, 8, 4, 8, 8],
            Service::Unset(..) => &[],
            Service::Device { call, .. } => {
                CALLS.iter().find(|entry| entry.0 == call).map_or(&[], |entry| entry.3)
            }
        }
    }

    /// It launches a grid.
    pub fn launches(self) -> bool {
        matches!(self, Service::Device { call: C::LaunchDevice | C::LaunchDeviceV2, .. })
    }

    /// The device runtime in the driver's sense, which lets no kernel that calls it into a graph that kernels launch: graphs
    /// themselves may be launched and told there (seen on an H100).
    pub fn is_of_runtime(self) -> bool {
        let is_of_graphs = |call| matches!(call, C::GraphLaunch | C::GraphSetConditional);
        matches!(self, Service::Device { call, .. } if !is_of_graphs(call))
    }

    /// Blocks that only call this cannot see each other, nor the grids that others launched.
    pub fn keeps_independence(self) -> bool {
        match self {
            // Output is collected a block and put together in order.
            Service::Printf | Service::AssertFail | Service::Unset(..) => true,
            Service::Malloc | Service::AlignedMalloc | Service::Free => false,
            // All blocks take from one heap, texts of errors too.
            Service::Device { call, .. } => {
                // The graphs of a device are one table, the values that their nodes test another.
                !matches!(
                    call,
                    C::Malloc
                        | C::Free
                        | C::GetErrorString
                        | C::GetErrorName
                        | C::GraphLaunch
                        | C::GraphSetConditional
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_families_and_ptsz() {
        let launch = |prefixed, per_thread| {
            Some(Service::Device { call: C::LaunchDeviceV2, prefixed, per_thread })
        };
        assert_eq!(Service::from_name("cudaLaunchDeviceV2"), launch(false, false));
        assert_eq!(Service::from_name("__cudaCDP2LaunchDeviceV2"), launch(true, false));
        assert_eq!(Service::from_name("__cudaCDP2LaunchDeviceV2_ptsz"), launch(true, true));
        assert_eq!(Service::from_name("cudaGetLastError_ptsz"), None);
        assert!(Service::from_name("cudaGraphLaunch").is_some());
        assert_eq!(Service::from_name("__cudaCDP2GraphLaunch"), None);
        assert!(Service::from_name("cudaGraphSetConditional").is_some());
        assert_eq!(Service::from_name("__cudaCDP2GraphSetConditional"), None);
        assert_eq!(Service::from_name("printf"), None);
    }
}
