// Columns beside those that a copy of a rectangle reads are written in another stream.
__global__ void write(int *p) { p[threadIdx.y * 64 + 16 + threadIdx.x] = 5; }
int main()
{
    int *p, *h;
    cudaMalloc(&p, 64 * 8 * 4);
    cudaMallocHost(&h, 4096);
    cudaMemset(p, 0, 64 * 8 * 4);
    cudaDeviceSynchronize();
    cudaStream_t a, b;
    cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
    cudaMemcpy2DAsync(h, 64, p, 256, 64, 8, cudaMemcpyDeviceToHost, a);
    write<<<1, dim3(16, 8), 0, b>>>(p);
    return cudaDeviceSynchronize() != cudaSuccess;
}
