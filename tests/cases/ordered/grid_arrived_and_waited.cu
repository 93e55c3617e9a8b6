// What other blocks wrote is read behind the barrier of the grid, arrived at and awaited apart.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(int *p, int *out)
{
    auto g = cg::this_grid();
    int i = g.thread_rank(), n = g.size();
    p[i] = 1;
    auto token = g.barrier_arrive();
    g.barrier_wait(std::move(token));
    out[i] = p[n - 1 - i];
}
int main()
{
    int *o; cudaMalloc(&o, 4096);
    int *q = o + 512;
    void *args[] = {&o, &q};
    cudaLaunchCooperativeKernel((void *)k, dim3(4), dim3(32), args, 0, 0);
    return cudaDeviceSynchronize() != cudaSuccess;
}
