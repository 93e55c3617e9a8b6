// A pipeline in which one warp produces and another one consumes.
#include <cuda/pipeline>
#include <cooperative_groups.h>
__global__ void k(const int *in, int *out)
{
    namespace cg = cooperative_groups;
    auto block = cg::this_thread_block();
    __shared__ int stage[2][32];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    auto role = threadIdx.x < 32 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
    auto pipe = cuda::make_pipeline(block, &state, role);
    int t = threadIdx.x & 31, sum = 0;
    for (int i = 0; i < 6; i++) {
        if (role == cuda::pipeline_role::producer) {
            pipe.producer_acquire();
            cuda::memcpy_async(&stage[i & 1][t], in + i * 32 + t, sizeof(int), pipe);
            pipe.producer_commit();
        } else {
            pipe.consumer_wait();
            sum += stage[i & 1][31 - t];
            pipe.consumer_release();
        }
    }
    if (threadIdx.x >= 32)
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
