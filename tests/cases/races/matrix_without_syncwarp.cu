// Lanes load matrices that others have written, without __syncwarp(): that all come together orders no memory.
#include <mma.h>
using namespace nvcuda;
__global__ void k(float *out)
{
    __shared__ __align__(32) half a[256]; __shared__ __align__(32) float c[256];
    for (int i = threadIdx.x; i < 256; i += 32) a[i] = __float2half(1.0f); //~ race
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
    wmma::fill_fragment(fc, 0.0f);
    wmma::load_matrix_sync(fa, a, 16); //~ race
    wmma::load_matrix_sync(fb, a, 16); //~ race
    wmma::mma_sync(fc, fa, fb, fc);
    wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major); //~ race
    for (int i = threadIdx.x; i < 256; i += 32) out[i] = c[255 - i]; //~ race
}
int main() { float *o; cudaMalloc(&o, 1024); k<<<1, 32>>>(o); return cudaDeviceSynchronize() != cudaSuccess; }
