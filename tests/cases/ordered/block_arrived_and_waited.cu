// Between arriving at the barrier of the block and waiting for it nothing is read.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(int *out)
{
    __shared__ int s[64];
    auto b = cg::this_thread_block();
    s[threadIdx.x] = 1;
    auto token = b.barrier_arrive();
    b.barrier_wait(std::move(token));
    out[threadIdx.x] = s[63 - threadIdx.x];
}
int main()
{
    int *o;
    cudaMalloc(&o, 1024);
    k<<<1, 64>>>(o);
    return cudaDeviceSynchronize() != cudaSuccess;
}
