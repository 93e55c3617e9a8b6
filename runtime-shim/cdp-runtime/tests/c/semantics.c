/* What the runtime's calls return, call by call. Built twice: with nvcc, where it says what CUDA does
   (define ORACLE and compile it as C++ with kernels.cu), and with this crate's static library.
   What differs between devices by nature is not printed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef ORACLE
#include "kernels.cu"
#define MANAGED(name) name
#define SYMBOL(name) name
static int GetSymbolAddress_unknown(void **p, void *s) { return cudaGetSymbolAddress(p, (const void *)s); }
#else
#include "cdp_abi.h"
struct Pair { char tag; double value; };
static char scale, hello, symbols, parameters, dynamic, bounded, wild, parent;
static int table[4], counter, shared_value;
#define MANAGED(name) (*(int *)__cdp_managed_address(&name))
#define SYMBOL(name) &name
static int GetSymbolAddress_unknown(void **p, void *s) { return cudaGetSymbolAddress(p, s); }

static const unsigned scale_offsets[] = {0, 8, 12}, scale_sizes[] = {8, 4, 4};
static const unsigned one_int_offsets[] = {0}, one_int_sizes[] = {4};
static const unsigned one_ptr_sizes[] = {8};
static const unsigned mixed_offsets[] = {0, 8, 16, 32, 40}, mixed_sizes[] = {1, 8, 16, 2, 8};
static const unsigned dynamic_offsets[] = {0, 8}, dynamic_sizes[] = {8, 4};
static const struct CdpKernel kernels[] = {
    {&scale, "scale", 3, 0, scale_offsets, scale_sizes},
    {&hello, "hello", 1, 0, one_int_offsets, one_int_sizes},
    {&symbols, "symbols", 1, 0, one_int_offsets, one_ptr_sizes},
    {&parameters, "parameters", 5, 0, mixed_offsets, mixed_sizes},
    {&dynamic, "dynamic", 2, 0, dynamic_offsets, dynamic_sizes},
    {&bounded, "bounded", 0, 0, 0, 0},
    {&wild, "wild", 1, 0, one_int_offsets, one_ptr_sizes},
    {&parent, "parent", 1, 0, one_int_offsets, one_ptr_sizes},
};
static const struct CdpVariable variables[] = {
    {table, "table", 16, 1, 0},
    {&counter, "counter", 4, 0, 0},
    {&shared_value, "shared_value", 4, 2, 0},
};
static const struct CdpUnit unit = {1, 8, kernels, 3, 0, variables};
__attribute__((constructor)) static void enroll(void)
{
    __cdp_register_unit(&unit);
    cdp_register_image();
}
#endif

/* Somewhere to write what must not be written. */
static void *unused;
#define SAY(expression) printf("%s -> %d\n", #expression, (int)(expression))
#define HANDLE(kernel) ((const void *)&kernel)
#ifdef ORACLE
#undef HANDLE
#define HANDLE(kernel) ((const void *)kernel)
#endif

static int launch(const void *kernel, unsigned grid, unsigned block, size_t shared_bytes, cudaStream_t stream, void **args)
{
    dim3 g, b;
    g.x = grid, g.y = g.z = 1;
    b.x = block, b.y = b.z = 1;
    return cudaLaunchKernel(kernel, g, b, args, shared_bytes, stream);
}

static int launch_3d(const void *kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz)
{
    dim3 g, b;
    g.x = gx, g.y = gy, g.z = gz;
    b.x = bx, b.y = by, b.z = bz;
    return cudaLaunchKernel(kernel, g, b, 0, 0, 0);
}

static int launch_hello(int number)
{
    void *args[1];
    args[0] = &number;
    return launch(HANDLE(hello), 1, 1, 0, 0, args);
}

static int launch_scale(int *data, int count, int factor, cudaStream_t stream)
{
    void *args[3];
    args[0] = &data, args[1] = &count, args[2] = &factor;
    return launch(HANDLE(scale), (count + 31) / 32, 32, 0, stream, args);
}

