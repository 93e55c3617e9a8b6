// With --default-stream=per-thread the NULL stream does not wait for others, nor they for it.
// flags: --default-stream=per-thread
__global__ void write(int *p) { p[threadIdx.x] = 5; } //~ race
__global__ void read(int *p) { p[32 + threadIdx.x] = p[threadIdx.x]; } //~ race
int main()
{
    int *p;
    cudaMalloc(&p, 4096);
    cudaStream_t a;
    cudaStreamCreate(&a);
    write<<<1, 32>>>(p);
    read<<<1, 32, 0, a>>>(p);
    return cudaDeviceSynchronize() != cudaSuccess;
}
