// Shared variables of types with constructors, as CUDA programs declare them: nvcc warns and runs none.
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/semaphore>

#include <cstdio>

namespace cg = cooperative_groups;

struct Point {
    float x, y;
    __host__ __device__ Point() : x(0), y(0) {}
    __host__ __device__ Point(float x, float y) : x(x), y(y) {}
    __host__ __device__ ~Point() {}
    __host__ __device__ float product() const { return x * y; }
};

template <typename T, int Count>
struct Pool {
    T items[Count];
    int used;
    __device__ Pool() : used(0) {}
    __device__ void reset() { used = 0; }
    __device__ T *take() { return &items[atomicAdd(&used, 1)]; }
};

template <typename T>
__device__ int pooled(int value)
{
    static __shared__ Pool<T, 64> pool, other;
    if (threadIdx.x == 0) {
        pool.reset();
        other.reset();
    }
    __syncthreads();
    *pool.take() = T(value);
    other.take();
    __syncthreads();
    int sum = 0;
    for (int i = 0; i < pool.used; i++) {
        sum += static_cast<int>(pool.items[i]);
    }
    return sum + other.used;
}

__global__ void child(int *out, int value) { atomicAdd(out, value); }

__global__ void parent(int *out)
{
    __shared__ cuda::barrier<cuda::thread_scope_block> ready[2];
    __shared__ alignas(16) Point points[64];
    cg::thread_block block = cg::this_thread_block();
    if (block.thread_rank() < 2) {
        init(&ready[block.thread_rank()], block.size());
    }
    block.sync();
    points[threadIdx.x] = Point(threadIdx.x, 2);
    ready[0].arrive_and_wait();
    float mine = points[63 - threadIdx.x].product();
    ready[1].arrive_and_wait();
    int sum = pooled<int>(threadIdx.x) + pooled<long long>(1);
    if (threadIdx.x == 5) {
        out[0] = static_cast<int>(mine);
        out[1] = sum;
        child<<<2, 32>>>(out + 2, sum);
    }
}

int main()
{
    int *out;
    cudaMallocManaged(&out, 3 * sizeof(int));
    out[2] = 0;
    parent<<<1, 64>>>(out);
    cudaError_t error = cudaDeviceSynchronize();
    printf("%s: %d %d %d\n", cudaGetErrorName(error), out[0], out[1], out[2]);
    cudaFree(out);
}
