// Algorithms of CUB for whole devices, called in a kernel, which launches their kernels.
// flags: -std=c++17
#include <cstdio>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>

__global__ void sums(const int *in, int *sum, int *running, int count, char *scratch, size_t bytes)
{
    size_t needed = 0;
    cudaError_t error = cub::DeviceReduce::Sum(nullptr, needed, in, sum, count);
    printf("%d %d\n", (int)error, needed <= bytes);
    error = cub::DeviceReduce::Sum(scratch, needed, in, sum, count);
    printf("%d\n", (int)error);
    error = cub::DeviceScan::ExclusiveSum(nullptr, needed, in, running, count);
    printf("%d %d\n", (int)error, needed <= bytes);
    error = cub::DeviceScan::ExclusiveSum(scratch, needed, in, running, count);
    printf("%d\n", (int)error);
}

int main()
{
    const int count = 1000;
    const size_t bytes = 1 << 20;
    int *in, *sum, *running;
    char *scratch;
    cudaMallocManaged(&in, count * sizeof(int));
    cudaMallocManaged(&running, count * sizeof(int));
    cudaMallocManaged(&sum, sizeof(int));
    cudaMalloc(&scratch, bytes);
    for (int i = 0; i < count; i++) {
        in[i] = i * 37 % 101;
    }
    sums<<<1, 1>>>(in, sum, running, count, scratch, bytes);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    printf("%d %d\n", *sum, running[count - 1] + in[count - 1]);
}
