//! The device runtime's functions: the one table that declarations, checking, lowering and
//! documentation are driven by. The symbol a call becomes depends on the launch ABI and is decided
//! by `cdp-launch`; nothing here spells a prefixed symbol.
//!
//! Source: CUDA guide 4.18 (and the CDP1 guide of 2012), and libcudadevrt's own symbol table
//! (FACTS.md, "Entry points").

/// Which runtime versions have a function, and in which forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Availability {
    /// Both versions; a prefixed symbol for CDP2.
    Both,
    /// As `Both`, and the symbol has a `_ptsz` form for the per-thread default stream.
    Stream,
    /// As `Stream`, but no symbol of its own: the function is another one, after checking its
    /// flags (libcudadevrt has no `cudaEventRecordWithFlags`).
    StreamHeader,
    /// Both versions under the documented name only.
    Plain,
    /// CDP1 only.
    Cdp1,
}

/// A row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuntimeRow {
    /// The function that this row is about.
    pub func: RuntimeFn,
    /// The documented name, as programs spell it.
    pub name: &'static str,
    /// Result and parameter types in C, `result(param,...)`, a default after `=`.
    pub prototype: &'static str,
    /// The runtime versions that have it.
    pub availability: Availability,
    /// One sentence.
    pub summary: &'static str,
}

/// A function of the device runtime: the documented name without `cuda`. What each does is its row's
/// summary in [`RUNTIME_TABLE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)] // The table's summaries are the one home of that.
pub enum RuntimeFn {
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
    FuncGetAttributes,
    Malloc,
    Free,
    MemcpyAsync,
    Memcpy2DAsync,
    Memcpy3DAsync,
    MemsetAsync,
    Memset2DAsync,
    Memset3DAsync,
    OccupancyMaxActiveBlocksPerMultiprocessor,
    OccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
    GetParameterBuffer,
    GetParameterBufferV2,
    LaunchDevice,
    LaunchDeviceV2,
    CGGetIntrinsicHandle,
    CGSynchronize,
    CGSynchronizeGrid,
    CGGetSize,
    CGGetRank,
}

