// One lane of several does what all need, and gives them what it got: a variable that the other lanes do not set
// goes through `__shfl_sync`, in line, by functions of the program, and by cooperative groups.
#include <cooperative_groups.h>
#include <cstdio>

namespace cg = cooperative_groups;

__device__ int in_line(int *counter)
{
    unsigned active = __activemask();
    int leader = __ffs(active) - 1, lane = threadIdx.x % 32, first;
    if (lane == leader) {
        first = atomicAdd(counter, __popc(active));
    }
    first = __shfl_sync(active, first, leader);
    return first + __popc(active & ((1u << lane) - 1));
}

template <typename T>
__device__ T given(unsigned mask, T value, int leader)
{
    return __shfl_sync(mask, value, leader);
}

__device__ __noinline__ double doubled(double value, unsigned mask, int leader)
{
    return 2 * __shfl_sync(mask, value, leader);
}

__device__ int by_functions(int *counter)
{
    unsigned peers = __match_any_sync(__activemask(), threadIdx.x / 8);
    int leader = __ffs(peers) - 1, lane = threadIdx.x & 31;
    int first;
    double half;
    if (lane == leader) {
        first = atomicAdd(counter, __popc(peers));
        half = first / 2.0;
    }
    return (given(peers, first, leader) + (int)doubled(half, peers, leader)) / 2 +
           __popc(peers & ((1u << lane) - 1));
}

__device__ int by_groups(int *counter)
{
    auto group = cg::coalesced_threads();
    int first;
    if (group.thread_rank() == 0) {
        first = atomicAdd(counter, (int)group.size());
    }
    return group.shfl(first, 0) + group.thread_rank();
}

template <int (*Next)(int *)>
__global__ void keep(int *out, int *counter, const int *in, int count)
{
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < count; i += blockDim.x * gridDim.x) {
        if (in[i] % 3 == 0) {
            out[Next(counter)] = in[i];
        }
    }
}

// The sum is known to the first lane of a warp alone.
__global__ void sums(const int *in, int *out, int count)
{
    __shared__ int parts[32];
    int i = threadIdx.x + blockIdx.x * blockDim.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int sum = i < count ? in[i] : 0;
    for (int step = 16; step > 0; step /= 2) {
        sum += __shfl_down_sync(~0u, sum, step);
    }
    if (lane == 0) {
        parts[warp] = sum;
    }
    __syncthreads();
    int whole;
    if (warp == 0) {
        int part = lane < blockDim.x / 32 ? parts[lane] : 0;
        for (int step = 16; step > 0; step /= 2) {
            part += __shfl_xor_sync(~0u, part, step);
        }
        if (lane == 0) {
            whole = atomicAdd(out, part);
        }
        whole = __shfl_sync(~0u, whole, 0);
        if (lane == 31) {
            atomicMax(out + 1, whole + part);
        }
    }
}

int main()
{
    const int count = 1000;
    int *in, *out, *counter;
    cudaMallocManaged(&in, count * sizeof(int));
    cudaMallocManaged(&out, count * sizeof(int));
    cudaMallocManaged(&counter, 2 * sizeof(int));
    for (int i = 0; i < count; i++) {
        in[i] = i * 7 % 331;
    }
    for (int way = 0; way < 3; way++) {
        *counter = 0;
        switch (way) {
        case 0:
            keep<in_line><<<3, 128>>>(out, counter, in, count);
            break;
        case 1:
            keep<by_functions><<<3, 128>>>(out, counter, in, count);
            break;
        default:
            keep<by_groups><<<3, 128>>>(out, counter, in, count);
        }
        cudaError_t status = cudaDeviceSynchronize();
        long sum = 0;
        for (int i = 0; i < *counter && i < count; i++) {
            sum += out[i];
        }
        printf("%s: %d kept, sum %ld\n", cudaGetErrorString(status), *counter, sum);
    }
    counter[0] = counter[1] = 0;
    sums<<<4, 256>>>(in, counter, count);
    printf("%s: ", cudaGetErrorString(cudaDeviceSynchronize()));
    printf("%d %d\n", counter[0], counter[1]);
    return 0;
}
