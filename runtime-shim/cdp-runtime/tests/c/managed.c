/* Host threads that launch and use managed memory at the same time. */
#include "cdp_abi.h"
#include <pthread.h>
#include <stdio.h>

static char scale;
static const unsigned offsets[] = {0, 8, 12}, sizes[] = {8, 4, 4};
static const struct CdpKernel kernels[] = {{&scale, "scale", 3, 0, offsets, sizes}};
static const struct CdpUnit unit = {1, 1, kernels, 0, 0, 0};

__attribute__((constructor)) static void enroll(void)
{
    __cdp_register_unit(&unit);
    cdp_register_image();
}

static void *work(void *result)
{
    int *data, count = 64, factor = 3, i, round;
    void *args[] = {&data, &count, &factor};
    unsigned grid[3] = {2, 1, 1}, block[3] = {32, 1, 1};
    long sum = 0;
    if (cudaMallocManaged((void **)&data, count * sizeof *data, 1))
        return result;
    for (i = 0; i < count; i++)
        data[i] = i;
    for (round = 0; round < 10; round++) {
        if (__cdp_launch(&scale, grid, block, 0, cudaStreamPerThread, args))
            return result;
        if (cudaStreamSynchronize(cudaStreamPerThread))
            return result;
    }
    for (i = 0; i < count; i++)
        sum += data[i];
    *(long *)result = sum;
    cudaFree(data);
    return result;
}

int main(void)
{
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    long sums[THREADS] = {0};
    int i;
    for (i = 0; i < THREADS; i++)
        pthread_create(&threads[i], 0, work, &sums[i]);
    for (i = 0; i < THREADS; i++) {
        pthread_join(threads[i], 0);
        printf("%ld\n", sums[i]);
    }
    return 0;
}
