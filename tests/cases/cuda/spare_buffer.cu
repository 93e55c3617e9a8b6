// A parameter buffer that nothing is launched with.
#include <cstdio>

__global__ void ask(int *out)
{
    out[0] = cudaGetParameterBuffer(8, 64) != nullptr;
}

int main()
{
    int *out;
    cudaMallocManaged(&out, sizeof(int));
    ask<<<1, 1>>>(out);
    printf("%d %d\n", (int)cudaDeviceSynchronize(), out[0]);
}
