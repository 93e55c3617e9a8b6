// Pointers to device functions in tables and as arguments, device lambdas with captures, constant, static
// and initialised device variables by symbol, and questions to the device runtime about kernels.
#include <cstdio>

typedef float (*Operation)(float, float);

__device__ float add(float a, float b) { return a + b; }
__device__ float multiply(float a, float b) { return a * b; }

__device__ Operation operations[2] = {add, multiply};
__device__ Operation first = add;
__constant__ float weights[4];
__constant__ int three = 3;
static __device__ int calls;
__device__ float offset = 2.5f;

template <class F> __global__ void for_each(F function, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        function(i);
    }
}

template <class F> __global__ void nested(F function, int count)
{
    auto twice = [=] __device__(int i) {
        function(i);
        function(i);
    };
    for_each<<<1, 32>>>(twice, count);
}

__global__ void calculate(Operation given)
{
    printf("%g %g %g\n", given(2, 3), operations[1](2, 3), weights[1] * three + offset);
    atomicAdd(&calls, 1);
}

__global__ void ask()
{
    cudaFuncAttributes attributes;
    int blocks = 0, warp = 0, device = -1;
    cudaError_t error = cudaFuncGetAttributes(&attributes, calculate);
    printf("%d %d\n", error, attributes.maxThreadsPerBlock);
    error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, calculate, 128, 0);
    printf("%d %d\n", error, blocks > 0);
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&warp, cudaDevAttrWarpSize, device);
    printf("%d %d %s\n", device, warp, cudaGetErrorName(cudaErrorInvalidValue));
}

int main()
{
    Operation given;
    cudaMemcpyFromSymbol(&given, first, sizeof given);
    const float values[] = {1, 2, 3, 4};
    cudaMemcpyToSymbol(weights, values, sizeof values);
    calculate<<<1, 1>>>(given);
    const float ten = 10;
    cudaMemcpyToSymbol(offset, &ten, sizeof ten, 0, cudaMemcpyHostToDevice);
    calculate<<<1, 1>>>(given);
    int count = 0;
    cudaMemcpyFromSymbol(&count, calls, sizeof count);
    size_t bytes = 0;
    cudaGetSymbolSize(&bytes, weights);
    printf("%d %zu\n", count, bytes);

    int *results, scale = 3;
    cudaMallocManaged(&results, 16 * sizeof(int));
    cudaMemset(results, 0, 16 * sizeof(int));
    for_each<<<1, 32>>>([=] __device__(int i) { results[i] = i * scale; }, 8);
    nested<<<1, 1>>>([=] __device__(int i) { results[i + 8] += i - scale; }, 8);
    ask<<<1, 1>>>();
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    for (int i = 0; i < 16; ++i) {
        printf("%d%c", results[i], i == 15 ? '\n' : ' ');
    }
}
