// Blocks of a cluster count in one another's shared memory, which is read without meeting them.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void __cluster_dims__(4, 1, 1) k(int *out)
{
    __shared__ int bins[4];
    cg::cluster_group c = cg::this_cluster();
    if (threadIdx.x < 4) bins[threadIdx.x] = 0;
    c.sync();
    atomicAdd(c.map_shared_rank(bins, threadIdx.x & 3) + (threadIdx.x >> 3), 1); //~ race
    __syncthreads();
    if (threadIdx.x < 4) out[blockIdx.x * 4 + threadIdx.x] = bins[threadIdx.x]; //~ race
    c.sync();
}
int main()
{
    int *p;
    cudaMalloc(&p, 4096);
    k<<<4, 32>>>(p);
    return cudaDeviceSynchronize() != cudaSuccess;
}
