// Cooperative groups beyond tiles of a fixed size: scans and reductions over tiles, groups by predicate and by label,
// coalesced threads, tiles larger than a warp, copies and barriers of groups, one thread chosen for all.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cstdio>
#include <cstring>

namespace cg = cooperative_groups;

enum { Sum, Most, Exclusive, Inclusive, Odd, Label, Active, Vote, Exchanged, Matched, Groups, First, Size, Blocks, Threads,
       Tiles, LargeTiles, Once, Count };

__global__ void measure(const int *in, int *out)
{
    extern __shared__ int numbers[];
    auto grid = cg::this_grid();
    auto block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    auto eight = cg::tiled_partition<8>(warp);

    cg::memcpy_async(block, numbers, in + block.group_index().x * block.size(), sizeof(int) * block.size());
    cg::wait(block);
    int value = numbers[block.thread_rank()];

    int sum = cg::reduce(warp, value, cg::plus<int>());
    int most = cg::reduce(eight, value, cg::greater<int>());
    if (warp.thread_rank() == 0)
        atomicAdd(&out[Sum], sum);
    if (eight.thread_rank() == 0)
        atomicMax(&out[Most], most);
    atomicAdd(&out[Exclusive], cg::exclusive_scan(warp, value));
    atomicAdd(&out[Inclusive], cg::inclusive_scan(eight, value, cg::plus<int>()));

    auto by_parity = cg::binary_partition(warp, value & 1);
    atomicAdd(&out[Odd], static_cast<int>(by_parity.size()));
    auto by_label = cg::labeled_partition(warp, value % 3);
    atomicAdd(&out[Label], cg::reduce(by_label, 1, cg::plus<int>()));
    atomicAdd(&out[Active], static_cast<int>(cg::coalesced_threads().size()));

    int votes = warp.any(value > 1000) + __popc(warp.ballot(value & 1));
    atomicAdd(&out[Vote], votes);
    atomicXor(&out[Exchanged], warp.shfl_xor(value, 1));
    atomicAdd(&out[Matched], __popc(warp.match_any(value & 3)));
    if (value & 4) {
        auto group = cg::coalesced_threads();
        if (group.thread_rank() == 0)
            atomicAdd(&out[Groups], static_cast<int>(group.size()));
        atomicAdd(&out[First], group.shfl(value, 0));
    }
    grid.sync();
    if (grid.thread_rank() == 0) {
        out[Size] = grid.size();
        out[Blocks] = grid.num_blocks();
        out[Threads] = block.num_threads();
        out[Tiles] = eight.meta_group_size();
    }
    auto large = cg::tiled_partition<64>(block);
    if (large.thread_rank() == 0)
        atomicAdd(&out[LargeTiles], static_cast<int>(large.meta_group_rank()));
    cg::invoke_one(warp, [&] { atomicAdd(&out[Once], 1); });
    block.barrier_wait(block.barrier_arrive());
}

int main()
{
    int n = 512, *in, *out;
    cudaMallocManaged(&in, n * sizeof(int));
    cudaMallocManaged(&out, Count * sizeof(int));
    for (int i = 0; i < n; ++i)
        in[i] = i * 37 % 101;
    memset(out, 0, Count * sizeof(int));
    int blocks;
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, measure, 128, 512);
    printf("fits %d\n", blocks > 0);
    void *args[] = {&in, &out};
    printf("launch %d\n", cudaLaunchCooperativeKernel(reinterpret_cast<void *>(measure), 4, 128, args, 512, 0));
    printf("done %d\n", cudaDeviceSynchronize());
    for (int i = 0; i < Count; ++i)
        printf("%d%c", out[i], i + 1 < Count ? ' ' : '\n');
}
