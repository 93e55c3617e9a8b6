// ldmatrix of rows that another warp has stored, without a barrier.
__global__ void k(unsigned *out)
{
    __shared__ alignas(16) unsigned s[64];
    s[threadIdx.x ^ 32] = threadIdx.x; //~ race
    unsigned a = (unsigned)__cvta_generic_to_shared(s + (threadIdx.x & 7) * 4 + (threadIdx.x & 32)), d;
    __syncwarp();
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(d) : "r"(a) : "memory"); //~ race
    out[threadIdx.x] = d;
}
int main()
{
    unsigned *p;
    cudaMalloc(&p, 4096);
    k<<<1, 64>>>(p);
    return cudaDeviceSynchronize() != cudaSuccess;
}
