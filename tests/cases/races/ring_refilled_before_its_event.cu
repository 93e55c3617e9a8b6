// The host fills a slot of its ring, and waits then for who used it.
__global__ void use(const int *p, int *q) { atomicAdd(q, p[threadIdx.x]); } //~ race
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
        for (int i = 0; i < 64; i++)
            ring[slot * 64 + i] = i; //~ race
        cudaEventSynchronize(used[slot]);
        use<<<1, 64>>>(ring + slot * 64, q);
        cudaEventRecord(used[slot]);
    }
    return cudaDeviceSynchronize() != cudaSuccess;
}
