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

/// Declares the functions: the name without `cuda`, the prototype, who has it, and what it does.
macro_rules! functions {
    ($($name:ident, $prototype:literal, $availability:ident, $summary:literal;)*) => {
        /// A function of the device runtime: the documented name without `cuda`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum RuntimeFn {
            $(#[doc = $summary] $name,)*
        }

        /// All functions, in the order of [`RuntimeFn`].
        pub const RUNTIME_TABLE: &[RuntimeRow] = &[$(RuntimeRow {
            func: RuntimeFn::$name,
            name: concat!("cuda", stringify!($name)),
            prototype: $prototype,
            availability: Availability::$availability,
            summary: $summary,
        },)*];
    };
}

functions! {
    DeviceSynchronize, "cudaError_t()", Cdp1,
        "Waits for the work launched by the calling thread's block; CDP1 only.";
    GetLastError, "cudaError_t()", Both,
        "Returns and clears the calling thread's error.";
    PeekAtLastError, "cudaError_t()", Both,
        "Returns the calling thread's error and keeps it.";
    GetErrorString, "const char*(cudaError_t)", Both,
        "A sentence for an error code.";
    GetErrorName, "const char*(cudaError_t)", Both,
        "The enumerator's name of an error code.";
    GetDeviceCount, "cudaError_t(int*)", Both,
        "The number of devices.";
    GetDevice, "cudaError_t(int*)", Both,
        "The running device, numbered as the host sees it.";
    DeviceGetAttribute, "cudaError_t(int*,cudaDeviceAttr,int)", Both,
        "One property of any device.";
    DeviceGetLimit, "cudaError_t(size_t*,cudaLimit)", Both,
        "A limit that the host set.";
    DeviceGetCacheConfig, "cudaError_t(cudaFuncCache*)", Both,
        "The cache preference inherited from the parent.";
    DeviceGetSharedMemConfig, "cudaError_t(cudaSharedMemConfig*)", Both,
        "The shared-memory bank width.";
    RuntimeGetVersion, "cudaError_t(int*)", Both,
        "The runtime's version, 1000 * major + 10 * minor.";
    StreamCreateWithFlags, "cudaError_t(cudaStream_t*,unsigned int)", Both,
        "Creates a stream; the flags must be `cudaStreamNonBlocking`.";
    StreamDestroy, "cudaError_t(cudaStream_t)", Both,
        "Destroys a stream created on the device.";
    StreamWaitEvent, "cudaError_t(cudaStream_t,cudaEvent_t,unsigned int=0)", Stream,
        "Makes later work of a stream wait for an event.";
    EventCreateWithFlags, "cudaError_t(cudaEvent_t*,unsigned int)", Both,
        "Creates an event; the flags must hold `cudaEventDisableTiming`.";
    EventRecord, "cudaError_t(cudaEvent_t,cudaStream_t=0)", Stream,
        "Records an event into a stream.";
    EventRecordWithFlags, "cudaError_t(cudaEvent_t,cudaStream_t=0,unsigned int=0)", StreamHeader,
        "Records an event into a stream; flags must be 0.";
    EventDestroy, "cudaError_t(cudaEvent_t)", Both,
        "Destroys an event created on the device.";
    FuncGetAttributes, "cudaError_t(cudaFuncAttributes*,const void*)", Both,
        "Registers, shared and local bytes and limits of a kernel.";
    Malloc, "cudaError_t(void**,size_t)", Both,
        "Allocates from the device heap (`cudaLimitMallocHeapSize`).";
    Free, "cudaError_t(void*)", Both,
        "Frees device-heap memory.";
    MemcpyAsync, "cudaError_t(void*,const void*,size_t,cudaMemcpyKind,cudaStream_t=0)", Stream,
        "Copies global memory in stream order.";
    Memcpy2DAsync, "cudaError_t(void*,size_t,const void*,size_t,size_t,size_t,cudaMemcpyKind,cudaStream_t=0)", Stream,
        "Copies rows of global memory in stream order.";
    Memcpy3DAsync, "cudaError_t(const cudaMemcpy3DParms*,cudaStream_t=0)", Stream,
        "Copies a box of global memory in stream order.";
    MemsetAsync, "cudaError_t(void*,int,size_t,cudaStream_t=0)", Stream,
        "Sets bytes of global memory in stream order.";
    Memset2DAsync, "cudaError_t(void*,size_t,int,size_t,size_t,cudaStream_t=0)", Stream,
        "Sets bytes of rows of global memory in stream order.";
    Memset3DAsync, "cudaError_t(cudaPitchedPtr,int,cudaExtent,cudaStream_t=0)", Stream,
        "Sets bytes of a box of global memory in stream order.";
    OccupancyMaxActiveBlocksPerMultiprocessor, "cudaError_t(int*,const void*,int,size_t)", Both,
        "How many blocks of a kernel fit on a multiprocessor.";
    OccupancyMaxActiveBlocksPerMultiprocessorWithFlags, "cudaError_t(int*,const void*,int,size_t,unsigned int)", Both,
        "The same, with flags.";
    GetParameterBuffer, "void*(size_t,size_t)", Both,
        "A parameter buffer: alignment and size in bytes.";
    GetParameterBufferV2, "void*(void*,dim3,dim3,unsigned int)", Both,
        "A parameter buffer that carries the launch configuration.";
    LaunchDevice, "cudaError_t(void*,void*,dim3,dim3,unsigned int,cudaStream_t)", Stream,
        "Launches a kernel with a filled parameter buffer.";
    LaunchDeviceV2, "cudaError_t(void*,cudaStream_t)", Stream,
        "Launches the kernel that the buffer names.";
    CGGetIntrinsicHandle, "unsigned long long(cudaCGScope)", Plain,
        "Cooperative groups: the handle of a scope.";
    CGSynchronize, "cudaError_t(unsigned long long,unsigned int)", Plain,
        "Cooperative groups: synchronises a scope.";
    CGSynchronizeGrid, "cudaError_t(unsigned long long,unsigned int)", Plain,
        "Cooperative groups: synchronises the grid.";
    CGGetSize, "cudaError_t(unsigned int*,unsigned int*,unsigned long long)", Plain,
        "Cooperative groups: threads and grids of a scope.";
    CGGetRank, "cudaError_t(unsigned int*,unsigned int*,unsigned long long)", Plain,
        "Cooperative groups: rank in a scope.";
}

impl RuntimeFn {
    /// The function's row.
    pub const fn row(self) -> &'static RuntimeRow {
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
