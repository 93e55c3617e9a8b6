// `__ldg` of constant memory, which nvcc reads as well: at places known while compiling, in unrolled loops, in functions, and
// at others.
#include <cstdio>

__constant__ int table[6] = {9, 8, 7, 6, 5, 4};
__constant__ double one = 2.5;
__constant__ int4 wide[2] = {{1, 2, 3, 4}, {5, 6, 7, 8}};
__device__ int in_global[3] = {30, 40, 50};

__device__ int get(const int *p) { return __ldg(p); }
__device__ __noinline__ int far_get(const int *p) { return __ldg(p); }

__global__ void read(int *out, int i)
{
    out[0] = __ldg(&table[2]) + __ldg(&table[i]);
    int sum = 0;
    for (int k = 0; k < 6; ++k)
        sum = sum * 10 + __ldg(table + k);
    out[1] = sum;
    out[2] = get(table + 5) * 100 + far_get(table + i);
    out[3] = static_cast<int>(__ldg(&one) * 2);
    int4 four = __ldg(&wide[1]);
    out[4] = four.x * 1000 + four.y * 100 + four.z * 10 + four.w;
    out[5] = __ldg(&in_global[1]) + get(in_global + i);
    const int *either = i > 3 ? table : in_global;
    out[6] = __ldg(either + 1);
}

int main()
{
    int *out;
    cudaMallocManaged(&out, 7 * sizeof *out);
    read<<<1, 1>>>(out, 1);
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    for (int i = 0; i < 7; ++i)
        printf("%d%c", out[i], i < 6 ? ' ' : '\n');
}
