// Boxes that the hardware refuses: each ends its own process' device.
#include <cstdio>
#include <cstdlib>
#include <cuda.h>
#include <cuda_runtime.h>
#include <sys/wait.h>
#include <unistd.h>

enum Way { LOAD, STORE, ADD, MIN, COPIED };

struct Case {
    const char *name;
    CUtensorMapDataType type;
    unsigned width;
    int x, y;
    Way way;
};

static const Case cases[] = {
    {"inside 16 bytes", CU_TENSOR_MAP_DATA_TYPE_UINT32, 4, 3, 2, LOAD},
    {"inside 16 bytes, outside of the tensor", CU_TENSOR_MAP_DATA_TYPE_UINT32, 4, 101, 2, LOAD},
    {"write inside 16 bytes", CU_TENSOR_MAP_DATA_TYPE_UINT8, 1, 24, 2, STORE},
    {"write before a row", CU_TENSOR_MAP_DATA_TYPE_UINT32, 4, -4, 2, STORE},
    {"write before the first row", CU_TENSOR_MAP_DATA_TYPE_UINT32, 4, 4, -1, STORE},
    {"sum of bytes", CU_TENSOR_MAP_DATA_TYPE_UINT8, 1, 16, 2, ADD},
    {"sum of signed 64 bits", CU_TENSOR_MAP_DATA_TYPE_INT64, 8, 4, 2, ADD},
    {"least of doubles", CU_TENSOR_MAP_DATA_TYPE_FLOAT64, 8, 4, 2, MIN},
    {"sum of unsigned 64 bits", CU_TENSOR_MAP_DATA_TYPE_UINT64, 8, 4, 2, ADD},
    {"by a map in local memory", CU_TENSOR_MAP_DATA_TYPE_UINT32, 4, 4, 2, COPIED},
};

__global__ void copy(const __grid_constant__ CUtensorMap tensor, int x, int y, Way way, unsigned bytes)
{
    __shared__ __align__(128) unsigned char pool[1024];
    __shared__ __align__(8) unsigned long long told;
    unsigned box = (unsigned)__cvta_generic_to_shared(pool), object = (unsigned)__cvta_generic_to_shared(&told);
    unsigned long long map = (unsigned long long)&tensor;
    CUtensorMap own;
    if (way == COPIED) {
        own = tensor;
        map = (unsigned long long)&own;
        way = LOAD;
    }
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(object) : "memory");
    asm volatile("fence.proxy.async;" ::: "memory");
    if (way == LOAD) {
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(object), "r"(bytes) : "memory");
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                     " [%0], [%1, {%2, %3}], [%4];" ::"r"(box), "l"(map), "r"(x), "r"(y), "r"(object) : "memory");
        unsigned ready = 0;
        while (!ready)
            asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                         : "=r"(ready) : "r"(object) : "memory");
        return;
    }
    if (way == STORE)
        asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%2, %3}], [%1];" ::"l"(map),
                     "r"(box), "r"(x), "r"(y) : "memory");
    else if (way == ADD)
        asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%0, {%2, %3}], [%1];" ::"l"(map),
                     "r"(box), "r"(x), "r"(y) : "memory");
    else
        asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.min.tile.bulk_group [%0, {%2, %3}], [%1];" ::"l"(map),
                     "r"(box), "r"(x), "r"(y) : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

static void one(const Case &c)
{
    void *found, *memory;
    cudaDriverEntryPointQueryResult query;
    if (cudaMalloc(&memory, 1 << 14) != cudaSuccess || cudaMemset(memory, 0, 1 << 14) != cudaSuccess
        || cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault, &query) != cudaSuccess)
        exit(1);
    cuuint64_t size[] = {100, 16}, stride[] = {800};
    cuuint32_t reach[] = {16, 4}, step[] = {1, 1};
    CUtensorMap map;
    CUresult made = ((decltype(&cuTensorMapEncodeTiled))found)(
        &map, c.type, 2, memory, size, stride, reach, step, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
        CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (made != CUDA_SUCCESS)
        exit(2);
    copy<<<1, 1>>>(map, c.x, c.y, c.way, 64 * c.width);
    printf("%s: %s\n", c.name, cudaGetErrorString(cudaDeviceSynchronize()));
    fflush(stdout);
}

int main()
{
    for (const Case &c : cases) {
        pid_t child = fork();
        if (child == 0) {
            one(c);
            _exit(0);
        }
        int status = 0;
        if (waitpid(child, &status, 0) != child || status != 0)
            printf("%s: status %d\n", c.name, status);
    }
    return 0;
}
