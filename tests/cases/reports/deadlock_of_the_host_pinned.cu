// Each of three blocks waits in pinned memory for its neighbour, and the host waits for all of them.
#include <cstdio>

__global__ void turn(volatile unsigned *flags)
{
    while (flags[(blockIdx.x + 1) % gridDim.x] == 0)
        ;
    flags[blockIdx.x] = 1;
}

int main()
{
    unsigned *flags;
    cudaHostAlloc((void **)&flags, 3 * sizeof(unsigned), cudaHostAllocMapped);
    flags[0] = flags[1] = flags[2] = 0;
    turn<<<3, 1>>>(flags);
    cudaError_t error = cudaStreamSynchronize(0);
    printf("%s\n", cudaGetErrorName(error));
    return 0;
}
