// Host code waits for an event behind a kernel before it writes.
__global__ void write(int *p) { p[threadIdx.x] = 5; }
int main()
{
    int *p;
    cudaMallocManaged(&p, 256);
    cudaStream_t a, b;
    cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
    cudaEvent_t done;
    cudaEventCreate(&done);
    write<<<1, 64, 0, a>>>(p);
    cudaEventRecord(done, a);
    cudaEventSynchronize(done);
    p[2] = 1;
    return cudaDeviceSynchronize() != cudaSuccess;
}
