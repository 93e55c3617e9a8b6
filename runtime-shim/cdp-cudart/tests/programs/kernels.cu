// Attributes, occupancy, names and parameters of kernels; launches by every door.
#include "check.h"

struct Pair {
    char letter;
    double value;
};

__global__ void __launch_bounds__(128) kernel(int *out, Pair pair, short last)
{
    __shared__ int buffer[64];
    extern __shared__ int more[];
    buffer[threadIdx.x % 64] = threadIdx.x;
    more[0] = gridDim.x;
    __syncthreads();
    if (threadIdx.x == 0)
        atomicAdd(out, (int)pair.value * 100 + pair.letter + last + more[0] + buffer[0]);
}

template <typename T> __global__ void templated(T *out, T value) { *out = value; }

int main()
{
    cudaFuncAttributes attributes;
    CHECK(cudaFuncGetAttributes(&attributes, kernel));
    printf("shared %zu, most threads %d, ptx %d\n", attributes.sharedSizeBytes,
           attributes.maxThreadsPerBlock, attributes.ptxVersion);
    int blocks = 0, grid = 0, block = 0;
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 128, 0));
    CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, kernel, 0, 0));
    printf("blocks fit: %d, block of %d\n", blocks > 0, block);
    const char *name;
    CHECK(cudaFuncGetName(&name, (const void *)kernel));
    size_t offset, bytes;
    CHECK(cudaFuncGetParamInfo((const void *)kernel, 1, &offset, &bytes));
    printf("%s, second parameter of %zu bytes at %zu\n", name, bytes, offset);
    printf("%s\n", cudaGetErrorName(cudaFuncGetParamInfo((const void *)kernel, 3, &offset, &bytes)));
    int *out, host = 0;
    CHECK(cudaMalloc(&out, 4));
    CHECK(cudaMemset(out, 0, 4));
    Pair pair = {'a', 2.5};
    short last = 3;
    kernel<<<2, 64, 16>>>(out, pair, last);
    void *args[] = {&out, &pair, &last};
    CHECK(cudaLaunchKernel((const void *)kernel, dim3(1), dim3(32), args, 16, 0));
    CHECK(cudaLaunchCooperativeKernel((const void *)kernel, dim3(1), dim3(32), args, 16, 0));
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(1);
    config.blockDim = dim3(32);
    config.dynamicSmemBytes = 16;
    cudaLaunchAttribute attribute;
    attribute.id = cudaLaunchAttributePriority;
    attribute.val.priority = 0;
    config.attrs = &attribute;
    config.numAttrs = 1;
    CHECK(cudaLaunchKernelEx(&config, kernel, out, pair, last));
    cudaKernel_t handle;
    CHECK(cudaGetKernel(&handle, (const void *)kernel));
    CHECK(cudaLaunchKernel((const void *)handle, dim3(1), dim3(32), args, 16, 0));
    CHECK(cudaMemcpy(&host, out, 4, cudaMemcpyDeviceToHost));
    printf("%d\n", host);
    templated<<<1, 1>>>(out, 77);
    CHECK(cudaMemcpy(&host, out, 4, cudaMemcpyDeviceToHost));
    printf("%d\n", host);
    kernel<<<1, 256>>>(out, pair, last);
    printf("%s\n", cudaGetErrorName(cudaGetLastError()));
    CHECK(cudaLaunchCooperativeKernel((const void *)kernel, dim3(1 << 20), dim3(32), args, 16, 0));
    cudaGetLastError();
    CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536));
    kernel<<<1, 32, 65536>>>(out, pair, last);
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
