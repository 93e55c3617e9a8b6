// Registers in inline assembly, with the documented two signs and with one, as nvcc takes them too.
#include <cstdio>

__global__ void lanes(unsigned *out)
{
    unsigned one, two, x, none;
    asm("mov.u32 %0, %laneid;" : "=r"(one));
    asm volatile("mov.u32 %0,%%laneid;"
                 : "=r"(two));
    asm("{\n\t"
        ".reg .u32 half;\n\t"
        "mov.u32 half, %ntid.x;\n\t"
        "shr.u32 %0, half, %1;\n\t"
        "}"
        : "=r"(x)
        : "n"(1));
    asm("// no operands: %laneid");
    none = 7 % (two + 1) + threadIdx.x;
    out[threadIdx.x] = one == two && one == threadIdx.x % 32 ? x + none % 2 : 1000;
}

int main()
{
    unsigned *out, sum = 0;
    cudaMallocManaged(&out, 64 * sizeof *out);
    lanes<<<1, 64>>>(out);
    cudaDeviceSynchronize();
    for (int i = 0; i < 64; i++) {
        sum += out[i] / 32;
    }
    printf("%u%% of %d\n", sum, 64);
    return cudaFree(out);
}
