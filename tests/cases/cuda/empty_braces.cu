// Empty braces are assigned to a class that could take several others made of them: the class's own value is.
#include <cstdio>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

struct Raw {
    int bits;
};

struct Number {
    int bits, how;
    __host__ __device__ Number(int bits = 7) : bits(bits), how(0) {}
    __host__ __device__ Number(const Number &other) : bits(other.bits), how(1) {}
    __host__ __device__ Number &operator=(const Number &other)
    {
        bits = other.bits;
        how = 2;
        return *this;
    }
    __host__ __device__ Number &operator=(Number &&other)
    {
        bits = other.bits;
        how = 3;
        return *this;
    }
    __host__ __device__ Number &operator=(const Raw &raw)
    {
        bits = raw.bits;
        how = 4;
        return *this;
    }
};

template <class T, int N> struct Rows {
    T at[N];
    __device__ T &row(int i) { return at[i]; }
};

template <class T> __device__ void clear(T &all, T *first)
{
    if (threadIdx.x == 0)
        all = {};
    *first = {};
}

__global__ void kernel()
{
    Number one(1), all[2] = {2, 3};
    clear(one, &all[0]);
    all[1] = Raw{9};
    printf("%d %d, %d %d, %d %d\n", one.bits, one.how, all[0].bits, all[0].how, all[1].bits, all[1].how);

    Rows<half2, 2> rows;
    rows.at[0] = rows.at[1] = __floats2half2_rn(1.5f, 2.5f);
    rows.row(0) = {};
    Rows<__nv_bfloat162, 1> other, *pointer = &other;
    pointer->at[0] = __floats2bfloat162_rn(3, 4);
    (*pointer).at[0] = { };
    printf("%g %g %g %g\n", __low2float(rows.at[0]), __high2float(rows.at[0]), __low2float(rows.at[1]),
           __low2float(other.at[0]));
}

int main()
{
    kernel<<<1, 1>>>();
    return cudaDeviceSynchronize();
}
