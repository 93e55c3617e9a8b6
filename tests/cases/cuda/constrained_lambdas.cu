// Host functions with constraints that a lambda of device code meets.
// flags: -std=c++20 --extended-lambda
#include <concepts>
#include <cstdio>
#include <type_traits>

#define ON_DEVICE __device__

template <typename F>
__global__ void each(int count, F f)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        f(i);
    }
}

template <typename F>
    requires std::invocable<F, int>
void for_each(int count, F f)
{
    each<<<(count + 31) / 32, 32>>>(count, f);
}

template <typename F>
struct Twice {
    static_assert(std::is_invocable_v<F, int>);
    F f;
    void go(int count) const
    {
        for_each(count, f);
        for_each(count, f);
    }
};

int main()
{
    int *values;
    cudaMallocManaged(&values, 64 * sizeof *values);
    int bias[2] = {3, 4};
    int scale = bias[0];
    for_each(64, [=] ON_DEVICE(int i) { values[i] = -i; });
    for_each(64, [=, more = bias[1]] __device__(int i) { values[i] = i * scale + more + (int)threadIdx.x; });
    Twice twice{[=] __device__(int i) { atomicAdd(&values[i], 100); }};
    twice.go(50);
    printf("%d ", cudaDeviceSynchronize());
    printf("%d %d %d\n", values[0], values[49], values[63]);
}