/// All functions, in the order of [`RuntimeFn`].
pub const RUNTIME_TABLE: &[RuntimeRow] = &[
    RuntimeRow {
        func: RuntimeFn::DeviceSynchronize,
        name: "cudaDeviceSynchronize",
        prototype: "cudaError_t()",
        availability: Availability::Cdp1,
        summary: "Waits for the work launched by the calling thread's block; CDP1 only.",
    },
    RuntimeRow {
        func: RuntimeFn::GetLastError,
        name: "cudaGetLastError",
        prototype: "cudaError_t()",
        availability: Availability::Both,
        summary: "Returns and clears the calling thread's error.",
    },
    RuntimeRow {
        func: RuntimeFn::PeekAtLastError,
        name: "cudaPeekAtLastError",
        prototype: "cudaError_t()",
        availability: Availability::Both,
        summary: "Returns the calling thread's error and keeps it.",
    },
    RuntimeRow {
        func: RuntimeFn::GetErrorString,
        name: "cudaGetErrorString",
        prototype: "const char*(cudaError_t)",
        availability: Availability::Both,
        summary: "A sentence for an error code.",
    },
    RuntimeRow {
        func: RuntimeFn::GetErrorName,
        name: "cudaGetErrorName",
        prototype: "const char*(cudaError_t)",
        availability: Availability::Both,
        summary: "The enumerator's name of an error code.",
    },
    RuntimeRow {
        func: RuntimeFn::GetDeviceCount,
        name: "cudaGetDeviceCount",
        prototype: "cudaError_t(int*)",
        availability: Availability::Both,
        summary: "The number of devices.",
    },
    RuntimeRow {
        func: RuntimeFn::GetDevice,
        name: "cudaGetDevice",
        prototype: "cudaError_t(int*)",
        availability: Availability::Both,
        summary: "The running device, numbered as the host sees it.",
    },
    RuntimeRow {
        func: RuntimeFn::DeviceGetAttribute,
        name: "cudaDeviceGetAttribute",
        prototype: "cudaError_t(int*,cudaDeviceAttr,int)",
        availability: Availability::Both,
        summary: "One property of any device.",
    },
    RuntimeRow {
        func: RuntimeFn::DeviceGetLimit,
        name: "cudaDeviceGetLimit",
        prototype: "cudaError_t(size_t*,cudaLimit)",
        availability: Availability::Both,
        summary: "A limit that the host set.",
    },
    RuntimeRow {
        func: RuntimeFn::DeviceGetCacheConfig,
        name: "cudaDeviceGetCacheConfig",
        prototype: "cudaError_t(cudaFuncCache*)",
        availability: Availability::Both,
        summary: "The cache preference inherited from the parent.",
    },
    RuntimeRow {
        func: RuntimeFn::DeviceGetSharedMemConfig,
        name: "cudaDeviceGetSharedMemConfig",
        prototype: "cudaError_t(cudaSharedMemConfig*)",
        availability: Availability::Both,
        summary: "The shared-memory bank width.",
    },
    RuntimeRow {
        func: RuntimeFn::RuntimeGetVersion,
        name: "cudaRuntimeGetVersion",
        prototype: "cudaError_t(int*)",
        availability: Availability::Both,
        summary: "The runtime's version, 1000 * major + 10 * minor.",
    },
    RuntimeRow {
        func: RuntimeFn::StreamCreateWithFlags,
        name: "cudaStreamCreateWithFlags",
        prototype: "cudaError_t(cudaStream_t*,unsigned int)",
        availability: Availability::Both,
        summary: "Creates a stream; the flags must be `cudaStreamNonBlocking`.",
    },
    RuntimeRow {
        func: RuntimeFn::StreamDestroy,
        name: "cudaStreamDestroy",
        prototype: "cudaError_t(cudaStream_t)",
        availability: Availability::Both,
        summary: "Destroys a stream created on the device.",
    },
    RuntimeRow {
        func: RuntimeFn::StreamWaitEvent,
        name: "cudaStreamWaitEvent",
        prototype: "cudaError_t(cudaStream_t,cudaEvent_t,unsigned int=0)",
        availability: Availability::Stream,
        summary: "Makes later work of a stream wait for an event.",
    },
    RuntimeRow {
        func: RuntimeFn::EventCreateWithFlags,
        name: "cudaEventCreateWithFlags",
        prototype: "cudaError_t(cudaEvent_t*,unsigned int)",
        availability: Availability::Both,
        summary: "Creates an event; the flags must hold `cudaEventDisableTiming`.",
    },
    RuntimeRow {
        func: RuntimeFn::EventRecord,
        name: "cudaEventRecord",
        prototype: "cudaError_t(cudaEvent_t,cudaStream_t=0)",
        availability: Availability::Stream,
        summary: "Records an event into a stream.",
    },
    RuntimeRow {
        func: RuntimeFn::EventRecordWithFlags,
        name: "cudaEventRecordWithFlags",
        prototype: "cudaError_t(cudaEvent_t,cudaStream_t=0,unsigned int=0)",
        availability: Availability::StreamHeader,
        summary: "Records an event into a stream; flags must be 0.",
    },
    RuntimeRow {
        func: RuntimeFn::EventDestroy,
        name: "cudaEventDestroy",
        prototype: "cudaError_t(cudaEvent_t)",
        availability: Availability::Both,
        summary: "Destroys an event created on the device.",
    },
    RuntimeRow {
        func: RuntimeFn::FuncGetAttributes,
        name: "cudaFuncGetAttributes",
        prototype: "cudaError_t(cudaFuncAttributes*,const void*)",
        availability: Availability::Both,
        summary: "Registers, shared and local bytes and limits of a kernel.",
    },
    RuntimeRow {
        func: RuntimeFn::Malloc,
        name: "cudaMalloc",
        prototype: "cudaError_t(void**,size_t)",
        availability: Availability::Both,
        summary: "Allocates from the device heap (`cudaLimitMallocHeapSize`).",
    },
    RuntimeRow {
        func: RuntimeFn::Free,
        name: "cudaFree",
        prototype: "cudaError_t(void*)",
        availability: Availability::Both,
        summary: "Frees device-heap memory.",
    },
    RuntimeRow {
        func: RuntimeFn::MemcpyAsync,
        name: "cudaMemcpyAsync",
        prototype: "cudaError_t(void*,const void*,size_t,cudaMemcpyKind,cudaStream_t=0)",
        availability: Availability::Stream,
        summary: "Copies global memory in stream order.",
    },
    RuntimeRow {
        func: RuntimeFn::Memcpy2DAsync,
        name: "cudaMemcpy2DAsync",
        prototype: "cudaError_t(void*,size_t,const void*,size_t,size_t,size_t,cudaMemcpyKind,cudaStream_t=0)",
        availability: Availability::Stream,
        summary: "Copies rows of global memory in stream order.",
    },
    RuntimeRow {
        func: RuntimeFn::Memcpy3DAsync,
        name: "cudaMemcpy3DAsync",
        prototype: "cudaError_t(const cudaMemcpy3DParms*,cudaStream_t=0)",
        availability: Availability::Stream,
        summary: "Copies a box of global memory in stream order.",
    },
    RuntimeRow {
        func: RuntimeFn::MemsetAsync,
        name: "cudaMemsetAsync",
        prototype: "cudaError_t(void*,int,size_t,cudaStream_t=0)",
        availability: Availability::Stream,
        summary: "Sets bytes of global memory in stream order.",
    },
    RuntimeRow {
        func: RuntimeFn::Memset2DAsync,
        name: "cudaMemset2DAsync",
        prototype: "cudaError_t(void*,size_t,int,size_t,size_t,cudaStream_t=0)",
        availability: Availability::Stream,
        summary: "Sets bytes of rows of global memory in stream order.",
    },
    RuntimeRow {
        func: RuntimeFn::Memset3DAsync,
        name: "cudaMemset3DAsync",
        prototype: "cudaError_t(cudaPitchedPtr,int,cudaExtent,cudaStream_t=0)",
        availability: Availability::Stream,
        summary: "Sets bytes of a box of global memory in stream order.",
    },
    RuntimeRow {
        func: RuntimeFn::OccupancyMaxActiveBlocksPerMultiprocessor,
        name: "cudaOccupancyMaxActiveBlocksPerMultiprocessor",
        prototype: "cudaError_t(int*,const void*,int,size_t)",
        availability: Availability::Both,
        summary: "How many blocks of a kernel fit on a multiprocessor.",
    },
    RuntimeRow {
        func: RuntimeFn::OccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
        name: "cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags",
        prototype: "cudaError_t(int*,const void*,int,size_t,unsigned int)",
        availability: Availability::Both,
        summary: "The same, with flags.",
    },
    RuntimeRow {
        func: RuntimeFn::GetParameterBuffer,
        name: "cudaGetParameterBuffer",
        prototype: "void*(size_t,size_t)",
        availability: Availability::Both,
        summary: "A parameter buffer: alignment and size in bytes.",
    },
    RuntimeRow {
        func: RuntimeFn::GetParameterBufferV2,
        name: "cudaGetParameterBufferV2",
        prototype: "void*(void*,dim3,dim3,unsigned int)",
        availability: Availability::Both,
        summary: "A parameter buffer that carries the launch configuration.",
    },
    RuntimeRow {
        func: RuntimeFn::LaunchDevice,
        name: "cudaLaunchDevice",
        prototype: "cudaError_t(void*,void*,dim3,dim3,unsigned int,cudaStream_t)",
        availability: Availability::Stream,
        summary: "Launches a kernel with a filled parameter buffer.",
    },
    RuntimeRow {
        func: RuntimeFn::LaunchDeviceV2,
        name: "cudaLaunchDeviceV2",
        prototype: "cudaError_t(void*,cudaStream_t)",
        availability: Availability::Stream,
        summary: "Launches the kernel that the buffer names.",
    },
    RuntimeRow {
        func: RuntimeFn::CGGetIntrinsicHandle,
        name: "cudaCGGetIntrinsicHandle",
        prototype: "unsigned long long(cudaCGScope)",
        availability: Availability::Plain,
        summary: "Cooperative groups: the handle of a scope.",
    },
    RuntimeRow {
        func: RuntimeFn::CGSynchronize,
        name: "cudaCGSynchronize",
        prototype: "cudaError_t(unsigned long long,unsigned int)",
        availability: Availability::Plain,
        summary: "Cooperative groups: synchronises a scope.",
    },
    RuntimeRow {
        func: RuntimeFn::CGSynchronizeGrid,
        name: "cudaCGSynchronizeGrid",
        prototype: "cudaError_t(unsigned long long,unsigned int)",
        availability: Availability::Plain,
        summary: "Cooperative groups: synchronises the grid.",
    },
    RuntimeRow {
        func: RuntimeFn::CGGetSize,
        name: "cudaCGGetSize",
        prototype: "cudaError_t(unsigned int*,unsigned int*,unsigned long long)",
        availability: Availability::Plain,
        summary: "Cooperative groups: threads and grids of a scope.",
    },
    RuntimeRow {
        func: RuntimeFn::CGGetRank,
        name: "cudaCGGetRank",
        prototype: "cudaError_t(unsigned int*,unsigned int*,unsigned long long)",
        availability: Availability::Plain,
        summary: "Cooperative groups: rank in a scope.",
    },
];

impl RuntimeFn {
    /// The function's row.
    pub fn row(self) -> &'static RuntimeRow {
        &RUNTIME_TABLE[self as usize]
    }

    /// The documented name.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The function that programs spell so (`cudaGetLastError`).
    pub fn by_name(name: &str) -> Option<RuntimeFn> {
        RUNTIME_TABLE.iter().find(|row| row.name == name).map(|row| row.func)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stand_in_the_order_of_the_enum() {
        for (index, row) in RUNTIME_TABLE.iter().enumerate() {
            assert_eq!(row.func as usize, index);
            assert_eq!(RuntimeFn::by_name(row.name), Some(row.func));
        }
    }
}
