// Kernels that launch themselves until the limit of pending launches stops them: a launch is pending until its grid and
// what that launched are done, its tail excepted, and there is room for 32 however low the limit.
#include <cstdio>

struct End {
    int deepest, refused_at, code;
};

__global__ void descend(End *end, int level, int last)
{
    atomicMax(&end->deepest, level);
    if (level == last)
        return;
    descend<<<1, 1>>>(end, level + 1, last);
    cudaError_t code = cudaGetLastError();
    if (code != cudaSuccess) {
        end->refused_at = level;
        end->code = code;
    }
}

__device__ int steps;

__global__ void follow(int last)
{
    if (++steps < last)
        follow<<<1, 1, 0, cudaStreamTailLaunch>>>(last);
}

// Children that wait for what comes after their launches.
__device__ volatile int go;

__global__ void wait_for_parent()
{
    while (!go)
        ;
}

__global__ void hold(int many, int *refused)
{
    *refused = 0;
    for (int i = 0; i < many; i++) {
        wait_for_parent<<<1, 1, 0, cudaStreamFireAndForget>>>();
        *refused += cudaGetLastError() == cudaErrorLaunchPendingCountExceeded;
    }
    go = 1;
}

// Its children are done one after another, so that few are pending at a time.
__global__ void spread(End *end, int many)
{
    for (int i = 0; i < many; i++) {
        descend<<<1, 1>>>(end, i, i);
        cudaError_t code = cudaGetLastError();
        if (code != cudaSuccess)
            end->code = code;
    }
}

int main()
{
    End *end;
    cudaMallocManaged(&end, sizeof(End));
    const int rows[][2] = {{64, 500}, {10, 500}, {2048, 90}, {2048, 2}};
    for (auto &row : rows) {
        *end = End();
        cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, row[0]);
        size_t limit;
        cudaDeviceGetLimit(&limit, cudaLimitDevRuntimePendingLaunchCount);
        descend<<<1, 1>>>(end, 1, row[1]);
        cudaError_t code = cudaDeviceSynchronize();
        printf("limit %d, %d levels: down to %d, refused at %d with %s; %s\n", (int)limit, row[1], end->deepest,
               end->refused_at, cudaGetErrorName((cudaError_t)end->code), cudaGetErrorName(code));
    }
    *end = End();
    spread<<<1, 1>>>(end, 1500);
    cudaError_t code = cudaDeviceSynchronize();
    printf("%d, %s; %s\n", end->deepest, cudaGetErrorName((cudaError_t)end->code), cudaGetErrorName(code));

    cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, 40);
    follow<<<1, 1>>>(900);
    code = cudaDeviceSynchronize();
    int taken;
    cudaMemcpyFromSymbol(&taken, steps, sizeof(int));
    printf("%d in a row; %s\n", taken, cudaGetErrorName(code));
    hold<<<1, 1>>>(70, &end->code);
    code = cudaDeviceSynchronize();
    printf("%d refused; %s\n", end->code, cudaGetErrorName(code));
    return 0;
}
