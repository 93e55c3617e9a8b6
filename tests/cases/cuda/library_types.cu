// Types of cuda::std as arguments of launches and in kernels, in C++20: spans, tuples, optionals, arrays, complex
// numbers, views of several dimensions, concepts, designated initialisers, defaulted comparison.
// flags: -std=c++20
#include <concepts>
#include <cstdio>
#include <cuda/std/array>
#include <cuda/std/bit>
#include <cuda/std/complex>
#include <cuda/std/limits>
#include <cuda/std/mdspan>
#include <cuda/std/optional>
#include <cuda/std/span>
#include <cuda/std/tuple>
#include <ranges>

template <class T>
concept Number = std::integral<T> || std::floating_point<T>;

struct Config {
    int blocks = 1;
    float scale;
};

consteval int cube(int x) { return x * x * x; }

template <Number T>
__global__ void scale(cuda::std::span<T> values, Config config)
{
    if (auto i = threadIdx.x; i < values.size())
        values[i] = T(values[i] * config.scale + cube(2));
}

struct Version {
    int major, minor;
    __host__ __device__ constexpr bool operator==(const Version &) const = default;
};

__global__ void show(cuda::std::tuple<int, double, char> all, cuda::std::optional<int> none)
{
    auto [a, b, c] = all;
    cuda::std::array<int, 3> digits{3, 1, 2};
    int number = 0;
    for (int digit : digits)
        number = number * 10 + digit;
    cuda::std::complex<double> z(0, 1);
    z *= z;
    constexpr Version version{1, 2};
    printf("%d %.1f %c %d %d %.1f\n", a, b, c, none.value_or(4), number, z.real());
    printf("%d %d %d\n", int(version == Version{1, 2}), int(cuda::std::numeric_limits<short>::max()),
           cuda::std::popcount(255u));
    float data[6] = {0, 1, 2, 3, 4, 5};
    cuda::std::mdspan<float, cuda::std::extents<int, 2, 3>> view(data);
    printf("%.0f %.0f %d\n", view(1, 2), view(0, 1), int(view.extent(1)));
}

__global__ void parent(cuda::std::span<float> reals, cuda::std::span<int> whole)
{
    scale<<<1, 32>>>(reals.subspan(1, 3), {.scale = 0.5f});
    scale<<<1, 32>>>(whole, Config{.blocks = 2, .scale = 2});
    show<<<1, 1>>>(cuda::std::make_tuple(1, 2.5, 'x'), {});
}

int main()
{
    float *reals;
    int *whole;
    cudaMallocManaged(&reals, 5 * sizeof(float));
    cudaMallocManaged(&whole, 3 * sizeof(int));
    for (int i : std::views::iota(0, 5))
        reals[i] = i;
    for (int i = 0; i < 3; i++)
        whole[i] = i;
    parent<<<1, 1>>>({reals, 5}, {whole, 3});
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    for (int i = 0; i < 5; i++)
        printf("%.1f ", reals[i]);
    printf("%d %d %d\n", whole[0], whole[1], whole[2]);
}
