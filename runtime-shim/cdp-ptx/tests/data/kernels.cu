// Device code with one example of most things that compilers emit: initialised and relocated
// globals, dynamic and static shared memory, structs by value, recursion, function pointers,
// a jump table, printf, local arrays, inline assembly with scoped names, atomics, warp functions.
#include <cstdio>

struct Point { float x, y; double z; char tag; short weight; long long id; };
struct Linked { char first; int *counter; short last; };

__constant__ float coefficients[16] = {1.f, 2.5f, -3.25f};
__device__ int counter = 7;
__device__ int *counter_address = &counter;
__device__ double table[4] = {1.0, 0.1, -1e300, 1e-310};
__device__ const char *names[3] = {"one", "two", 0};
__device__ Linked linked = {'x', &counter, 3};
extern __shared__ float dynamic_shared[];

typedef float (*Function)(float);
__device__ float twice(float x) { return x * 2; }
__device__ float next(float x) { return x + 1; }
__device__ Function functions[2] = {twice, next};

__device__ __noinline__ float weigh(float a, Point p) {
    return a * p.x + p.y + (float)p.z + p.tag + p.weight + p.id;
}
__device__ __noinline__ int factorial(int n) { return n <= 1 ? 1 : n * factorial(n - 1); }

extern "C" __global__ void mixed(float *out, const float *in, int n, Point p, Function *more) {
    __shared__ float tile[32][33];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.y][threadIdx.x] = in[i];
    dynamic_shared[threadIdx.x] = 3;
    __syncthreads();
    float v = tile[threadIdx.x][threadIdx.y] + dynamic_shared[0];
    if (i < n) {
        for (int j = 0; j < n; ++j) v += weigh(v, p) * coefficients[j & 15];
        switch (((int)v) % 9) {
        case 0: v += 1; break;
        case 1: v *= 3; break;
        case 2: v -= 5; break;
        case 3: v = out[1]; break;
        case 4: v = out[i + 7] * v; break;
        case 5: out[2] = v; break;
        case 6: v = -v; break;
        case 7: v = 9; break;
        }
        v += functions[i & 1](v) + more[i](v);
        out[i] = v + factorial(i) + names[i % 3][0] + *linked.counter + (float)table[i & 3];
        printf("thread %d has %f\n", i, v);
        atomicAdd(counter_address, 1);
    }
}

__global__ void __launch_bounds__(256, 2) bounded(int *a) {
    int local[64];
    for (int i = 0; i < 64; ++i) local[i] = i * a[0];
    int sum = 0;
    for (int i = 0; i < a[1]; ++i) sum += local[(i * 7) & 63];
    a[threadIdx.x] = sum;
}

__global__ void parameters(int a, char b, short c, long long d, double e, float4 f, int3 g, bool h,
                           double *out) {
    *out = a + b + c + d + e + f.x + g.z + h;
}

__global__ void assembly(int *p) {
    if (*p == 4)
        asm volatile("{ .reg .pred q; .reg .b32 t; setp.eq.s32 q, %0, 4; @q bra DONE; mov.b32 t, 3; "
                     "bra DONE; DONE: }" ::"r"(*p));
    if (*p == 5)
        asm volatile("{ .reg .pred q; .reg .b64 t; setp.eq.s32 q, %0, 4; @q bra DONE; mov.b64 t, 3; "
                     "DONE: }" ::"r"(*p));
}

__global__ void warp(int *o, int a, unsigned b, long long c) {
    o[0] = __shfl_sync(-1u, a, 3);
    o[1] = __shfl_up_sync(-1u, a, 1);
    o[2] = __any_sync(-1u, a > 2);
    o[3] = __ballot_sync(b, a);
    o[4] = __activemask();
    o[5] = __match_any_sync(-1u, a);
    int all;
    o[6] = __match_all_sync(-1u, c, &all) + all;
    o[7] = __syncthreads_count(a) + __syncthreads_or(a);
    __syncwarp(b);
    o[8] = atomicCAS(o + 9, a, 3) + atomicExch(o, 1) + atomicMax(o, a);
    __threadfence();
    o[9] = (int)clock64() + __popc(b) + __clz(a) + __brev(b) + __byte_perm(a, b, 0x3201);
}
