// cuda::barrier, and a pipeline of copies into shared memory with cuda::memcpy_async.
// skip: race: ~pipeline() relies on match.sync, which orders no memory, before it destroys the barriers
#include <cooperative_groups.h>
#include <cstdio>
#include <cuda/barrier>
#include <cuda/pipeline>

namespace cg = cooperative_groups;

__global__ void producer_consumer(int *out) {
    using Barrier = cuda::barrier<cuda::thread_scope_block>;
    // clang has no constructors and destructors in shared memory, which nvcc leaves out with a warning.
    __shared__ cuda::std::aligned_storage_t<sizeof(Barrier), alignof(Barrier)> place;
    Barrier &bar = reinterpret_cast<Barrier &>(place);
    __shared__ int data[64];
    auto block = cg::this_thread_block();
    if (block.thread_rank() == 0)
        init(&bar, block.size());
    block.sync();
    for (int round = 0; round < 3; round++) {
        data[threadIdx.x] = round * 100 + threadIdx.x;
        Barrier::arrival_token token = bar.arrive();
        bar.wait(std::move(token));
        out[round * 64 + threadIdx.x] = data[63 - threadIdx.x];
        bar.arrive_and_wait();
    }
}

__global__ void pipelined(const int *in, int *out, int batches) {
    constexpr int stages = 2;
    extern __shared__ int shared[];
    auto block = cg::this_thread_block();
    using State = cuda::pipeline_shared_state<cuda::thread_scope_block, stages>;
    __shared__ cuda::std::aligned_storage_t<sizeof(State), alignof(State)> place;
    auto pipeline = cuda::make_pipeline(block, reinterpret_cast<State *>(&place));
    int size = block.size();
    for (int batch = 0, ahead = 0; batch < batches; batch++) {
        for (; ahead < batches && ahead < batch + stages; ahead++) {
            pipeline.producer_acquire();
            cuda::memcpy_async(block, shared + ahead % stages * size, in + ahead * size, sizeof(int) * size,
                               pipeline);
            pipeline.producer_commit();
        }
        pipeline.consumer_wait();
        int sum = 0;
        for (int i = 0; i <= (int)threadIdx.x; i++)
            sum += shared[batch % stages * size + i];
        out[batch * size + threadIdx.x] = sum;
        pipeline.consumer_release();
    }
}

__global__ void parent(const int *in, int *out) {
    producer_consumer<<<1, 64>>>(out);
    pipelined<<<1, 32, 2 * 32 * sizeof(int)>>>(in, out + 192, 4);
}

int main() {
    int *in, *out;
    cudaMallocManaged(&in, 128 * sizeof(int));
    cudaMallocManaged(&out, 320 * sizeof(int));
    for (int i = 0; i < 128; i++)
        in[i] = i;
    parent<<<1, 1>>>(in, out);
    printf("error %d\n", cudaDeviceSynchronize());
    printf("%d %d %d, %d %d %d\n", out[0], out[64 + 5], out[128 + 63], out[192 + 31], out[192 + 64], out[319]);
}
