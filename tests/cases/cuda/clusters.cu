// Thread block clusters: dimensions of the kernel and of the launch, cooperative groups, the shared memory
// of other blocks by loads, stores, atomics and bulk copies, barrier objects of other blocks, 3-D ranks.
#include <cooperative_groups.h>
#include <cstdint>
#include <cstdio>

namespace cg = cooperative_groups;

// A histogram whose bins are spread over the blocks of a cluster.
__global__ void __cluster_dims__(4, 1, 1) histogram(const int *in, int count, int *bins) {
    __shared__ int part[16];
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x < 16)
        part[threadIdx.x] = 0;
    cluster.sync();
    unsigned first = (cluster.block_rank() * blockDim.x) + threadIdx.x;
    for (int i = first; i < count; i += cluster.num_threads()) {
        int bin = in[i] % 64;
        int *home = cluster.map_shared_rank(part, bin / 16);
        atomicAdd(home + bin % 16, 1);
    }
    cluster.sync();
    if (threadIdx.x < 16)
        bins[cluster.block_rank() * 16 + threadIdx.x] = part[threadIdx.x];
}

// Where each block is, in a grid of 4 x 4 x 2 with clusters of 2 x 2 x 2.
__global__ void places(int *out) {
    cg::cluster_group cluster = cg::this_cluster();
    unsigned id[3], clusters[3], explicit_cluster;
    asm volatile("mov.u32 %0, %%clusterid.x;" : "=r"(id[0]));
    asm volatile("mov.u32 %0, %%clusterid.y;" : "=r"(id[1]));
    asm volatile("mov.u32 %0, %%clusterid.z;" : "=r"(id[2]));
    asm volatile("mov.u32 %0, %%nclusterid.x;" : "=r"(clusters[0]));
    asm volatile("mov.u32 %0, %%nclusterid.y;" : "=r"(clusters[1]));
    asm volatile("mov.u32 %0, %%nclusterid.z;" : "=r"(clusters[2]));
    asm volatile("{ .reg .pred p; mov.pred p, %%is_explicit_cluster; selp.u32 %0, 1, 0, p; }"
                 : "=r"(explicit_cluster));
    dim3 at = cluster.block_index(), size = cluster.dim_blocks();
    if (threadIdx.x == 0) {
        int *mine = out + 8 * (blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z));
        mine[0] = id[0] + 10 * id[1] + 100 * id[2];
        mine[1] = clusters[0] + 10 * clusters[1] + 100 * clusters[2];
        mine[2] = at.x + 10 * at.y + 100 * at.z;
        mine[3] = size.x + 10 * size.y + 100 * size.z;
        mine[4] = cluster.block_rank();
        mine[5] = cluster.num_blocks();
        mine[6] = cluster.thread_rank();
        mine[7] = explicit_cluster;
    }
}

// A ring: each block writes to the next one's memory, and reads what the last one wrote.
__global__ void ring(int *out) {
    extern __shared__ int slots[];
    cg::cluster_group cluster = cg::this_cluster();
    unsigned rank = cluster.block_rank(), size = cluster.num_blocks();
    for (int round = 0; round < 3; round++) {
        int *next = cluster.map_shared_rank(slots, (rank + 1) % size);
        cluster.sync();
        next[threadIdx.x] = rank * 100 + threadIdx.x + round * 1000;
        cluster.sync();
        int seen = slots[blockDim.x - 1 - threadIdx.x];
        out[(round * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x] = seen;
    }
    // Nobody ends while others are in its memory.
    cluster.sync();
}

__device__ unsigned shared_address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

// Which addresses are in whose memory.
__global__ void spaces(int *out) {
    __shared__ int here;
    cg::cluster_group cluster = cg::this_cluster();
    unsigned rank = cluster.block_rank(), other = rank ^ 1;
    if (threadIdx.x == 0)
        here = 7 + rank;
    cluster.sync();
    int *there = cluster.map_shared_rank(&here, other), *mine = cluster.map_shared_rank(&here, rank);
    unsigned far, of_far, of_mine, of_there, seen;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(far) : "r"(shared_address(&here)), "r"(other));
    asm volatile("getctarank.shared::cluster.u32 %0, %1;" : "=r"(of_far) : "r"(far));
    asm volatile("getctarank.u64 %0, %1;" : "=r"(of_there) : "l"(there));
    asm volatile("getctarank.u64 %0, %1;" : "=r"(of_mine) : "l"(mine));
    asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(seen) : "r"(far) : "memory");
    int bits = 0, place = 0;
    for (const int *p : {(const int *)&here, (const int *)there, (const int *)out}) {
        unsigned in_cta, in_cluster;
        asm volatile("{ .reg .pred p; isspacep.shared::cta p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(in_cta) : "l"(p));
        asm volatile("{ .reg .pred p; isspacep.shared::cluster p, %1; selp.u32 %0, 1, 0, p; }"
                     : "=r"(in_cluster) : "l"(p));
        bits |= (in_cta | in_cluster << 1) << 2 * place++;
    }
    unsigned long long generic;
    asm volatile("{ .reg .u64 a; cvt.u64.u32 a, %1; cvta.shared::cluster.u64 %0, a; }" : "=l"(generic) : "r"(far));
    if (threadIdx.x == 0) {
        int *row = out + 8 * blockIdx.x;
        row[0] = of_far;
        row[1] = of_mine;
        row[2] = of_there;
        row[3] = seen;
        row[4] = *there;
        row[5] = bits;
        row[6] = *(const int *)generic;
        row[7] = cluster.query_shared_rank(there);
    }
    cluster.sync();
}

