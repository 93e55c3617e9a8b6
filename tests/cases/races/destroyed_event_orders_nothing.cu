// A stream waits for an event that was made anew and never recorded.
__global__ void write(int *p) { p[threadIdx.x] = 5; } //~ race
__global__ void read(const int *p, int *q) { q[threadIdx.x] = p[threadIdx.x]; } //~ race
int main()
{
    int *p;
    cudaMalloc(&p, 65536);
    cudaMemset(p, 0, 65536);
    cudaStream_t a, b;
    cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
    cudaDeviceSynchronize();
    cudaEvent_t event;
    cudaEventCreate(&event);
    cudaEventRecord(event, a);
    write<<<1, 32, 0, a>>>(p);
    cudaEventDestroy(event);
    cudaEventCreate(&event);
    cudaStreamWaitEvent(b, event);
    read<<<1, 32, 0, b>>>(p, p + 64);
    return cudaDeviceSynchronize() != cudaSuccess;
}
