// The runtime API of host code: what programs with dynamic parallelism use. Functions that device
// code has too are in `device_runtime`, arrays and textures in `arrays`; what CUDA has beyond this is
// in `outside.rs`, so that a call of it can be refused by name. The advice says what device code does instead.

[c] {
    /// Destroys all allocations and state of the device in this process.
    cudaError_t cudaDeviceReset() = refuse "host code resets a device";
    /// Sets a limit: stack, heap, printf buffer, pending launches.
    cudaError_t cudaDeviceSetLimit(cudaLimit, size_t)
        = refuse "limits are set by host code before the launch; `cudaDeviceGetLimit` reads them";
    /// Sets the preferred split of L1 and shared memory.
    cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) = refuse "cache preferences are set by host code";
    /// Makes a device current for the calling host thread.
    cudaError_t cudaSetDevice(int)
        = refuse "a kernel runs on the device that it was launched on: host code chooses it";
    /// All properties of a device.
    cudaError_t cudaGetDeviceProperties(cudaDeviceProp*, int)
        = refuse "use `cudaDeviceGetAttribute`, which reads one property";
    /// The version of CUDA that the driver supports.
    cudaError_t cudaDriverGetVersion(int*) = refuse "use `cudaRuntimeGetVersion`";
    /// Free and total device memory in bytes.
    cudaError_t cudaMemGetInfo(size_t* free, size_t* total)
        = refuse "device code cannot see how much memory is left";
    /// Creates a stream.
    cudaError_t cudaStreamCreate(cudaStream_t*)
        = refuse "use `cudaStreamCreateWithFlags` with `cudaStreamNonBlocking`: device streams never synchronise with the NULL stream";
    /// Creates a stream with a priority.
    cudaError_t cudaStreamCreateWithPriority(cudaStream_t*, unsigned, int)
        = refuse "use `cudaStreamCreateWithFlags`: device streams have the priority of their grid";
    /// The range of stream priorities.
    cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest)
        = refuse "device streams have the priority of their grid";
    /// Waits until all work of a stream has completed.
    cudaError_t cudaStreamSynchronize(cudaStream_t)
        = refuse "device code cannot wait for its launches: continue in a kernel launched into `cudaStreamTailLaunch`";
    /// Whether all work of a stream has completed.
    cudaError_t cudaStreamQuery(cudaStream_t)
        = refuse "device code cannot wait for its launches: continue in a kernel launched into `cudaStreamTailLaunch`";
    /// Creates an event with timing.
    cudaError_t cudaEventCreate(cudaEvent_t*)
        = refuse "use `cudaEventCreateWithFlags` with `cudaEventDisableTiming`: device events have no time";
    /// Creates an event with flags.
    cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned flags)
        = refuse "use `cudaEventCreateWithFlags` with `cudaEventDisableTiming`: device events have no time" host extern cudaEventCreateWithFlags;
    /// Waits until an event has happened.
    cudaError_t cudaEventSynchronize(cudaEvent_t)
        = refuse "device code cannot wait for an event: make a stream wait with `cudaStreamWaitEvent`";
    /// Whether an event has happened.
    cudaError_t cudaEventQuery(cudaEvent_t)
        = refuse "device code cannot ask for an event: make a stream wait with `cudaStreamWaitEvent`";
    /// The time between two events in milliseconds.
    cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end)
        = refuse "device events have no time: read `clock64()` or `%globaltimer`";
    /// Allocates memory that host and device share.
    cudaError_t cudaMallocManaged(any**, size_t, unsigned = 1)
        = refuse "managed memory is allocated by host code and passed to the kernel";
    /// Allocates page-locked host memory.
    cudaError_t cudaMallocHost(any**, size_t, unsigned = 0) = refuse "host memory is allocated by host code";
    /// Allocates page-locked host memory with flags.
    cudaError_t cudaHostAlloc(any**, size_t, unsigned) = refuse "host memory is allocated by host code";
    /// Frees page-locked host memory.
    cudaError_t cudaFreeHost(void*) = refuse "host memory is freed by host code";
    /// Allocates rows of device memory, each aligned.
    cudaError_t cudaMallocPitch(any**, size_t* pitch, size_t width, size_t height)
        = refuse "use `cudaMalloc` with a pitch of your own";
    /// Allocates slices of rows of device memory, each row aligned.
    cudaError_t cudaMalloc3D(cudaPitchedPtr* memory, cudaExtent extent)
        = refuse "use `cudaMalloc` with a pitch of your own";
    /// Allocates device memory for later work of a stream.
    cudaError_t cudaMallocAsync(any**, size_t, cudaStream_t) = refuse "use `cudaMalloc`";
    /// Frees device memory after the work of a stream.
    cudaError_t cudaFreeAsync(void*, cudaStream_t) = refuse "use `cudaFree`";
    /// The address at which kernels see page-locked host memory.
    cudaError_t cudaHostGetDevicePointer(any**, void* host, unsigned flags)
        = refuse "host code passes the pointer to the kernel";
    /// Copies a box of memory and waits for it.
    cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms*)
        = refuse "use `cudaMemcpy3DAsync`; its result is there for the next launch into the same stream";
    /// Sets bytes of a box of memory.
    cudaError_t cudaMemset3D(cudaPitchedPtr destination, int value, cudaExtent extent)
        = refuse "use `cudaMemset3DAsync`; its result is there for the next launch into the same stream";
    /// Launches a kernel whose arguments are behind pointers.
    cudaError_t cudaLaunchKernel(kernel, dim3 grid, dim3 block, void** args, size_t shared_bytes = 0,
        cudaStream_t stream = 0)
        = refuse "launch with `<<<>>>`";
    /// The flags that a stream was made with.
    cudaError_t cudaStreamGetFlags(cudaStream_t, unsigned*) = refuse "device streams are non-blocking";
    /// The priority of a stream.
    cudaError_t cudaStreamGetPriority(cudaStream_t, int*)
        = refuse "device streams have the priority of their grid";
    /// Copies memory and waits for it.
    cudaError_t cudaMemcpy(void* destination, const void* source, size_t count, cudaMemcpyKind kind)
        = refuse "use `cudaMemcpyAsync`; its result is there for the next launch into the same stream";
    /// Copies rows of memory and waits for it.
    cudaError_t cudaMemcpy2D(void* destination, size_t, const void* source, size_t, size_t width,
        size_t height, cudaMemcpyKind kind)
        = refuse "use `cudaMemcpy2DAsync`; its result is there for the next launch into the same stream";
    /// Sets bytes of memory.
    cudaError_t cudaMemset(void* destination, int value, size_t count)
        = refuse "use `cudaMemsetAsync`; its result is there for the next launch into the same stream";
    /// Sets bytes of rows of memory.
    cudaError_t cudaMemset2D(void* destination, size_t pitch, int value, size_t width, size_t height)
        = refuse "use `cudaMemset2DAsync`; its result is there for the next launch into the same stream";
    /// Copies to a `__device__` or `__constant__` variable.
    cudaError_t cudaMemcpyToSymbol(symbol, const void* source, size_t count, size_t offset = 0,
        cudaMemcpyKind kind = cudaMemcpyHostToDevice)
        = refuse "assign to the variable: device code sees it by name";
    /// Copies from a `__device__` or `__constant__` variable.
    cudaError_t cudaMemcpyFromSymbol(void* destination, symbol, size_t count, size_t offset = 0,
        cudaMemcpyKind kind = cudaMemcpyDeviceToHost)
        = refuse "read the variable: device code sees it by name";
    /// Copies to a `__device__` or `__constant__` variable in stream order.
    cudaError_t cudaMemcpyToSymbolAsync(symbol, const void* source, size_t count, size_t offset,
        cudaMemcpyKind kind, cudaStream_t stream = 0)
        = refuse "assign to the variable: device code sees it by name";
    /// Copies from a `__device__` or `__constant__` variable in stream order.
    cudaError_t cudaMemcpyFromSymbolAsync(void* destination, symbol, size_t count, size_t offset,
        cudaMemcpyKind kind, cudaStream_t stream = 0)
        = refuse "read the variable: device code sees it by name";
    /// The device address of a `__device__` or `__constant__` variable.
    cudaError_t cudaGetSymbolAddress(any**, symbol) = refuse "take the address of the variable with `&`";
    /// The size of a `__device__` or `__constant__` variable in bytes.
    cudaError_t cudaGetSymbolSize(size_t*, symbol) = refuse "use `sizeof`";
    /// Sets an attribute of a kernel, such as its dynamic shared memory limit.
    cudaError_t cudaFuncSetAttribute(kernel, cudaFuncAttribute, int)
        = refuse "kernel attributes are set by host code before the launch";
    /// Sets the preferred cache split of a kernel.
    cudaError_t cudaFuncSetCacheConfig(kernel, cudaFuncCache)
        = refuse "kernel attributes are set by host code before the launch";
    /// Where a pointer points.
    cudaError_t cudaPointerGetAttributes(cudaPointerAttributes*, const void*)
        = refuse "use `__isGlobal`, `__isShared` and their like";
}