static int launch_pointer(const void *kernel, void *pointer)
{
    void *args[1];
    args[0] = &pointer;
    return launch(kernel, 1, 1, 0, 0, args);
}

static int launch_dynamic(int *out, int words)
{
    void *args[2];
    args[0] = &out, args[1] = &words;
    return launch(HANDLE(dynamic), 1, 32, words * 4, 0, args);
}

static void errors(void)
{
    int *p = 0;
    printf("-- errors\n");
    SAY(cudaGetLastError());
    SAY(cudaMalloc(0, 4));
    SAY(cudaPeekAtLastError());
    SAY(cudaGetLastError());
    SAY(cudaGetLastError());
    SAY(cudaMalloc((void **)&p, (size_t)1 << 60));
    printf("%s: %s\n", cudaGetErrorName((cudaError_t)2), cudaGetErrorString((cudaError_t)2));
    printf("%s: %s\n", cudaGetErrorName((cudaError_t)700), cudaGetErrorString((cudaError_t)700));
    printf("%s: %s\n", cudaGetErrorName((cudaError_t)4321), cudaGetErrorString((cudaError_t)4321));
    SAY(cudaFree(0));
    SAY(cudaGetLastError());
    SAY(cudaFree((void *)0x1234));
    SAY(cudaGetLastError());
}

