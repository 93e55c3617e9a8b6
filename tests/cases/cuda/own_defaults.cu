// Default values named as their parameters (`size_t n = n`), which nvcc takes in device code for what has the name outside.
#include <cstdio>

#ifdef __CUDA_ARCH__
template <size_t N, typename T>
class Digits {
    static const size_t n = (N + 31) / 32;
    T digit[n];

public:
    // The first of them; all unless told otherwise.
    static __device__ inline void set(T *to, T value, size_t n=n)
    {
        for (size_t i = 0; i < n; ++i)
            to[i] = value + i;
    }

    template <int Factor>
    static __device__ T sum(const T *of, size_t n = n)
    {
        T all = 0;
        for (size_t i = 0; i < n; ++i)
            all += Factor * of[i];
        return all;
    }

    __device__ T all(T first)
    {
        set(digit, first);
        set(digit, first + 10, 1);
        return sum<2>(digit) + sum<1>(digit, 2);
    }
};

#endif

__global__ void child(int first)
{
#ifdef __CUDA_ARCH__
    printf("%d\n", Digits<128, int>().all(first));
#endif
}

__global__ void parent()
{
    child<<<1, 1>>>(5);
}

int main()
{
    parent<<<1, 1>>>();
    return cudaDeviceSynchronize();
}
