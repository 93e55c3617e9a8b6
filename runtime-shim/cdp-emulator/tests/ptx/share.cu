// Trees of launches whose grids cannot watch each other.
#include <cstdio>

__device__ unsigned cells[1 << 16];
__device__ unsigned marks[64];

// Work that depends on nothing but its arguments.
__device__ unsigned work(unsigned x, int rounds)
{
    for (int i = 0; i < rounds; i++) {
        x = x * 1664525u + 1013904223u;
    }
    return x;
}

__global__ void after(int path)
{
    if (threadIdx.x == 0) printf("after %x\n", path);
}

// Every block launches into all kinds of streams, prints before, between and after.
__global__ void forest(int path, int depth)
{
    int mine = path * 8 + blockIdx.x;
    unsigned value = work(mine * 32 + threadIdx.x, 200);
    atomicAdd(&cells[(mine * 32 + threadIdx.x) & 0xffff], value);
    if (threadIdx.x > 1) return;
    printf("%x.%d %u\n", mine, threadIdx.x, value);
    if (depth == 0) return;
    forest<<<2, 32, 0, cudaStreamFireAndForget>>>(mine * 4 + threadIdx.x, depth - 1);
    printf("%x.%d between\n", mine, threadIdx.x);
    if (threadIdx.x == 0) {
        cudaStream_t stream;
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
        forest<<<1, 32, 0, stream>>>(mine * 4 + 2, depth - 1);
        forest<<<1, 32>>>(mine * 4 + 3, depth - 1);
        after<<<1, 32, 0, stream>>>(mine);
        after<<<1, 1, 0, cudaStreamTailLaunch>>>(mine | 0x40000000);
        // All write the same.
        cudaMemsetAsync(marks, 7, sizeof marks, stream);
        cudaStreamDestroy(stream);
    }
    printf("%x.%d end %d\n", mine, threadIdx.x, cudaGetLastError());
}

__global__ void burst(int n)
{
    int failed = 0;
    for (int i = 0; i < n; i++) {
        after<<<1, 32, 0, cudaStreamFireAndForget>>>(i);
        failed += cudaGetLastError() != cudaSuccess;
    }
    printf("block %d: %d failed\n", blockIdx.x, failed);
}

__global__ void leaf(int i, int wrong)
{
    unsigned value = work(i * 64 + threadIdx.x, 300);
    // Only the leaves that are wrong write outside.
    unsigned *at = i == wrong || i == wrong + 1 ? cells + (1 << 26) : cells;
    at[(i * 64 + threadIdx.x) & 0xffff] = value;
    if (threadIdx.x == 0) printf("leaf %d\n", i);
}

__global__ void branches(int n, int wrong)
{
    for (int i = 0; i < n; i++) {
        leaf<<<1, 64, 0, cudaStreamFireAndForget>>>(blockIdx.x * n + i, wrong);
    }
}

__device__ unsigned tickets;

// Watches other blocks, but its children watch nobody.
__global__ void watcher(int blocks)
{
    unsigned ticket = atomicAdd(&tickets, 1);
    leaf<<<blocks, 64>>>(ticket, -2);
    printf("ticket %u\n", ticket);
}
