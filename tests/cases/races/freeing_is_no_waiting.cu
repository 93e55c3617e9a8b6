// cudaFreeAsync() does not make the host wait: what it launches next into another stream is not ordered by that.
__global__ void fill(int *p) { p[threadIdx.x] = threadIdx.x; } //~ race
__global__ void use(int *p) { p[threadIdx.x + 32] = p[threadIdx.x]; } //~ race

int main()
{
    int *p, *q;
    cudaStream_t a, b;
    cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
    cudaMalloc(&p, 256);
    cudaMallocAsync((void **)&q, 256, a);
    cudaStreamSynchronize(a);
    fill<<<1, 32, 0, a>>>(p);
    cudaFreeAsync(q, a);
    use<<<1, 32, 0, b>>>(p);
    return cudaDeviceSynchronize() != cudaSuccess;
}
