// Host code waits for the event behind a copy before it fills its pinned buffer again.
__global__ void use(const int *p, int *q) { atomicAdd(q, p[threadIdx.x]); }
int main()
{
    int *p, *q, *h;
    cudaMalloc(&p, 256);
    cudaMalloc(&q, 4);
    cudaMemset(q, 0, 4);
    cudaHostAlloc(&h, 256, cudaHostAllocDefault);
    cudaStream_t s;
    cudaStreamCreate(&s);
    cudaEvent_t copied;
    cudaEventCreate(&copied);
    for (int round = 0; round < 3; round++) {
        cudaEventSynchronize(copied);
        for (int i = 0; i < 64; i++)
            h[i] = round + i;
        cudaMemcpyAsync(p, h, 256, cudaMemcpyHostToDevice, s);
        cudaEventRecord(copied, s);
        use<<<1, 64, 0, s>>>(p, q);
    }
    return cudaDeviceSynchronize() != cudaSuccess;
}
