// Tiles of several warps meet and add through the system's part of shared memory, whose order is CUDA's headers' own.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;
__global__ void k(int *p)
{
    __shared__ cg::block_tile_memory<256> memory;
    auto block = cg::this_thread_block(memory);
    auto tile = cg::tiled_partition<128>(block);
    int at = block.thread_rank();
    int sum = cg::reduce(tile, at, cg::plus<int>());
    p[at] = sum;
    tile.sync();
    p[at ^ 127] += cg::inclusive_scan(tile, 1);
}
int main()
{
    int *p;
    cudaMalloc(&p, 4096);
    k<<<1, 256>>>(p);
    return cudaDeviceSynchronize() != cudaSuccess;
}
