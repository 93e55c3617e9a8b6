// The host counts plainly in a word in which kernels count.
#include <cuda/atomic>
__global__ void count(int *p)
{
    atomicAdd(p, 1); //~ race
}
int main()
{
    int *p;
    cudaHostAlloc(&p, 4, cudaHostAllocMapped);
    *p = 0;
    count<<<2, 32>>>(p);
    *p += 1; //~ race
    if (cudaDeviceSynchronize())
        return 1;
    return *p < 1;
}
