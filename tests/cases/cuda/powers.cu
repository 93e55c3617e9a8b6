// Powers by integers are doubles, whatever the base is, as the C++ library of the host has them.
#include <cmath>
#include <cstdio>

__global__ void child(const float *base, const int *exponent, double *power)
{
    int i = threadIdx.x;
    power[i] = pow(base[i], exponent[i]);
    power[8 + i] = std::pow(base[i], exponent[i]) + pow((double)base[i], exponent[i]);
    power[16 + i] = pow(base[i], 2) * std::pow(base[i], 3);
}

__global__ void powers(const float *base, const int *exponent, double *power, int *sizes)
{
    child<<<1, 8>>>(base, exponent, power);
    sizes[0] = sizeof(pow(base[0], exponent[0]));
    sizes[1] = sizeof(std::pow(base[0], 2));
    sizes[2] = sizeof(pow(base[0], base[1]));
    sizes[3] = sizeof(pow(exponent[0], base[1]));
    float third = 1.0f / 3;
    power[24] = 1 - pow(third, 2) * 9;
    power[25] = pow(1e30f, 2);
    power[26] = (float)pow(1e30f, exponent[7]);
}

int main()
{
    const float bases[8] = {1.5f, -2, 10, 0.1f, 3, 1e30f, 7, 2};
    const int exponents[8] = {3, 5, -2, 4, 0, 2, 1, 200};
    float *base;
    int *exponent, *sizes;
    double *power;
    cudaMallocManaged(&base, sizeof bases);
    cudaMallocManaged(&exponent, sizeof exponents);
    cudaMallocManaged(&sizes, 4 * sizeof *sizes);
    cudaMallocManaged(&power, 32 * sizeof *power);
    for (int i = 0; i < 8; i++) {
        base[i] = bases[i];
        exponent[i] = exponents[i];
    }
    powers<<<1, 1>>>(base, exponent, power, sizes);
    printf("%d\n", cudaDeviceSynchronize());
    printf("%d %d %d %d\n", sizes[0], sizes[1], sizes[2], sizes[3]);
    for (int i = 0; i < 24; i++)
        printf("%.13g%c", power[i], i % 8 == 7 ? '\n' : ' ');
    printf("%.8g %g %g\n", power[24], power[25], power[26]);
}
