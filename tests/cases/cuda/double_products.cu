// Products of doubles by the tensor cores: through the classes of mma.h, for which nvcc writes `.rn` behind the types, and
// by assembly with every rounding, each element compared with a chain of multiply-adds of that rounding.
#include <cstdio>
#include <mma.h>

using namespace nvcuda;

__global__ void by_classes(const double *a, const double *b, double *d)
{
#if __CUDA_ARCH__ >= 800
    wmma::fragment<wmma::matrix_a, 8, 8, 4, double, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 8, 8, 4, double, wmma::col_major> right;
    wmma::fragment<wmma::accumulator, 8, 8, 4, double> sum;
    wmma::fill_fragment(sum, 0.25);
    for (int k = 0; k < 16; k += 4) {
        wmma::load_matrix_sync(left, a + k, 16);
        wmma::load_matrix_sync(right, b + k, 16);
        wmma::mma_sync(sum, left, right, sum);
    }
    wmma::store_matrix_sync(d, sum, 8, wmma::mem_row_major);
#endif
}

// What the device's functions call `rd` and `ru` is `rm` and `rp` in PTX.
#define multiply_add_rn __fma_rn
#define multiply_add_rz __fma_rz
#define multiply_add_rm __fma_rd
#define multiply_add_rp __fma_ru

#define PRODUCT(rounding)                                                                                              \
    asm("wmma.mma.sync.aligned.row.col.m8n8k4.f64.f64.f64.f64." #rounding " {%0, %1}, {%2}, {%3}, {%4, %5};"           \
        : "=d"(d0), "=d"(d1)                                                                                           \
        : "d"(left), "d"(right), "d"(c0), "d"(c1))
#define CHAIN(rounding)                                                                                                \
    for (int k = 0; k < 4; k++) {                                                                                      \
        c0 = multiply_add_##rounding(a[row * 4 + k], b[col * 4 + k], c0);                                                     \
        c1 = multiply_add_##rounding(a[row * 4 + k], b[(col + 1) * 4 + k], c1);                                               \
    }
#define COUNT(rounding, place)                                                                                         \
    {                                                                                                                  \
        double c0 = 1.0 / (lane + 3), c1 = -1.0 / (lane + 7), d0 = 0, d1 = 0;                                          \
        PRODUCT(rounding);                                                                                             \
        CHAIN(rounding)                                                                                                \
        atomicAdd(&same[place], (d0 == c0) + (d1 == c1));                                                              \
        atomicAdd(&sums[place], (__double_as_longlong(d0) ^ __double_as_longlong(d1)) * (2 * lane + 1));               \
    }

__global__ void by_assembly(const double *a, const double *b, int *same, unsigned long long *sums)
{
#if __CUDA_ARCH__ >= 800
    const int lane = threadIdx.x, row = lane / 4, col = lane % 4 * 2;
    // A by rows of four, B by columns of four.
    const double left = a[lane], right = b[lane];
    COUNT(rn, 0)
    COUNT(rz, 1)
    COUNT(rm, 2)
    COUNT(rp, 3)
#endif
}

int main()
{
    double *a, *b, *d;
    int *same;
    unsigned long long *sums;
    cudaMallocManaged(&a, 128 * sizeof(double));
    cudaMallocManaged(&b, 128 * sizeof(double));
    cudaMallocManaged(&d, 64 * sizeof(double));
    cudaMallocManaged(&same, 4 * sizeof(int));
    cudaMallocManaged(&sums, 4 * sizeof(unsigned long long));
    for (int i = 0; i < 128; i++) {
        a[i] = i % 9 - 4;
        b[i] = i % 7 - 3;
    }
    by_classes<<<1, 32>>>(a, b, d);
    cudaDeviceSynchronize();
    double sum = 0;
    for (int i = 0; i < 64; i++) {
        sum += d[i] * (i + 1);
    }
    printf("%s, sum %.2f\n", cudaGetErrorString(cudaGetLastError()), sum);

    for (int i = 0; i < 32; i++) {
        a[i] = 1.0 / (i + 1.5);
        b[i] = (i % 2 ? 3.0 : -2.0) / (i + 0.7);
    }
    for (int i = 0; i < 4; i++) {
        same[i] = 0;
        sums[i] = 0;
    }
    by_assembly<<<1, 32>>>(a, b, same, sums);
    cudaDeviceSynchronize();
    for (int i = 0; i < 4; i++) {
        printf("%d of 64 alike, %016llx\n", same[i], sums[i]);
    }
    return 0;
}
