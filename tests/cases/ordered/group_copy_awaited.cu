// A block waits for the copy of its group.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
namespace cg = cooperative_groups;

__global__ void k(int *p)
{
    __shared__ __align__(16) int s[128];
    auto block = cg::this_thread_block();
    cg::memcpy_async(block, s, p, sizeof(int) * 128);
    cg::wait(block);
    p[1024 + threadIdx.x] = s[127 - threadIdx.x];
}
int main()
{
    int *p;
    cudaMalloc(&p, 65536);
    cudaMemset(p, 0, 65536);
    k<<<1, 128>>>(p);
    return cudaDeviceSynchronize() != cudaSuccess;
}
