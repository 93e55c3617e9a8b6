// A matrix product by the tensor cores: a kernel launches one child a row of tiles, each warp makes one tile of
// 16 by 16 from halves, with the sums in single precision; every value is a small integer, so sums are exact.
#include <cstdio>
#include <cuda_fp16.h>
#include <mma.h>
#include <vector>

using namespace nvcuda;

constexpr int TILE = 16;

template <int TILES>
__global__ void row_of_tiles(const half *a, const half *b, float *c, int row)
{
    constexpr int N = TILE * TILES;
    const int column = threadIdx.x / warpSize;
    wmma::fragment<wmma::matrix_a, TILE, TILE, TILE, half, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, TILE, TILE, TILE, half, wmma::col_major> right;
    wmma::fragment<wmma::accumulator, TILE, TILE, TILE, float> sum;
    wmma::fill_fragment(sum, 0.5f);
    for (int k = 0; k < N; k += TILE) {
        wmma::load_matrix_sync(left, a + row * TILE * N + k, N);
        wmma::load_matrix_sync(right, b + column * TILE * N + k, N);
        wmma::mma_sync(sum, left, right, sum);
    }
    for (int i = 0; i < sum.num_elements; ++i) {
        sum.x[i] *= 2;
    }
    wmma::store_matrix_sync(c + row * TILE * N + column * TILE, sum, N, wmma::mem_row_major);
}

template <int TILES> __global__ void product(const half *a, const half *b, float *c)
{
    row_of_tiles<TILES><<<1, 32 * TILES, 0, cudaStreamFireAndForget>>>(a, b, c, threadIdx.x);
}

int main()
{
    constexpr int TILES = 3, N = TILE * TILES;
    std::vector<half> a(N * N), b(N * N);
    for (int i = 0; i < N; ++i) {
        for (int k = 0; k < N; ++k) {
            a[i * N + k] = __float2half(float((i * 7 + k * 3) % 11 - 5));
            // By columns.
            b[i * N + k] = __float2half(float((i * 5 + k) % 7 - 3));
        }
    }
    half *device_a, *device_b;
    float *device_c;
    cudaMalloc(&device_a, a.size() * sizeof(half));
    cudaMalloc(&device_b, b.size() * sizeof(half));
    cudaMalloc(&device_c, N * N * sizeof(float));
    cudaMemcpy(device_a, a.data(), a.size() * sizeof(half), cudaMemcpyHostToDevice);
    cudaMemcpy(device_b, b.data(), b.size() * sizeof(half), cudaMemcpyHostToDevice);
    product<TILES><<<1, TILES>>>(device_a, device_b, device_c);
    std::vector<float> c(N * N);
    cudaMemcpy(c.data(), device_c, c.size() * sizeof(float), cudaMemcpyDeviceToHost);

    int wrong = 0;
    for (int i = 0; i < N; ++i) {
        for (int j = 0; j < N; ++j) {
            float expected = 0.5f;
            for (int k = 0; k < N; ++k) {
                expected += __half2float(a[i * N + k]) * __half2float(b[j * N + k]);
            }
            wrong += c[i * N + j] != 2 * expected;
        }
    }
    printf("%g %g %g, %d wrong\n", c[0], c[5 * N + 40], c[N * N - 1], wrong);
    printf("%s\n", cudaGetErrorString(cudaGetLastError()));
}
