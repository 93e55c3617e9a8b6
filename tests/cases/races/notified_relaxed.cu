// A thread waits for an atomic that is stored relaxed; that it is notified orders nothing.
#include <cuda/std/atomic>
#include <cuda/atomic>
__device__ int data; __device__ cuda::atomic<int, cuda::thread_scope_device> flag;
__global__ void k(int *out)
{
    if (blockIdx.x == 0) {
        data = 1; //~ race
        flag.store(1, cuda::memory_order_relaxed);
        flag.notify_all();
    } else {
        flag.wait(0);
        out[0] = data; //~ race
    }
}
int main()
{
    int *o;
    cudaMalloc(&o, 256);
    k<<<2, 1>>>(o);
    return cudaDeviceSynchronize() != cudaSuccess;
}
