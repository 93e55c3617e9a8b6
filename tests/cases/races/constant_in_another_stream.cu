// A constant is written by a copy in another stream than that of the kernel that reads it.
__constant__ int limit[4];
__global__ void k(int *out) { out[threadIdx.x] = limit[threadIdx.x & 3]; } //~ race
int main()
{
    int *p, host[4] = {1, 2, 3, 4};
    cudaMalloc(&p, 4096);
    cudaStream_t a, b;
    cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
    k<<<1, 32, 0, a>>>(p);
    cudaMemcpyToSymbolAsync(limit, host, 16, 0, cudaMemcpyHostToDevice, b);
    return cudaDeviceSynchronize() != cudaSuccess;
}
