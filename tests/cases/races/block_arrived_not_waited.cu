// What others wrote is read between arriving at the barrier of the block and waiting for it.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(int *out)
{
    __shared__ int s[64];
    auto b = cg::this_thread_block();
    s[threadIdx.x] = 1; //~ race
    auto token = b.barrier_arrive();
    out[threadIdx.x] = s[63 - threadIdx.x]; //~ race
    b.barrier_wait(std::move(token));
}
int main()
{
    int *o;
    cudaMalloc(&o, 1024);
    k<<<1, 64>>>(o);
    return cudaDeviceSynchronize() != cudaSuccess;
}
