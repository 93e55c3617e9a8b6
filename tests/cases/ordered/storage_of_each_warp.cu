// The last lane of each group writes a result of its own.
#include <cub/warp/warp_scan.cuh>
__global__ void k(int *p)
{
    using Scan = cub::WarpScan<int, 16>;
    __shared__ typename Scan::TempStorage temp[8];
    int sum;
    Scan(temp[threadIdx.x / 16]).InclusiveSum(p[threadIdx.x], sum);
    __shared__ int last[8];
    if (threadIdx.x % 16 == 15)
        last[threadIdx.x / 16] = sum;
    __syncthreads();
    p[threadIdx.x] = last[threadIdx.x / 16];
}
int main()
{
    int *p;
    cudaMalloc(&p, 65536);
    cudaMemset(p, 0, 65536);
    k<<<1, 128>>>(p);
    return cudaDeviceSynchronize() != cudaSuccess;
}
