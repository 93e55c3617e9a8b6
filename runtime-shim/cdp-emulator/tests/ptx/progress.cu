// progress.ptx: nvcc -ptx -arch=sm_90 -rdc=true; progress_o1.ptx: also -Xcicc -O1 -DPLAIN.
//
// Lanes of a warp that are in different functions at once, and lanes that wait for different things.
#include <stdio.h>
#ifndef PLAIN
#include <cuda/latch>
#include <cuda/semaphore>
#endif

__device__ volatile int flag;
__device__ volatile int stage;

// Half a warp spins here with 32-bit rows, predicates and constants ...
__device__ __noinline__ int spin(int a, int b) {
    int n = 0, odd = 0;
    while (flag == 0) {
        n += (n & 3) == 1 ? 3 : 1;
        odd ^= n;
    }
    return (odd & 0) + a * 1000003 + b * 77 + flag;
}

// ... while the other half computes with 64-bit rows.
__device__ __noinline__ double series(double x, int terms) {
    double sum = 0, term = 1;
    for (int i = 1; i <= terms; i++) {
        sum += term;
        term = term * x / i;
        if ((i & 7) == 0) flag = 0;
    }
    return sum;
}

__global__ void halves(int terms) {
    int lane = threadIdx.x;
    if (lane == 0) flag = 0;
    __syncwarp();
    double d = 0;
    int n = 0;
    if (lane & 16) {
        n = spin(lane, lane * 3);
    } else {
        d = series(lane * 0.125, terms);
        if (lane == 0) flag = 1;
    }
    __syncwarp();
    printf("%d: %d %.17g\n", lane, n, d);
}

// Recursion, pointers to functions and a third way.
__device__ __noinline__ long long tree(int n, long long seed) {
    if (n < 2) return seed + n;
    long long left = tree(n - 1, seed * 3 + 1);
    if (n == 6) while (stage < 1) {}
    return left + tree(n - 2, seed ^ 0x5555555555555555ll);
}
__device__ __noinline__ double roots(int n, double x) {
    for (int i = 0; i < n; i++) x = sqrt(x + i);
    while (stage < 2) {}
    return x;
}
__device__ __noinline__ double cubes(int n, double x) {
    float y = 0;
    for (int i = 0; i < n; i++) y += (float)i * (float)x;
    return y;
}
typedef double (*Step)(int, double);
__device__ Step steps[2] = {roots, cubes};

__global__ void three_ways(int n) {
    int lane = threadIdx.x;
    if (lane == 0) stage = 0;
    __syncwarp();
    long long t = 0;
    double d = 0;
    if (lane % 3 == 0) {
        t = tree(n, lane);
    } else if (lane % 3 == 1) {
        d = steps[lane & 1](n, lane);
        if (lane == 7) stage = 2;
    } else {
        d = series(1.0 / lane, n * 4);
        if (lane == 5) atomicMax((int *)&stage, 1);
        while (stage == 0) {}
    }
    __syncwarp();
    printf("%d: %lld %.17g\n", lane, t, d);
}

// A lock, and a counter that those who have had it wait for.
__device__ int lock, count;
__global__ void lock_and_counter() {
    while (atomicCAS(&lock, 0, 1) != 0) {}
    count++;
    __threadfence();
    atomicExch(&lock, 0);
    while (*(volatile int *)&count < (int)blockDim.x) {}
    if (threadIdx.x == 0) printf("count %d\n", *(volatile int *)&count);
}

#ifndef PLAIN
__device__ cuda::binary_semaphore<cuda::thread_scope_device> semaphore(1);
__global__ void semaphore_and_latch() {
    using Latch = cuda::latch<cuda::thread_scope_block>;
    __shared__ alignas(Latch) char place[sizeof(Latch)];
    Latch &latch = *(Latch *)place;
    if (threadIdx.x == 0) new (place) Latch(blockDim.x);
    __syncthreads();
    semaphore.acquire();
    count++;
    semaphore.release();
    latch.arrive_and_wait();
    if (threadIdx.x == 0) printf("latched %d\n", *(volatile int *)&count);
}
#endif

// Lanes that read something volatile often, apart from the others.
__device__ volatile int steady;
__global__ void many_reads(int reads) {
    int sum = 0;
    if (threadIdx.x & 1) for (int i = 0; i < reads; i++) sum += steady + i;
    int all = __reduce_add_sync(~0u, sum);
    if (threadIdx.x == 0) printf("sum %d\n", all);
}

// Functions that call each other 12 deep, with 256 bytes of variables each.
template <int n> __device__ __noinline__ int deep(int x) {
    volatile int a[64];
#pragma unroll 1
    for (int i = 0; i < 64; i++) a[i] = x * i + n;
    return deep<n - 1>(a[x & 63]) + a[(x + n) & 63];
}
template <> __device__ __noinline__ int deep<0>(int x) { return x; }
__global__ void stack() { printf("deep %d\n", deep<12>(threadIdx.x + 1)); }

// 128-bit integers.
typedef unsigned __int128 u128;
__global__ void quotients(const u128 *in, u128 *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    u128 a = in[2 * i], b = in[2 * i + 1];
    out[8 * i] = a / b;
    out[8 * i + 1] = a % b;
    out[8 * i + 2] = (u128)((__int128)a / (__int128)b);
    out[8 * i + 3] = (u128)((__int128)a % (__int128)b);
    out[8 * i + 4] = a - b;
    out[8 * i + 5] = a * b + (a - b);
    out[8 * i + 6] = a < b ? b - a : -a;
    out[8 * i + 7] = a << (b & 127) ^ a >> (b & 63);
}
