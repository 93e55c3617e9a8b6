// A semaphore guards the read too.
#include <cuda/semaphore>
__device__ int data;
__global__ void init(cuda::binary_semaphore<cuda::thread_scope_device> *s) { new (s) cuda::binary_semaphore<cuda::thread_scope_device>(1); }
__global__ void k(cuda::binary_semaphore<cuda::thread_scope_device> *s, int *out)
{
    s->acquire();
    data += 1;
    s->release();
    s->acquire();
    out[blockIdx.x] = data;
    s->release();
}
int main()
{
    int *p;
    cudaMalloc(&p, 4096);
    auto *s = (cuda::binary_semaphore<cuda::thread_scope_device> *)(p + 512);
    init<<<1, 1>>>(s);
    k<<<4, 1>>>(s, p);
    return cudaDeviceSynchronize() != cudaSuccess;
}
