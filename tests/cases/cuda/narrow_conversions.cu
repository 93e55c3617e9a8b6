// Floating-point values that are too large for the integers of 8 and 16 bits that they become: their lower bits count.
#include <cstdio>
#include <cuda_bf16.h>

__global__ void convert(const float *f, const double *d, int *result)
{
    int i = threadIdx.x;
    int *row = result + 8 * i;
    row[0] = (unsigned char)f[i];
    row[1] = (signed char)f[i];
    row[2] = (unsigned short)f[i];
    row[3] = (short)f[i];
    row[4] = (unsigned char)d[i];
    row[5] = (short)d[i];
    unsigned char sum = 250;
    sum += f[i];
    row[6] = sum + 1;
    short product = 3;
    product *= d[i];
    row[7] = product;
}

__global__ void count(const float *f, int *histogram)
{
    unsigned char bin = f[threadIdx.x];
    atomicAdd(&histogram[bin], 1);
}

// Bytes beside bfloat16 have instructions of their own.
__global__ void of_bfloat16(const float *f, int *result)
{
    __nv_bfloat16 value = f[threadIdx.x];
    result[2 * threadIdx.x] = (signed char)value;
    result[2 * threadIdx.x + 1] = (unsigned char)value;
}

int main()
{
    const int n = 6;
    const float values[n] = {1.5f, -1.5f, 300.0f, 40000.0f, 70000.0f, -200.0f};
    float *f;
    double *d;
    int *result, *histogram;
    cudaMallocManaged(&f, n * sizeof *f);
    cudaMallocManaged(&d, n * sizeof *d);
    cudaMallocManaged(&result, 8 * n * sizeof *result);
    cudaMallocManaged(&histogram, 256 * sizeof *histogram);
    for (int i = 0; i < n; i++) {
        f[i] = values[i];
        d[i] = values[i];
    }
    cudaMemset(histogram, 0, 256 * sizeof *histogram);
    convert<<<1, n>>>(f, d, result);
    count<<<1, n>>>(f, histogram);
    cudaDeviceSynchronize();
    for (int i = 0; i < n; i++) {
        printf("%g:", f[i]);
        for (int k = 0; k < 8; k++) {
            printf(" %d", result[8 * i + k]);
        }
        printf("\n");
    }
    for (int i = 0; i < 256; i++) {
        if (histogram[i] != 0) {
            printf("%d times %d\n", histogram[i], i);
        }
    }
    of_bfloat16<<<1, n>>>(f, result);
    cudaDeviceSynchronize();
    for (int i = 0; i < 2 * n; i++) {
        printf("%d ", result[i]);
    }
    printf("\n");
    return 0;
}
