// Launches by calls of the device runtime: arguments packed by templates into a buffer whose size they compute, a kernel
// given without a cast, one of several kernels, and a buffer that nothing is launched with.
#include <cstdio>

template <class A>
__device__ size_t aligned(size_t offset)
{
    return (offset + alignof(A) - 1) / alignof(A) * alignof(A);
}

__device__ size_t end_of(size_t offset) { return offset; }
template <class A, class... Rest>
__device__ size_t end_of(size_t offset, const A &, const Rest &...rest)
{
    return end_of(aligned<A>(offset) + sizeof(A), rest...);
}

__device__ void pack(char *, size_t) {}
template <class A, class... Rest>
__device__ void pack(char *buffer, size_t offset, const A &first, const Rest &...rest)
{
    offset = aligned<A>(offset);
    for (size_t i = 0; i != sizeof(A); i++) {
        buffer[offset + i] = ((const char *)&first)[i];
    }
    pack(buffer, offset + sizeof(A), rest...);
}

struct Chosen {
    template <class K>
    __device__ K the(K kernel) const
    {
        return kernel;
    }
};

template <class K, class... A>
__device__ cudaError_t start(K kernel, dim3 grid, dim3 block, const A &...args)
{
    const size_t size = end_of(0, args...);
    void *buffer = cudaGetParameterBuffer(64, size);
    pack((char *)buffer, 0, args...);
    return cudaLaunchDevice((void *)kernel, buffer, grid, block, 0, 0);
}

__global__ void work(char c, double d, int *out, short s)
{
    out[threadIdx.x] = c + (int)d + s + threadIdx.x;
}

__global__ void other(char c, double d, int *out, short s)
{
    out[threadIdx.x] = c * (int)d * s + threadIdx.x;
}

// A function that is called and a kernel that it is given: neither is known when it is compiled.
typedef void (*Kernel)(char, double, int *, short);
__device__ __noinline__ int start_one_of(Kernel kernel, int *out)
{
    return (int)start(kernel, 1, 4, 'b', 3.5, out, (short)4);
}
__global__ void chosen(int *out, int first, int second)
{
    const Kernel kernels[2] = {work, other};
    out[0] = start_one_of(kernels[first], out + 4);
    out[1] = start_one_of(kernels[second], out + 8);
}

template <class F>
__global__ void invoke(F function)
{
    function();
}

struct Put {
    int *place;
    __device__ void operator()() { *place = 6; }
};

__global__ void parent(int *out)
{
    out[8] = (int)start(Chosen().the(work), 1, 4, 'a', 2.5, out, (short)3);
    Put put{out + 4};
    void *buffer = cudaGetParameterBuffer(alignof(Put), sizeof(Put));
    memcpy(buffer, &put, sizeof(Put));
    out[9] = (int)cudaLaunchDevice(&invoke<Put>, buffer, dim3(1), dim3(1), 0, 0);
    out[10] = cudaGetParameterBuffer(8, 64) != nullptr;
}

int main()
{
    int *out;
    cudaMallocManaged(&out, 64);
    parent<<<1, 1>>>(out);
    int error = cudaDeviceSynchronize();
    printf("%d: %d %d %d, %d %d %d\n", error, out[0], out[3], out[4], out[8], out[9], out[10]);
    chosen<<<1, 1>>>(out, 1, 0);
    error = cudaDeviceSynchronize();
    printf("%d: %d %d, %d %d, %d %d\n", error, out[0], out[1], out[4], out[7], out[8], out[11]);
}
