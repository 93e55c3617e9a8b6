// Launches from device code: order, errors, streams, parameters.
#include <stdio.h>

struct Pair { char tag; double value; };

__global__ void say(int n) { printf("child %d\n", n); }

__global__ void order() {
    for (int i = 0; i < 5; i++) say<<<1, 1>>>(i);
}

__global__ void tails() {
    say<<<1, 1, 0, cudaStreamTailLaunch>>>(10);
    say<<<1, 1, 0, cudaStreamTailLaunch>>>(11);
    say<<<1, 1>>>(1);
    say<<<1, 1, 0, cudaStreamFireAndForget>>>(2);
}

__global__ void tree(int depth, unsigned *count) {
    if (threadIdx.x == 0 && blockIdx.x == 0) atomicAdd(count, 1u);
    if (depth > 0) tree<<<1, 2>>>(depth - 1, count);
}

__device__ unsigned counter;
__global__ void count_tree(int depth) {
    tree<<<1, 2, 0, cudaStreamFireAndForget>>>(depth, &counter);
}
__global__ void show_counter() { printf("count %u\n", counter); counter = 0; }

__global__ void structs(Pair p, short s, float4 v, int *out) {
    printf("%c %g %d %g %g\n", p.tag, p.value, s, v.x, v.w);
}
__global__ void pass_structs() {
    Pair p = {'x', 2.5};
    structs<<<1, 1>>>(p, -7, make_float4(1, 2, 3, 4), nullptr);
}

__global__ void errors() {
    say<<<1, 2000>>>(0);
    printf("threads %d\n", (int)cudaGetLastError());
    printf("cleared %d\n", (int)cudaGetLastError());
    say<<<dim3(1, 70000), 1>>>(0);
    printf("grid %d\n", (int)cudaPeekAtLastError());
    printf("peek %d\n", (int)cudaGetLastError());
    say<<<0, 1>>>(0);
    printf("zero %d %s %s\n", (int)cudaPeekAtLastError(), cudaGetErrorName(cudaPeekAtLastError()),
           cudaGetErrorString(cudaPeekAtLastError()));
    cudaGetLastError();
    say<<<1, 1, 300000>>>(0);
    printf("shared %d\n", (int)cudaGetLastError());
    say<<<1, 1, 0, (cudaStream_t)0x777>>>(0);
    printf("stream %d\n", (int)cudaGetLastError());
    cudaEvent_t e;
    printf("event %d\n", (int)cudaEventCreateWithFlags(&e, 0));
    cudaGetLastError();
}

__global__ void pending() {
    int failed = 0;
    for (int i = 0; i < 2100; i++) {
        say<<<1, 0, 0, cudaStreamTailLaunch>>>(i);
        if (cudaGetLastError() == cudaErrorInvalidConfiguration) failed++;
    }
    printf("bad %d\n", failed);
    failed = 0;
    for (int i = 0; i < 2100; i++) {
        tree<<<1, 1, 0, cudaStreamTailLaunch>>>(0, &counter);
        if (cudaGetLastError() == cudaErrorLaunchPendingCountExceeded) failed++;
    }
    printf("pending %d\n", failed);
}

__global__ void set(int *p, int v) { *p = v; }
__global__ void add(int *p, int v) { *p = *p * 10 + v; }
__device__ int cell;
__global__ void streams() {
    cudaStream_t a, b;
    cudaEvent_t e;
    int rc = 0;
    rc |= cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
    rc |= cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
    rc |= cudaEventCreateWithFlags(&e, cudaEventDisableTiming);
    set<<<1, 1, 0, a>>>(&cell, 1);
    rc |= cudaEventRecord(e, a);
    rc |= cudaStreamWaitEvent(b, e, 0);
    add<<<1, 1, 0, b>>>(&cell, 2);
    add<<<1, 1, 0, b>>>(&cell, 3);
    rc |= cudaEventDestroy(e);
    rc |= cudaStreamDestroy(a);
    rc |= cudaStreamDestroy(b);
    printf("rc %d\n", rc);
}
__global__ void show_cell() { printf("cell %d\n", cell); }

__device__ int from[64], into[64];
__global__ void fill() { from[threadIdx.x] = threadIdx.x * 3; }
__global__ void sums() {
    int a = 0, b = 0;
    for (int i = 0; i < 64; i++) { a += into[i]; b += i; }
    printf("sum %d\n", a);
}
__global__ void copies() {
    int local[4] = {1, 2, 3, 4};
    fill<<<1, 64>>>();
    int rc = cudaMemcpyAsync(into, from, sizeof from, cudaMemcpyDeviceToDevice, 0);
    sums<<<1, 1>>>();
    int rs = cudaMemsetAsync(into, 1, 64, 0);
    sums<<<1, 1>>>();
    int r2 = cudaMemcpy2DAsync(into, 32, from, 16, 8, 4, cudaMemcpyDeviceToDevice, 0);
    sums<<<1, 1>>>();
    int bad = cudaMemsetAsync(local, 0, 16, 0);
    printf("rc %d %d %d %d %d\n", rc, rs, r2, bad, local[2]);
}

__global__ void infos() {
    int v = 0;
    size_t limit = 0;
    cudaDeviceGetAttribute(&v, cudaDevAttrWarpSize, 0);
    printf("warp %d\n", v);
    cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize);
    printf("heap %llu\n", (unsigned long long)limit);
    cudaGetDeviceCount(&v);
    printf("count %d\n", v);
    cudaFuncAttributes at;
    cudaFuncGetAttributes(&at, say);
    printf("max %d\n", at.maxThreadsPerBlock);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&v, say, 256, 0);
    printf("occupancy %d\n", v);
}
