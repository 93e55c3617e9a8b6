// An event has been waited for and is recorded anew: what is behind that is not waited for.
__global__ void first(int *p) { p[threadIdx.x] = 5; }
__global__ void second(int *p) { p[threadIdx.x] += 1; } //~ race
__global__ void read(int *p) { p[32 + threadIdx.x] = p[threadIdx.x]; } //~ race
int main()
{
    int *p;
    cudaMalloc(&p, 4096);
    cudaEvent_t e;
    cudaEventCreate(&e);
    cudaStream_t a, b;
    cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
    first<<<1, 32, 0, a>>>(p);
    cudaEventRecord(e, a);
    cudaStreamWaitEvent(b, e, 0);
    second<<<1, 32, 0, a>>>(p);
    cudaEventRecord(e, a);
    read<<<1, 32, 0, b>>>(p);
    return cudaDeviceSynchronize() != cudaSuccess;
}
