// A stream that does not wait for the NULL stream.
__global__ void fill(int *p) { p[threadIdx.x] = 1; } //~ race
__global__ void use(int *p, int *q) { q[threadIdx.x] = p[threadIdx.x]; } //~ race
int main()
{
    int *p;
    cudaMalloc(&p, 4096);
    cudaStream_t a;
    cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
    fill<<<1, 32>>>(p);
    use<<<1, 32, 0, a>>>(p, p + 64);
    return cudaDeviceSynchronize() != cudaSuccess;
}
