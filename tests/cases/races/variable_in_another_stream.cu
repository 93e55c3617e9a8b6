// A variable is copied back in another stream than the kernel's that writes it.
__device__ int total;
__global__ void k() { total = 5; } //~ race
int main()
{
    int host;
    cudaStream_t a, b;
    cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
    k<<<1, 1, 0, a>>>();
    cudaMemcpyFromSymbolAsync(&host, total, 4, 0, cudaMemcpyDeviceToHost, b);
    return cudaDeviceSynchronize() != cudaSuccess;
}
