// Lanes of one warp at two barriers: on an H100 those of the first go on before the others have written.
#include <cstdio>

__global__ void lanes(int *out)
{
    __shared__ int s[32];
    int t = threadIdx.x;
    if (t % 2) {
        s[t] = t;
        __syncthreads();
        out[t] = s[t ^ 1];
    } else {
        s[t] = 2 * t;
        __syncthreads();
        out[t] = s[t ^ 1] + 1000;
    }
}

int main()
{
    int *out;
    cudaMalloc(&out, 32 * sizeof(int));
    lanes<<<1, 32>>>(out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
