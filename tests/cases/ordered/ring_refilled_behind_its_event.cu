// The host waits for the event of the slot that it fills.
__global__ void use(const int *p, int *q) { atomicAdd(q, p[threadIdx.x]); }
int main()
{
    int *ring, *q;
    cudaMallocManaged(&ring, 2 * 256);
    cudaMalloc(&q, 4);
    cudaMemset(q, 0, 4);
    cudaDeviceSynchronize();
    cudaEvent_t used[2];
    for (auto &event : used)
        cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    for (int round = 0; round < 4; round++) {
        int slot = round % 2;
        cudaEventSynchronize(used[slot]);
        for (int i = 0; i < 64; i++)
            ring[slot * 64 + i] = i;
        use<<<1, 64>>>(ring + slot * 64, q);
        cudaEventRecord(used[slot]);
    }
    return cudaDeviceSynchronize() != cudaSuccess;
}
