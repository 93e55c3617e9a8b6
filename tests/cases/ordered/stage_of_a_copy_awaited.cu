// A block leaves one copy in flight and reads what the other one brought.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
namespace cg = cooperative_groups;

__global__ void k(int *p)
{
    __shared__ __align__(16) int s[2][64];
    auto block = cg::this_thread_block();
    cg::memcpy_async(block, s[0], p, 256);
    cg::memcpy_async(block, s[1], p + 64, 256);
    cg::wait_prior<1>(block);
    p[1024 + threadIdx.x] = s[0][63 - threadIdx.x];
    cg::wait(block);
}
int main()
{
    int *p;
    cudaMalloc(&p, 65536);
    cudaMemset(p, 0, 65536);
    k<<<1, 64>>>(p);
    return cudaDeviceSynchronize() != cudaSuccess;
}
