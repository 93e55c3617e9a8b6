// groups.ptx: nvcc -ptx -arch=sm_90 -rdc=true.
//
// Groups beyond a block's barrier: grids that meet, tiles wider than a warp, copies that tell a barrier.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda/barrier>
#include <cuda/ptx>
namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;

__device__ int data[16384];

extern "C" __global__ void meet(int *sum, int rounds) {
    cg::grid_group grid = cg::this_grid();
    int rank = grid.thread_rank(), size = grid.size();
    data[rank] = rank;
    for (int round = 0; round < rounds; round++) {
        grid.sync();
        int next = data[(rank + 77) % size] + 1;
        grid.sync();
        data[rank] = next;
    }
    atomicAdd(sum, data[rank]);
}

extern "C" __global__ void tiles(int *out) {
    auto tile = cg::tiled_partition<64>(cg::this_thread_block());
    int sum = cg::reduce(tile, (int)threadIdx.x, cg::plus<int>());
    tile.sync();
    out[threadIdx.x] = sum * 100 + tile.meta_group_rank();
}

extern "C" __global__ void stream(const int *in, int *out, int *sums, int blocks) {
    using barrier = cuda::barrier<cuda::thread_scope_block>;
    __shared__ alignas(16) int tile[2][256];
    __shared__ alignas(16) int result[256];
    __shared__ alignas(barrier) char places[2 * sizeof(barrier)];
    barrier *bars = (barrier *)places;
    if (threadIdx.x == 0) {
        init(&bars[0], blockDim.x);
        init(&bars[1], blockDim.x);
        ptx::fence_proxy_async(ptx::space_shared);
    }
    __syncthreads();
    auto load = [&](int i) {
        barrier::arrival_token token;
        if (threadIdx.x == 0) {
            cuda::device::memcpy_async_tx(tile[i & 1], in + 256 * i,
                                          cuda::aligned_size_t<16>(1024), bars[i & 1]);
            token = cuda::device::barrier_arrive_tx(bars[i & 1], 1, 1024);
        } else {
            token = bars[i & 1].arrive();
        }
        return token;
    };
    auto token = load(0);
    for (int i = 0; i < blocks; i++) {
        bars[i & 1].wait(std::move(token));
        if (i + 1 < blocks) token = load(i + 1);
        for (int j = threadIdx.x; j < 256; j += blockDim.x) result[j] = tile[i & 1][j] * 3 + i;
        ptx::fence_proxy_async(ptx::space_shared);
        __syncthreads();
        if (threadIdx.x == 0) {
            ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out + 256 * i, result, 1024);
            ptx::cp_reduce_async_bulk(ptx::space_global, ptx::space_shared, ptx::op_add, sums,
                                      result, 1024);
            ptx::cp_async_bulk_commit_group();
            ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>{});
        }
        __syncthreads();
    }
}
