// Host code copies managed memory with memcpy behind a kernel.
#include <cstring>
__global__ void write(int *p) { p[threadIdx.x] = 5; }
int main()
{
    int *p, copy[64];
    cudaMallocManaged(&p, 256);
    write<<<1, 64>>>(p);
    cudaDeviceSynchronize();
    memcpy(copy, p, 256);
    return copy[63] != 5;
}
