// A stream that waits for no other, beside that of the thread.
__global__ void write(int *p) { p[threadIdx.x] = 5; } //~ race
__global__ void read(int *p) { p[32 + threadIdx.x] = p[threadIdx.x]; } //~ race
int main()
{
    int *p;
    cudaMalloc(&p, 4096);
    cudaStream_t a;
    cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
    write<<<1, 32, 0, cudaStreamPerThread>>>(p);
    read<<<1, 32, 0, a>>>(p);
    return cudaDeviceSynchronize() != cudaSuccess;
}
