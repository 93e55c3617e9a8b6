// Kernels that wait for their children, as programs before CUDA 12 do: host code with the C++ library,
// recursion that uses its children's results.
// cdp: 1
#include <cstdio>
#include <iostream>
#include <vector>

__device__ int levels;

__global__ void sum(const int *values, int count, int *result)
{
    if (count <= 4) {
        int total = 0;
        for (int i = 0; i < count; ++i) {
            total += values[i];
        }
        *result = total;
        return;
    }
    atomicAdd(&levels, 1);
    int *halves;
    if (cudaMalloc(&halves, 2 * sizeof(int)) != cudaSuccess) {
        printf("no memory\n");
        return;
    }
    sum<<<1, 1>>>(values, count / 2, halves);
    sum<<<1, 1>>>(values + count / 2, count - count / 2, halves + 1);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        printf("the children failed\n");
    }
    *result = halves[0] + halves[1];
    cudaFree(halves);
}

int main()
{
    std::vector<int> values(50);
    for (size_t i = 0; i < values.size(); ++i) {
        values[i] = static_cast<int>(i * i);
    }
    cudaDeviceSetLimit(cudaLimitDevRuntimeSyncDepth, 8);
    int *device, *result, answer = 0, count = 0;
    cudaMalloc(&device, values.size() * sizeof(int));
    cudaMalloc(&result, sizeof(int));
    cudaMemcpy(device, values.data(), values.size() * sizeof(int), cudaMemcpyHostToDevice);
    sum<<<1, 1>>>(device, static_cast<int>(values.size()), result);
    std::cout << cudaGetErrorString(cudaDeviceSynchronize()) << std::endl;
    cudaMemcpy(&answer, result, sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpyFromSymbol(&count, levels, sizeof(int));
    std::cout << answer << " in " << count << " splits" << std::endl;
}
