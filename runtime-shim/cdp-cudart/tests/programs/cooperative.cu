// Grids whose blocks wait for each other.
#include "check.h"
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

// Every block adds up what the block before it has left, round by round.
__global__ void rounds(int *data, int count)
{
    cg::grid_group grid = cg::this_grid();
    int next = (blockIdx.x + 1) % gridDim.x;
    for (int i = 0; i < count; i++) {
        int value = data[next];
        grid.sync();
        if (threadIdx.x == 0)
            data[blockIdx.x] += value;
        grid.sync();
    }
    if (grid.thread_rank() == 0)
        printf("%llu blocks, valid %d\n", grid.num_blocks(), grid.is_valid());
}

__global__ void sums(const int *data, int *total, int n)
{
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
    int mine = 0;
    for (int i = cg::this_grid().thread_rank(); i < n; i += cg::this_grid().size())
        mine += data[i];
    mine = cg::reduce(tile, mine, cg::plus<int>());
    if (tile.thread_rank() == 0)
        atomicAdd(total, mine);
    cg::this_grid().sync();
    if (cg::this_grid().thread_rank() == 0)
        *total *= 2;
}

int main()
{
    int supported = 0, blocks = 400, count = 3, n = 1000, host[1000], *data, *total;
    CHECK(cudaDeviceGetAttribute(&supported, cudaDevAttrCooperativeLaunch, 0));
    printf("supported %d\n", supported);
    for (int i = 0; i < n; i++)
        host[i] = i % 7;
    CHECK(cudaMalloc(&data, sizeof host));
    CHECK(cudaMalloc(&total, 4));
    CHECK(cudaMemcpy(data, host, sizeof host, cudaMemcpyHostToDevice));
    void *args[] = {&data, &count};
    CHECK(cudaLaunchCooperativeKernel((const void *)rounds, dim3(blocks), dim3(32), args, 0, 0));
    CHECK(cudaDeviceSynchronize());
    int expected[400], before[400], wrong = 0, all = 0;
    for (int i = 0; i < blocks; i++)
        expected[i] = host[i];
    for (int round = 0; round < count; round++) {
        for (int i = 0; i < blocks; i++)
            before[i] = expected[i];
        for (int i = 0; i < blocks; i++)
            expected[i] += before[(i + 1) % blocks];
    }
    CHECK(cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < blocks; i++)
        wrong += host[i] != expected[i];
    for (int value : host)
        all += value;
    printf("wrong %d\n", wrong);
    CHECK(cudaMemset(total, 0, 4));
    void *more[] = {&data, &total, &n};
    CHECK(cudaLaunchCooperativeKernel((const void *)sums, dim3(8), dim3(64), more, 0, 0));
    int found = 0;
    CHECK(cudaMemcpy(&found, total, 4, cudaMemcpyDeviceToHost));
    printf("twice the sum: %d\n", found == 2 * all);
}
