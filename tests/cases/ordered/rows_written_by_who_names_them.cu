// Each lane names the row of a matrix that it has written itself.
#include <cstdint>
__global__ void k(unsigned *out)
{
    __shared__ __align__(16) unsigned s[32 * 4];
    int row = threadIdx.x;
    for (int i = 0; i < 4; i++)
        s[row * 4 + i] = row * i;
    unsigned a = (unsigned)__cvta_generic_to_shared(s + row * 4), r[4];
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(a) : "memory");
    for (int i = 0; i < 4; i++)
        out[row * 4 + i] = r[i];
}
int main() { unsigned *o; cudaMalloc(&o, 512); k<<<1, 32>>>(o); return cudaDeviceSynchronize() != cudaSuccess; }
