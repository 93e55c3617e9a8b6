// skip: swap nvcc gives the static variable, which the host reads, another name in PTX
// Kernels of two compilers launch each other, back and forth, and share variables and functions.

#include <stdio.h>

struct Step {
    long long total;
    int depth;
};

__device__ int visits[2];
extern __constant__ int limit;
__managed__ int finished;

void set_limit(int value);
int hidden_sum();
Step first_step(int depth, long long total);

__device__ Step advance(Step step, int by);
__global__ void odd(Step step, long long *out);

static __device__ int twice(int value)
{
    return 2 * value;
}

__global__ void even(Step step, long long *out)
{
    atomicAdd(&visits[0], 1);
    if (step.depth >= limit) {
        *out = step.total;
        finished = step.depth;
        return;
    }
    odd<<<1, 1>>>(advance(step, twice(step.depth)), out);
}

int main()
{
    long long *out, result = 0;
    if (cudaMalloc(&out, sizeof *out) != cudaSuccess) {
        printf("no device memory\n");
        return 1;
    }
    set_limit(6);
    even<<<1, 1>>>(first_step(0, 1000), out);
    printf("even: %s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    cudaMemcpy(&result, out, sizeof result, cudaMemcpyDeviceToHost);
    int counts[2];
    cudaMemcpyFromSymbol(counts, visits, sizeof counts);
    printf("total: %lld, visits: %d and %d, finished at %d\n", result, counts[0], counts[1], finished);
    odd<<<1, 1>>>(first_step(1, 5), out);
    cudaDeviceSynchronize();
    cudaMemcpy(&result, out, sizeof result, cudaMemcpyDeviceToHost);
    printf("total: %lld, hidden: %d\n", result, hidden_sum());
    return 0;
}
