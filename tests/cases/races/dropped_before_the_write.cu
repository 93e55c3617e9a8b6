// Producers leave a barrier for good before they write.
#include <cuda/barrier>
__global__ void k(int *p)
{
    __shared__ int s[32];
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    if (threadIdx.x == 0)
        init(&bar, 64);
    __syncthreads();
    if (threadIdx.x < 32) {
        bar.arrive_and_drop();
        s[threadIdx.x] = threadIdx.x; //~ race
    } else {
        bar.arrive_and_wait();
        p[threadIdx.x] = s[threadIdx.x - 32]; //~ race
    }
}
int main()
{
    int *p;
    cudaMalloc(&p, 65536);
    cudaMemset(p, 0, 65536);
    k<<<1, 64>>>(p);
    return cudaDeviceSynchronize() != cudaSuccess;
}
