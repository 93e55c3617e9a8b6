// A thread waits for an atomic that releases.
#include <cuda/std/atomic>
#include <cuda/atomic>
__device__ int data; __device__ cuda::atomic<int, cuda::thread_scope_device> flag;
__global__ void k(int *out)
{
    if (blockIdx.x == 0) {
        data = 1;
        flag.store(1);
        flag.notify_all();
    } else {
        flag.wait(0);
        out[0] = data;
    }
}
int main()
{
    int *o;
    cudaMalloc(&o, 256);
    k<<<2, 1>>>(o);
    return cudaDeviceSynchronize() != cudaSuccess;
}
