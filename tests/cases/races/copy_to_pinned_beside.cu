// The host does not wait for a copy into pinned memory.
__global__ void write(int *p) { p[threadIdx.x] = 5; } //~ race
int main()
{
    int *p, *h;
    cudaMalloc(&p, 4096);
    cudaMemset(p, 0, 4096);
    cudaDeviceSynchronize();
    cudaStream_t a, b;
    cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
    cudaMallocHost(&h, 4096);
    cudaMemcpyAsync(h, p, 4096, cudaMemcpyDeviceToHost, a);
    write<<<1, 32, 0, b>>>(p);
    return cudaDeviceSynchronize() != cudaSuccess;
}
