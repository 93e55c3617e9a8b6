// What can stand in a launch in device code: templates that launch themselves, kernels behind pointers, overloads,
// kernels of namespaces without a name, folds over arguments, arguments of every kind, named streams and loops.
#include <cstdio>

template <class T> struct Queue {
    T *data;
    int *count;
    __device__ void push(T value) { data[atomicAdd(count, 1)] = value; }
};

template <class T, int Depth> __global__ void tree(Queue<T> queue, T value)
{
    queue.push(value);
    if constexpr (Depth > 0) {
        if (threadIdx.x == 0) {
            tree<T, Depth - 1><<<1, 2>>>(queue, value * 2);
            tree<T, Depth - 1><<<1, 1, 0, cudaStreamTailLaunch>>>(queue, value * 2 + 1);
        }
    }
}

__global__ void leaf(int *sum, int i) { atomicAdd(sum, i + threadIdx.x); }

__device__ void (*chosen)(int *, int) = leaf;
__global__ void through_pointer(int *sum) { chosen<<<2, 4>>>(sum, 10); }

__global__ void in_streams(int *sum)
{
    cudaStream_t streams[3];
    for (auto &stream : streams)
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    for (int i = 0; i < 3; ++i)
        leaf<<<1, 1, 0, streams[i]>>>(sum, i);
    for (auto &stream : streams)
        cudaStreamDestroy(stream);
    leaf<<<1, 1, 0, cudaStreamFireAndForget>>>(sum, 100);
    if (cudaGetLastError() != cudaSuccess)
        printf("failed\n");
}

struct Folding {
    int start;
    template <class... Numbers> __device__ void operator()(int *sum, Numbers... numbers) const
    {
        leaf<<<1, 1>>>(sum, (start + ... + numbers));
    }
};
template <class Function> __global__ void run(Function function, int *sum) { function(sum, 1, 2, 3); }

namespace {
__global__ void hidden(int *sum) { *sum = 77; }
} // namespace
static __global__ void of_file(int *sum) { hidden<<<1, 1>>>(sum); }

extern "C" __global__ void every_kind(int *sum, double d, char c, short s, float3 f, bool b, long long l)
{
    *sum = static_cast<int>(d) + c + s + static_cast<int>(f.z) + b + static_cast<int>(l);
}
__global__ void pass_every_kind(int *sum)
{
    every_kind<<<dim3(1), 1, 0>>>(sum, 2.5, 'a', 3, make_float3(1, 2, 3), true, 1ll << 3);
}

__global__ __launch_bounds__(64, 2) void with_shared(int *sum, int count)
{
    extern __shared__ int numbers[];
    numbers[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) {
        int all = 0;
        for (int i = 0; i < count; ++i)
            all += numbers[i];
        *sum = all;
    }
}
__global__ void give_shared(int *sum) { with_shared<<<1, 64, 64 * sizeof(int)>>>(sum, 64); }

__global__ void overloaded(float *) {}
__global__ void overloaded(int *sum) { *sum = 2; }
__global__ void choose_overload(int *sum) { overloaded<<<1, 1>>>(sum); }

__global__ void repeated(int *sum)
{
    for (int i = 0; i < 5; ++i)
        leaf<<<i + 1, i + 1>>>(sum, i);
    switch (threadIdx.x) {
    case 0:
        leaf<<<1, 1>>>(sum, 1000);
        break;
    default:
        leaf<<<1, 1>>>(sum, 2000);
    }
}

__global__ void quicksort(int *data, int left, int right)
{
    int i = left, j = right, pivot = data[(left + right) / 2];
    while (i <= j) {
        while (data[i] < pivot)
            ++i;
        while (data[j] > pivot)
            --j;
        if (i <= j) {
            int other = data[i];
            data[i++] = data[j];
            data[j--] = other;
        }
    }
    cudaStream_t stream;
    if (left < j) {
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
        quicksort<<<1, 1, 0, stream>>>(data, left, j);
        cudaStreamDestroy(stream);
    }
    if (i < right) {
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
        quicksort<<<1, 1, 0, stream>>>(data, i, right);
        cudaStreamDestroy(stream);
    }
}

template <class Launch> static void show(const char *name, int *sum, Launch launch)
{
    *sum = 0;
    launch();
    int code = cudaDeviceSynchronize();
    printf("%s %d: %d\n", name, code, *sum);
}

int main()
{
    int *count, *data;
    cudaMallocManaged(&count, sizeof(int));
    cudaMallocManaged(&data, 1024 * sizeof(int));
    *count = 0;
    tree<int, 4><<<1, 1>>>(Queue<int>{data, count}, 1);
    int code = cudaDeviceSynchronize();
    long sum = 0;
    for (int i = 0; i < *count; ++i)
        sum += data[i];
    printf("tree %d: %d nodes, sum %ld\n", code, *count, sum);
    show("through_pointer", data, [&] { through_pointer<<<1, 1>>>(data); });
    show("in_streams", data, [&] { in_streams<<<1, 1>>>(data); });
    show("folding", data, [&] { run<<<1, 1>>>(Folding{4}, data); });
    show("of_file", data, [&] { of_file<<<1, 1>>>(data); });
    show("every_kind", data, [&] { pass_every_kind<<<1, 1>>>(data); });
    show("with_shared", data, [&] { give_shared<<<1, 1>>>(data); });
    show("overloaded", data, [&] { choose_overload<<<1, 1>>>(data); });
    show("repeated", data, [&] { repeated<<<1, 2>>>(data); });
    for (int i = 0; i < 64; ++i)
        data[i] = i * 37 % 64;
    quicksort<<<1, 1>>>(data, 0, 63);
    cudaDeviceSynchronize();
    bool sorted = true;
    for (int i = 0; i < 64; ++i)
        sorted &= data[i] == i;
    printf("sorted %d\n", sorted);
}
