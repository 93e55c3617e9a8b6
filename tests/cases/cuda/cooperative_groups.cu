// Cooperative groups: tiles, coalesced threads, reductions and scans.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cstdio>

namespace cg = cooperative_groups;

template <unsigned SIZE> __device__ int tile_sum(cg::thread_block block, int value) {
    auto tile = cg::tiled_partition<SIZE>(block);
    return cg::reduce(tile, value, cg::plus<int>());
}

__global__ void groups(int *out) {
    cg::thread_block block = cg::this_thread_block();
    int rank = block.thread_rank();
    int sums[] = {tile_sum<4>(block, rank), tile_sum<16>(block, rank), tile_sum<32>(block, rank)};
    for (int i = 0; i < 3; i++)
        out[i * 64 + rank] = sums[i];
    auto warp = cg::tiled_partition<32>(block);
    out[3 * 64 + rank] = cg::inclusive_scan(warp, rank);
    if (rank % 3 == 0) {
        cg::coalesced_group active = cg::coalesced_threads();
        out[4 * 64 + rank] = active.size() * 100 + active.thread_rank();
    }
    block.sync();
}

__global__ void launcher(int *out) { groups<<<1, 64>>>(out); }

int main() {
    int *out;
    cudaMallocManaged(&out, 5 * 64 * sizeof(int));
    for (int i = 0; i < 5 * 64; i++)
        out[i] = 0;
    launcher<<<1, 1>>>(out);
    printf("error %d\n", cudaDeviceSynchronize());
    for (int i = 0; i < 5; i++)
        printf("%d %d %d %d\n", out[i * 64], out[i * 64 + 18], out[i * 64 + 33], out[i * 64 + 63]);
}
