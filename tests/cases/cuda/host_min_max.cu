// `min` and `max` of CUDA in host code and in functions for both sides, beside the C++ library's and a program's own.
#include <algorithm>
#include <cstdio>

using namespace std;

template <class T> __host__ __device__ T both(T a, T b) { return min(a, b) + max(a, b) * 2; }
__host__ __device__ unsigned mixed(int a, unsigned b) { return min(a, b) + max(b, a) * 2; }
__host__ __device__ double mixed(float a, double b) { return min(a, b) + max(b, a) * 2; }

static int max(int a, int b, int c) { return max(max(a, b), c); }

struct Version {
    int number;
    __host__ __device__ bool operator<(Version other) const { return number < other.number; }
};
__host__ __device__ Version max(Version a, Version b) { return a < b ? b : a; }

__host__ __device__ void print(int one)
{
    printf("%d %u %ld %lu %lld %llu %g %g\n", both(one, 2), both(3u, 4u), both(5l, 6l), both(7ul, 8ul), both(9ll, -10ll),
           both(11ull, 12ull), both(1.5f, -2.5f), both(3.25, 4.25));
    printf("%u %g %d\n", mixed(-one, 2u), mixed(1.5f, 2.25), max(Version{1}, Version{one + 1}).number);
}

__global__ void on_device(int one) { print(one); }
__global__ void parent(int one) { on_device<<<1, min(one, 5)>>>(one); }

int main()
{
    parent<<<max(0, 1), 1>>>(1);
    if (cudaDeviceSynchronize() != cudaSuccess)
        return 1;
    print(1);
    size_t many = 9;
    printf("%d %zu %ld %zu %d\n", max(1, 3, 2), min(many, (size_t)4), std::max(3l, 4l), std::min<size_t>(many, 12),
           min({3, 1, 2}));
}
