// Constraints of kernels and device functions, with the C++ library's own concepts in them.
// flags: -std=c++20
#include <concepts>
#include <cstdio>
#include <type_traits>

template <typename T>
concept Number = std::integral<T> || std::floating_point<T>;

template <typename F, typename T>
concept Maps = requires(F f, T t) {
    { f(t) } -> std::convertible_to<T>;
};

struct Square {
    __device__ int operator()(int x) const { return x * x; }
};

struct Half {
    __device__ double operator()(double x) const { return x / 2; }
};

template <Number T, Maps<T> F>
__device__ T twice(T x, F f)
{
    return f(f(x));
}

template <Number T, Maps<T> F>
__global__ void map(T *values, int count, F f)
{
    int i = threadIdx.x;
    if (i < count) {
        values[i] = twice(values[i], f);
    }
}

template <Number T, Maps<T> F>
__global__ void parent(T *values, int count, F f)
{
    map<T, F><<<1, count>>>(values, count, f);
}

int main()
{
    int *whole;
    double *real;
    cudaMallocManaged(&whole, 16 * sizeof *whole);
    cudaMallocManaged(&real, 16 * sizeof *real);
    for (int i = 0; i < 16; i++) {
        whole[i] = i;
        real[i] = i;
    }
    parent<<<1, 1>>>(whole, 16, Square{});
    parent<<<1, 1>>>(real, 16, Half{});
    printf("%d ", cudaDeviceSynchronize());
    printf("%d %g\n", whole[15], real[15]);
}
