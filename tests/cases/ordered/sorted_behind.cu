// Host code sorts managed memory once a kernel has read it.
#include <algorithm>
__global__ void largest(const int *p, int *out) { atomicMax(out, p[threadIdx.x]); }
int main()
{
    int *p, *out;
    cudaMallocManaged(&p, 256);
    cudaMalloc(&out, 4);
    cudaMemset(out, 0, 4);
    for (int i = 0; i < 64; i++)
        p[i] = i * 37 % 64;
    largest<<<1, 64>>>(p, out);
    cudaDeviceSynchronize();
    std::sort(p, p + 64);
    return cudaDeviceSynchronize() != cudaSuccess || p[63] != 63;
}
