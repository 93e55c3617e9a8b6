// What a child launched into its tail and what its parent fired have nothing in common.
__global__ void late(int *p) { p[threadIdx.x] = 1; }
__global__ void other(int *p) { p[threadIdx.x + 32] = 2; }
__global__ void child(int *p) { if (threadIdx.x == 0) late<<<1, 32, 0, cudaStreamTailLaunch>>>(p); }
__global__ void parent(int *p)
{
    child<<<1, 1, 0, cudaStreamFireAndForget>>>(p);
    other<<<1, 32, 0, cudaStreamFireAndForget>>>(p);
}
int main()
{
    int *p;
    cudaMalloc(&p, 4096);
    cudaMemset(p, 0, 4096);
    parent<<<1, 1>>>(p);
    return cudaDeviceSynchronize() != cudaSuccess;
}
