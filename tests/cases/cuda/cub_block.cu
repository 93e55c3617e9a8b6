// cub in device code: a block's scan, reduction and sort, in a kernel that was launched by a kernel.
#include <cstdio>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cuda/functional>

template <int THREADS> __global__ void blockwise(const int *in, int *scanned, int *sorted, int *sums) {
    using Scan = cub::BlockScan<int, THREADS>;
    using Reduce = cub::BlockReduce<int, THREADS>;
    using Sort = cub::BlockRadixSort<int, THREADS, 2>;
    using Warp = cub::WarpReduce<int>;
    __shared__ union {
        typename Scan::TempStorage scan;
        typename Reduce::TempStorage reduce;
        typename Sort::TempStorage sort;
        typename Warp::TempStorage warp[THREADS / 32];
    } storage;
    int items[2] = {in[2 * threadIdx.x], in[2 * threadIdx.x + 1]};
    int value = items[0] + items[1], out;
    Scan(storage.scan).InclusiveSum(value, out);
    scanned[threadIdx.x] = out;
    __syncthreads();
    int sum = Reduce(storage.reduce).Sum(value);
    if (threadIdx.x == 0)
        sums[0] = sum;
    __syncthreads();
    int largest = Warp(storage.warp[threadIdx.x / 32]).Reduce(value, cuda::maximum<>{});
    if (threadIdx.x % 32 == 0)
        sums[1 + threadIdx.x / 32] = largest;
    __syncthreads();
    Sort(storage.sort).Sort(items);
    sorted[2 * threadIdx.x] = items[0];
    sorted[2 * threadIdx.x + 1] = items[1];
}

__global__ void parent(const int *in, int *scanned, int *sorted, int *sums) {
    blockwise<64><<<1, 64>>>(in, scanned, sorted, sums);
}

int main() {
    int *in, *scanned, *sorted, *sums;
    cudaMallocManaged(&in, 128 * sizeof(int));
    cudaMallocManaged(&scanned, 64 * sizeof(int));
    cudaMallocManaged(&sorted, 128 * sizeof(int));
    cudaMallocManaged(&sums, 3 * sizeof(int));
    for (int i = 0; i < 128; i++)
        in[i] = (i * 37) % 101 - 50;
    parent<<<1, 1>>>(in, scanned, sorted, sums);
    printf("error %d\n", cudaDeviceSynchronize());
    bool ordered = true;
    for (int i = 1; i < 128; i++)
        ordered &= sorted[i - 1] <= sorted[i];
    printf("scan %d %d %d, sum %d, largest %d %d, %s %d %d\n", scanned[0], scanned[31], scanned[63], sums[0],
           sums[1], sums[2], ordered ? "sorted" : "unsorted", sorted[0], sorted[127]);
}
