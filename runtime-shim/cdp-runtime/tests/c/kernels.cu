// The device code of semantics.c. Built by nvcc for the oracle; kernels.ptx is its PTX.
#include <stdio.h>

struct Pair {
    char tag;
    double value;
};

__constant__ int table[4] = {1, 2, 3, 4};
__device__ int counter = 5;
__managed__ int shared_value = 7;

extern "C" __global__ void scale(int *data, int count, int factor)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        data[i] *= factor;
}

extern "C" __global__ void hello(int number)
{
    printf("device %d\n", number);
}

extern "C" __global__ void symbols(int *out)
{
    out[0] = table[0] + table[3];
    out[1] = counter++;
    out[2] = shared_value;
    shared_value += 1;
}

extern "C" __global__ void parameters(char c, double d, struct Pair pair, short s, long long *out)
{
    out[0] = c;
    out[1] = (long long)d;
    out[2] = pair.tag;
    out[3] = (long long)pair.value;
    out[4] = s;
}

extern "C" __global__ void dynamic(int *out, int words)
{
    extern __shared__ int buffer[];
    for (int i = threadIdx.x; i < words; i += blockDim.x)
        buffer[i] = i;
    __syncthreads();
    if (threadIdx.x == 0)
        out[0] = buffer[words - 1];
}

extern "C" __global__ void __launch_bounds__(256) bounded(void)
{
}

extern "C" __global__ void wild(int *address)
{
    *address = 1;
}

extern "C" __global__ void child(int *out)
{
    out[threadIdx.x] = threadIdx.x + 100;
}

extern "C" __global__ void parent(int *out)
{
    child<<<1, 4>>>(out);
}
