// Registers in inline assembly, with the documented two signs and with one, as nvcc takes them too.
#include <cstdio>

__global__ void lanes(unsigned *out)
{
    unsigned one, two, x, none, of_own;
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
    // A register of the program's own with a name of one letter.
    asm("{\n\t"
        ".reg .pred %p;\n\t"
        "setp.gt.u32 %p, %1, 15;\n\t"
        "selp.u32 %0, 1, 2, %p;\n\t"
        "}"
        : "=r"(of_own)
        : "r"(one));
    asm("// no operands: %laneid");
    none = 7 % (two + 1) + threadIdx.x;
    const bool is_right = one == two && of_own == (one > 15 ? 1 : 2);
    out[threadIdx.x] = is_right && one == threadIdx.x % 32 ? x + none % 2 : 1000;
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
