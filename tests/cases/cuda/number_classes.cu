// What kind of number a value is, by the names of the C library's own functions.
#include <cmath>
#include <cstdio>

__global__ void classes(const double *values, int *kinds)
{
    double value = values[threadIdx.x];
    float narrow = (float)value;
    int kind = (__signbit(value) != 0) | (__signbitf(narrow) != 0) << 1 | (__signbitl(value) != 0) << 2;
    kind |= (__finite(value) != 0) << 3 | (__finitef(narrow) != 0) << 4 | (__finitel(value) != 0) << 5;
    kind |= (__isnan(value) != 0) << 6 | (__isnanf(narrow) != 0) << 7 | (__isnanl(value) != 0) << 8;
    kind |= (__isinf(value) != 0) << 9 | (__isinff(narrow) != 0) << 10 | (__isinfl(value) != 0) << 11;
    kinds[threadIdx.x] = kind;
}

__global__ void parent(const double *values, int *kinds)
{
    classes<<<1, 6>>>(values, kinds);
}

int main()
{
    const double numbers[6] = {1.5, -0.0, -1e300, INFINITY, -INFINITY, NAN};
    double *values;
    int *kinds;
    cudaMallocManaged(&values, sizeof numbers);
    cudaMallocManaged(&kinds, 6 * sizeof *kinds);
    for (int i = 0; i < 6; i++)
        values[i] = numbers[i];
    parent<<<1, 1>>>(values, kinds);
    printf("%d:", cudaDeviceSynchronize());
    for (int i = 0; i < 6; i++)
        printf(" %x", kinds[i]);
    printf("\n");
}
