// A ticket whose scope is the block is taken by all blocks.
#include <cuda/atomic>
__global__ void k(int *tickets, int *out)
{
    cuda::atomic_ref<int, cuda::thread_scope_block> next(*tickets);
    int mine = next.fetch_add(1, cuda::memory_order_relaxed); //~ race
    out[mine] = blockIdx.x;
}
int main()
{
    int *p;
    cudaMalloc(&p, 4096);
    cudaMemset(p, 0, 4096);
    k<<<4, 1>>>(p, p + 32);
    return cudaDeviceSynchronize() != cudaSuccess;
}
