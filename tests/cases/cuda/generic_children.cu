// Generic code around launches in kernels: device lambdas and functors as arguments, one after another as packs
// shrink, template template parameters, constexpr functions and arrays of the C++ library.
// flags: --extended-lambda --expt-relaxed-constexpr
#include <algorithm>
#include <array>
#include <cstdio>
#include <numeric>
#include <type_traits>
#include <vector>

template <typename F>
__global__ void for_each(int n, F f)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        f(i);
}

template <typename T, typename F>
__global__ void reduce(const T *in, T *out, int n, F f)
{
    __shared__ T values[64];
    T value{};
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        value = f(value, in[i]);
    values[threadIdx.x] = value;
    __syncthreads();
    for (int k = blockDim.x / 2; k > 0; k /= 2) {
        if (threadIdx.x < k)
            values[threadIdx.x] = f(values[threadIdx.x], values[threadIdx.x + k]);
        __syncthreads();
    }
    if (threadIdx.x == 0)
        *out = values[0];
}

template <typename T>
struct Max {
    __host__ __device__ constexpr T operator()(T a, T b) const { return std::max(a, b); }
};

template <class Op, class First, class... Rest>
__device__ void launch_rest(int *out, Op op, First, Rest... rest);

template <class Op, class... Ts>
__global__ void chain(int *out, Op op, Ts... ts)
{
    if constexpr (sizeof...(Ts) > 0) {
        *out = op(*out, static_cast<int>((... + ts)));
        printf("chain of %d: %d\n", static_cast<int>(sizeof...(Ts)), *out);
        launch_rest(out, op, ts...);
    } else {
        printf("end %d\n", *out);
    }
}

template <class Op, class First, class... Rest>
__device__ void launch_rest(int *out, Op op, First, Rest... rest)
{
    chain<<<1, 1, 0, cudaStreamTailLaunch>>>(out, op, rest...);
}

constexpr std::array<int, 5> primes{2, 3, 5, 7, 11};

constexpr int triangle(int n)
{
    int sum = 0;
    for (int i = 1; i <= n; i++)
        sum += i;
    return sum;
}

__global__ void parent(int *data, int *out, int n)
{
    int scale = 3;
    auto step = [=] __device__(int i) {
        constexpr std::array<int, 5> local = primes;
        data[i] = data[i] * scale + local[i % primes.size()];
    };
    for_each<<<(n + 31) / 32, 32>>>(n, step);
    reduce<<<1, 64>>>(data, out, n, Max<int>{});
    reduce<<<1, 64>>>(data, out + 1, n, [] __device__(int a, int b) { return a + b; });
    static_assert(triangle(4) == 10);
}

template <typename T>
__device__ std::enable_if_t<std::is_floating_point_v<T>, T> half_of(T x)
{
    return x / 2;
}

template <typename T>
__device__ std::enable_if_t<std::is_integral_v<T>, T> half_of(T x)
{
    return x >> 1;
}

template <template <class> class Op, class T>
__global__ void apply(T a, T b)
{
    printf("%g\n", static_cast<double>(half_of(Op<T>{}(a, b))));
}

__global__ void kinds()
{
    apply<Max, double><<<1, 1>>>(1.5, 3.0);
    apply<Max><<<1, 1>>>(4u, 9u);
    apply<Max, float><<<1, 1>>>(-1.f, -2.f);
}

int main()
{
    const int n = 100;
    int *data, *out;
    cudaMallocManaged(&data, n * sizeof(int));
    cudaMallocManaged(&out, 3 * sizeof(int));
    std::vector<int> expected(n);
    std::iota(expected.begin(), expected.end(), 0);
    std::copy(expected.begin(), expected.end(), data);
    parent<<<1, 1>>>(data, out, n);
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    for (int i = 0; i < n; i++)
        expected[i] = expected[i] * 3 + primes[i % 5];
    int greatest = *std::max_element(expected.begin(), expected.end());
    int sum = std::accumulate(expected.begin(), expected.end(), 0);
    printf("%d %d, expected %d %d\n", out[0], out[1], greatest, sum);
    out[2] = 0;
    int add = 5;
    chain<<<1, 1>>>(out + 2, [add] __device__(int a, int b) { return a + b + add; }, 1, short(2), 3L, 4.5f);
    cudaDeviceSynchronize();
    kinds<<<1, 1>>>();
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    cudaFree(data);
    cudaFree(out);
}
