// Columns of pixels for convolutions and interleaved tensors, copied by tensor maps. What is printed of each is a
// checksum of shared memory after a load, or of the tensor after a store; with an argument all elements as
// well, with a second one of that case alone.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda.h>
#include <cuda_runtime.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(call)                                                \
    do {                                                           \
        cudaError_t status = (call);                               \
        if (status != cudaSuccess) {                               \
            printf("%s: %s\n", #call, cudaGetErrorString(status)); \
            exit(1);                                               \
        }                                                          \
    } while (0)

enum Way { LOAD, STORE, ADD };

// A tensor, and the column of a convolution (`pixels` is not 0) or the box that is copied.
struct Case {
    const char *name;
    CUtensorMapDataType type;
    int rank;
    cuuint64_t size[5], stride[4];
    int lower[3], upper[3];
    cuuint32_t channels, pixels;
    cuuint32_t reach[5], step[5];
    int interleave, swizzle;
    int first[5];
    unsigned short offset[3];
    Way way;
    unsigned bytes;
    CUtensorMapFloatOOBfill fill;
};

#define T(t) CU_TENSOR_MAP_DATA_TYPE_##t
#define NANS CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA
#define ONES {1, 1, 1, 1, 1}
// 16 channels of 16 bits, 8 by 6 pixels, 3 pictures.
#define PICTURES T(UINT16), 4, {16, 8, 6, 3}, {32, 256, 1536}
#define LINES T(UINT32), 3, {8, 20, 4}, {32, 640}
#define VOLUMES T(UINT16), 5, {8, 5, 4, 3, 2}, {16, 80, 320, 960}
#define PLAIN {}, ONES, 0, 0
static const Case columns[] = {
    {"start", PICTURES, {0, 0}, {0, 0}, 16, 12, PLAIN, {0, 0, 0, 0}, {0, 0}, LOAD, 384},
    {"some channels", PICTURES, {0, 0}, {0, 0}, 8, 12, PLAIN, {8, 3, 2, 1}, {0, 0}, LOAD, 192},
    {"padding", PICTURES, {-1, -1}, {-1, -1}, 16, 20, PLAIN, {0, -1, -1, 0}, {0, 0}, LOAD, 640},
    {"padding, right and below", PICTURES, {-1, -1}, {-1, -1}, 16, 20, PLAIN, {0, -1, -1, 0}, {2, 2}, LOAD, 640},
    {"middle of a row", PICTURES, {-1, -1}, {-1, -1}, 16, 20, PLAIN, {0, 4, 2, 1}, {1, 0}, LOAD, 640},
    {"next picture", PICTURES, {-1, -1}, {-1, -1}, 16, 30, PLAIN, {0, 4, 3, 0}, {1, 1}, LOAD, 960},
    {"past the last picture", PICTURES, {0, 0}, {-2, -2}, 16, 30, PLAIN, {0, 2, 2, 2}, {2, 1}, LOAD, 960},
    {"channels outside", PICTURES, {0, 0}, {0, 0}, 16, 6, PLAIN, {8, 0, 0, 0}, {0, 0}, LOAD, 192},
    {"channels before", PICTURES, {0, 0}, {0, 0}, 16, 6, PLAIN, {-8, 0, 0, 0}, {0, 0}, LOAD, 192},
    {"picture before", PICTURES, {0, 0}, {0, 0}, 16, 6, PLAIN, {0, 6, 5, -1}, {0, 0}, LOAD, 192},
    {"every second", PICTURES, {0, 0}, {0, 0}, 16, 12, {}, {1, 2, 2, 1}, 0, 0, {0, 0, 0, 0}, {0, 0}, LOAD, 384},
    {"every second, from 1", PICTURES, {0, 0}, {0, 0}, 16, 12, {}, {1, 2, 2, 1}, 0, 0, {0, 1, 1, 0}, {1, 0}, LOAD, 384},
    {"every third across", PICTURES, {-1, 0}, {0, 0}, 16, 12, {}, {1, 3, 1, 1}, 0, 0, {0, -1, 0, 0}, {0, 0}, LOAD, 384},
    {"every third down", PICTURES, {-1, 0}, {0, -1}, 16, 25, {}, {1, 1, 3, 1}, 0, 0, {0, -1, 0, 0}, {0, 0}, LOAD, 800},
    {"every second picture", PICTURES, {0, 0}, {-4, -4}, 16, 12, {}, {1, 1, 1, 2}, 0, 0, {0, 0, 0, 0}, {0, 0}, LOAD, 384},
    {"steps past the end", PICTURES, {0, 0}, {-1, 0}, 16, 12, {}, {1, 4, 2, 1}, 0, 0, {0, 5, 1, 0}, {0, 0}, LOAD, 384},
    {"another picture", PICTURES, {0, 0}, {0, 0}, 16, 4, PLAIN, {0, 0, 0, 5}, {0, 0}, LOAD, 128},
    {"far to the right", PICTURES, {0, 0}, {0, 0}, 16, 6, PLAIN, {0, 0, 0, 0}, {255, 255}, LOAD, 192},
    {"pattern of 32", PICTURES, {-1, -1}, {-1, -1}, 16, 20, {}, ONES, 0, 1, {0, -1, -1, 0}, {1, 1}, LOAD, 640},
    {"pattern of 128, narrow", PICTURES, {-1, -1}, {-1, -1}, 16, 20, {}, ONES, 0, 3, {0, -1, -1, 0}, {1, 1}, LOAD, 640},
    {"NaN", T(FLOAT32), 4, {8, 8, 6, 3}, {32, 256, 1536}, {-1, -1}, {-1, -1}, 8, 20, PLAIN, {0, -1, -1, 0}, {0, 0}, LOAD, 640, NANS},
    {"lines", LINES, {-2}, {-2}, 8, 25, PLAIN, {0, -2, 0}, {1}, LOAD, 800},
    {"lines, every second", LINES, {-2}, {2}, 4, 25, {}, {1, 2, 1}, 0, 0, {4, -2, 1}, {0}, LOAD, 400},
    {"volumes", VOLUMES, {-1, -1, -1}, {-1, -1, -1}, 8, 60, PLAIN, {0, -1, -1, -1, 0}, {0, 1, 2}, LOAD, 960},
    {"volumes, every second", VOLUMES, {0, 0, 0}, {0, 0, 0}, 8, 30, {}, {1, 2, 2, 2, 1}, 0, 0, {0, 0, 0, 0, 0}, {0, 0, 0}, LOAD, 480},
    {"store", PICTURES, {0, 0}, {0, 0}, 16, 12, PLAIN, {0, 3, 2, 1}, {}, STORE, 384},
    {"store in a smaller box", PICTURES, {1, 1}, {-2, -1}, 8, 20, PLAIN, {8, 3, 2, 1}, {}, STORE, 320},
    {"store past the last picture", PICTURES, {0, 0}, {0, 0}, 16, 20, PLAIN, {0, 5, 4, 2}, {}, STORE, 640},
    {"store of another picture", PICTURES, {0, 0}, {0, 0}, 16, 4, PLAIN, {0, 5, 4, 3}, {}, STORE, 128},
    {"store of some channels", PICTURES, {0, 0}, {0, 0}, 16, 4, PLAIN, {8, 5, 4, 1}, {}, STORE, 128},
    {"store with steps", PICTURES, {0, 0}, {0, 0}, 16, 12, {}, {1, 2, 2, 1}, 0, 0, {0, 0, 0, 0}, {}, STORE, 384},
    {"add", T(UINT32), 4, {8, 8, 6, 3}, {32, 256, 1536}, {0, 0}, {0, 0}, 8, 12, PLAIN, {0, 3, 2, 1}, {}, ADD, 384},
};

// Boxes of interleaved tensors: slices of channels.
static const Case boxes[] = {
    {"slices of 16", T(UINT16), 3, {24, 8, 6}, {128, 768}, {}, {}, 0, 0, {8, 1, 1}, ONES, 1, 0, {0, 0, 0}, {}, LOAD, 128},
    {"slices, two pictures", T(UINT16), 3, {24, 8, 6}, {128, 768}, {}, {}, 0, 0, {16, 2, 2}, ONES, 1, 0, {0, 0, 0}, {}, LOAD, 512},
    {"slices past the end", T(UINT16), 3, {24, 8, 6}, {128, 768}, {}, {}, 0, 0, {32, 2, 3}, ONES, 1, 0, {0, 0, 0}, {}, LOAD, 1536},
    {"slices before the start", T(UINT16), 3, {24, 8, 6}, {128, 768}, {}, {}, 0, 0, {16, 2, 2}, ONES, 1, 0, {-1, 0, 0}, {}, LOAD, 512},
    {"slices from one", T(UINT16), 3, {24, 8, 6}, {128, 768}, {}, {}, 0, 0, {16, 2, 2}, ONES, 1, 0, {1, 1, 1}, {}, LOAD, 512},
    {"slices outside", T(UINT16), 3, {24, 8, 6}, {128, 768}, {}, {}, 0, 0, {16, 2, 2}, ONES, 1, 0, {0, -1, 0}, {}, LOAD, 512},
    {"slices at the end", T(UINT16), 3, {24, 8, 6}, {128, 768}, {}, {}, 0, 0, {16, 2, 2}, ONES, 1, 0, {20, 6, 4}, {}, LOAD, 512},
    {"slices in four dimensions", T(UINT16), 4, {24, 8, 6, 2}, {128, 768, 2304}, {}, {}, 0, 0, {16, 3, 2, 2}, ONES, 1, 0, {1, 2, 3, 1}, {}, LOAD, 1536},
    {"slices in five dimensions", T(UINT16), 5, {24, 8, 6, 2, 2}, {128, 768, 2304, 4608}, {}, {}, 0, 0, {16, 3, 2, 2, 2}, ONES, 1, 0, {0, 1, 0, 1, 0}, {}, LOAD, 3072},
    {"slices of words", T(UINT32), 3, {24, 8, 6}, {128, 768}, {}, {}, 0, 0, {8, 2, 2}, ONES, 1, 0, {0, 0, 0}, {}, LOAD, 256},
    {"slices of bytes", T(UINT8), 3, {48, 8, 6}, {128, 768}, {}, {}, 0, 0, {32, 2, 2}, ONES, 1, 0, {0, 0, 0}, {}, LOAD, 1024},
    {"every second slice", T(UINT16), 3, {24, 8, 6}, {128, 768}, {}, {}, 0, 0, {32, 4, 4}, {2, 2, 2}, 1, 0, {0, 0, 0}, {}, LOAD, 512},
    {"slices of 32", T(UINT16), 3, {48, 8, 6}, {256, 1536}, {}, {}, 0, 0, {16, 2, 2}, ONES, 2, 1, {1, 1, 1}, {}, LOAD, 1024},
    {"slices of 32 in a plain box", T(UINT16), 3, {48, 8, 6}, {256, 1536}, {}, {}, 0, 0, {16, 2, 2}, ONES, 2, 0, {1, 1, 1}, {}, LOAD, 1024},
    {"slices by pattern", T(UINT16), 3, {24, 8, 6}, {128, 768}, {}, {}, 0, 0, {16, 4, 2}, ONES, 1, 3, {0, 0, 0}, {}, LOAD, 512},
    {"slices by pattern of 64", T(UINT16), 4, {24, 8, 6, 2}, {128, 768, 2304}, {}, {}, 0, 0, {16, 3, 2, 2}, ONES, 1, 2, {0, 0, 0, 0}, {}, LOAD, 1536},
    {"NaN around slices", T(FLOAT16), 3, {24, 8, 6}, {128, 768}, {}, {}, 0, 0, {32, 2, 2}, ONES, 1, 0, {-4, 1, 5}, {}, LOAD, 1024, NANS},
    {"column of slices", T(UINT16), 4, {24, 8, 6, 2}, {128, 768, 2304}, {0, 0}, {0, 0}, 8, 40, {}, ONES, 1, 0, {0, 0, 0, 0}, {0, 0}, LOAD, 640},
    {"column of slices, next picture", T(UINT16), 4, {24, 8, 6, 2}, {128, 768, 2304}, {0, 0}, {0, 0}, 8, 200, {}, ONES, 1, 0, {20, 7, 1, 0}, {0, 0}, LOAD, 3200},
    {"column of slices, moved", T(UINT16), 4, {24, 8, 6, 2}, {128, 768, 2304}, {-1, -1}, {-1, -1}, 8, 30, {}, ONES, 1, 0, {0, 0, 0, 0}, {1, 2}, LOAD, 480},
    {"column of slices, padding", T(UINT16), 4, {24, 8, 6, 2}, {128, 768, 2304}, {-1, -1}, {-1, -1}, 8, 30, {}, ONES, 1, 0, {-1, -1, 0, 0}, {1, 0}, LOAD, 480},
    {"column of slices of a line", T(UINT16), 3, {24, 8, 6}, {128, 768}, {-1}, {-1}, 8, 30, {}, ONES, 1, 0, {-1, 0, 0}, {1}, LOAD, 480},
    {"column of slices of a volume", T(UINT16), 5, {24, 8, 6, 2, 2}, {128, 768, 2304, 4608}, {0, 0, 0}, {0, 0, 0}, 8, 250, {}, ONES, 1, 0, {0, 0, 0, 0, 0}, {0, 0, 0}, LOAD, 4000},
    {"column of slices of 32", T(UINT16), 4, {24, 8, 6, 2}, {256, 1536, 4608}, {0, 0}, {0, 0}, 16, 40, {}, ONES, 2, 1, {0, 0, 0, 0}, {0, 0}, LOAD, 1280},
    {"store slices", T(UINT16), 4, {24, 8, 6, 2}, {128, 768, 2304}, {}, {}, 0, 0, {16, 3, 2, 2}, ONES, 1, 0, {1, 2, 3, 0}, {}, STORE, 1536},
    {"store slices past the end", T(UINT16), 4, {24, 8, 6, 2}, {128, 768, 2304}, {}, {}, 0, 0, {16, 3, 2, 2}, ONES, 1, 0, {16, 6, 5, 1}, {}, STORE, 1536},
};

// What the hardware refuses: each ends its own process' device.
static const Case faults[] = {
    {"right of the box", PICTURES, {0, 0}, {-2, -2}, 16, 10, PLAIN, {0, 7, 2, 1}, {0, 0}, LOAD, 320},
    {"left of the box", PICTURES, {1, 1}, {-1, -1}, 16, 10, PLAIN, {0, -2, 2, 1}, {0, 0}, LOAD, 320},
    {"below the box", PICTURES, {0, 0}, {-2, -2}, 16, 10, PLAIN, {0, 1, 5, 0}, {0, 0}, LOAD, 320},
    {"above the box", PICTURES, {1, 1}, {-1, -1}, 16, 10, PLAIN, {0, 1, -1, 0}, {0, 0}, LOAD, 320},
    {"inside 16 bytes", PICTURES, {0, 0}, {0, 0}, 16, 4, PLAIN, {4, 0, 0, 0}, {0, 0}, LOAD, 128},
    {"store by a box with padding before", PICTURES, {-1, -1}, {0, 0}, 16, 6, PLAIN, {0, 1, 1, 0}, {}, STORE, 384},
    {"store by a box with padding behind", PICTURES, {0, 0}, {1, 1}, 16, 6, PLAIN, {0, 1, 1, 0}, {}, STORE, 384},
    {"store before the first picture", PICTURES, {0, 0}, {0, 0}, 16, 12, PLAIN, {0, 5, 4, -1}, {}, STORE, 384},
    {"store before the first channel", PICTURES, {0, 0}, {0, 0}, 16, 4, PLAIN, {-8, 5, 4, 1}, {}, STORE, 384},
    {"store outside of the box", PICTURES, {1, 1}, {-1, -1}, 16, 4, PLAIN, {0, 0, 2, 1}, {}, STORE, 384},
};

const size_t tensorBytes = 1 << 15;
const unsigned poolBytes = 8192;

struct Job {
    int first[5];
    unsigned short offset[3];
    int rank;
    bool columns;
    Way way;
    unsigned bytes;
};

#define LOAD_COLUMN(D, C, O)                                                                                          \
    asm volatile("cp.async.bulk.tensor." #D "d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes"           \
                 " [%0], [%1, {" C "}], [%2], {" O "};" ::"r"(box), "l"(map), "r"(object), "r"(x), "r"(y), "r"(z),    \
                 "r"(u), "r"(v), "h"(i), "h"(j), "h"(k)                                                               \
                 : "memory")
#define LOAD_BOX(D, C)                                                                                                \
    asm volatile("cp.async.bulk.tensor." #D "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"             \
                 " [%0], [%1, {" C "}], [%2];" ::"r"(box), "l"(map), "r"(object), "r"(x), "r"(y), "r"(z), "r"(u),     \
                 "r"(v)                                                                                               \
                 : "memory")
#define STORE_BOX(D, MODE, C)                                                                                         \
    asm volatile("cp.async.bulk.tensor." #D "d.global.shared::cta." MODE ".bulk_group [%0, {" C "}], [%1];" ::"l"(map), \
                 "r"(box), "r"(x), "r"(y), "r"(z), "r"(u), "r"(v)                                                     \
                 : "memory")

__global__ void copy(const __grid_constant__ CUtensorMap tensor, Job job, unsigned char *dump, unsigned *late)
{
    __shared__ __align__(1024) unsigned char pool[poolBytes];
    __shared__ __align__(8) unsigned long long told;
    unsigned object = (unsigned)__cvta_generic_to_shared(&told);
    unsigned box = (unsigned)__cvta_generic_to_shared(pool);
    for (unsigned i = threadIdx.x; i < poolBytes; i += blockDim.x)
        pool[i] = job.way == LOAD ? 0xcd : (unsigned char)((i * 2654435761u) >> 13);
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(object) : "memory");
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    int x = job.first[0], y = job.first[1], z = job.first[2], u = job.first[3], v = job.first[4];
    unsigned short i = job.offset[0], j = job.offset[1], k = job.offset[2];
    unsigned long long map = (unsigned long long)&tensor;
    if (threadIdx.x == 0) {
        if (job.way == LOAD) {
            asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(object), "r"(job.bytes) : "memory");
            switch (job.rank + 10 * job.columns) {
            case 3: LOAD_BOX(3, "%3, %4, %5"); break;
            case 4: LOAD_BOX(4, "%3, %4, %5, %6"); break;
            case 5: LOAD_BOX(5, "%3, %4, %5, %6, %7"); break;
            case 13:
                asm volatile("cp.async.bulk.prefetch.tensor.3d.L2.global.im2col [%0, {%1, %2, %3}], {%4};" ::"l"(map),
                             "r"(x), "r"(y), "r"(z), "h"(i)
                             : "memory");
                LOAD_COLUMN(3, "%3, %4, %5", "%8");
                break;
            case 14: LOAD_COLUMN(4, "%3, %4, %5, %6", "%8, %9"); break;
            case 15: LOAD_COLUMN(5, "%3, %4, %5, %6, %7", "%8, %9, %10"); break;
            }
        } else {
            if (job.way == ADD)
                asm volatile("cp.reduce.async.bulk.tensor.4d.global.shared::cta.add.im2col_no_offs.bulk_group"
                             " [%0, {%2, %3, %4, %5}], [%1];" ::"l"(map), "r"(box), "r"(x), "r"(y), "r"(z), "r"(u)
                             : "memory");
            else if (job.columns)
                STORE_BOX(4, "im2col_no_offs", "%2, %3, %4, %5");
            else
                STORE_BOX(4, "tile", "%2, %3, %4, %5");
            asm volatile("cp.async.bulk.commit_group;" ::: "memory");
            asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
        }
        unsigned ready = job.way != LOAD;
        for (int turn = 0; turn < 200000 && !ready; turn++)
            asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                         : "=r"(ready)
                         : "r"(object)
                         : "memory");
        *late = !ready;
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < poolBytes; i += blockDim.x)
        dump[i] = pool[i];
}

