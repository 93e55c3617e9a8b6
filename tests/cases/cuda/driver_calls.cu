// The driver's calls beside the runtime's: contexts, modules and linked pieces of PTX, functions with parameters in an array and in
// a buffer, memory, copies of rectangles, streams and events, and functions that are asked for by name. The parent
// launches its child from the device.
#include "driver.h"

#include <cstring>
#include <cuda.h>
#include <cuda_runtime.h>
#include <vector>

static const char *scale_ptx = R"(
.version 7.0
.target sm_50
.address_size 64
.global .align 4 .u32 factor = 3;
.extern .func (.param .b32 r) twice (.param .b32 x);
.visible .entry scale(.param .u64 data, .param .u32 n)
{
    .reg .pred %p;
    .reg .b32 %r<8>;
    .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [data];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %tid.x;
    setp.ge.u32 %p, %r2, %r1;
    @%p ret;
    cvta.to.global.u64 %rd2, %rd1;
    mul.wide.u32 %rd3, %r2, 4;
    add.u64 %rd4, %rd2, %rd3;
    ld.global.u32 %r3, [%rd4];
    ld.global.u32 %r4, [factor];
    mul.lo.u32 %r5, %r3, %r4;
    {
        .param .b32 x;
        .param .b32 r;
        st.param.b32 [x], %r5;
        call.uni (r), twice, (x);
        ld.param.b32 %r6, [r];
    }
    st.global.u32 [%rd4], %r6;
    ret;
}
)";

static const char *twice_ptx = R"(
.version 7.0
.target sm_50
.address_size 64
.visible .func (.param .b32 r) twice (.param .b32 x)
{
    .reg .b32 %r<3>;
    ld.param.b32 %r1, [x];
    shl.b32 %r2, %r1, 1;
    st.param.b32 [r], %r2;
    ret;
}
)";

__global__ void child(int *data, int by) { data[threadIdx.x] += by; }

__global__ void parent(int *data, int n)
{
    child<<<1, n>>>(data, 100);
    child<<<1, n, 0, cudaStreamTailLaunch>>>(data, 1000);
}

static void show(const char *what, CUdeviceptr data, int n)
{
    std::vector<int> host(n);
    CHECK(cuMemcpyDtoH(host.data(), data, n * sizeof(int)));
    printf("%s:", what);
    for (int value : host) {
        printf(" %d", value);
    }
    printf("\n");
}

