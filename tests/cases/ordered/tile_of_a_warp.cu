// A tile of the whole warp meets, and reads what its other half wrote.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(int *out)
{
    __shared__ int s[32];
    auto b = cg::this_thread_block();
    auto half = cg::tiled_partition<16>(b);
    auto whole = cg::tiled_partition<32>(b);
    s[threadIdx.x] = threadIdx.x;
    whole.sync();
    out[threadIdx.x] = s[31 - threadIdx.x];
    (void)half; (void)whole;
}
int main()
{
    int *o;
    cudaMalloc(&o, 1024);
    k<<<1, 32>>>(o);
    return cudaDeviceSynchronize() != cudaSuccess;
}
