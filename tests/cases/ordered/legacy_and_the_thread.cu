// The stream of the thread and the NULL stream wait for each other.
__global__ void write(int *p) { p[threadIdx.x] = 5; }
__global__ void read(int *p) { p[32 + threadIdx.x] = p[threadIdx.x]; }
int main()
{
    int *p;
    cudaMalloc(&p, 4096);
    cudaStream_t a;
    cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
    write<<<1, 32, 0, cudaStreamPerThread>>>(p);
    read<<<1, 32>>>(p);
    return cudaDeviceSynchronize() != cudaSuccess;
}
