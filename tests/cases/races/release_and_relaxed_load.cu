// cuda::atomic_ref: the flag is stored with release and read relaxed.
#include <cuda/atomic>
__device__ int data, flag;
__global__ void k(int *out)
{
    cuda::atomic_ref<int, cuda::thread_scope_device> ready(flag);
    if (blockIdx.x == 0) {
        data = 3; //~ race
        ready.store(1, cuda::memory_order_release);
    } else {
        while (!ready.load(cuda::memory_order_relaxed))
            ;
        *out = data; //~ race
    }
}
int main()
{
    int *p;
    cudaMalloc(&p, 4096);
    k<<<2, 1>>>(p);
    return cudaDeviceSynchronize() != cudaSuccess;
}
