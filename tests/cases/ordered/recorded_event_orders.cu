// A stream waits for an event that was recorded again behind the writer.
__global__ void write(int *p) { p[threadIdx.x] = 5; }
__global__ void read(const int *p, int *q) { q[threadIdx.x] = p[threadIdx.x]; }
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
    cudaEventRecord(event, a);
    cudaStreamWaitEvent(b, event);
    read<<<1, 32, 0, b>>>(p, p + 64);
    return cudaDeviceSynchronize() != cudaSuccess;
}
