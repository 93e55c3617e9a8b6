// The Mandelbrot set by regions: a block looks at the border of its region; where all of it takes the same
// number of steps the region is filled by a child, else it is divided, and small regions are done point by
// point. Numbers are fixed-point, so that every compiler gets the same picture.
#include <cstdio>
#include <vector>

struct Fixed {
    long long bits; // in units of 2^-24

    __host__ __device__ constexpr Fixed(long long bits = 0) : bits(bits) {}
    __host__ __device__ static constexpr Fixed ratio(int a, int b) { return Fixed((static_cast<long long>(a) << 24) / b); }
    friend __host__ __device__ constexpr Fixed operator+(Fixed a, Fixed b) { return a.bits + b.bits; }
    friend __host__ __device__ constexpr Fixed operator-(Fixed a, Fixed b) { return a.bits - b.bits; }
    friend __host__ __device__ constexpr Fixed operator*(Fixed a, Fixed b) { return (a.bits * b.bits) >> 24; }
    friend __host__ __device__ constexpr bool operator<(Fixed a, Fixed b) { return a.bits < b.bits; }
};

template <class T> struct Complex {
    T re, im;
    friend __host__ __device__ Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
    __host__ __device__ Complex squared() const { return {re * re - im * im, re * im + re * im}; }
    __host__ __device__ T norm() const { return re * re + im * im; }
};

enum class Steps : int { mixed = -1, most = 64 };

struct Picture {
    int *steps;
    int size;

    __host__ __device__ Complex<Fixed> point(int x, int y) const
    {
        return {Fixed::ratio(3 * x, size) - Fixed::ratio(2, 1), Fixed::ratio(2 * y, size) - Fixed::ratio(1, 1)};
    }
    __host__ __device__ int count(int x, int y) const
    {
        const Complex<Fixed> c = point(x, y);
        Complex<Fixed> z = c;
        int n = 0;
        while (n < static_cast<int>(Steps::most) && z.norm() < Fixed::ratio(4, 1)) {
            z = z.squared() + c;
            ++n;
        }
        return n;
    }
};

__device__ unsigned filled, divided, by_point;

template <int SIDE> struct Region {
    int x, y;
    static constexpr int side = SIDE;
};

template <int SIDE, class Value> __global__ void paint(Picture picture, Region<SIDE> region, Value value)
{
    const int x = region.x + blockIdx.x * blockDim.x + threadIdx.x;
    const int y = region.y + blockIdx.y * blockDim.y + threadIdx.y;
    picture.steps[y * picture.size + x] = value(picture, x, y);
}

struct Constant {
    int value;
    __device__ int operator()(const Picture &, int, int) const { return value; }
};

struct Counted {
    __device__ int operator()(const Picture &picture, int x, int y) const { return picture.count(x, y); }
};

template <int SIDE> __global__ void divide(Picture picture, int x, int y)
{
    __shared__ int common;
    const Region<SIDE> region{x + static_cast<int>(blockIdx.x) * SIDE, y + static_cast<int>(blockIdx.y) * SIDE};
    const int first = picture.count(region.x, region.y);
    if (threadIdx.x == 0)
        common = first;
    __syncthreads();
    for (int i = threadIdx.x; i < 4 * SIDE; i += blockDim.x) {
        const int along = i % SIDE, edge = i / SIDE;
        const int px = edge == 0 ? 0 : edge == 1 ? SIDE - 1 : along;
        const int py = edge == 2 ? 0 : edge == 3 ? SIDE - 1 : along;
        if (picture.count(region.x + px, region.y + py) != first)
            atomicExch(&common, static_cast<int>(Steps::mixed));
    }
    __syncthreads();
    if (threadIdx.x != 0)
        return;
    constexpr int tile = 8;
    const dim3 block(tile, tile), grid(SIDE / tile, SIDE / tile);
    if (common != static_cast<int>(Steps::mixed)) {
        atomicAdd(&filled, 1u);
        paint<<<grid, block, 0, cudaStreamFireAndForget>>>(picture, region, Constant{common});
    } else if constexpr (SIDE > 16) {
        atomicAdd(&divided, 1u);
        divide<SIDE / 2><<<dim3(2, 2), 32, 0, cudaStreamFireAndForget>>>(picture, region.x, region.y);
    } else {
        atomicAdd(&by_point, 1u);
        paint<<<grid, block, 0, cudaStreamFireAndForget>>>(picture, region, Counted{});
    }
    if (const cudaError_t error = cudaGetLastError(); error != cudaSuccess)
        printf("%s\n", cudaGetErrorString(error));
}

int main()
{
    Picture picture{nullptr, 128};
    const int points = picture.size * picture.size;
    cudaMalloc(&picture.steps, points * sizeof(int));
    divide<64><<<dim3(2, 2), 64>>>(picture, 0, 0);
    std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    std::vector<int> steps(points);
    cudaMemcpy(steps.data(), picture.steps, points * sizeof(int), cudaMemcpyDeviceToHost);
    unsigned counts[3];
    cudaMemcpyFromSymbol(&counts[0], filled, sizeof(unsigned));
    cudaMemcpyFromSymbol(&counts[1], divided, sizeof(unsigned));
    cudaMemcpyFromSymbol(&counts[2], by_point, sizeof(unsigned));
    std::printf("%u regions filled, %u divided, %u by points\n", counts[0], counts[1], counts[2]);
    // A region whose border is one colour has no other inside.
    int wrong = 0;
    for (int y = 0; y < picture.size; ++y)
        for (int x = 0; x < picture.size; ++x)
            wrong += steps[y * picture.size + x] != picture.count(x, y);
    std::printf("%d of %d points are wrong\n", wrong, points);
    for (int y = 0; y < picture.size; y += 8) {
        for (int x = 0; x < picture.size; x += 4)
            std::putchar(" .:-=+*#%@"[steps[y * picture.size + x] * 9 / static_cast<int>(Steps::most)]);
        std::putchar('\n');
    }
    cudaFree(picture.steps);
}
