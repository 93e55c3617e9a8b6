// Halves of a block meet at barriers that two warps of different halves share.
__global__ void k(int *out)
{
    __shared__ int s[2][64];
    int w = threadIdx.x / 64, t = threadIdx.x % 64;
    s[w][t] = t; //~ race
    asm volatile("bar.sync %0, 64;" :: "r"(1 + threadIdx.x % 64 / 32) : "memory");
    out[threadIdx.x] = s[w][63 - t]; //~ race
}
int main()
{
    int *o;
    cudaMalloc(&o, 4096);
    k<<<1, 128>>>(o);
    return cudaDeviceSynchronize() != cudaSuccess;
}
