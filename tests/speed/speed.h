// The frame of the programs that measure device code: buffers, timing, checksums, `main`.
//
// A program defines `names`, `prepare` and `launch`, and is complete: compiled by cdpc or nvcc it times each of
// its kernels and prints the best and the median of its rounds with a checksum of what the kernel wrote. With
// SPEED_LOADED (C++, for nvcc) its kernels come from cubins that are named as arguments instead, each timed in
// turn in every round, so that compilers are compared under the same conditions.
#pragma once

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cuda_runtime.h>

// A size for measuring, and one for the CPU device.
#ifdef SPEED_SMALL
#define SIZE(large, small) (small)
#define ROUNDS 1
#else
#define SIZE(large, small) (large)
#define ROUNDS 30
#endif

// Every kernel finds its data in these: four buffers of floats, two of integers, one of doubles, one to write.
#define WORDS SIZE(1 << 24, 1 << 14)
static float *fa, *fb, *fc;
static double *da;
static int *ia, *ib;
static float *out;

// What a program defines.
static const char *const *kernel_names(int *count);
static void prepare(int which);
static void launch(int which);

#ifdef SPEED_LOADED

static cudaLibrary_t loaded[64];
static int current;

template <class... P, class... A>
static void launch_loaded(void (*)(P...), const char *name, dim3 grid, dim3 block, A... given)
{
    cudaKernel_t kernel;
    if (cudaLibraryGetKernel(&kernel, loaded[current], name) != cudaSuccess) {
        return;
    }
    // The arguments as the kernel's parameters have them.
    auto go = [&](P... converted) {
        void *args[] = {(void *)&converted...};
        cudaLaunchKernel((const void *)kernel, grid, block, args, 0, 0);
    };
    go(given...);
}
#define LAUNCH(kernel, grid, block, ...) launch_loaded(kernel, #kernel, grid, block, __VA_ARGS__)

#else
#define LAUNCH(kernel, grid, block, ...) kernel<<<grid, block>>>(__VA_ARGS__)
#endif

#define KERNEL extern "C" __global__ void

// Data without pattern, the same everywhere.
__device__ static unsigned mixed(unsigned x)
{
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    x ^= x >> 16;
    return x;
}

__global__ static void fill_buffers(float *a, float *b, float *c, double *d, int *i, int *j, float *o, int n)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < n) {
        unsigned r = mixed(at + 1);
        a[at] = (r & 0xffff) * (1.0f / 65536.0f) + 0.25f;
        b[at] = (r >> 16) * (1.0f / 65536.0f) + 0.5f;
        c[at] = 0.0f;
        if (at < n / 4) {
            d[at] = (double)r / 4294967296.0;
        }
        i[at] = (int)(mixed(r) & 0x7fffffff);
        j[at] = (int)(r % (unsigned)n);
        o[at] = 0.0f;
    }
}

static void fill(void)
{
    fill_buffers<<<(WORDS + 255) / 256, 256>>>(fa, fb, fc, da, ia, ib, out, WORDS);
}

// Of the first words written, as integers and as floats (other roundings change the former).
static void checksum(unsigned *bits, double *sum)
{
    int n = WORDS / 16;
    float *host = (float *)malloc(n * sizeof(float));
    cudaMemcpy(host, out, n * sizeof(float), cudaMemcpyDeviceToHost);
    *bits = 0;
    *sum = 0;
    for (int i = 0; i < n; i++) {
        unsigned word;
        memcpy(&word, host + i, 4);
        *bits = *bits * 31u + word;
        if (host[i] > -1e30f && host[i] < 1e30f) {
            *sum += host[i];
        }
    }
    free(host);
}

// Keeps the device busy until what is timed is on its way to it: else the time of a short kernel is that of the processor, which takes longer to launch
// the kernels of libraries that were loaded later.
__global__ static void wait_for_launch(long long cycles)
{
    long long from = clock64();
    while (clock64() - from < cycles) {
    }
}

static float timed(int which, cudaEvent_t start, cudaEvent_t stop)
{
    float ms = 0;
    prepare(which);
    wait_for_launch<<<1, 1>>>(SIZE(40000, 0));
    cudaEventRecord(start, 0);
    launch(which);
    cudaEventRecord(stop, 0);
    cudaEventSynchronize(stop);
    cudaEventElapsedTime(&ms, start, stop);
    return ms;
}

static int by_value(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return x < y ? -1 : x > y;
}

static void measure(const char *name, int which, int variants)
{
    static float times[64][ROUNDS];
    cudaEvent_t start, stop;
    cudaEventCreate(&start);
    cudaEventCreate(&stop);
    for (int v = 0; v < variants; v++) {
#ifdef SPEED_LOADED
        current = v;
#endif
        unsigned bits;
        double sum;
        fill();
        timed(which, start, stop);
        checksum(&bits, &sum);
        printf("check %s %d %08x %.6g %s\n", name, v, bits, sum, cudaGetErrorString(cudaGetLastError()));
    }
    fill();
    for (int round = 0; round < ROUNDS; round++) {
        for (int turn = 0; turn < variants; turn++) {
            // Each is first in as many rounds.
            int v = (turn + round) % variants;
#ifdef SPEED_LOADED
            current = v;
#endif
            times[v][round] = timed(which, start, stop);
        }
    }
    for (int v = 0; v < variants; v++) {
        qsort(times[v], ROUNDS, sizeof(float), by_value);
        printf("time %s %d %.5f %.5f\n", name, v, times[v][0], times[v][ROUNDS / 2]);
    }
}

int main(int argc, char **argv)
{
    int count, variants = 1;
    const char *const *names = kernel_names(&count);
#ifdef SPEED_LOADED
    variants = argc - 1;
    for (int v = 0; v < variants; v++) {
        if (cudaLibraryLoadFromFile(&loaded[v], argv[v + 1], 0, 0, 0, 0, 0, 0) != cudaSuccess) {
            printf("cannot load %s\n", argv[v + 1]);
            return 1;
        }
    }
#else
    const char *only = argc > 1 ? argv[1] : 0;
#endif
    cudaMalloc((void **)&fa, WORDS * sizeof(float));
    cudaMalloc((void **)&fb, WORDS * sizeof(float));
    cudaMalloc((void **)&fc, WORDS * sizeof(float));
    cudaMalloc((void **)&da, WORDS * sizeof(float) * 2);
    cudaMalloc((void **)&ia, WORDS * sizeof(int));
    cudaMalloc((void **)&ib, WORDS * sizeof(int));
    cudaMalloc((void **)&out, WORDS * sizeof(float));
    for (int which = 0; which < count; which++) {
#ifndef SPEED_LOADED
        if (only && strcmp(only, names[which]) != 0) {
            continue;
        }
#endif
        measure(names[which], which, variants);
    }
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    return 0;
}
