// Blocks end when the others have arrived, who need not wait; or when a barrier object of theirs was told.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2, 1, 1) k(int *out)
{
    __shared__ int s[4];
    cg::cluster_group cluster = cg::this_cluster();
    s[threadIdx.x] = threadIdx.x;
    cluster.sync();
    if (cluster.block_rank() == 1) {
        out[threadIdx.x] = cluster.map_shared_rank(s, 0)[3 - threadIdx.x];
    }
    auto token = cluster.barrier_arrive();
    if (cluster.block_rank() == 0) {
        cluster.barrier_wait(std::move(token));
    }
}

// Relaxed arrivals pass nothing on, but are behind what their threads did.
__global__ void __cluster_dims__(2, 1, 1) relaxed(int *out)
{
    __shared__ int s[4];
    cg::cluster_group cluster = cg::this_cluster();
    s[threadIdx.x] = threadIdx.x;
    cluster.sync();
    out[cluster.block_rank() * 4 + threadIdx.x] =
        cluster.map_shared_rank(s, cluster.block_rank() ^ 1)[3 - threadIdx.x];
    asm volatile("barrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.aligned;" ::: "memory");
}

__global__ void __cluster_dims__(2, 1, 1) told(int *out)
{
    __shared__ int s[4];
    __shared__ alignas(8) unsigned long long bar;
    cg::cluster_group cluster = cg::this_cluster();
    unsigned at = (unsigned)__cvta_generic_to_shared(&bar), done = 0;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 4;" ::"r"(at) : "memory");
    }
    s[threadIdx.x] = threadIdx.x;
    cluster.sync();
    if (cluster.block_rank() == 1) {
        out[threadIdx.x] = cluster.map_shared_rank(s, 0)[3 - threadIdx.x];
        asm volatile("{ .reg .b32 r; mapa.shared::cluster.u32 r, %0, 0;\n"
                     "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [r]; }" ::"r"(at) : "memory");
    } else {
        while (!done) {
            asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], 0;\n"
                         "selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(at) : "memory");
        }
    }
}

int main()
{
    int *p;
    cudaMalloc(&p, 256);
    k<<<2, 4>>>(p);
    told<<<2, 4>>>(p + 4);
    relaxed<<<2, 4>>>(p + 8);
    return cudaDeviceSynchronize() != cudaSuccess;
}
