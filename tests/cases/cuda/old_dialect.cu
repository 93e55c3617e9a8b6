// What nvcc takes of older C and C++, with warnings at most: `register`, values that braces narrow, macros right behind
// strings, GNU's `typeof`, headers by their older names, and the functions of both sides that CUDA's headers define.
#include <inttypes.h>
#include <stdio.h>
#include <sm_20_atomic_functions.h>
#include <sm_20_intrinsics.h>
#include <sm_30_intrinsics.h>
#include <sm_32_atomic_functions.h>
#include <sm_32_intrinsics.h>
#include <sm_35_intrinsics.h>
#include <sm_60_atomic_functions.h>
#include <sm_61_intrinsics.h>
#include <device_atomic_functions.h>

#define LARGER(a, b) ({ typeof(a) _a = (a); typeof(b) _b = (b); _a > _b ? _a : _b; })

__global__ void child(int64_t *sum, int n)
{
    register int i = threadIdx.x;
    register float half = 0.5f;
    int pair[2] = { i * 3ll, LARGER(i, n) };
    atomicAdd((unsigned long long *)sum, (unsigned long long)(pair[0] + pair[1] + (int)(half * 4)));
}

__global__ void parent(int64_t *sum, double lanes)
{
    dim3 grid = { (int)lanes / 4, 1, 1 };
    int threads = lanes;
    uint3 block = { threads / 2, 1u, 1u };
    child<<<grid, dim3(block)>>>(sum, 5);
    printf("%"PRIu64" of %g\n", (uint64_t)llmax(2ll, (long long)umin(7u, 9u)), lanes);
}

int main()
{
    register int i;
    double d = 8;
    float f[3] = { d, d * 2, 1 };
    unsigned char bytes[2] = { i = 2, f[1] };
    int64_t *sum;
    cudaMallocManaged(&sum, sizeof(*sum));
    *sum = 0;
    parent<<<1, 1>>>(sum, d);
    if (cudaDeviceSynchronize() != cudaSuccess)
        return 1;
    printf("%"PRId64" %d %d\n", *sum, bytes[1], LARGER(i, 1));
    printf("%u %u %lld %lld %llu %llu\n", umin(1u, 2u), umax(1u, 2u), llmin(-1ll, 2ll), llmax(-1ll, 2ll),
           ullmin(1ull, 2ull), ullmax(1ull, 2ull));
    return 0;
}
