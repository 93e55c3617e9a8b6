// The built-in variables as values of their types: copied, deduced, chosen between, bound and referred to.
#include <cstdio>
#include <type_traits>

template <typename T>
__device__ unsigned flat(T index, dim3 size)
{
    return index.x + size.x * (index.y + size.y * index.z);
}

__device__ unsigned volume(const dim3 &size) { return size.x * size.y * size.z; }

struct Place {
    uint3 thread;
    dim3 grid;
};

__host__ __device__ int place_of_both()
{
#ifdef __CUDA_ARCH__
    return threadIdx.x + 1;
#else
    return -1;
#endif
}

__global__ void child(unsigned *out, Place from)
{
    auto thread = threadIdx;
    auto [x, y, z] = blockIdx;
    thread.x += 10;
    atomicAdd(&out[threadIdx.x], thread.x + 100 * (x + y + z) + 1000 * from.thread.x + 10000 * from.grid.y);
}

__global__ void places(unsigned *out)
{
    static_assert(std::is_same<decltype(threadIdx), const uint3>::value, "");
    static_assert(std::is_same<decltype(gridDim), const dim3>::value, "");
    static_assert(sizeof(blockIdx) == 3 * sizeof(unsigned), "");
    const auto thread = threadIdx;
    const uint3 &block = blockIdx;
    unsigned number = flat(blockIdx, gridDim) * volume(blockDim) + flat(thread, blockDim);
    auto sum = [](auto index) { return index.x + index.y + index.z; };
    const unsigned which = (number % 2 ? threadIdx : blockIdx).y;
    const uint3 both[2] = {threadIdx, block};
    out[number] = sum(threadIdx) + 10 * sum(blockDim) + 100 * which + 1000 * both[number % 2].x;
    if (number == 0) {
        Place here = {threadIdx, gridDim};
        here.thread.x = place_of_both();
        child<<<dim3(1, 2), thread.x + 4>>>(out + 24, here);
    }
}

int main()
{
    unsigned *out;
    cudaMallocManaged(&out, 32 * sizeof *out);
    places<<<dim3(2, 2), dim3(3, 2)>>>(out);
    printf("%d %d\n", cudaDeviceSynchronize(), place_of_both());
    for (int i = 0; i < 28; i++)
        printf("%u%c", out[i], i % 12 == 11 || i == 27 ? '\n' : ' ');
    int blockDim = 3, gridDim = 2;
    dim3 threadIdx(blockDim * gridDim);
    printf("%u\n", threadIdx.x);
}