template <typename F> static F driver(const char *name)
{
    void *found = nullptr;
    cudaDriverEntryPointQueryResult query;
    CHECK(cudaGetDriverEntryPointByVersion(name, &found, 12000, cudaEnableDefault, &query));
    if (query != cudaDriverEntryPointSuccess)
        exit(2);
    return (F)found;
}

static CUresult encode(CUtensorMap *map, const Case &c, void *tensor)
{
    static auto tiled = driver<decltype(&cuTensorMapEncodeTiled)>("cuTensorMapEncodeTiled");
    static auto im2col = driver<decltype(&cuTensorMapEncodeIm2col)>("cuTensorMapEncodeIm2col");
    auto interleave = (CUtensorMapInterleave)c.interleave;
    auto swizzle = (CUtensorMapSwizzle)c.swizzle;
    if (c.pixels == 0)
        return tiled(map, c.type, c.rank, tensor, c.size, c.stride, c.reach, c.step, interleave, swizzle,
                     CU_TENSOR_MAP_L2_PROMOTION_NONE, c.fill);
    return im2col(map, c.type, c.rank, tensor, c.size, c.stride, c.lower, c.upper, c.channels, c.pixels, c.step, interleave,
                  swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE, c.fill);
}

static unsigned checksum(const unsigned char *bytes, size_t count)
{
    unsigned sum = 2166136261u;
    for (size_t i = 0; i < count; i++)
        sum = (sum ^ bytes[i]) * 16777619u;
    return sum;
}

