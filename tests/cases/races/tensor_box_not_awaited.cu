// A box of a tensor is copied into shared memory, and read before its barrier object says that it is there.
#include <cstdio>
#include <cuda.h>

__global__ void sum(const __grid_constant__ CUtensorMap tensor, int *out)
{
    __shared__ __align__(128) int box[8][32];
    __shared__ __align__(8) unsigned long long told;
    unsigned object = (unsigned)__cvta_generic_to_shared(&told);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(object) : "memory");
        asm volatile("fence.proxy.async;" ::: "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(object), "r"((int)sizeof box)
                     : "memory");
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes" //~ race
                     " [%0], [%1, {%2, %3}], [%4];" ::"r"((unsigned)__cvta_generic_to_shared(box)),
                     "l"(&tensor), "r"(4), "r"(2), "r"(object)
                     : "memory");
    }
    __syncthreads();
    int total = 0;
    for (int row = 0; row < 8; row++)
        total += box[row][threadIdx.x]; //~ race
    out[threadIdx.x] = total;
}

int main()
{
    int *matrix, *out;
    cudaMalloc(&matrix, 16 * 64 * sizeof(int));
    cudaMemset(matrix, 1, 16 * 64 * sizeof(int));
    cudaMalloc(&out, 32 * sizeof(int));
    void *found = nullptr;
    cudaDriverEntryPointQueryResult query;
    cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault, &query);
    CUtensorMap map;
    cuuint64_t size[] = {64, 16}, stride[] = {256};
    cuuint32_t box[] = {32, 8}, step[] = {1, 1};
    ((decltype(&cuTensorMapEncodeTiled))found)(&map, CU_TENSOR_MAP_DATA_TYPE_INT32, 2, matrix, size, stride, box, step,
                                               CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                                               CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    sum<<<1, 32>>>(map, out);
    cudaDeviceSynchronize();
    cudaFree(matrix);
    cudaFree(out);
    return 0;
}
