// A parent that nvcc compiles launches children of a .cdp file, alone and into the tail.

#include <stdio.h>

struct Task {
    int first;
    float scale;
    double shift;
};

__global__ void fill(int *values, Task task, char extra);
__global__ void sum(const int *values, int count, int *total);

__global__ void parent(int *values, int count, int *total)
{
    Task task;
    task.first = 3;
    task.scale = 2.5f;
    task.shift = 0.25;
    fill<<<count / 32, 32>>>(values, task, 'a');
    sum<<<1, 1, 0, cudaStreamTailLaunch>>>(values, count, total);
    if (cudaGetLastError() != cudaSuccess)
        printf("a launch failed\n");
}

int main()
{
    const int count = 256;
    int *values, *total;
    if (cudaMalloc(&values, count * sizeof(int)) != cudaSuccess
        || cudaMalloc(&total, sizeof(int)) != cudaSuccess) {
        printf("no device memory\n");
        return 1;
    }
    parent<<<1, 1>>>(values, count, total);
    cudaError_t error = cudaDeviceSynchronize();
    printf("parent: %s\n", cudaGetErrorString(error));
    int host[256], result = 0;
    cudaMemcpy(host, values, sizeof host, cudaMemcpyDeviceToHost);
    cudaMemcpy(&result, total, sizeof result, cudaMemcpyDeviceToHost);
    printf("values: %d %d %d\n", host[0], host[1], host[255]);
    printf("total: %d\n", result);

    // The host launches a kernel of the .cdp file too.
    Task task;
    task.first = -1;
    task.scale = 1.0f;
    task.shift = 0.0;
    fill<<<count / 32, 32>>>(values, task, 0);
    cudaMemcpy(host, values, sizeof host, cudaMemcpyDeviceToHost);
    printf("values: %d %d %d\n", host[0], host[1], host[255]);
    return 0;
}
