// A stage of a pipeline is given back when it has been read.
#include <cuda/pipeline>
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(const int *in, int *out)
{
    __shared__ int s[2][64];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    auto block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    for (int i = 0; i < 2; i++) {
        pipe.producer_acquire();
        cuda::memcpy_async(block, s[i], in + i * 64, sizeof s[i], pipe);
        pipe.producer_commit();
    }
    for (int i = 0; i < 4; i++) {
        pipe.consumer_wait();
        int v = s[i % 2][63 - threadIdx.x];
        pipe.consumer_release();
        out[i * 64 + threadIdx.x] = v;
        if (i < 2) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, s[i % 2], in + (i + 2) * 64, sizeof s[0], pipe);
            pipe.producer_commit();
        }
    }
}
int main()
{
    int *p;
    cudaMalloc(&p, 8192);
    cudaMemset(p, 0, 8192);
    k<<<1, 64>>>(p, p + 512);
    return cudaDeviceSynchronize() != cudaSuccess;
}
