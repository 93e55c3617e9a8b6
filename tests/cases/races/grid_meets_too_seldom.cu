// Between two phases of a cooperative grid only blocks meet.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(int *a, int *b)
{
    auto grid = cg::this_grid();
    a[grid.thread_rank()] = 1;
    grid.sync();
    b[grid.thread_rank()] = a[grid.size() - 1 - grid.thread_rank()]; //~ race
    cg::this_thread_block().sync();
    a[grid.thread_rank()] = 2; //~ race
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
