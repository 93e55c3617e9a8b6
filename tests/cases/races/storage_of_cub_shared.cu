// A sort, a scan and a sum of CUB take the same shared memory, with no barrier in between.
#include <cub/cub.cuh>
__global__ void k(int *in, int *out)
{
    using Sort = cub::BlockRadixSort<int, 64, 2>;
    using Scan = cub::BlockScan<int, 64>;
    using Reduce = cub::BlockReduce<int, 64>;
    __shared__ union { Sort::TempStorage sort; Scan::TempStorage scan; Reduce::TempStorage reduce; } s; //~ race
    int a[2] = {in[threadIdx.x], in[threadIdx.x + 64]};
    Sort(s.sort).Sort(a); //~ race
    int b; Scan(s.scan).ExclusiveSum(a[0], b); //~ race
    int c = Reduce(s.reduce).Sum(b); //~ race
    out[threadIdx.x] = b + a[1]; if (threadIdx.x == 0) out[64] = c;
}
int main()
{
    int *o;
    cudaMalloc(&o, 4096);
    cudaMemset(o, 0, 4096);
    k<<<1, 64>>>(o, o + 512);
    return cudaDeviceSynchronize() != cudaSuccess;
}
