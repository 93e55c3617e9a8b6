// Groups of a labelled partition share the slots of their ranks.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__global__ void k(int *p)
{
    __shared__ int s[64];
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    auto part = cg::labeled_partition(warp, threadIdx.x % 3);
    int *slot = s + part.thread_rank();
    *slot = threadIdx.x; //~ race
    part.sync();
    p[threadIdx.x] = s[(part.thread_rank() + 1) % part.size()]; //~ race
}
int main()
{
    int *p;
    cudaMalloc(&p, 65536);
    cudaMemset(p, 0, 65536);
    k<<<1, 32>>>(p);
    return cudaDeviceSynchronize() != cudaSuccess;
}