// Barrier objects of another block: remote arrivals, st.async and red.async with transaction bytes.
__global__ void messages(int *out) {
    __shared__ alignas(16) int box[8];
    __shared__ alignas(8) uint64_t bar;
    cg::cluster_group cluster = cg::this_cluster();
    unsigned rank = cluster.block_rank(), size = cluster.num_blocks();
    if (threadIdx.x < 8)
        box[threadIdx.x] = 0;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared_address(&bar)), "r"(1 + size));
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        // Two stores of 4, one of 8 and one of 16 bytes, and a reduction of 4 by each block.
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(shared_address(&bar)), "r"(28 + 4 * size));
    }
    cluster.sync();
    if (threadIdx.x == 0) {
        unsigned next = (rank + 1) % size, to, object;
        asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(to) : "r"(shared_address(box)), "r"(next));
        asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(object) : "r"(shared_address(&bar)), "r"(next));
        asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(to), "r"(rank * 10 + 1), "r"(object) : "memory");
        asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b64 [%0+8], %1, [%2];" ::"r"(to), "l"((rank * 10 + 2) | (rank * 10ull + 3) << 32), "r"(object) : "memory");
        asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.s32 [%0+16], {%1, %2, %3, %4}, [%5];" ::"r"(to), "r"(rank * 10 + 4), "r"(rank * 10 + 5), "r"(-1), "r"(rank * 10 + 7), "r"(object) : "memory");
        for (unsigned other = 0; other < size; other++) {
            asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(to) : "r"(shared_address(box)), "r"(other));
            asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(object) : "r"(shared_address(&bar)), "r"(other));
            asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%0+4], %1, [%2];" ::"r"(to), "r"(1 + rank), "r"(object) : "memory");
            asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(object) : "memory");
        }
    }
    unsigned done = 0;
    while (!done)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                     : "=r"(done) : "r"(shared_address(&bar)) : "memory");
    if (threadIdx.x < 8)
        out[blockIdx.x * 8 + threadIdx.x] = box[threadIdx.x];
    cluster.sync();
}

// Bulk copies to one block, to several, and from block to block.
__global__ void copies(const int *in, int *out) {
    __shared__ alignas(16) int all[32], some[32], own[32];
    __shared__ alignas(8) uint64_t bar;
    cg::cluster_group cluster = cg::this_cluster();
    unsigned rank = cluster.block_rank();
    some[threadIdx.x] = -1;
    own[threadIdx.x] = rank * 1000 + threadIdx.x;
    // Bulk copies read and overwrite what was just stored.
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    bool gets = rank == 1 || rank == 3;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_address(&bar)));
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(shared_address(&bar)), "r"(gets ? 256 : 128));
    }
    cluster.sync();
    if (threadIdx.x == 0) {
        if (rank == 0)
            asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], 128, [%2], %3;"
                         ::"r"(shared_address(some)), "l"(in), "r"(shared_address(&bar)), "h"((uint16_t)0b1010) : "memory");
        unsigned to, object, other = (rank + 1) % 4;
        asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(to) : "r"(shared_address(all)), "r"(other));
        asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(object) : "r"(shared_address(&bar)), "r"(other));
        asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], 128, [%2];"
                     ::"r"(to), "r"(shared_address(own)), "r"(object) : "memory");
    }
    unsigned done = 0;
    while (!done)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                     : "=r"(done) : "r"(shared_address(&bar)) : "memory");
    out[blockIdx.x * 32 + threadIdx.x] = all[threadIdx.x] * 10000 + some[threadIdx.x];
    cluster.sync();
}