static void memory(void)
{
    int host[8] = {1, 2, 3, 4, 5, 6, 7, 8}, back[8], *a, *b, *pinned, *managed;
    char rows[4][8];
    struct cudaPointerAttributes about;
    size_t free_bytes = 0, total_bytes = 0;
    printf("-- memory\n");
    SAY(cudaMalloc((void **)&a, sizeof host));
    SAY(cudaMalloc((void **)&b, sizeof host));
    SAY((size_t)a % 256);
    SAY(cudaMemcpy(a, host, sizeof host, (cudaMemcpyKind)7));
    SAY(cudaMemcpy(a, host, 0, (cudaMemcpyKind)7));
    SAY(cudaMemcpy(a, host, 0, cudaMemcpyHostToDevice));
    SAY(cudaMemcpy(0, host, 4, cudaMemcpyHostToDevice));
    SAY(cudaMemcpy(back, host, 4, cudaMemcpyHostToDevice));
    SAY(cudaMemcpy(back, host, 4, cudaMemcpyDeviceToHost));
    SAY(cudaMemcpy(a, b, 4, cudaMemcpyHostToDevice));
    SAY(cudaMemcpy(back, host, 4, cudaMemcpyDefault));
    SAY(cudaMemcpy(back, host, 4, cudaMemcpyHostToHost));
    SAY(cudaGetLastError());
    SAY(cudaMemcpy(a, host, sizeof host, cudaMemcpyHostToDevice));
    SAY(launch_scale(a, 8, 3, 0));
    SAY(cudaMemcpy(b, a, sizeof host, cudaMemcpyDeviceToDevice));
    SAY(cudaMemset(a, 1, 4));
    SAY(cudaMemcpy(back, b, sizeof host, cudaMemcpyDefault));
    printf("%d %d %d\n", back[0], back[1], back[7]);
    SAY(cudaMemcpy(back, a, sizeof host, cudaMemcpyDeviceToHost));
    printf("%#x %d\n", back[0], back[1]);
    SAY(cudaMemset2D(a, 8, 0xff, 3, 4));
    SAY(cudaMemset2D(a, 2, 0xff, 3, 4));
    memset(rows, 0x11, sizeof rows);
    SAY(cudaMemcpy2D(rows, 8, a, 8, 5, 4, cudaMemcpyDeviceToHost));
    SAY(cudaMemcpy2D(rows, 4, a, 8, 5, 4, cudaMemcpyDeviceToHost));
    printf("%x %x %x %x\n", rows[0][2] & 255, rows[0][5] & 255, rows[3][0] & 255, rows[3][7] & 255);
    SAY(cudaMallocManaged((void **)&managed, 16, 1));
    managed[0] = 5, managed[1] = 6;
    SAY(launch_scale(managed, 2, 7, 0));
    SAY(cudaDeviceSynchronize());
    printf("%d %d\n", managed[0], managed[1]);
    SAY(cudaMallocManaged(&unused, 0, 1));
    SAY(cudaMallocManaged(&unused, 16, 9));
    SAY(cudaMallocHost((void **)&pinned, 64));
    SAY(cudaHostAlloc(&unused, 64, 99));
    SAY(cudaFree(pinned));
    SAY(cudaFreeHost(a));
    SAY(cudaFreeHost(0));
    pinned[0] = 9;
    SAY(cudaMemcpyAsync(a, pinned, 4, cudaMemcpyHostToDevice, 0));
    SAY(cudaMemcpyAsync(back, a, 4, cudaMemcpyDeviceToHost, 0));
    SAY(cudaDeviceSynchronize());
    printf("%d\n", back[0]);
#define ABOUT(pointer) \
    memset(&about, 0, sizeof about); \
    printf("%s -> %d", #pointer, (int)cudaPointerGetAttributes(&about, pointer)); \
    printf(": type %d device %d, device address %s, host address %s\n", about.type, about.device, \
           about.devicePointer == (void *)(pointer) ? "same" : about.devicePointer ? "other" : "none", \
           about.hostPointer == (void *)(pointer) ? "same" : about.hostPointer ? "other" : "none")
    ABOUT(a);
    ABOUT(a + 1);
    ABOUT(managed);
    ABOUT(pinned);
    ABOUT(host);
    ABOUT((int *)0);
    SAY(cudaFreeHost(pinned));
    SAY(cudaFree(managed));
    SAY(cudaFree(a));
    SAY(cudaFree(a));
    SAY(cudaFree(b));
    SAY(cudaMemGetInfo(&free_bytes, &total_bytes));
    SAY(free_bytes > 0 && free_bytes <= total_bytes);
    SAY(cudaGetLastError());
}

static void launches(void)
{
    int *out, value = 0;
    long long *wide, results[5];
    char c = -3;
    double d = 1e6;
    struct Pair pair;
    short s = -30000;
    void *args[5];
    struct cudaFuncAttributes attributes;
    int blocks = -1, grid = 0, block = 0;
    printf("-- launches\n");
    SAY(cudaMalloc((void **)&out, 64));
    SAY(launch_3d(HANDLE(bounded), 0, 1, 1, 1, 1, 1));
    SAY(launch_3d(HANDLE(bounded), 1, 1, 1, 0, 1, 1));
    SAY(launch_3d(HANDLE(bounded), 1, 1, 1, 1025, 1, 1));
    SAY(launch_3d(HANDLE(bounded), 1, 1, 1, 257, 1, 1));
    SAY(launch_3d(HANDLE(bounded), 1, 1, 1, 1, 1, 65));
    SAY(launch_3d(HANDLE(bounded), 1, 65536, 1, 1, 1, 1));
    SAY(launch_3d(HANDLE(bounded), 1, 1, 65536, 1, 1, 1));
    SAY(cudaPeekAtLastError());
    SAY(cudaGetLastError());
    SAY(launch_3d(HANDLE(bounded), 1, 1, 1, 256, 1, 1));
    SAY(launch(&value, 1, 1, 0, 0, 0));
    SAY(cudaGetLastError());
    SAY(launch_dynamic(out, 12288));
    SAY(launch_dynamic(out, 12289));
    SAY(launch_dynamic(out, 1 << 20));
    SAY(cudaFuncSetAttribute(HANDLE(dynamic), (cudaFuncAttribute)8, 60000));
    SAY(launch_dynamic(out, 15000));
    SAY(cudaFuncSetAttribute(HANDLE(dynamic), (cudaFuncAttribute)8, 500000));
    SAY(cudaFuncSetAttribute(HANDLE(dynamic), (cudaFuncAttribute)77, 1));
    SAY(cudaFuncSetAttribute(&value, (cudaFuncAttribute)8, 1));
    SAY(cudaGetLastError());
    SAY(cudaMemcpy(&value, out, 4, cudaMemcpyDeviceToHost));
    printf("%d\n", value);
    SAY(cudaFuncGetAttributes(&attributes, HANDLE(dynamic)));
    SAY(attributes.maxDynamicSharedSizeBytes);
    SAY(attributes.sharedSizeBytes);
    SAY(cudaFuncGetAttributes(&attributes, HANDLE(bounded)));
    SAY(attributes.maxThreadsPerBlock);
    SAY(attributes.maxDynamicSharedSizeBytes);
    SAY(attributes.preferredShmemCarveout);
    SAY(cudaFuncGetAttributes(&attributes, (const void *)&value));
    SAY(cudaFuncSetCacheConfig(HANDLE(bounded), (cudaFuncCache)1));
    SAY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, HANDLE(bounded), 256, 0));
    SAY(blocks);
    SAY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, HANDLE(bounded), 512, 0));
    SAY(blocks);
    SAY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, HANDLE(bounded), 0, 0));
    SAY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, HANDLE(dynamic), 64, 60000));
    SAY(blocks);
    SAY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, HANDLE(dynamic), 64, 100000));
    SAY(blocks);
    SAY(cudaGetLastError());
