// Plain memory used atomically by cuda::atomic_ref with scopes and orders: counters, a maximum of doubles, a flag
// that a child hands a value over with, and cuda::std::atomic_ref.
#include <cstdio>
#include <cuda/atomic>
#include <cuda/std/array>

template <class T> using device_ref = cuda::atomic_ref<T, cuda::thread_scope_device>;

struct Shared {
    int count, ticket, value, ready;
    double most;
    unsigned bits;
};

__global__ void hand_over(Shared *shared)
{
    shared->value = 42;
    device_ref<int>(shared->ready).store(1, cuda::memory_order_release);
}

__global__ void take(Shared *shared)
{
    device_ref<int> ready(shared->ready);
    while (ready.load(cuda::memory_order_acquire) == 0) {
    }
    printf("taken %d\n", shared->value);
}

__global__ void count(Shared *shared)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    device_ref<int>(shared->count).fetch_add(i, cuda::memory_order_relaxed);
    cuda::atomic_ref<unsigned, cuda::thread_scope_system>(shared->bits).fetch_or(1u << (i % 32));
    device_ref<double> most(shared->most);
    double seen = most.load();
    const double mine = (i * 37 % 101) / 4.0;
    while (seen < mine && !most.compare_exchange_weak(seen, mine)) {
    }
    __threadfence();
    if (device_ref<int>(shared->ticket).fetch_add(1, cuda::memory_order_acq_rel) == gridDim.x * blockDim.x - 1) {
        take<<<1, 1, 0, cudaStreamFireAndForget>>>(shared);
        hand_over<<<1, 1, 0, cudaStreamFireAndForget>>>(shared);
    }
}

int main()
{
    Shared *shared;
    cudaMallocManaged(&shared, sizeof(Shared));
    *shared = Shared{};
    count<<<4, 64>>>(shared);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    cuda::std::atomic_ref<int> host(shared->count);
    host += 1;
    cuda::std::array<int, 2> two{shared->count, shared->ticket};
    printf("%d %d %g %08x\n", two[0], two[1], shared->most, shared->bits);
}
