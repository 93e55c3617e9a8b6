// The host and kernels count in one word, both atomically.
#include <cuda/atomic>
__global__ void count(int *p)
{
    cuda::atomic_ref<int, cuda::thread_scope_system>(*p).fetch_add(1);
}
int main()
{
    int *p;
    cudaHostAlloc(&p, 4, cudaHostAllocMapped);
    *p = 0;
    count<<<2, 32>>>(p);
    cuda::atomic_ref<int, cuda::thread_scope_system>(*p).fetch_add(1);
    if (cudaDeviceSynchronize())
        return 1;
    return *p != 65;
}
