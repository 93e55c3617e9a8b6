// Host functions that ask about function objects of device code: constraints, traits of the C++ library and types of calls.
// flags: -std=c++20
#include <concepts>
#include <cstdio>
#include <functional>
#include <type_traits>

template <typename F>
__global__ void each(int count, F f)
{
    if (threadIdx.x < count) {
        f(threadIdx.x);
    }
}

template <typename F>
__global__ void twice(int count, F f)
{
    each<<<1, count>>>(count, f);
    each<<<1, count>>>(count, f);
}

template <typename F>
    requires std::invocable<F, int>
void for_each(int count, F f)
{
    each<<<1, 32>>>(count, f);
}

template <typename F>
auto repeat(int count, F f) -> std::enable_if_t<std::is_invocable_v<F, int>>
{
    twice<<<1, 1>>>(count, f);
}

template <typename F>
concept Loops = requires(F f, int i) { f(i); };

template <Loops F, typename R = std::invoke_result_t<F, int>>
R *results(int count, F f)
{
    static_assert(std::is_same_v<R, decltype(f(0))>);
    R *made;
    cudaMallocManaged(&made, count * sizeof(R));
    each<<<1, 32>>>(count, [=] __device__(int i) { made[i] = f(i); });
    return made;
}

#define OF_DEVICE __device__
#define INLINE_OF_DEVICE OF_DEVICE __forceinline__

struct Add {
    int *values;
    OF_DEVICE void operator()(int i) const { atomicAdd(&values[i], i + (int)blockDim.x); }
};

template <typename T>
struct Scale {
    T by;
    INLINE_OF_DEVICE T operator()(int i) const
    {
        return by * i;
    }
};

int main()
{
    int *values;
    cudaMallocManaged(&values, 32 * sizeof *values);
    for_each(20, Add{values});
    repeat(4, Add{values});
    float *scaled = results(8, Scale<float>{1.5f});
    printf("%d ", cudaDeviceSynchronize());
    printf("%d %d %d %g\n", values[1], values[19], values[20], scaled[7]);
}
