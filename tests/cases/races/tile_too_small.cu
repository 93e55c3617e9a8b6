// Tiles of 8 meet where 16 lanes exchange.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(int *out)
{
    __shared__ int s[64];
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    s[threadIdx.x] = threadIdx.x; //~ race
    tile.sync();
    out[threadIdx.x] = s[threadIdx.x ^ 15]; //~ race
}
int main()
{
    int *p;
    cudaMalloc(&p, 4096);
    k<<<1, 64>>>(p);
    return cudaDeviceSynchronize() != cudaSuccess;
}
