// Asynchronous copies into shared memory: by a group, by a pipeline in two stages, and by plain pipeline calls;
// children do the work on a part each.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cstdio>
#include <cuda_pipeline.h>

namespace cg = cooperative_groups;

__global__ void by_group(const int *input, int *output)
{
    __shared__ int part[128];
    auto block = cg::this_thread_block();
    cg::memcpy_async(block, part, input + blockIdx.x * 128, sizeof(part));
    cg::wait(block);
    output[blockIdx.x * 128 + threadIdx.x] = part[127 - threadIdx.x];
}

__global__ void by_stages(const int4 *input, int *sums, int batches)
{
    __shared__ int4 stages[2][64];
    int sum = 0;
    __pipeline_memcpy_async(&stages[0][threadIdx.x], &input[threadIdx.x], sizeof(int4));
    __pipeline_commit();
    for (int batch = 0; batch < batches; ++batch) {
        if (batch + 1 < batches) {
            const int next = (batch + 1) * 64 + threadIdx.x;
            __pipeline_memcpy_async(&stages[(batch + 1) % 2][threadIdx.x], &input[next], sizeof(int4));
        }
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        const int4 other = stages[batch % 2][63 - threadIdx.x];
        sum += other.x + 2 * other.y + 3 * other.z + 4 * other.w;
        __syncthreads();
    }
    sums[threadIdx.x] = sum;
}

__global__ void parent(const int *input, int *output, int *sums)
{
    by_group<<<4, 128>>>(input, output);
    by_stages<<<1, 64>>>(reinterpret_cast<const int4 *>(input), sums, 2);
}

int main()
{
    int *input, *output, *sums;
    cudaMallocManaged(&input, 512 * sizeof(int));
    cudaMallocManaged(&output, 512 * sizeof(int));
    cudaMallocManaged(&sums, 64 * sizeof(int));
    for (int i = 0; i < 512; ++i) {
        input[i] = i;
    }
    parent<<<1, 1>>>(input, output, sums);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    printf("%d %d %d %d\n", output[0], output[127], output[128], output[511]);
    printf("%d %d\n", sums[0], sums[63]);
}