// Arrivals apart from waits, threads that end early, and a cluster of one block.
__global__ void apart(int *out) {
    __shared__ int value;
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x >= 48)
        return;
    if (threadIdx.x == 0)
        value = cluster.block_rank() + 1;
    cluster.barrier_arrive();
    int own = threadIdx.x;
    cluster.barrier_wait();
    int sum = 0;
    for (unsigned rank = 0; rank < cluster.num_blocks(); rank++)
        sum += *cluster.map_shared_rank(&value, rank);
    asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory");
    out[blockIdx.x * 48 + threadIdx.x] = sum * 100 + own;
    asm volatile("barrier.cluster.wait;" ::: "memory");
}

template <class... Params, class... Args>
static cudaError_t launch(void (*kernel)(Params...), dim3 grid, dim3 block, dim3 cluster, size_t bytes, Args... args) {
    cudaLaunchConfig_t config = {};
    config.gridDim = grid;
    config.blockDim = block;
    config.dynamicSmemBytes = bytes;
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = cluster.x;
    attribute.val.clusterDim.y = cluster.y;
    attribute.val.clusterDim.z = cluster.z;
    config.attrs = &attribute;
    config.numAttrs = 1;
    return cudaLaunchKernelEx(&config, kernel, Params(args)...);
}

static unsigned hash(const int *data, int count) {
    unsigned h = 1;
    for (int i = 0; i < count; i++)
        h = h * 31 + (unsigned)data[i];
    return h;
}

int main() {
    int *in, *out;
    cudaMallocManaged(&in, 4096 * sizeof(int));
    cudaMallocManaged(&out, 4096 * sizeof(int));
    for (int i = 0; i < 4096; i++)
        in[i] = i * 7919 % 1009;
    histogram<<<4, 64>>>(in, 4096, out);
    printf("histogram %s:", cudaGetErrorString(cudaDeviceSynchronize()));
    for (int i = 0; i < 64; i++)
        printf(" %d", out[i]);
    printf("\n");

    printf("places %d\n", launch(places, dim3(4, 4, 2), 32, dim3(2, 2, 2), 0, out));
    cudaDeviceSynchronize();
    for (int block = 0; block < 32; block++)
        printf("%d:%d/%d:%d/%d:%d/%d:%d%s", out[8 * block], out[8 * block + 1], out[8 * block + 2], out[8 * block + 3],
               out[8 * block + 4], out[8 * block + 5], out[8 * block + 6], out[8 * block + 7], block % 4 == 3 ? "\n" : " ");

    printf("ring %d", launch(ring, 12, 96, 3, 96 * sizeof(int), out));
    printf(" %d", cudaDeviceSynchronize());
    printf(" %08x\n", hash(out, 3 * 12 * 96));
    printf("spaces %d", launch(spaces, 4, 32, 2, 0, out));
    printf(" %d\n", cudaDeviceSynchronize());
    for (int i = 0; i < 32; i++)
        printf("%d%s", out[i], i % 8 == 7 ? "\n" : " ");
    printf("messages %d", launch(messages, 6, 64, 3, 0, out));
    printf(" %d\n", cudaDeviceSynchronize());
    for (int i = 0; i < 48; i++)
        printf("%d%s", out[i], i % 8 == 7 ? "\n" : " ");
    printf("copies %d", launch(copies, 8, 32, 4, 0, in, out));
    printf(" %d", cudaDeviceSynchronize());
    for (int block = 0; block < 8; block++)
        printf(" %d %d %08x", out[block * 32], out[block * 32 + 31], hash(out + block * 32, 32));
    printf("\napart %d", launch(apart, 4, 64, 2, 0, out));
    printf(" %d", cudaDeviceSynchronize());
    printf(" %08x", hash(out, 4 * 48));
    apart<<<2, 64>>>(out);
    printf(" %d", cudaDeviceSynchronize());
    printf(" %d %d\n", out[0], out[95]);
    printf("refused %d", launch(apart, 5, 64, 2, 0, out));
    printf(" %d", launch(histogram, 8, 64, 2, 0, in, 4096, out));
    printf(" %d", launch(apart, 16, 64, 16, 0, out));
    cudaFuncSetAttribute(apart, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    printf(" %d", launch(apart, 16, 64, 16, 0, out));
    printf(" %d", cudaDeviceSynchronize());
    printf(" %d %d\n", out[0], out[16 * 48 - 1]);
    cudaGetLastError();

    cudaFuncAttributes attributes;
    cudaFuncGetAttributes(&attributes, histogram);
    printf("histogram needs %d: %d %d %d\n", attributes.clusterDimMustBeSet, attributes.requiredClusterWidth,
           attributes.requiredClusterHeight, attributes.requiredClusterDepth);
    int has;
    cudaDeviceGetAttribute(&has, cudaDevAttrClusterLaunch, 0);
    printf("clusters %d\n", has);
    return 0;
}
