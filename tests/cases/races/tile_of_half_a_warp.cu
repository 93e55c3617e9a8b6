// A tile of 16 lanes meets, and reads what the other half of the warp wrote.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(int *out)
{
    __shared__ int s[32];
    auto b = cg::this_thread_block();
    auto half = cg::tiled_partition<16>(b);
    auto whole = cg::tiled_partition<32>(b);
    s[threadIdx.x] = threadIdx.x; //~ race
    half.sync();
    out[threadIdx.x] = s[31 - threadIdx.x]; //~ race
    (void)half; (void)whole;
}
int main()
{
    int *o;
    cudaMalloc(&o, 1024);
    k<<<1, 32>>>(o);
    return cudaDeviceSynchronize() != cudaSuccess;
}
