// A barrier object is told to expect more bytes than the copy brings.
#include <cuda/barrier>
#include <cuda/std/utility>

__global__ void copy(const int *in, int *out)
{
    using barrier = cuda::barrier<cuda::thread_scope_block>;
    __shared__ alignas(128) int tile[32];
    __shared__ barrier all;
    if (threadIdx.x == 0) {
        init(&all, blockDim.x);
        cuda::device::experimental::fence_proxy_async_shared_cta();
    }
    __syncthreads();
    barrier::arrival_token token;
    if (threadIdx.x == 0) {
        cuda::device::memcpy_async_tx(tile, in, cuda::aligned_size_t<16>(sizeof tile), all);
        token = cuda::device::barrier_arrive_tx(all, 1, 2 * sizeof tile);
    } else {
        token = all.arrive();
    }
    all.wait(cuda::std::move(token));
    out[threadIdx.x] = tile[threadIdx.x];
}

int main()
{
    int *data;
    cudaMalloc(&data, 256);
    cudaMemset(data, 0, 256);
    copy<<<1, 32>>>(data, data + 32);
    return cudaDeviceSynchronize();
}
