// Host code copies managed memory with memcpy while a kernel writes it.
#include <cstring>
__global__ void write(int *p) { p[threadIdx.x] = 5; } //~ race
int main()
{
    int *p, copy[64];
    cudaMallocManaged(&p, 256);
    write<<<1, 64>>>(p);
    memcpy(copy, p, 256); //~ race
    return cudaDeviceSynchronize() != cudaSuccess;
}
