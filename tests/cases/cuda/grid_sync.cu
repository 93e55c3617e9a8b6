// Kernels whose blocks wait for each other, by cooperative launches from the host: a stencil in steps, and a
// sum over the grid that another kernel launches work with. A kernel that launches itself is not launched so.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cstdio>
#include <utility>

namespace cg = cooperative_groups;

__global__ void print(const int *total) { printf("total %d\n", *total); }

__global__ void smooth(int *from, int *to, int count, int steps, int *total)
{
    cg::grid_group grid = cg::this_grid();
    for (int step = 0; step < steps; ++step) {
        for (int i = grid.thread_rank(); i < count; i += grid.size()) {
            const int left = i > 0 ? from[i - 1] : 0, right = i + 1 < count ? from[i + 1] : 0;
            to[i] = left + from[i] + right;
        }
        grid.sync();
        int *last = from;
        from = to;
        to = last;
    }
    int mine = 0;
    for (int i = grid.thread_rank(); i < count; i += grid.size()) {
        mine += from[i];
    }
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    mine = cg::reduce(warp, mine, cg::plus<int>());
    if (warp.thread_rank() == 0) {
        atomicAdd(total, mine);
    }
}

__global__ void tell(const int *total) { print<<<1, 1>>>(total); }

__device__ __noinline__ void deep(int *total)
{
    if (*total < 0) {
        tell<<<1, 1>>>(total);
    }
}

__global__ void launches(int *total)
{
    cg::this_grid().sync();
    deep(total);
}

__global__ void talks(int *total)
{
    cg::this_grid().sync();
    if (cg::this_grid().thread_rank() == 0) {
        int *copy = new int(*total);
        printf("copy %d\n", *copy);
        delete copy;
    }
}

int main()
{
    int count = 1000, steps = 6, can = 0, blocks = 0;
    cudaDeviceGetAttribute(&can, cudaDevAttrCooperativeLaunch, 0);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, smooth, 64, 0);
    printf("cooperative %d, fits %d\n", can, blocks > 0);

    int *from, *to, *total;
    cudaMallocManaged(&from, count * sizeof(int));
    cudaMallocManaged(&to, count * sizeof(int));
    cudaMallocManaged(&total, sizeof(int));
    for (int i = 0; i < count; ++i) {
        from[i] = i % 5 == 0;
    }
    *total = 0;
    void *arguments[] = {&from, &to, &count, &steps, &total};
    cudaError_t error = cudaLaunchCooperativeKernel((void *)smooth, dim3(4), dim3(64), arguments, 0, nullptr);
    printf("%s\n", cudaGetErrorString(error));
    tell<<<1, 1>>>(total);
    cudaDeviceSynchronize();
    printf("%d %d %d\n", from[0], from[500], from[999]);

    // More blocks than fit at once cannot wait for each other.
    error = cudaLaunchCooperativeKernel((void *)smooth, dim3(1 << 20), dim3(64), arguments, 0, nullptr);
    printf("%s\n", cudaGetErrorName(error));
    void *one[] = {&total};
    error = cudaLaunchCooperativeKernel((void *)launches, dim3(2), dim3(64), one, 0, nullptr);
    printf("%s\n", cudaGetErrorName(error));
    error = cudaLaunchCooperativeKernel((void *)talks, dim3(2), dim3(64), one, 0, nullptr);
    cudaDeviceSynchronize();
    printf("%s\n", cudaGetErrorName(error));
}
