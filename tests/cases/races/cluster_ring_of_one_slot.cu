// Blocks of a cluster hand on a number through one slot, which is overwritten before all have read it.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void __cluster_dims__(4, 1, 1) k(int *out)
{
    __shared__ int slot[2];
    auto c = cg::this_cluster();
    int rank = c.block_rank(), n = c.num_blocks(), v = rank;
    slot[0] = slot[1] = 0;
    c.sync();
    for (int i = 0; i < 3; i++) {
        if (threadIdx.x == 0) *c.map_shared_rank(&slot[0], (rank + 1) % n) = v; //~ race
        c.sync();
        v = slot[0]; //~ race
    }
    out[rank * 32 + threadIdx.x] = v;
    c.sync();
}
int main()
{
    int *o;
    cudaMalloc(&o, 4096);
    k<<<4, 32>>>(o);
    return cudaDeviceSynchronize() != cudaSuccess;
}
