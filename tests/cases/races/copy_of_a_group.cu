// memcpy_async of a group is waited for one step too late.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
namespace cg = cooperative_groups;
__global__ void k(const int *in, int *out)
{
    __shared__ alignas(16) int s[128];
    cg::thread_block block = cg::this_thread_block();
    cg::memcpy_async(block, s, in, sizeof s); //~ race
    block.sync();
    int t = block.thread_rank();
    out[t] = s[127 - t]; //~ race
    cg::wait(block);
}
int main()
{
    int *p;
    cudaMalloc(&p, 4096);
    cudaMemset(p, 0, 4096);
    k<<<1, 128>>>(p, p + 256);
    return cudaDeviceSynchronize() != cudaSuccess;
}
