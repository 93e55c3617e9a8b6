// A semaphore that lets one thread in, which never lets it go.
#include <cuda/semaphore>

using semaphore = cuda::binary_semaphore<cuda::thread_scope_device>;
__device__ alignas(8) char room[sizeof(semaphore)];

__global__ void make() { new (room) semaphore(1); }

__global__ void enter(int *out)
{
    reinterpret_cast<semaphore *>(room)->acquire();
    out[blockIdx.x] = 1;
}

int main()
{
    int *out;
    cudaMalloc(&out, 8);
    make<<<1, 1>>>();
    enter<<<2, 1>>>(out);
    return cudaDeviceSynchronize();
}
