// Blocks of a cooperative grid meet each for itself.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__global__ void k(int *p)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    for (int round = 0; round < 2; round++) {
        int next = p[(i + 1) % n] + 1; //~ race
        cg::this_thread_block().sync();
        p[i] = next + i; //~ race
        cg::this_thread_block().sync();
    }
}
int main()
{
    int *p;
    cudaMalloc(&p, 65536);
    cudaMemset(p, 0, 65536);
    void *args[] = {&p};
    cudaLaunchCooperativeKernel(reinterpret_cast<void *>(k), dim3(4), dim3(32), args);
    return cudaDeviceSynchronize() != cudaSuccess;
}
