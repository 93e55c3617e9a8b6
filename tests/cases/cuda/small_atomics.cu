// Atomic updates of one and two bytes, which are loops around the word that they lie in: also of variables that end within it.
#include <cuda/atomic>
#include <stdio.h>

__device__ cuda::atomic<unsigned char, cuda::thread_scope_device> counter;
__device__ unsigned char plain;
__device__ unsigned char last;
__device__ unsigned short wide[3];

__global__ void update(unsigned char *bytes)
{
    __shared__ cuda::atomic<unsigned short, cuda::thread_scope_block> sum;
    __shared__ unsigned char most;
    unsigned t = threadIdx.x;
    if (t == 0) {
        sum = 0;
        most = 0;
    }
    __syncthreads();
    counter.fetch_add(1);
    sum.fetch_add(3);
    cuda::atomic_ref<unsigned char, cuda::thread_scope_block>(most).fetch_max(t * 7 % 50);
    cuda::atomic_ref<unsigned char, cuda::thread_scope_device>(plain).fetch_max(t);
    cuda::atomic_ref<unsigned char, cuda::thread_scope_device>(bytes[4]).fetch_xor(t * 5);
    cuda::atomic_ref<unsigned short, cuda::thread_scope_system>(wide[2]).fetch_sub(2);
    unsigned char expected = 0;
    cuda::atomic_ref<unsigned char, cuda::thread_scope_device>(last).compare_exchange_strong(expected, 7);
    __syncthreads();
    if (t == 0)
        printf("%d %d %d %d %d %d %d\n", (int)counter.load(), (int)sum.load(), most, plain, bytes[4], wide[2], last);
}

int main()
{
    unsigned char *bytes;
    cudaMalloc(&bytes, 5);
    cudaMemset(bytes, 0, 5);
    update<<<1, 32>>>(bytes);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    cudaFree(bytes);
    return 0;
}
