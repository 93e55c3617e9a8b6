// Blocks that write into each other's shared memory know that the other has begun: by a relaxed arrival, by a flag.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__device__ int begun[2];

__global__ void __cluster_dims__(2, 1, 1) relaxed(int *out)
{
    __shared__ int box[32];
    cg::cluster_group cluster = cg::this_cluster();
    asm volatile("barrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.aligned;" ::: "memory");
    cluster.map_shared_rank(box, cluster.block_rank() ^ 1)[threadIdx.x] = threadIdx.x;
    cluster.sync();
    out[blockIdx.x * 32 + threadIdx.x] = box[threadIdx.x];
}

__global__ void __cluster_dims__(2, 1, 1) flagged(int *out)
{
    __shared__ int box[32];
    cg::cluster_group cluster = cg::this_cluster();
    unsigned other = cluster.block_rank() ^ 1;
    if (threadIdx.x == 0) {
        __threadfence();
        atomicExch(&begun[cluster.block_rank()], 1);
        while (atomicAdd(&begun[other], 0) == 0) {
        }
        __threadfence();
    }
    __syncwarp();
    cluster.map_shared_rank(box, other)[threadIdx.x] = threadIdx.x;
    cluster.sync();
    out[blockIdx.x * 32 + threadIdx.x] = box[threadIdx.x];
}

int main()
{
    int *out;
    cudaMalloc((void **)&out, 4 * 32 * sizeof(int));
    relaxed<<<4, 32>>>(out);
    flagged<<<2, 32>>>(out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
