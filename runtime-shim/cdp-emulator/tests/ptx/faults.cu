// Programs that do something wrong.
#include <stdio.h>
#include <assert.h>

__device__ int table[10];
__global__ void out_of_bounds(int n) { table[threadIdx.x + 5] = 1; }
__global__ void null_store(int *p) { *p = 1; }
__global__ void misaligned(char *unused) { *(int *)((char *)table + 2) = 1; }
__global__ void after_free() { int *p = (int *)malloc(40); *p = 1; free(p); *p = 2; }
__global__ void double_free() { int *p = (int *)malloc(40); free(p); free(p); }
__global__ void bad_free() { free(table); }
__global__ void uninitialized() {
    __shared__ int s[64];
    if (threadIdx.x < 10) s[threadIdx.x] = 1;
    __syncthreads();
    table[0] = s[threadIdx.x];
}
__global__ void child(int *p) { *p = 7; }
__global__ void local_to_child() {
    int x[4] = {1, 2, 3, 4};
    child<<<1, 1>>>(x);
    table[0] = x[threadIdx.x];
}
__global__ void shared_to_child() {
    __shared__ int s[4];
    s[threadIdx.x & 3] = 1;
    child<<<1, 1>>>(s);
    table[0] = s[threadIdx.x & 3];
}
__global__ void divergent_barrier() {
    if (threadIdx.x < 16) __syncthreads();
    table[0] = 1;
}
__global__ void two_barriers() {
    if (threadIdx.x < 32) __syncthreads();
    else { table[1] = 3; __syncthreads(); }
}
__global__ void deadlock() {
    __shared__ int s;
    s = 1;
    if (threadIdx.x < 32) asm volatile("bar.sync 1, 64;");
    else asm volatile("bar.sync 2, 64;");
    table[0] = s;
}
__global__ void failed_assert(int n) { assert(threadIdx.x < 3); }
__global__ void trapped() { if (threadIdx.x == 5) __trap(); }
__global__ void endless() { while (true) { table[0]++; } }
__device__ __noinline__ int deep(int n) { volatile int a[32]; a[n & 31] = n; return n == 0 ? 0 : deep(n - 1) + a[(n + 1) & 31]; }
__global__ void overflow(int n) { table[0] = deep(n); }
__constant__ int fixed[4] = {1, 2, 3, 4};
__global__ void write_constant() { *(int *)(size_t)&fixed[1] = 9; }
__device__ __noinline__ int call(int (*f)(int)) { return f(1); }
__global__ void bad_call(long long p) { table[0] = call((int (*)(int))p); }
