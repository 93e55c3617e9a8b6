// Lanes that match meet before they read.
__global__ void k(const int *key, int *out)
{
    __shared__ int s[32];
    s[threadIdx.x] = key[threadIdx.x];
    unsigned peers = __match_any_sync(0xffffffff, key[threadIdx.x]);
    __syncwarp(peers);
    int next = __ffs(peers) - 1;
    out[threadIdx.x] = s[next];
}
int main()
{
    int *p;
    cudaMalloc(&p, 4096);
    cudaMemset(p, 0, 4096);
    k<<<1, 32>>>(p, p + 64);
    return cudaDeviceSynchronize() != cudaSuccess;
}
