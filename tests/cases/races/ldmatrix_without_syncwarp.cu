// A row of a matrix is loaded that another lane has just written.
#include <cstdint>
__global__ void k(unsigned *out)
{
    __shared__ __align__(16) unsigned short s[8 * 8];
    s[62 - threadIdx.x * 2] = threadIdx.x; //~ race
    s[63 - threadIdx.x * 2] = threadIdx.x; //~ race
    unsigned a = (unsigned)__cvta_generic_to_shared(s + (threadIdx.x % 8) * 8), r;
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(r) : "r"(a) : "memory"); //~ race
    out[threadIdx.x] = r;
}
int main() { unsigned *o; cudaMalloc(&o, 256); k<<<1, 32>>>(o); return cudaDeviceSynchronize() != cudaSuccess; }
