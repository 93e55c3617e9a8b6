// cuda::atomic and cuda::atomic_ref, with scopes and orders, between blocks and with children.
#include <cstdio>
#include <cuda/atomic>

struct Shared {
    cuda::atomic<int, cuda::thread_scope_device> count;
    cuda::atomic<unsigned long long, cuda::thread_scope_system> bits;
    int plain;
};

__global__ void add(Shared *shared, int by) {
    shared->count.fetch_add(by, cuda::std::memory_order_relaxed);
    shared->bits.fetch_or(1ull << (threadIdx.x + 32 * blockIdx.x), cuda::std::memory_order_acq_rel);
    cuda::atomic_ref<int, cuda::thread_scope_device> plain(shared->plain);
    int seen = plain.load();
    while (!plain.compare_exchange_weak(seen, seen + 2))
        ;
}

__global__ void hand_over(Shared *shared, int *result) {
    add<<<2, 32>>>(shared, 3);
    add<<<1, 16>>>(shared, 1);
    __shared__ cuda::atomic<int, cuda::thread_scope_block> flag;
    __shared__ int message;
    if (threadIdx.x == 0)
        flag.store(0);
    __syncthreads();
    if (threadIdx.x == 32) {
        message = 42;
        flag.store(1, cuda::std::memory_order_release);
    }
    if (threadIdx.x == 0) {
        while (flag.load(cuda::std::memory_order_acquire) == 0)
            ;
        *result = message;
    }
}

int main() {
    Shared *shared;
    int *result;
    cudaMallocManaged(&shared, sizeof(Shared));
    cudaMallocManaged(&result, sizeof(int));
    new (shared) Shared{{5}, {0}, 100};
    hand_over<<<1, 64>>>(shared, result);
    printf("error %d\n", cudaDeviceSynchronize());
    printf("%d %llx %d %d\n", shared->count.load(), shared->bits.load(), shared->plain, *result);
}
