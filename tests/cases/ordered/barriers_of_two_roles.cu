// cuda::barrier: one warp fills a box and another empties it, arriving and waiting apart.
#include <cuda/barrier>
__global__ void k(int *out)
{
    __shared__ cuda::barrier<cuda::thread_scope_block> full, empty;
    __shared__ int box[32];
    if (threadIdx.x == 0) {
        init(&full, 64);
        init(&empty, 64);
    }
    __syncthreads();
    int t = threadIdx.x & 31;
    for (int i = 0; i < 4; i++) {
        if (threadIdx.x < 32) {
            if (i > 0)
                empty.arrive_and_wait();
            box[t] = i + t;
            (void)full.arrive();
        } else {
            full.arrive_and_wait();
            out[t] += box[31 - t];
            if (i < 3)
                (void)empty.arrive();
        }
    }
}
int main()
{
    int *p;
    cudaMalloc(&p, 4096);
    cudaMemset(p, 0, 4096);
    k<<<1, 64>>>(p);
    return cudaDeviceSynchronize() != cudaSuccess;
}
