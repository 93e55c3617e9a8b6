// Functions whose definitions lack the marks of their declarations: nvcc gives them those.
#include <cstdio>

#include "unmarked_definitions.h"

template <class T> struct Pair {
    __host__ __device__ Pair(const T &first = T(1), T second = T(2));
    __host__ __device__ T &first();
    __host__ __device__ const T &first() const;
    template <int K> __host__ __device__ T times() const noexcept;
    __host__ __device__ T operator()(int i) const;
    __host__ __device__ Pair operator-() const;
    __host__ __device__ explicit operator bool() const;
    __host__ __device__ static int sides();
    T a, b;
};

template <class T> Pair<T>::Pair(const T &first, T second) : a(first), b{second} {}
template <class T> T &Pair<T>::first() { return a; }
template <class T> const T &Pair<T>::first() const { return a; }
template <class T> template <int K> T Pair<T>::times() const noexcept
{
    return K * (a + b);
}
template <class T> T Pair<T>::operator()(int i) const { return i ? b : a; }
template <class T> Pair<T> Pair<T>::operator-() const { return Pair(-a, -b); }
template <class T> Pair<T>::operator bool() const { return a != b; }
template <class T> int Pair<T>::sides() { return 2; }

struct Plain {
    __device__ int lane() const;
    __host__ __device__ int twice() const;
    int value;
};
int Plain::lane() const { return value + (threadIdx.x & 31); }
int Plain::twice() const { return 2 * value; }

__host__ __device__ int later(int x);
int later(int x) { return x + 1; }

namespace lanes {
__device__ int next(int step);
}
int lanes::next(int step) { return (threadIdx.x & 31) + step; }

// Of these clang says nothing: it takes the definitions for other functions, of the host.
__device__ int lane_plus(int more, const int *table = nullptr);
template <class T> static __device__ T lane_times(T by);
namespace lanes {
__device__ float half(float);
float half(float lane) { return lane / 2; }
}
int lane_plus(int more, const int * from) { return (threadIdx.x & 31) + more + (from ? from[0] : 0); }
template <class T> static T lane_times(T factor)
{
    return (threadIdx.x & 31) * factor;
}
int lane_plus(double more) { return (int)more; }

// Declared in a header.
int lane_squared(int more) { return (threadIdx.x & 31) * (threadIdx.x & 31) + more; }
template <class T> T lane_doubled(T more) { return (threadIdx.x & 31) * T(2) + more; }
namespace lanes {
int last(int *of) { return of[threadIdx.x & 31]; }
}

// Destructors, and functions whose type stands behind them.
template <class T> struct Adds {
    __host__ __device__ Adds(T *to) : to(to) {}
    __host__ __device__ ~Adds();
    __host__ __device__ auto twice() const -> T;
    T *to;
};
template <class T> Adds<T>::~Adds()
{
    *to += 1;
}
template <class T> auto Adds<T>::twice() const -> T { return *to * 2; }

struct AddsMore {
    __host__ __device__ ~AddsMore();
    int *to;
};
AddsMore::~AddsMore() { *to += 10; }

struct AddsLane {
    __device__ ~AddsLane() noexcept;
    __device__ auto lane() const -> int;
    int *to;
};
AddsLane::~AddsLane() noexcept { *to += 100 * lane(); }
auto AddsLane::lane() const -> int { return threadIdx.x & 31; }

__host__ __device__ auto thrice(int x) -> int;
auto thrice(int x) -> int { return 3 * x; }

__host__ __device__ int added(int start)
{
    {
        Adds<int> one{&start};
        AddsMore ten{&start};
        start += thrice(one.twice());
    }
    return start;
}

template <class T> __host__ __device__ int show(const char *where, Pair<T> p)
{
    p.first() += 3;
    const Pair<T> q = p;
    Plain plain{later(20)};
    printf("%s: %d %d %d %d %d %d %d %d\n", where, (int)q.first(), (int)q.template times<2>(), (int)q(1),
           (int)(-q)(0), bool(q), q.sides(), plain.twice(), later(6));
    return 0;
}

__global__ void kernel()
{
    if (threadIdx.x == 0)
        show("device", Pair<int>());
    Plain plain{5};
    if (threadIdx.x == 3)
        printf("lane %d, %d, %d, %g, %g\n", plain.lane(), lanes::next(1), lane_plus(40), lane_times(1.5), lanes::half(3));
    int sum = added(4);
    {
        AddsLane lane{&sum};
        sum += lane.lane();
    }
    if (threadIdx.x == 3)
        printf("sum %d\n", sum);
    int lanes_of[4] = {7, 8, 9, 10};
    if (threadIdx.x == 3)
        printf("header %d, %g, %d\n", lane_squared(1), lane_doubled(0.5), lanes::last(lanes_of));
}

int main()
{
    show("host", Pair<float>(4));
    printf("sum %d, %d\n", added(5), lane_plus(7.5));
    kernel<<<1, 4>>>();
    return cudaDeviceSynchronize();
}
