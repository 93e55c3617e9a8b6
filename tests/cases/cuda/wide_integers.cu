// Integers of 128 bits: to and from floating-point types, arithmetic, as parameters of a launch, and atomics of
// 16 bytes.
#include <cstdio>

typedef __int128 wide;
typedef unsigned __int128 uwide;

struct __align__(16) Pair {
    unsigned long long first, second;
};

struct Results {
    double of_signed, of_unsigned;
    float float_of_signed, float_of_unsigned;
    uwide signed_of_double, unsigned_of_double, signed_of_float, quotient, sum;
};

__global__ void convert(wide a, uwide b, double d, float f, Results *results)
{
    double positive = d < 0 ? -d : d;
    results->of_signed = (double)a;
    results->of_unsigned = (double)b;
    results->float_of_signed = (float)a;
    results->float_of_unsigned = (float)(b >> 1);
    results->signed_of_double = (uwide)(wide)d;
    results->unsigned_of_double = (uwide)positive;
    results->signed_of_float = (uwide)(wide)f;
    results->quotient = (uwide)(a * 3 / 7 % 1000003);
    results->sum = b / 12345 + (b << 3) - (b >> 5);
}

__global__ void parent(wide a, uwide b, double d, float f, Results *results)
{
    convert<<<1, 1>>>(a, b, d, f, results);
}

__global__ void pairs(Pair *shared_by_all, Pair *last)
{
    Pair seen, mine, old = {0, 0};
    do {
        seen = old;
        mine = {seen.first + 1, seen.second + threadIdx.x};
        old = atomicCAS(shared_by_all, seen, mine);
    } while (old.first != seen.first || old.second != seen.second);
    __syncthreads();
    if (threadIdx.x == 0) {
        *last = atomicExch(shared_by_all, Pair{7, 8});
    }
}

void show(uwide value)
{
    printf(" %llx:%llx", (unsigned long long)(value >> 64), (unsigned long long)value);
}

int main()
{
    Results *results;
    cudaMallocManaged(&results, sizeof *results);
    wide integers[] = {0, 1, -1, ((wide)1 << 100) + 12345, -(((wide)1 << 90) + 7), (wide)(((uwide)1 << 127) - 1),
                       (wide)((uwide)1 << 127), 0x1fffffffffffffLL, ((wide)1 << 64) + ((wide)1 << 11),
                       ((wide)3 << 70) + ((wide)1 << 18)};
    double numbers[] = {0, 1.5, -2.7, 1e30, -1e35, 1e25, -12345678901234567.0, 3e18, 1.8446744073709552e19, 1e-300};
    for (int i = 0; i < 10; i++) {
        parent<<<1, 1>>>(integers[i], (uwide)integers[i], numbers[i], (float)numbers[i], results);
        if (cudaDeviceSynchronize() != cudaSuccess) {
            printf("failed\n");
            return 1;
        }
        printf("%a %a %a %a", results->of_signed, results->of_unsigned, results->float_of_signed,
               results->float_of_unsigned);
        show(results->signed_of_double);
        show(results->unsigned_of_double);
        show(results->signed_of_float);
        show(results->quotient);
        show(results->sum);
        printf("\n");
    }
    Pair *pair;
    cudaMallocManaged(&pair, 2 * sizeof *pair);
    pair[0] = pair[1] = {0, 0};
    pairs<<<1, 96>>>(pair, pair + 1);
    printf("%d:", cudaDeviceSynchronize());
    printf(" %llu %llu", pair[0].first, pair[0].second);
    printf(" %llu %llu\n", pair[1].first, pair[1].second);
}
