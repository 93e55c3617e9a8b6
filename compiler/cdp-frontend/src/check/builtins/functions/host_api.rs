//! The runtime API of host code: what programs with dynamic parallelism use. Functions that device
//! code has too are in `device_runtime`. Arrays and textures are in `arrays`;
//! what CUDA has beyond this is in `outside`, so that a call of it can be refused by name.

use super::{BuiltinFn, Lower, row};

/// A function of host code that device code lacks; `advice` says what device code does instead.
const fn host(
    name: &'static str,
    signature: &'static str,
    advice: &'static str,
    summary: &'static str,
) -> BuiltinFn {
    row(name, signature, Lower::Refuse(advice), Lower::Extern(name), summary)
}

pub(super) const ROWS: &[BuiltinFn] = &[
    host(
        "cudaDeviceReset",
        "cudaError_t()",
        "host code resets a device",
        "Destroys all allocations and state of the device in this process.",
    ),
    host(
        "cudaDeviceSetLimit",
        "cudaError_t(cudaLimit,size_t)",
        "limits are set by host code before the launch; `cudaDeviceGetLimit` reads them",
        "Sets a limit: stack, heap, printf buffer, pending launches.",
    ),
    host(
        "cudaDeviceSetCacheConfig",
        "cudaError_t(cudaFuncCache)",
        "cache preferences are set by host code",
        "Sets the preferred split of L1 and shared memory.",
    ),
    host(
        "cudaSetDevice",
        "cudaError_t(int)",
        "a kernel runs on the device that it was launched on: host code chooses it",
        "Makes a device current for the calling host thread.",
    ),
    host(
        "cudaGetDeviceProperties",
        "cudaError_t(cudaDeviceProp*,int)",
        "use `cudaDeviceGetAttribute`, which reads one property",
        "All properties of a device.",
    ),
    host(
        "cudaDriverGetVersion",
        "cudaError_t(int*)",
        "use `cudaRuntimeGetVersion`",
        "The version of CUDA that the driver supports.",
    ),
    host(
        "cudaMemGetInfo",
        "cudaError_t(size_t* free,size_t* total)",
        "device code cannot see how much memory is left",
        "Free and total device memory in bytes.",
    ),
    host(
        "cudaStreamCreate",
        "cudaError_t(cudaStream_t*)",
        "use `cudaStreamCreateWithFlags` with `cudaStreamNonBlocking`: device streams never synchronise with the NULL stream",
        "Creates a stream.",
    ),
    host(
        "cudaStreamCreateWithPriority",
        "cudaError_t(cudaStream_t*,unsigned,int)",
        "use `cudaStreamCreateWithFlags`: device streams have the priority of their grid",
        "Creates a stream with a priority.",
    ),
    host(
        "cudaDeviceGetStreamPriorityRange",
        "cudaError_t(int* least,int* greatest)",
        "device streams have the priority of their grid",
        "The range of stream priorities.",
    ),
    host(
        "cudaStreamSynchronize",
        "cudaError_t(cudaStream_t)",
        "device code cannot wait for its launches: continue in a kernel launched into `cudaStreamTailLaunch`",
        "Waits until all work of a stream has completed.",
    ),
    host(
        "cudaStreamQuery",
        "cudaError_t(cudaStream_t)",
        "device code cannot wait for its launches: continue in a kernel launched into `cudaStreamTailLaunch`",
        "Whether all work of a stream has completed.",
    ),
    host(
        "cudaEventCreate",
        "cudaError_t(cudaEvent_t*)",
        "use `cudaEventCreateWithFlags` with `cudaEventDisableTiming`: device events have no time",
        "Creates an event with timing.",
    ),
    host(
        "cudaEventCreate",
        "cudaError_t(cudaEvent_t* event,unsigned flags)",
        "use `cudaEventCreateWithFlags` with `cudaEventDisableTiming`: device events have no time",
        "Creates an event with flags.",
    )
    .hosted(Lower::Extern("cudaEventCreateWithFlags")),
    host(
        "cudaEventSynchronize",
        "cudaError_t(cudaEvent_t)",
        "device code cannot wait for an event: make a stream wait with `cudaStreamWaitEvent`",
        "Waits until an event has happened.",
    ),
    host(
        "cudaEventQuery",
        "cudaError_t(cudaEvent_t)",
        "device code cannot ask for an event: make a stream wait with `cudaStreamWaitEvent`",
        "Whether an event has happened.",
    ),
    host(
        "cudaEventElapsedTime",
        "cudaError_t(float* milliseconds,cudaEvent_t start,cudaEvent_t end)",
        "device events have no time: read `clock64()` or `%globaltimer`",
        "The time between two events in milliseconds.",
    ),
    host(
        "cudaMallocManaged",
        "cudaError_t(any**,size_t,unsigned=1)",
        "managed memory is allocated by host code and passed to the kernel",
        "Allocates memory that host and device share.",
    ),
    host(
        "cudaMallocHost",
        "cudaError_t(any**,size_t,unsigned=0)",
        "host memory is allocated by host code",
        "Allocates page-locked host memory.",
    ),
    host(
        "cudaHostAlloc",
        "cudaError_t(any**,size_t,unsigned)",
        "host memory is allocated by host code",
        "Allocates page-locked host memory with flags.",
    ),
    host(
        "cudaFreeHost",
        "cudaError_t(void*)",
        "host memory is freed by host code",
        "Frees page-locked host memory.",
    ),
    host(
        "cudaMallocPitch",
        "cudaError_t(any**,size_t* pitch,size_t width,size_t height)",
        "use `cudaMalloc` with a pitch of your own",
        "Allocates rows of device memory, each aligned.",
    ),
    host(
        "cudaMalloc3D",
        "cudaError_t(cudaPitchedPtr* memory,cudaExtent extent)",
        "use `cudaMalloc` with a pitch of your own",
        "Allocates slices of rows of device memory, each row aligned.",
    ),
    host(
        "cudaMallocAsync",
        "cudaError_t(any**,size_t,cudaStream_t)",
        "use `cudaMalloc`",
        "Allocates device memory for later work of a stream.",
    ),
    host(
        "cudaFreeAsync",
        "cudaError_t(void*,cudaStream_t)",
        "use `cudaFree`",
        "Frees device memory after the work of a stream.",
    ),
    host(
        "cudaHostGetDevicePointer",
        "cudaError_t(any**,void* host,unsigned flags)",
        "host code passes the pointer to the kernel",
        "The address at which kernels see page-locked host memory.",
    ),
    host(
        "cudaMemcpy3D",
        "cudaError_t(const cudaMemcpy3DParms*)",
        "use `cudaMemcpy3DAsync`; its result is there for the next launch into the same stream",
        "Copies a box of memory and waits for it.",
    ),
    host(
        "cudaMemset3D",
        "cudaError_t(cudaPitchedPtr destination,int value,cudaExtent extent)",
        "use `cudaMemset3DAsync`; its result is there for the next launch into the same stream",
        "Sets bytes of a box of memory.",
    ),
    host(
        "cudaLaunchKernel",
        "cudaError_t(kernel,dim3 grid,dim3 block,void** args,size_t shared_bytes=0,cudaStream_t stream=0)",
        "launch with `<<<>>>`",
        "Launches a kernel whose arguments are behind pointers.",
    ),
    host(
        "cudaStreamGetFlags",
        "cudaError_t(cudaStream_t,unsigned*)",
        "device streams are non-blocking",
        "The flags that a stream was made with.",
    ),
    host(
        "cudaStreamGetPriority",
        "cudaError_t(cudaStream_t,int*)",
        "device streams have the priority of their grid",
        "The priority of a stream.",
    ),
    host(
        "cudaMemcpy",
        "cudaError_t(void* destination,const void* source,size_t count,cudaMemcpyKind kind)",
        "use `cudaMemcpyAsync`; its result is there for the next launch into the same stream",
        "Copies memory and waits for it.",
    ),
    host(
        "cudaMemcpy2D",
        "cudaError_t(void* destination,size_t,const void* source,size_t,size_t width,size_t height,cudaMemcpyKind kind)",
        "use `cudaMemcpy2DAsync`; its result is there for the next launch into the same stream",
        "Copies rows of memory and waits for it.",
    ),
    host(
        "cudaMemset",
        "cudaError_t(void* destination,int value,size_t count)",
        "use `cudaMemsetAsync`; its result is there for the next launch into the same stream",
        "Sets bytes of memory.",
    ),
    host(
        "cudaMemset2D",
        "cudaError_t(void* destination,size_t pitch,int value,size_t width,size_t height)",
        "use `cudaMemset2DAsync`; its result is there for the next launch into the same stream",
        "Sets bytes of rows of memory.",
    ),
    host(
        "cudaMemcpyToSymbol",
        "cudaError_t(symbol,const void* source,size_t count,size_t offset=0,cudaMemcpyKind kind=cudaMemcpyHostToDevice)",
        "assign to the variable: device code sees it by name",
        "Copies to a `__device__` or `__constant__` variable.",
    ),
    host(
        "cudaMemcpyFromSymbol",
        "cudaError_t(void* destination,symbol,size_t count,size_t offset=0,cudaMemcpyKind kind=cudaMemcpyDeviceToHost)",
        "read the variable: device code sees it by name",
        "Copies from a `__device__` or `__constant__` variable.",
    ),
    host(
        "cudaMemcpyToSymbolAsync",
        "cudaError_t(symbol,const void* source,size_t count,size_t offset,cudaMemcpyKind kind,cudaStream_t stream=0)",
        "assign to the variable: device code sees it by name",
        "Copies to a `__device__` or `__constant__` variable in stream order.",
    ),
    host(
        "cudaMemcpyFromSymbolAsync",
        "cudaError_t(void* destination,symbol,size_t count,size_t offset,cudaMemcpyKind kind,cudaStream_t stream=0)",
        "read the variable: device code sees it by name",
        "Copies from a `__device__` or `__constant__` variable in stream order.",
    ),
    host(
        "cudaGetSymbolAddress",
        "cudaError_t(any**,symbol)",
        "take the address of the variable with `&`",
        "The device address of a `__device__` or `__constant__` variable.",
    ),
    host(
        "cudaGetSymbolSize",
        "cudaError_t(size_t*,symbol)",
        "use `sizeof`",
        "The size of a `__device__` or `__constant__` variable in bytes.",
    ),
    host(
        "cudaFuncSetAttribute",
        "cudaError_t(kernel,cudaFuncAttribute,int)",
        "kernel attributes are set by host code before the launch",
        "Sets an attribute of a kernel, such as its dynamic shared memory limit.",
    ),
    host(
        "cudaFuncSetCacheConfig",
        "cudaError_t(kernel,cudaFuncCache)",
        "kernel attributes are set by host code before the launch",
        "Sets the preferred cache split of a kernel.",
    ),
    host(
        "cudaPointerGetAttributes",
        "cudaError_t(cudaPointerAttributes*,const void*)",
        "use `__isGlobal`, `__isShared` and their like",
        "Where a pointer points.",
    ),
];
