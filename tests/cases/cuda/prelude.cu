// What nvcc has read before a program's first line: clocks and times, strings, numbers' kinds on both sides; and the
// macros that say which of nvcc's options were given.
// flags: --extended-lambda --expt-relaxed-constexpr
#include <stdio.h>

#if !defined(__CUDACC_EXTENDED_LAMBDA__) || !defined(__CUDACC_RELAXED_CONSTEXPR__)
#error "give --extended-lambda and --expt-relaxed-constexpr"
#endif

constexpr int doubled(int x) { return 2 * x; }

__host__ __device__ int kinds(float f, double d)
{
    return isnan(f) + 2 * isnan(d) + 4 * isinf(f) + 8 * isinf(d) + 16 * isfinite(f) + 32 * isfinite(d) +
           64 * !!signbit(f) + 128 * !!signbit(d);
}

__global__ void __launch_bounds__(32, 1, 4) child(float f)
{
    int *eight = new int(doubled(4));
    printf("%d %d\n", kinds(f, f), *eight);
    delete eight;
}
__global__ void parent(float f) { child<<<1, 1>>>(f); }

template <class F>
__global__ void apply(F function, int *out)
{
    *out = function(3);
}

int main()
{
    srand(time(NULL));
    clock_t start = clock();
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    timespec_get(&now, TIME_UTC);
    time_t seconds = time(0);
    char text[8];
    strcpy(text, "abc");
    float zero = 0;
    printf("%d %d %zu %d %g\n", kinds(zero, -zero), (int)isnan(zero / zero), strlen(text),
           localtime(&seconds) != NULL, abs(-2.5) + sqrt(4.0));
    parent<<<1, 1>>>(-1.0f);
    int *out, factor = 5;
    cudaMallocManaged(&out, sizeof(int));
    apply<<<1, 1>>>([=] __device__(int i) { return i * factor; }, out);
    cudaDeviceSynchronize();
    printf("%d %d\n", *out, (double)(clock() - start) / CLOCKS_PER_SEC < 100);
}
