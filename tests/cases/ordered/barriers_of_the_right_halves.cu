// Halves of a block meet at a barrier each.
__global__ void k(int *out)
{
    __shared__ int s[2][64];
    int w = threadIdx.x / 64, t = threadIdx.x % 64;
    s[w][t] = t;
    asm volatile("bar.sync %0, 64;" :: "r"(1 + w) : "memory");
    out[threadIdx.x] = s[w][63 - t];
}
int main()
{
    int *o;
    cudaMalloc(&o, 4096);
    k<<<1, 128>>>(o);
    return cudaDeviceSynchronize() != cudaSuccess;
}
