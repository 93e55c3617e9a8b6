// Lanes that a branch has brought together meet before they read.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(int *out)
{
    __shared__ int s[32];
    if (threadIdx.x % 2) {
        auto g = cg::coalesced_threads();
        s[g.thread_rank()] = threadIdx.x;
        g.sync();
        out[threadIdx.x] = s[15 - g.thread_rank()];
    }
}
int main()
{
    int *p;
    cudaMalloc(&p, 4096);
    k<<<1, 32>>>(p);
    return cudaDeviceSynchronize() != cudaSuccess;
}
