// What a tile of several warps adds is ordered, what its threads do with it is not.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
__global__ void k(int *p)
{
    __shared__ cg::block_tile_memory<256> memory;
    auto block = cg::this_thread_block(memory);
    auto tile = cg::tiled_partition<128>(block);
    int at = block.thread_rank();
    p[at] = cg::reduce(tile, at, cg::plus<int>()); //~ race
    p[at ^ 127] += 1; //~ race
}
int main()
{
    int *p;
    cudaMalloc(&p, 4096);
    k<<<1, 256>>>(p);
    return cudaDeviceSynchronize() != cudaSuccess;
}
