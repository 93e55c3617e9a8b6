// A block of a cluster ends when it has seen, without fences, that another one has read its shared memory.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__device__ volatile int is_read;

__global__ void __cluster_dims__(2, 1, 1) k(int *out)
{
    __shared__ int s[4];
    cg::cluster_group cluster = cg::this_cluster();
    s[threadIdx.x] = threadIdx.x;
    cluster.sync();
    if (cluster.block_rank() == 1) {
        out[threadIdx.x] = cluster.map_shared_rank(s, 0)[3 - threadIdx.x]; //~ race
        __syncwarp();
        is_read = 1;
    } else {
        while (is_read == 0) { }
    }
} //~ race

int main()
{
    int *p;
    cudaMalloc(&p, 64);
    k<<<2, 4>>>(p);
    return cudaDeviceSynchronize() != cudaSuccess;
}