int main()
{
    const int n = 8;
    CUcontext none = (CUcontext)1;
    printf("before: %d %d\n", cuCtxGetCurrent(&none), cuMemAlloc((CUdeviceptr *)&none, 4));
    CHECK(cuInit(0));
    CHECK(cuCtxGetCurrent(&none));
    printf("no context: %d %d\n", none == nullptr, cuMemAlloc((CUdeviceptr *)&none, 4));
    CUdevice device;
    CHECK(cuDeviceGet(&device, 0));
    int count = 0, major = 0, warp = 0;
    CHECK(cuDeviceGetCount(&count));
    CHECK(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
    CHECK(cuDeviceGetAttribute(&warp, CU_DEVICE_ATTRIBUTE_WARP_SIZE, device));
    char name[100] = "";
    CHECK(cuDeviceGetName(name, sizeof name, device));
    printf("device: %d %d %d %d\n", count > 0, major >= 5, warp, strlen(name) > 0);

    // The runtime makes the primary context current.
    cudaFree(nullptr);
    CUcontext primary, current;
    CHECK(cuDevicePrimaryCtxRetain(&primary, device));
    CHECK(cuCtxGetCurrent(&current));
    printf("primary: %d\n", primary == current);

    // A module of two linked pieces.
    CUlinkState link;
    CHECK(cuLinkCreate(0, nullptr, nullptr, &link));
    CHECK(cuLinkAddData(link, CU_JIT_INPUT_PTX, (void *)scale_ptx, strlen(scale_ptx) + 1, "scale.ptx", 0, nullptr, nullptr));
    CHECK(cuLinkAddData(link, CU_JIT_INPUT_PTX, (void *)twice_ptx, strlen(twice_ptx) + 1, "twice.ptx", 0, nullptr, nullptr));
    void *cubin;
    size_t bytes = 0;
    CHECK(cuLinkComplete(link, &cubin, &bytes));
    CUmodule module;
    CHECK(cuModuleLoadData(&module, cubin));
    CHECK(cuLinkDestroy(link));
    CUfunction scale, missing;
    CHECK(cuModuleGetFunction(&scale, module, "scale"));
    printf("linked: %d, missing %d\n", bytes > 0, cuModuleGetFunction(&missing, module, "missing"));
    CUdeviceptr factor;
    CHECK(cuModuleGetGlobal(&factor, &bytes, module, "factor"));
    printf("variable: %zu bytes\n", bytes);

    CUdeviceptr data;
    CHECK(cuMemAlloc(&data, n * sizeof(int)));
    CHECK(cuMemsetD32(data, 7, n));
    CUstream stream;
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CUevent start, stop;
    CHECK(cuEventCreate(&start, CU_EVENT_DEFAULT));
    CHECK(cuEventCreate(&stop, CU_EVENT_DEFAULT));
    CHECK(cuCtxSynchronize());
    CHECK(cuEventRecord(start, stream));
    unsigned length = n;
    void *params[] = {&data, &length};
    CHECK(cuLaunchKernel(scale, 1, 1, 1, 32, 1, 1, 0, stream, params, nullptr));
    CHECK(cuEventRecord(stop, stream));
    CHECK(cuEventSynchronize(stop));
    float milliseconds = -1;
    CHECK(cuEventElapsedTime(&milliseconds, start, stop));
    printf("time: %d\n", milliseconds >= 0);
    show("array", data, n);

    unsigned five = 5;
    CHECK(cuMemcpyHtoD(factor, &five, sizeof five));
    struct {
        CUdeviceptr data;
        unsigned n;
    } buffer = {data, 4};
    // As the kernel has them, without the padding of the struct: an H200 refuses other sizes.
    size_t buffer_bytes = sizeof buffer.data + sizeof buffer.n;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &buffer_bytes, CU_LAUNCH_PARAM_END};
    CHECK(cuLaunchKernel(scale, 1, 1, 1, 32, 1, 1, 0, stream, nullptr, extra));
    buffer_bytes = sizeof buffer;
    printf("padded: %d\n", cuLaunchKernel(scale, 1, 1, 1, 32, 1, 1, 0, stream, nullptr, extra));
    CHECK(cuStreamSynchronize(stream));
    show("buffer", data, n);

    // Calls of both kinds see the same memory, streams and kernels.
    cudaMemsetAsync((void *)data, 0, n * sizeof(int), stream);
    cudaEvent_t mixed;
    cudaEventCreate(&mixed);
    CHECK(cuEventRecord(mixed, stream));
    cudaStreamWaitEvent(0, mixed);
    parent<<<1, 1, 0, stream>>>((int *)data, n);
    printf("runtime: %d\n", cudaStreamSynchronize(stream));
    show("parent", data, n);
    cudaFunction_t symbol;
    cudaGetFuncBySymbol(&symbol, (const void *)parent);
    void *both[] = {&data, &length};
    CHECK(cuLaunchKernel(symbol, 1, 1, 1, 1, 1, 1, 0, 0, both, nullptr));
    CHECK(cuCtxSynchronize());
    show("by symbol", data, n);
    int threads = 0;
    CHECK(cuFuncGetAttribute(&threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, symbol));
    printf("attribute: %d\n", threads >= 32);

    // A rectangle in the middle.
    int picture[3][4] = {{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}};
    CUDA_MEMCPY2D copy = {};
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = picture;
    copy.srcPitch = sizeof picture[0];
    copy.srcXInBytes = sizeof(int);
    copy.srcY = 1;
    copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.dstDevice = data;
    copy.dstPitch = 4 * sizeof(int);
    copy.WidthInBytes = 2 * sizeof(int);
    copy.Height = 2;
    CHECK(cuMemcpy2D(&copy));
    show("rectangle", data, n);

    // Functions by name, as libraries find them.
    typedef CUresult (*Fill)(CUdeviceptr, unsigned short, size_t);
    Fill fill = nullptr;
    cudaDriverEntryPointQueryResult found;
    printf("entry: %d", cudaGetDriverEntryPointByVersion("cuMemsetD16", (void **)&fill, 12000, cudaEnableDefault, &found));
    printf(" %d\n", found == cudaDriverEntryPointSuccess);
    CHECK(fill(data, 0x0102, 4));
    show("filled", data, n);
    int managed = -1;
    CHECK(cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, data));
    const char *text = nullptr;
    CHECK(cuGetErrorString(CUDA_ERROR_OUT_OF_MEMORY, &text));
    printf("managed %d, error %s", managed, text);
    printf(", unknown %d\n", cuGetErrorString((CUresult)12345, &text));
    printf("bad: %d %d\n", cuMemAlloc(&factor, 0), cudaGetLastError());

    // A context of the program's own.
    CUcontext own;
    CHECK(cuCtxCreate(&own, nullptr, 0, device));
    CHECK(cuCtxGetCurrent(&current));
    printf("own: %d", current == own);
    CUdeviceptr there;
    CHECK(cuMemAlloc(&there, 16));
    CHECK(cuMemFree(there));
    CHECK(cuCtxDestroy(own));
    CHECK(cuCtxGetCurrent(&current));
    printf(" %d\n", current == primary);
    CHECK(cuMemFree(data));
    CHECK(cuEventDestroy(start));
    CHECK(cuEventDestroy(stop));
    CHECK(cuStreamDestroy(stream));
    CHECK(cuModuleUnload(module));
    cudaEventDestroy(mixed);
    CHECK(cuDevicePrimaryCtxRelease(device));
    return 0;
}
