// A pipeline of a block with two stages.
#include <cuda/pipeline>
#include <cooperative_groups.h>
__global__ void k(const int *in, int *out)
{
    namespace cg = cooperative_groups;
    auto block = cg::this_thread_block();
    __shared__ int stage[2][64];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    auto pipe = cuda::make_pipeline(block, &state);
    int t = threadIdx.x, sum = 0;
    for (int ahead = 0, i = 0; i < 6; i++) {
        for (; ahead < 6 && ahead < i + 2; ahead++) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, stage[ahead & 1], in + ahead * 64, sizeof(int) * 64, pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        sum += stage[i & 1][63 - t];
        pipe.consumer_release();
    }
    out[t] = sum;
}
int main()
{
    int *p;
    cudaMalloc(&p, 4096);
    cudaMemset(p, 0, 4096);
    k<<<1, 64>>>(p, p + 512);
    return cudaDeviceSynchronize() != cudaSuccess;
}
