// fault: undefined-exchange
// Products of matrices are a whole warp's; this block ends in half of one.
#include <cuda_fp16.h>
#include <mma.h>

__global__ void k(const half *a, float *out)
{
    using namespace nvcuda::wmma;
    fragment<matrix_a, 16, 16, 16, half, row_major> left;
    fragment<matrix_b, 16, 16, 16, half, row_major> right;
    fragment<accumulator, 16, 16, 16, float> sum;
    fill_fragment(sum, 0.0f);
    load_matrix_sync(left, a, 16); //~ fault
    load_matrix_sync(right, a, 16); //~ fault
    mma_sync(sum, left, right, sum); //~ fault
    store_matrix_sync(out, sum, 16, mem_row_major); //~ fault
}

int main()
{
    half *a;
    float *out;
    cudaMalloc(&a, 512);
    cudaMalloc(&out, 1024);
    cudaMemset(a, 0, 512);
    k<<<1, 48>>>(a, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
