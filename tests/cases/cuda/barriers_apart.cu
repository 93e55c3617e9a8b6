// Warps that wait at different __syncthreads(): the hardware lets them go on when each of the block waits at one.
#include <cstdio>

__global__ void warps(int *out)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    if (t < 32) {
        s[t] = t + 100;
        __syncthreads();
        out[t] = s[t ^ 32];
    } else {
        s[t] = t + 200;
        __syncthreads();
        out[t] = s[t ^ 32] + 1000;
    }
}

// A warp that hands on and a warp that takes, each with a loop of its own.
__global__ void rounds(int *out)
{
    __shared__ int s[32];
    int t = threadIdx.x % 32, sum = 0;
    if (threadIdx.x < 32) {
        for (int i = 0; i < 100; i++) {
            s[t] = i * t;
            __syncthreads();
            __syncthreads();
        }
    } else {
        for (int i = 0; i < 100; i++) {
            __syncthreads();
            sum += s[31 - t];
            __syncthreads();
        }
        out[t] = sum;
    }
}

static void show(const char *name, void (*kernel)(int *), int *out)
{
    for (int i = 0; i < 64; i++)
        out[i] = 0;
    kernel<<<1, 64>>>(out);
    printf("%s: %d:", name, cudaDeviceSynchronize());
    for (int i = 0; i < 64; i += 7)
        printf(" %d", out[i]);
    printf("\n");
}

int main()
{
    int *out;
    cudaMallocManaged(&out, 64 * sizeof(int));
    show("warps", warps, out);
    show("rounds", rounds, out);
    cudaFree(out);
}
