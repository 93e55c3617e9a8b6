// Addresses of shared and local variables are never null, wherever the variables lie: the first one of a block is at 0 of shared
// memory on some devices.
#include <cstdio>

// Sums, and keeps what was read if there is a place for it.
__device__ __forceinline__ float sum(const float *from, float *kept, int count)
{
    float all = 0;
    for (int i = 0; i < count; ++i) {
        float value = from[i];
        if (kept)
            kept[i] = value;
        all += value;
    }
    return all;
}

__device__ __noinline__ int is_there(const void *place) { return place != nullptr; }

__global__ void child(const float *from, int count, float *out)
{
    extern __shared__ float room[];
    __shared__ int first;
    float *kept = room + blockDim.x;
    float all = sum(from, kept + threadIdx.x * count, count);
    __syncthreads();
    out[threadIdx.x] = all * 100 + kept[(threadIdx.x + 1) % blockDim.x * count];
    float *sums = room;
    if (sums != nullptr)
        sums[threadIdx.x] = all + threadIdx.x;
    int *number = &first;
    if (threadIdx.x == 0 && number)
        *number = 5;
    __syncthreads();
    float own[3] = {0, 0, 0};
    float *place = count > 5 ? nullptr : own;
    all += sum(from, place, count) + own[count - 1];
    float *either = threadIdx.x == 1 ? nullptr : sums;
    out[threadIdx.x] += sums[(threadIdx.x + 1) % blockDim.x] / 8 + first + all;
    out[threadIdx.x] += either ? 0.25f : 0.5f;
    out[threadIdx.x] += is_there(either) + is_there(own) + is_there(&first) + is_there(nullptr);
}

__global__ void parent(const float *from, int count, float *out)
{
    child<<<1, 4, 4 * (1 + count) * sizeof(float)>>>(from, count, out);
}

int main()
{
    float *numbers;
    cudaMallocManaged(&numbers, 64);
    for (int i = 0; i < 3; ++i)
        numbers[i] = i + 1;
    parent<<<1, 1>>>(numbers, 3, numbers + 4);
    if (cudaDeviceSynchronize() != cudaSuccess)
        return 1;
    for (int i = 4; i < 8; ++i)
        printf("%g\n", numbers[i]);
    return 0;
}
