// Programs that ask for nvcc by its name, in the file itself, in a header of theirs, and in one above a header.
#include <cstdio>
#include "nvcc_conditions.h"
#include "nvcc_conditions_above.h"

#if !defined(__NVCC__) || !__NVCC__
#error "compile with nvcc"
#endif
#if __CUDA_API_VER_MAJOR__ < 11 || !defined(__CUDA_API_VER_MINOR__)
#error "which CUDA is it?"
#endif
#ifdef __NVCC_DIAG_PRAGMA_SUPPORT__
#pragma nv_diag_suppress 177
#else
#error "pragmas of nvcc have a prefix since CUDA 11.5"
#endif
#ifdef __NVCC__
#define BOTH __host__ __device__
#else
#define BOTH
#endif

struct Image {
    int width;
    BOTH bool has(int x) const { return x >= 0 && x < width; }
};

__global__ void child(Image image, int x) { printf("%d %d %d\n", image.has(x), twice(x), eight_times(x)); }

__global__ void parent(Image image)
{
#ifndef __NVCC__
    image = Image();
#endif
    child<<<1, 1>>>(image, 3);
}

int main()
{
    Image image = {4};
    parent<<<1, 1>>>(image);
    if (cudaDeviceSynchronize() != cudaSuccess)
        return 1;
    printf("%d %d\n", image.has(4), twice(4));
}
