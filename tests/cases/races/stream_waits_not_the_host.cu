// A stream waits for an event, which makes no host code wait.
__global__ void write(int *p) { p[threadIdx.x] = 5; } //~ race
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
    cudaStreamWaitEvent(b, done);
    p[2] = 1; //~ race
    return cudaDeviceSynchronize() != cudaSuccess;
}