#ifdef ORACLE
    SAY(cudaOccupancyMaxPotentialBlockSize(&grid, &block, bounded, 0, 0));
#else
    printf("cudaOccupancyMaxPotentialBlockSize(&grid, &block, bounded, 0, 0) -> %d\n",
           (int)cudaOccupancyMaxPotentialBlockSize(&grid, &block, &bounded, 0, 0));
#endif
    SAY(block);
    SAY(cudaMalloc((void **)&wide, sizeof results));
    memset(&pair, 0, sizeof pair);
    pair.tag = 'x', pair.value = -42.0;
    args[0] = &c, args[1] = &d, args[2] = &pair, args[3] = &s, args[4] = &wide;
    SAY(launch(HANDLE(parameters), 1, 1, 0, 0, args));
    SAY(cudaMemcpy(results, wide, sizeof results, cudaMemcpyDeviceToHost));
    printf("%lld %lld %lld %lld %lld\n", results[0], results[1], results[2], results[3], results[4]);
    SAY(launch_pointer(HANDLE(parent), out));
    SAY(cudaMemcpy(results, out, 16, cudaMemcpyDeviceToHost));
    printf("%d %d\n", ((int *)results)[0], ((int *)results)[3]);
    SAY(cudaFree(out));
    SAY(cudaFree(wide));
}

static void device_symbols(void)
{
    int *out, back[3], values[2] = {10, 20}, stranger = 0;
    void *address = 0;
    size_t bytes = 0;
    printf("-- symbols\n");
    SAY(cudaMalloc((void **)&out, 12));
    SAY(launch_pointer(HANDLE(symbols), out));
    SAY(cudaMemcpy(back, out, 12, cudaMemcpyDeviceToHost));
    printf("%d %d %d, managed %d\n", back[0], back[1], back[2], MANAGED(shared_value));
    MANAGED(shared_value) = 100;
    SAY(cudaMemcpyToSymbol(SYMBOL(table), values, 8, 8, cudaMemcpyHostToDevice));
    SAY(cudaMemcpyToSymbol(SYMBOL(counter), values, 4, 0, cudaMemcpyHostToDevice));
    SAY(cudaMemcpyToSymbol(SYMBOL(table), values, 8, 12, cudaMemcpyHostToDevice));
    SAY(cudaMemcpyToSymbol(SYMBOL(table), values, 8, 0, cudaMemcpyDeviceToHost));
    SAY(launch_pointer(HANDLE(symbols), out));
    SAY(cudaMemcpy(back, out, 12, cudaMemcpyDeviceToHost));
    printf("%d %d %d, managed %d\n", back[0], back[1], back[2], MANAGED(shared_value));
    SAY(cudaMemcpyFromSymbol(back, SYMBOL(table), 12, 4, cudaMemcpyDeviceToHost));
    printf("%d %d %d\n", back[0], back[1], back[2]);
    SAY(cudaMemcpyFromSymbol(back, SYMBOL(counter), 4, 0, cudaMemcpyDeviceToHost));
    printf("%d\n", back[0]);
    SAY(cudaGetSymbolSize(&bytes, SYMBOL(table)));
    SAY(bytes);
    SAY(cudaGetSymbolAddress(&address, SYMBOL(counter)));
    SAY(cudaMemcpy(back, address, 4, cudaMemcpyDeviceToHost));
    printf("%d\n", back[0]);
    SAY(GetSymbolAddress_unknown(&address, &stranger));
    SAY(cudaGetLastError());
    SAY(cudaFree(out));
}

