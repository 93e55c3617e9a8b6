// Memory is released in a stream that has not waited for the one in which it is used.
__global__ void use(int *p) { p[threadIdx.x] = threadIdx.x; } //~ race

int main()
{
    int *p;
    cudaStream_t a, b;
    cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
    cudaMallocAsync((void **)&p, 256, a);
    cudaStreamSynchronize(a);
    use<<<1, 32, 0, b>>>(p);
    cudaFreeAsync(p, a);
    return cudaDeviceSynchronize() != cudaSuccess;
}
