// A cuda::barrier that is made for one thread more than the block has.
#include <cuda/barrier>

__global__ void meet()
{
    __shared__ cuda::barrier<cuda::thread_scope_block> all;
    if (threadIdx.x == 0) {
        init(&all, blockDim.x + 1);
    }
    __syncthreads();
    all.arrive_and_wait();
}

int main()
{
    meet<<<1, 64>>>();
    return cudaDeviceSynchronize();
}
