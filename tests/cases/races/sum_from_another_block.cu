// An asynchronous sum from another block of the cluster is read without waiting for its barrier object.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__device__ unsigned place(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

__global__ void __cluster_dims__(2, 1, 1) k(int *out)
{
    __shared__ int sum;
    __shared__ alignas(8) unsigned long long bar;
    auto cluster = cg::this_cluster();
    if (threadIdx.x == 0) {
        sum = 0;
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(place(&bar)) : "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 4;" :: "r"(place(&bar)) : "memory");
    }
    cluster.sync();
    if (threadIdx.x == 0) {
        unsigned there, object, other = cluster.block_rank() ^ 1;
        asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(place(&sum)), "r"(other));
        asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(object) : "r"(place(&bar)), "r"(other));
        asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.s32 [%0], %1, [%2];" :: "r"(there), "r"(5), "r"(object) : "memory"); //~ race
        out[cluster.block_rank()] = sum; //~ race
    }
    cluster.sync();
}
int main()
{
    int *p;
    cudaMalloc(&p, 4096);
    k<<<2, 32>>>(p);
    return cudaDeviceSynchronize() != cudaSuccess;
}
