// A latch is counted down behind the write.
#include <cuda/latch>
__global__ void k(int *out)
{
    __shared__ int s[64];
    __shared__ alignas(8) char room[sizeof(cuda::latch<cuda::thread_scope_block>)];
    auto &latch = *(cuda::latch<cuda::thread_scope_block> *)room;
    if (threadIdx.x == 0) new (&latch) cuda::latch<cuda::thread_scope_block>(64);
    __syncthreads();
    s[threadIdx.x] = threadIdx.x;
    latch.count_down();
    latch.wait();
    out[threadIdx.x] = s[63 - threadIdx.x];
}
int main()
{
    int *p;
    cudaMalloc(&p, 4096);
    k<<<1, 64>>>(p);
    return cudaDeviceSynchronize() != cudaSuccess;
}
