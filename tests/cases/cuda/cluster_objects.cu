// Barrier objects that the other block of a cluster tells of bytes: initialised behind `fence.mbarrier_init`, with which the
// arrival at the cluster's barrier may be relaxed.
#include <cstdint>
#include <cstdio>

__device__ uint32_t place(const void *object) { return (uint32_t)__cvta_generic_to_shared(object); }

__device__ uint32_t place_in(uint32_t here, uint32_t rank)
{
    uint32_t there;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(here), "r"(rank));
    return there;
}

__device__ void begin(uint32_t object, uint32_t arrivals)
{
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(object), "r"(arrivals) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory");
    asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
}

__device__ void complete(uint32_t object, uint32_t bytes)
{
    asm volatile("mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%0], %1;" ::"r"(object), "r"(bytes) : "memory");
}

__device__ void wait(uint32_t object)
{
    uint32_t done = 0;
    while (!done)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                     : "=r"(done)
                     : "r"(object)
                     : "memory");
}

// The first block expects, the second one completes there.
__global__ void __cluster_dims__(2, 1, 1) completed_from_afar(int *out)
{
    __shared__ __align__(8) uint64_t object;
    begin(place(&object), 1);
    if (blockIdx.x == 0 && threadIdx.x == 0)
        asm volatile("mbarrier.arrive.expect_tx.release.cluster.shared::cta.b64 _, [%0], 64;" ::"r"(place(&object)) : "memory");
    if (blockIdx.x == 1 && threadIdx.x == 0)
        complete(place_in(place(&object), 0), 64);
    if (blockIdx.x == 0) {
        wait(place(&object));
        out[threadIdx.x] = threadIdx.x + 1;
    }
}

// The first block expects at the second one's, which completes it itself.
__global__ void __cluster_dims__(2, 1, 1) expected_from_afar(int *out)
{
    __shared__ __align__(8) uint64_t object;
    begin(place(&object), 1);
    if (blockIdx.x == 0 && threadIdx.x == 0)
        asm volatile("mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%0], 64;" ::"r"(place_in(place(&object), 1))
                     : "memory");
    if (blockIdx.x == 1) {
        if (threadIdx.x == 0)
            complete(place(&object), 64);
        wait(place(&object));
        out[threadIdx.x] = threadIdx.x + 2;
    }
}

static void show(const char *name, void (*kernel)(int *), int *out)
{
    kernel<<<2, 32>>>(out);
    printf("%s: %d:", name, cudaDeviceSynchronize());
    int sum = 0;
    for (int i = 0; i < 32; i++)
        sum += out[i];
    printf(" %d\n", sum);
}

int main()
{
    int *out;
    cudaMallocManaged(&out, 32 * sizeof(int));
    show("completed from afar", completed_from_afar, out);
    show("expected from afar", expected_from_afar, out);
    cudaFree(out);
}