static void streams_and_events(void)
{
    cudaStream_t s, t;
    cudaEvent_t start, end, untimed;
    float elapsed_ms = -1;
    int host[4] = {1, 2, 3, 4}, back[4], *data, least = 9, greatest = 9;
    printf("-- streams and events\n");
    SAY(cudaStreamCreate(&s));
    SAY(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
    SAY(cudaStreamCreateWithFlags((cudaStream_t *)&unused, 6));
    SAY(cudaStreamCreateWithPriority((cudaStream_t *)&unused, 0, -100));
    SAY(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    printf("%d %d\n", least, greatest);
    SAY(cudaStreamQuery(s));
    SAY(cudaStreamSynchronize(0));
    SAY(cudaStreamSynchronize(cudaStreamLegacy));
    SAY(cudaStreamSynchronize(cudaStreamPerThread));
    SAY(cudaEventCreate(&start));
    SAY(cudaEventCreate(&end));
    SAY(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
    SAY(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
    SAY(cudaEventCreateWithFlags((cudaEvent_t *)&unused, 64));
    SAY(cudaEventCreateWithFlags((cudaEvent_t *)&unused, 4));
    SAY(cudaEventQuery(start));
    SAY(cudaEventSynchronize(start));
    SAY(cudaEventElapsedTime(&elapsed_ms, start, end));
    SAY(cudaStreamWaitEvent(s, start, 0));
    SAY(cudaGetLastError());
    SAY(cudaMalloc((void **)&data, sizeof host));
    SAY(cudaMemcpyAsync(data, host, sizeof host, cudaMemcpyHostToDevice, s));
    SAY(cudaEventRecord(start, s));
    SAY(launch_scale(data, 4, 5, s));
    SAY(cudaEventRecord(end, s));
    SAY(cudaStreamWaitEvent(t, end, 0));
    SAY(launch_scale(data, 4, 11, t));
    SAY(cudaMemcpyAsync(back, data, sizeof host, cudaMemcpyDeviceToHost, t));
    SAY(cudaStreamSynchronize(t));
    printf("%d %d\n", back[0], back[3]);
    SAY(cudaEventSynchronize(end));
    SAY(cudaEventQuery(end));
    SAY(cudaEventElapsedTime(&elapsed_ms, start, end));
    SAY(elapsed_ms >= 0);
    SAY(cudaEventRecord(untimed, s));
    SAY(cudaEventSynchronize(untimed));
    SAY(cudaEventElapsedTime(&elapsed_ms, start, untimed));
    SAY(cudaEventElapsedTime(0, start, end));
    SAY(cudaMemsetAsync(data, 0, 16, s));
    SAY(cudaStreamSynchronize(s));
    SAY(cudaStreamQuery(s));
    SAY(cudaEventDestroy(start));
    SAY(cudaEventDestroy(end));
    SAY(cudaEventDestroy(untimed));
    SAY(cudaStreamDestroy(s));
    SAY(cudaStreamDestroy(t));
    SAY(cudaStreamDestroy(0));
    SAY(cudaGetLastError());
    SAY(cudaFree(data));
}

static void device(void)
{
    int count = 0, current = -1, value = -1;
    size_t limit = 0;
    struct cudaDeviceProp properties;
    printf("-- device\n");
    SAY(cudaGetDeviceCount(&count));
    SAY(count > 0);
    SAY(cudaSetDevice(99));
    SAY(cudaSetDevice(-1));
    SAY(cudaSetDevice(0));
    SAY(cudaGetDevice(&current));
    SAY(current);
    SAY(cudaGetLastError());
    SAY(cudaGetDeviceProperties(&properties, 0));
    SAY(properties.warpSize);
    SAY(properties.maxThreadsPerBlock);
    SAY(properties.maxGridSize[1]);
    SAY(properties.major);
    SAY(strlen(properties.name) > 0);
    SAY(cudaGetDeviceProperties(&properties, 99));
    SAY(cudaDeviceGetAttribute(&value, (cudaDeviceAttr)10, 0));
    SAY(value);
    SAY(cudaDeviceGetAttribute(&value, (cudaDeviceAttr)9999, 0));
    SAY(cudaDeviceGetAttribute(&value, (cudaDeviceAttr)0, 0));
    SAY(cudaDeviceGetAttribute(&value, (cudaDeviceAttr)10, 99));
    SAY(cudaGetLastError());
    SAY(cudaRuntimeGetVersion(&value));
    SAY(value / 1000);
    SAY(cudaDriverGetVersion(&value));
    SAY(value >= 13000);
    SAY(cudaDeviceGetLimit(&limit, (cudaLimit)0));
    SAY(limit);
    SAY(cudaDeviceGetLimit(&limit, (cudaLimit)1));
    SAY(limit >= 1 << 20);
    SAY(cudaDeviceGetLimit(&limit, (cudaLimit)2));
    SAY(limit);
    SAY(cudaDeviceGetLimit(&limit, (cudaLimit)3));
    SAY(cudaDeviceSetLimit((cudaLimit)3, 4));
    SAY(cudaDeviceGetLimit(&limit, (cudaLimit)4));
    SAY(limit);
    SAY(cudaDeviceSetLimit((cudaLimit)4, 4096));
    SAY(cudaDeviceGetLimit(&limit, (cudaLimit)4));
    SAY(limit);
    SAY(cudaDeviceSetLimit((cudaLimit)0, 4096));
    SAY(cudaDeviceGetLimit(&limit, (cudaLimit)0));
    SAY(limit);
    SAY(cudaDeviceGetLimit(&limit, (cudaLimit)77));
    SAY(cudaDeviceSetLimit((cudaLimit)77, 1));
    SAY(cudaDeviceSetCacheConfig((cudaFuncCache)1));
    SAY(cudaGetLastError());
}

static void output(void)
{
    printf("-- output\n");
    printf("host 1\n");
    launch_hello(1);
    launch_hello(2);
    cudaDeviceSynchronize();
    printf("host 2\n");
    launch_hello(3);
    cudaStreamSynchronize(0);
    printf("host 3\n");
}

static void faults(void)
{
    int *p = 0, count = 0, value = 0;
    printf("-- faults\n");
    SAY(cudaMalloc((void **)&p, 4));
    SAY(launch_pointer(HANDLE(wild), (void *)16));
    SAY(cudaGetLastError());
    SAY(cudaDeviceSynchronize());
    SAY(cudaPeekAtLastError());
    SAY(cudaGetLastError());
    SAY(cudaPeekAtLastError());
    SAY(cudaGetLastError());
    SAY(cudaMalloc((void **)&p, 4));
    SAY(cudaFree(p));
    SAY(cudaMemcpy(p, &value, 4, cudaMemcpyHostToDevice));
    SAY(launch_hello(4));
    SAY(cudaDeviceSynchronize());
    SAY(cudaStreamQuery(0));
    SAY(cudaGetDeviceCount(&count));
    SAY(cudaGetLastError());
    SAY(cudaGetLastError());
    SAY(cudaDeviceReset());
    SAY(cudaGetLastError());
    SAY(cudaMalloc((void **)&p, 4));
    SAY(cudaFree(p));
    SAY(launch_hello(5));
    SAY(cudaDeviceSynchronize());
    SAY(cudaMemcpyFromSymbol(&value, SYMBOL(counter), 4, 0, cudaMemcpyDeviceToHost));
    printf("%d\n", value);
    SAY(cudaDeviceReset());
}

int main(void)
{
    setvbuf(stdout, 0, _IOLBF, 1 << 16);
    errors();
    memory();
    launches();
    device_symbols();
    streams_and_events();
    device();
    output();
    faults();
    return 0;
}
