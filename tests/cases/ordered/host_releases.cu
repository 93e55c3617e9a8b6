// Host code writes for a kernel that runs, and releases it.
#include <cuda/atomic>
__global__ void wait(const int *data, int *flag, int *out)
{
    cuda::atomic_ref<int, cuda::thread_scope_system> f(*flag);
    while (f.load(cuda::memory_order_acquire) == 0) { }
    *out = data[0];
}
int main()
{
    int *data, *flag, *out;
    cudaMallocManaged(&data, 64);
    cudaMallocHost(&flag, 64);
    cudaMalloc(&out, 4);
    *flag = 0;
    wait<<<1, 1>>>(data, flag, out);
    data[0] = 42;
    cuda::atomic_ref<int, cuda::thread_scope_system> f(*flag);
    f.store(1, cuda::memory_order_release);
    return cudaDeviceSynchronize() != cudaSuccess;
}
