// The last lanes of all groups write one result.
#include <cub/warp/warp_scan.cuh>
__global__ void k(int *p)
{
    using Scan = cub::WarpScan<int, 16>;
    __shared__ typename Scan::TempStorage temp[8];
    int sum;
    Scan(temp[0]).InclusiveSum(p[threadIdx.x], sum);
    __shared__ int last; //~ race
    if (threadIdx.x % 16 == 15) //~ race
        last = sum + threadIdx.x; //~ race
    __syncthreads();
    p[threadIdx.x] = last;
}
int main()
{
    int *p;
    cudaMalloc(&p, 65536);
    cudaMemset(p, 0, 65536);
    k<<<1, 128>>>(p);
    return cudaDeviceSynchronize() != cudaSuccess;
}
