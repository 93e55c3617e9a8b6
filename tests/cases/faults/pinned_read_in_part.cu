// A file fills a part of a pinned buffer, and a kernel reads all of it.
// fault: uninitialized
#include <cstdio>
__global__ void k(const unsigned char *p, unsigned *sum) { atomicAdd(sum, p[threadIdx.x]); } //~ fault
int main()
{
    unsigned char *p;
    unsigned *sum;
    cudaHostAlloc(&p, 64, cudaHostAllocMapped);
    cudaMalloc(&sum, 4);
    cudaMemset(sum, 0, 4);
    FILE *file = fopen("/proc/self/exe", "rb");
    if (!file || fread(p, 1, 63, file) != 63)
        return 0;
    fclose(file);
    k<<<1, 64>>>(p, sum);
    return cudaDeviceSynchronize() != cudaSuccess;
}