static unsigned char *tensor, *dump;
static unsigned *late;

static void run(const Case &c, bool all)
{
    static unsigned char before[tensorBytes], after[tensorBytes], pool[poolBytes];
    for (unsigned i = 0; i < tensorBytes / 2; i++)
        ((unsigned short *)before)[i] = (unsigned short)i;
    CHECK(cudaMemcpy(tensor, before, tensorBytes, cudaMemcpyHostToDevice));
    CUtensorMap map;
    if (CUresult error = encode(&map, c, tensor)) {
        printf("%s: no map, %d\n", c.name, error);
        return;
    }
    Job job = {};
    job.rank = c.rank, job.way = c.way, job.bytes = c.bytes, job.columns = c.pixels != 0;
    memcpy(job.first, c.first, sizeof job.first);
    memcpy(job.offset, c.offset, sizeof job.offset);
    copy<<<1, 64>>>(map, job, dump, late);
    CHECK(cudaDeviceSynchronize());
    unsigned waits;
    CHECK(cudaMemcpy(after, tensor, tensorBytes, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(pool, dump, poolBytes, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(&waits, late, 4, cudaMemcpyDeviceToHost));
    unsigned sum = c.way == LOAD ? checksum(pool, poolBytes) : checksum(after, tensorBytes);
    printf("%s: %08x%s\n", c.name, sum, waits ? ", still waiting" : "");
    if (!all)
        return;
    if (c.way == LOAD) {
        for (unsigned i = 0; i < poolBytes / 2; i++)
            if (((unsigned short *)pool)[i] != 0xcdcd)
                printf(" %u:%u", i, ((unsigned short *)pool)[i]);
    } else
        for (unsigned i = 0; i < tensorBytes / 2; i++)
            if (((unsigned short *)after)[i] != (unsigned short)i)
                printf(" %u:%u", i, ((unsigned short *)after)[i]);
    printf("\n");
}

static void allocate()
{
    CHECK(cudaMalloc(&tensor, tensorBytes));
    CHECK(cudaMalloc(&dump, poolBytes));
    CHECK(cudaMalloc(&late, 4));
}

int main(int count, char **words)
{
    for (const Case &c : faults) {
        printf("%s: ", c.name);
        fflush(stdout);
        if (fork() == 0) {
            allocate();
            run(c, false);
            return 0;
        }
        wait(nullptr);
    }
    allocate();
    int number = 0, only = count > 2 ? atoi(words[2]) : -1;
    for (const Case &c : columns)
        if (number++ == only || only < 0)
            run(c, count > 1);
    for (const Case &c : boxes)
        if (number++ == only || only < 0)
            run(c, count > 1);

    // What is no map.
    CUtensorMap map;
    auto error = [&](const char *what, void (*change)(Case &)) {
        Case bad = columns[2];
        change(bad);
        printf("%s: %d\n", what, encode(&map, bad, tensor));
    };
    error("as it is", [](Case &) {});
    error("two dimensions", [](Case &c) { c.rank = 2; });
    error("corner at -129", [](Case &c) { c.lower[0] = -129; });
    error("corner at 128", [](Case &c) { c.upper[1] = 128; });
    error("an empty box", [](Case &c) { c.upper[0] = -9; });
    error("an empty box, by one", [](Case &c) { c.upper[0] = -8; });
    error("a box of one", [](Case &c) { c.upper[0] = -8, c.lower[0] = 0; });
    error("no channels", [](Case &c) { c.channels = 0; });
    error("257 channels", [](Case &c) { c.channels = 257; });
    error("4 channels", [](Case &c) { c.channels = 4; });
    error("1024 pixels", [](Case &c) { c.pixels = 1024; });
    error("1025 pixels", [](Case &c) { c.pixels = 1025; });
    error("256 channels of 1024 pixels", [](Case &c) { c.channels = 256, c.pixels = 1024; });
    error("a step of 9", [](Case &c) { c.step[1] = 9; });
    error("rows wider than the pattern", [](Case &c) { c.channels = 24, c.swizzle = 1; });
    error("slices of 16 and a stride of 48", [](Case &c) { c.interleave = 2, c.swizzle = 1, c.stride[0] = 48; });
    CHECK(cudaFree(late));
    CHECK(cudaFree(dump));
    CHECK(cudaFree(tensor));
    return 0;
}
