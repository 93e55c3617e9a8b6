// Memory is released in the stream that uses it, or behind an event of the one that did.
__global__ void use(int *p) { p[threadIdx.x] += threadIdx.x; }

int main()
{
    int *p, *q;
    cudaStream_t a, b;
    cudaEvent_t used;
    cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&used, cudaEventDisableTiming);
    for (int round = 0; round < 3; round++) {
        cudaMallocAsync((void **)&p, 256, a);
        cudaMallocAsync((void **)&q, 256, a);
        cudaMemsetAsync(p, 0, 256, a);
        cudaMemsetAsync(q, 0, 256, a);
        use<<<1, 32, 0, a>>>(p);
        cudaEventRecord(used, a);
        cudaStreamWaitEvent(b, used, 0);
        use<<<1, 32, 0, b>>>(q);
        cudaEventRecord(used, b);
        cudaStreamWaitEvent(a, used, 0);
        cudaFreeAsync(p, a);
        cudaFreeAsync(q, a);
    }
    return cudaDeviceSynchronize() != cudaSuccess;
}
