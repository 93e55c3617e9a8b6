// Pragmas of loops where there is no loop, or that say nothing new, as old programs have them: nvcc passes over them.
#include <cstdio>

#pragma unroll
__global__ void child(int *values, int base)
{
#pragma unroll
    int own = base * 10;
#pragma unroll 2
    if (threadIdx.x == 0)
        for (int i = 0; i < 4; i++)
            values[i] += own;
#pragma unroll
    {
#pragma unroll
#pragma unroll 4
        for (int i = 4; i < 8; i++)
            values[i] += own + threadIdx.x;
    }
#pragma unroll
}

struct Sums {
    int count;
#pragma unroll
    __device__ int of(const int *values) const
    {
        int sum = 0;
#pragma unroll -1
        for (int i = 0; i < count; i++)
            sum += values[i];
#pragma unroll

        // What there is.
        return sum;
    }
};

__global__ void tail(int *values)
{
    values[8] = Sums{8}.of(values);
}

__global__ void parent(int *values)
{
#pragma unroll
    child<<<1, 1>>>(values, 1);
#pragma unroll 2
    for (int i = 2; i < 4; i++)
        child<<<1, 1>>>(values, i);
    tail<<<1, 1, 0, cudaStreamTailLaunch>>>(values);
}

int main()
{
    int *values;
    cudaMallocManaged(&values, 9 * sizeof *values);
#pragma unroll
    if (!values)
        return 1;
    for (int i = 0; i < 9; i++)
        values[i] = i;
    parent<<<1, 1>>>(values);
    printf("%d:", cudaDeviceSynchronize());
#pragma GCC unroll 3
    for (int i = 0; i < 9; i++)
        printf(" %d", values[i]);
    printf("\n");
}
