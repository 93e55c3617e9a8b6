// Declarations that ask for less alignment than their type has: the type's counts. Tensor maps were written so when
// their type was aligned to 64 bytes.
#include <cstdint>
#include <cstdio>
#include <cuda.h>
#include <cuda_runtime.h>

#define ALIGNED alignas(64)

struct alignas(128) Wide {
    int value[4];
};

struct Maps {
    alignas(64) CUtensorMap map;
    ALIGNED Wide wide;
    int count;
};

template <int Bytes>
struct Box {
    char head;
    alignas(Bytes) Wide wide;
};

__device__ alignas(64) Wide device_wide = {{5, 6, 7, 8}};

__global__ void plain(const __grid_constant__ CUtensorMap map, size_t *out)
{
    out[0] = reinterpret_cast<uintptr_t>(&map) % 64;
}

__global__ void within(const __grid_constant__ Maps maps, size_t *out)
{
    out[1] = sizeof(Maps);
    out[2] = reinterpret_cast<uintptr_t>(&maps.wide) % 128;
    out[3] = maps.wide.value[2] + maps.count;
}

__global__ void templates(Box<16> small, Box<256> large, size_t *out)
{
    __shared__ alignas(32) Wide shared;
    shared.value[threadIdx.x] = small.wide.value[1] + large.wide.value[1];
    out[4] = sizeof(small);
    out[5] = sizeof(large);
    out[6] = reinterpret_cast<uintptr_t>(&shared) % 128;
    out[7] = reinterpret_cast<uintptr_t>(&device_wide) % 128 + device_wide.value[3];
}

int main()
{
    size_t *out;
    cudaMallocManaged(&out, 8 * sizeof(size_t));
    alignas(64) CUtensorMap map = {};
    Maps maps = {};
    maps.wide.value[2] = 40;
    maps.count = 2;
    Box<16> small = {};
    Box<256> large = {};
    plain<<<1, 1>>>(map, out);
    within<<<1, 1>>>(maps, out);
    templates<<<1, 4>>>(small, large, out);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    for (int i = 0; i < 8; i++) {
        printf("%d ", (int)out[i]);
    }
    printf("%d %d\n", (int)(reinterpret_cast<uintptr_t>(&map) % 64), (int)sizeof(Maps));
    return 0;
}
