// fault: read-only-write
// A kernel's parameter, which lies in constant memory, is written through a cast.
struct Options { int values[16]; };
__device__ __noinline__ void put(int *p, int value) { *p = value; } //~ fault
__global__ void k(const __grid_constant__ Options options, int *out)
{
    put(const_cast<int *>(&options.values[threadIdx.x]), 1);
    out[threadIdx.x] = options.values[threadIdx.x];
}
int main()
{
    int *p;
    cudaMalloc(&p, 4096);
    k<<<1, 16>>>(Options{}, p);
    return cudaDeviceSynchronize() != cudaSuccess;
}
