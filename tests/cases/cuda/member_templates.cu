// Member templates of types that are not known yet, named without `template`, as nvcc takes them in device code.
#include <cstdio>

template <typename To, typename From>
struct Cast {
    template <int Count>
    static __device__ void all(To *to, const From *from)
    {
        for (int i = 0; i < Count; ++i)
            to[i] = static_cast<To>(from[i]);
    }
};

template <>
struct Cast<float, int> {
    template <int Count>
    static __device__ void all(float *to, const int *from)
    {
        for (int i = 0; i < Count; ++i)
            to[i] = from[i] + 0.5f;
    }
};

struct Counter {
    int start;
    template <int Step>
    __device__ int after(int steps) const { return start + Step * steps; }
};

template <typename To, typename From, int Count>
__device__ void convert(To *to, const From *from)
{
    Cast<To, From>::all<Count>(
        to, static_cast<const From *>(from));
}

template <typename C, int Step>
__device__ int both(C counter, const C *other)
{
    return counter.after<Step>(3) + other->after<2 * Step>(counter.after<1>(2));
}

__global__ void child()
{
    int from[2] = {1, 2};
    float half[2];
    double same[2];
    convert<float, int, 2>(half, from);
    convert<double, int, 2>(same, from);
    Counter counter = {10};
    printf("%g %g %g %d\n", half[0], half[1], same[1], both<Counter, 3>(counter, &counter));
}

__global__ void parent()
{
    child<<<1, 1>>>();
}

int main()
{
    parent<<<1, 1>>>();
    return cudaDeviceSynchronize();
}
