// A pipeline of a thread: of two copies only the older one has been waited for.
#include <cuda/pipeline>
__global__ void k(const int *in, int *out)
{
    __shared__ int s[2][32];
    auto pipe = cuda::make_pipeline();
    for (int i = 0; i < 2; i++) {
        pipe.producer_acquire();
        cuda::memcpy_async(&s[i][threadIdx.x], in + i * 32 + threadIdx.x, sizeof(int), pipe); //~ race
        pipe.producer_commit();
    }
    cuda::pipeline_consumer_wait_prior<1>(pipe);
    out[threadIdx.x] = s[0][threadIdx.x] + s[1][threadIdx.x]; //~ race
}
int main()
{
    int *p;
    cudaMalloc(&p, 4096);
    cudaMemset(p, 0, 4096);
    k<<<1, 32>>>(p, p + 512);
    return cudaDeviceSynchronize() != cudaSuccess;
}
