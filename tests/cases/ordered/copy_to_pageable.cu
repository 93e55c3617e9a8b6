// A copy into pageable memory is done when the call returns.
__global__ void write(int *p) { p[threadIdx.x] = 5; }
int main()
{
    int *p, *h;
    cudaMalloc(&p, 4096);
    cudaMemset(p, 0, 4096);
    cudaDeviceSynchronize();
    cudaStream_t a, b;
    cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
    h = (int *)malloc(4096);
    cudaMemcpyAsync(h, p, 4096, cudaMemcpyDeviceToHost, a);
    write<<<1, 32, 0, b>>>(p);
    return cudaDeviceSynchronize() != cudaSuccess;
}
