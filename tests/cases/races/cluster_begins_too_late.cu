// A block of a cluster writes into its neighbour's shared memory without knowing that the neighbour has begun.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2, 1, 1) pass(int *out)
{
    __shared__ int box[32];
    cg::cluster_group cluster = cg::this_cluster();
    int *there = cluster.map_shared_rank(box, cluster.block_rank() ^ 1);
    there[threadIdx.x] = threadIdx.x; //~ race
    cluster.sync();
    out[blockIdx.x * 32 + threadIdx.x] = box[threadIdx.x];
}

int main()
{
    int *out;
    cudaMalloc((void **)&out, 4 * 32 * sizeof(int));
    pass<<<4, 32>>>(out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
