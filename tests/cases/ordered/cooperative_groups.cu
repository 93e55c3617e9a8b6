// Cooperative groups: the grid, the block, tiles and coalesced threads meet.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
__global__ void k(int *a, int *b)
{
    __shared__ int s[64];
    auto grid = cg::this_grid();
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<16>(block);
    for (int i = 0; i < 3; i++) {
        a[grid.thread_rank()] = i;
        grid.sync();
        b[grid.thread_rank()] = a[grid.size() - 1 - grid.thread_rank()];
        grid.sync();
    }
    s[block.thread_rank()] = b[grid.thread_rank()];
    tile.sync();
    int sum = cg::reduce(tile, s[block.thread_rank() ^ 15], cg::plus<int>());
    tile.sync();
    if (tile.thread_rank() < 5) {
        auto some = cg::coalesced_threads();
        s[block.thread_rank()] = sum;
        some.sync();
        sum += s[block.thread_rank() - tile.thread_rank() + (tile.thread_rank() + 1) % 5];
    }
    a[grid.thread_rank()] = sum;
}
int main()
{
    int *p;
    cudaMalloc(&p, 4096);
    int *q = p + 512;
    void *args[] = {&p, &q};
    cudaLaunchCooperativeKernel((void *)k, 4, 64, args, 0, 0);
    return cudaDeviceSynchronize() != cudaSuccess;
}
