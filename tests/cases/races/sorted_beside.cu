// Host code sorts managed memory while a kernel reads it.
#include <algorithm>
__global__ void largest(const int *p, int *out) { atomicMax(out, p[threadIdx.x]); } //~ race
int main()
{
    int *p, *out;
    cudaMallocManaged(&p, 256);
    cudaMalloc(&out, 4);
    cudaMemset(out, 0, 4);
    for (int i = 0; i < 64; i++)
        p[i] = i * 37 % 64;
    largest<<<1, 64>>>(p, out);
    std::sort(p, p + 64); //~ race
    return cudaDeviceSynchronize() != cudaSuccess || p[63] != 63;
}
