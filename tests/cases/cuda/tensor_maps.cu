// Boxes of tensors, copied between global and shared memory by tensor maps. The host works out element by
// element what is to be where.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda.h>
#include <cuda_runtime.h>

#define CHECK(call)                                                    \
    do {                                                               \
        cudaError_t status = (call);                                   \
        if (status != cudaSuccess) {                                   \
            printf("%s: %s\n", #call, cudaGetErrorString(status));     \
            exit(1);                                                   \
        }                                                              \
    } while (0)

enum Way { LOAD, STORE, ADD, MIN, MAX, INC, AND, XOR };

struct Case {
    const char *name;
    CUtensorMapDataType type;
    unsigned width;
    int rank;
    cuuint64_t size[5], stride[4];
    cuuint32_t reach[5], step[5];
    int swizzle;
    int first[5];
    Way way;
    unsigned base;
    CUtensorMapFloatOOBfill fill;
};

#define T(t) CU_TENSOR_MAP_DATA_TYPE_##t
#define NANS CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA
static const Case cases[] = {
    {"row", T(UINT32), 4, 1, {100}, {}, {16}, {1}, 0, {4}, LOAD, 0},
    {"row at 128", T(UINT32), 4, 1, {100}, {}, {16}, {1}, 0, {8}, LOAD, 128},
    {"row past the end", T(UINT32), 4, 1, {100}, {}, {16}, {1}, 0, {92}, LOAD, 0},
    {"row before the start", T(UINT32), 4, 1, {100}, {}, {16}, {1}, 0, {-8}, LOAD, 0},
    {"row outside", T(UINT32), 4, 1, {100}, {}, {16}, {1}, 0, {200}, LOAD, 0},
    {"bytes", T(UINT8), 1, 2, {61, 9}, {64}, {32, 4}, {1, 1}, 0, {16, 3}, LOAD, 0},
    {"corner of bytes", T(UINT8), 1, 2, {61, 9}, {64}, {32, 4}, {1, 1}, 0, {48, 7}, LOAD, 0},
    {"before both starts", T(FLOAT16), 2, 2, {40, 12}, {96}, {24, 5}, {1, 1}, 0, {-8, -2}, LOAD, 256},
    {"floats", T(FLOAT32), 4, 2, {32, 8}, {128}, {32, 8}, {1, 1}, 0, {0, 0}, LOAD, 0},
    {"doubles", T(FLOAT64), 8, 2, {20, 12}, {176}, {6, 5}, {1, 1}, 0, {-4, 9}, LOAD, 0},
    {"pattern of 32", T(UINT8), 1, 2, {96, 20}, {96}, {32, 16}, {1, 1}, 1, {16, 1}, LOAD, 0},
    {"pattern of 64", T(UINT16), 2, 2, {48, 20}, {96}, {32, 16}, {1, 1}, 2, {8, 1}, LOAD, 0},
    {"pattern of 128", T(UINT32), 4, 2, {40, 20}, {160}, {32, 16}, {1, 1}, 3, {4, 1}, LOAD, 0},
    {"pattern of 128 at 1024", T(BFLOAT16), 2, 2, {80, 20}, {160}, {64, 10}, {1, 1}, 3, {8, 14}, LOAD, 1024},
    {"cube", T(UINT16), 2, 3, {24, 7, 5}, {48, 384}, {16, 3, 4}, {1, 1, 1}, 0, {8, 1, 1}, LOAD, 0},
    {"cube with pattern", T(UINT16), 2, 3, {72, 7, 5}, {144, 1152}, {64, 3, 4}, {1, 1, 1}, 3, {8, 1, -1}, LOAD, 0},
    {"four dimensions", T(UINT32), 4, 4, {12, 5, 4, 3}, {48, 240, 960}, {8, 3, 2, 3}, {1, 1, 1, 1}, 0, {4, 2, 3, -1}, LOAD, 0},
    {"five dimensions", T(UINT32), 4, 5, {8, 4, 3, 3, 3}, {32, 128, 384, 1152}, {4, 3, 2, 2, 2}, {1, 1, 1, 1, 1}, 0, {4, -1, 1, 2, 1}, LOAD, 0},
    {"every third row", T(UINT32), 4, 2, {32, 24}, {128}, {16, 12}, {1, 3}, 0, {4, 1}, LOAD, 0},
    {"every third row, cut", T(UINT32), 4, 2, {32, 24}, {128}, {16, 11}, {1, 3}, 0, {4, 16}, LOAD, 0},
    {"far below", T(UINT32), 4, 2, {32, 24}, {128}, {16, 4}, {1, 1}, 0, {-2147483648, 2}, LOAD, 0},
    {"far above", T(UINT32), 4, 2, {32, 24}, {128}, {16, 4}, {1, 1}, 0, {2147483640, 2}, LOAD, 0},
    {"half a pattern of 128", T(UINT8), 1, 2, {96, 20}, {96}, {64, 16}, {1, 1}, 3, {16, 1}, LOAD, 128},
    {"three quarters of a pattern of 64", T(UINT8), 1, 2, {96, 20}, {96}, {48, 16}, {1, 1}, 2, {16, 1}, LOAD, 0},
    {"half a pattern of 32", T(UINT16), 2, 3, {72, 7, 5}, {144, 1152}, {8, 3, 4}, {1, 1, 1}, 1, {8, 1, -1}, LOAD, 0},
    {"NaN around halves", T(FLOAT16), 2, 2, {41, 12}, {96}, {24, 5}, {1, 1}, 0, {-8, -2}, LOAD, 0, NANS},
    {"NaN past doubles", T(FLOAT64), 8, 2, {20, 12}, {176}, {6, 5}, {1, 1}, 0, {16, 9}, LOAD, 0, NANS},
    {"TF32", T(TFLOAT32), 4, 2, {30, 24}, {128}, {16, 8}, {1, 1}, 0, {16, 2}, LOAD, 0, NANS},
    {"subnormal", T(FLOAT32_FTZ), 4, 2, {30, 24}, {128}, {16, 8}, {1, 1}, 0, {16, 2}, LOAD, 0},
    {"store", T(UINT32), 4, 2, {30, 24}, {128}, {16, 4}, {1, 1}, 0, {4, 5}, STORE, 0},
    {"store at the end", T(UINT32), 4, 2, {30, 24}, {128}, {16, 4}, {1, 1}, 0, {20, 22}, STORE, 0},
    {"store at 128", T(UINT32), 4, 2, {30, 24}, {128}, {16, 4}, {1, 1}, 0, {28, 3}, STORE, 128},
    {"store by pattern", T(UINT32), 4, 2, {30, 24}, {128}, {32, 8}, {1, 1}, 3, {4, 4}, STORE, 0},
    {"store by pattern of 32", T(UINT16), 2, 2, {30, 24}, {64}, {16, 8}, {1, 1}, 1, {8, 4}, STORE, 0},
    {"store by half a pattern", T(UINT8), 1, 2, {96, 20}, {96}, {48, 16}, {1, 1}, 3, {16, 1}, STORE, 0},
    {"store TF32", T(TFLOAT32), 4, 2, {30, 24}, {128}, {16, 8}, {1, 1}, 0, {16, 2}, STORE, 0},
    {"store row", T(UINT8), 1, 1, {1000}, {}, {64}, {1}, 0, {960}, STORE, 0},
    {"store cube", T(UINT16), 2, 3, {24, 7, 5}, {48, 384}, {16, 3, 4}, {1, 1, 1}, 0, {8, 1, 3}, STORE, 0},
    {"store four dimensions", T(UINT32), 4, 4, {12, 5, 4, 3}, {48, 240, 960}, {8, 3, 2, 3}, {1, 1, 1, 1}, 0, {4, 2, 3, 1}, STORE, 0},
    {"store five dimensions", T(UINT32), 4, 5, {8, 4, 3, 3, 3}, {32, 128, 384, 1152}, {4, 3, 2, 2, 2}, {1, 1, 1, 1, 1}, 0, {4, 1, 1, 2, 1}, STORE, 0},
    {"add", T(UINT32), 4, 2, {30, 24}, {128}, {16, 4}, {1, 1}, 0, {20, 22}, ADD, 0},
    {"add wide", T(UINT64), 8, 2, {15, 24}, {128}, {8, 4}, {1, 1}, 0, {8, 22}, ADD, 0},
    {"add by pattern", T(UINT32), 4, 2, {30, 24}, {128}, {32, 4}, {1, 1}, 3, {4, 2}, ADD, 0},
    {"least", T(INT32), 4, 2, {30, 24}, {128}, {16, 4}, {1, 1}, 0, {4, 2}, MIN, 0},
    {"greatest", T(UINT32), 4, 2, {30, 24}, {128}, {16, 4}, {1, 1}, 0, {4, 2}, MAX, 0},
    {"count", T(UINT32), 4, 2, {30, 24}, {128}, {16, 4}, {1, 1}, 0, {4, 2}, INC, 0},
    {"and", T(UINT32), 4, 2, {30, 24}, {128}, {16, 4}, {1, 1}, 0, {4, 2}, AND, 0},
    {"xor", T(UINT64), 8, 2, {15, 24}, {128}, {8, 4}, {1, 1}, 0, {8, 22}, XOR, 0},
};

const size_t tensorBytes = 1 << 14;
const unsigned poolBytes = 4096;

struct Job {
    int first[5];
    int rank;
    Way way;
    unsigned bytes, base;
};

__host__ __device__ unsigned char pattern(unsigned i) { return (unsigned char)((i * 2654435761u) >> 13); }

#define LOAD_BOX(D, C)                                                                                                    \
    asm volatile("cp.async.bulk.tensor." #D "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"                 \
                 " [%0], [%1, {" C "}], [%2];" ::"r"(box), "l"(map), "r"(object), "r"(x), "r"(y), "r"(z), "r"(u), "r"(v) \
                 : "memory")
#define STORE_BOX(D, C)                                                                                                   \
    asm volatile("cp.async.bulk.tensor." #D "d.global.shared::cta.tile.bulk_group [%0, {" C "}], [%1];" ::"l"(map),       \
                 "r"(box), "r"(x), "r"(y), "r"(z), "r"(u), "r"(v)                                                         \
                 : "memory")
#define COMBINE(OP)                                                                                                       \
    asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta." #OP ".tile.bulk_group [%0, {%2, %3}], [%1];" ::"l"( \
                     map),                                                                                                \
                 "r"(box), "r"(x), "r"(y)                                                                                 \
                 : "memory")

// CUTLASS leaves the word out for clang, unless the macro is there; a copy of the map in local memory is none for the hardware.
#if !defined(CUTLASS_GRID_CONSTANT)
#if defined(__clang__) && defined(__CUDA__)
#define CUTLASS_GRID_CONSTANT
#else
#define CUTLASS_GRID_CONSTANT __grid_constant__
#endif
#endif

__global__ void copy(const CUTLASS_GRID_CONSTANT CUtensorMap tensor, Job job, unsigned char *dump)
{
    __shared__ __align__(1024) unsigned char pool[poolBytes];
    __shared__ __align__(8) unsigned long long told;
    unsigned object = (unsigned)__cvta_generic_to_shared(&told);
    unsigned box = (unsigned)__cvta_generic_to_shared(pool) + job.base;
    for (unsigned i = threadIdx.x; i < poolBytes; i += blockDim.x)
        pool[i] = job.way == LOAD ? 0xcd : pattern(i);
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(object) : "memory");
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    int x = job.first[0], y = job.first[1], z = job.first[2], u = job.first[3], v = job.first[4];
    unsigned long long map = (unsigned long long)&tensor;
    if (threadIdx.x == 0) {
        asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
        if (job.way == LOAD) {
            asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(object), "r"(job.bytes) : "memory");
            switch (job.rank) {
            case 1: LOAD_BOX(1, "%3"); break;
            case 2: LOAD_BOX(2, "%3, %4"); break;
            case 3: LOAD_BOX(3, "%3, %4, %5"); break;
            case 4: LOAD_BOX(4, "%3, %4, %5, %6"); break;
            case 5: LOAD_BOX(5, "%3, %4, %5, %6, %7"); break;
            }
        } else {
            switch (job.way) {
            case ADD: COMBINE(add); break;
            case MIN: COMBINE(min); break;
            case MAX: COMBINE(max); break;
            case INC: COMBINE(inc); break;
            case AND: COMBINE(and); break;
            case XOR: COMBINE(xor); break;
            default:
                switch (job.rank) {
                case 1: STORE_BOX(1, "%2"); break;
                case 2: STORE_BOX(2, "%2, %3"); break;
                case 3: STORE_BOX(3, "%2, %3, %4"); break;
                case 4: STORE_BOX(4, "%2, %3, %4, %5"); break;
                case 5: STORE_BOX(5, "%2, %3, %4, %5, %6"); break;
                }
            }
            asm volatile("cp.async.bulk.commit_group;" ::: "memory");
            asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
        }
    }
    if (job.way == LOAD) {
        unsigned ready = 0;
        while (!ready)
            asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                         : "=r"(ready)
                         : "r"(object)
                         : "memory");
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < poolBytes; i += blockDim.x)
        dump[i] = pool[i];
}

static uint64_t combined(const Case &c, uint64_t old, uint64_t from)
{
    switch (c.way) {
    case ADD: return old + from;
    case MIN: return (uint32_t)((int32_t)old < (int32_t)from ? old : from);
    case MAX: return old > from ? old : from;
    case INC: return old >= from ? 0 : old + 1;
    case AND: return old & from;
    case XOR: return old ^ from;
    default: return from;
    }
}

static unsigned long swizzled(const Case &c, unsigned long at)
{
    unsigned long chunks = (1ul << c.swizzle) - 1;
    return at ^ ((at >> 7 & chunks) << 4);
}

// The nearest float of ten bits after the first, of two the even one.
static void tf32(unsigned char *element)
{
    uint32_t bits;
    memcpy(&bits, element, 4);
    if ((bits & 0x7fffffff) > 0x7f800000)
        bits = 0x7fffe000;
    else
        bits = (bits + 0xfff + (bits >> 13 & 1)) & 0xffffe000;
    memcpy(element, &bits, 4);
}

// What is to be in the tensor and in shared memory afterwards; returns the bytes of the box. What is read has to be
// in the tensor, what is written in 16 bytes that begin there.
static unsigned expect(const Case &c, unsigned char *tensor, unsigned char *pool)
{
    unsigned long count[5] = {1, 1, 1, 1, 1};
    for (int d = 0; d < c.rank; d++)
        count[d] = d == 0 ? c.reach[0] : (c.reach[d] + c.step[d] - 1) / c.step[d];
    unsigned long index[5], number = 0;
    for (index[4] = 0; index[4] < count[4]; index[4]++)
        for (index[3] = 0; index[3] < count[3]; index[3]++)
            for (index[2] = 0; index[2] < count[2]; index[2]++)
                for (index[1] = 0; index[1] < count[1]; index[1]++)
                    for (index[0] = 0; index[0] < count[0]; index[0]++, number++) {
                        bool inside = true;
                        long offset = 0;
                        for (int d = 0; d < c.rank; d++) {
                            long at = c.first[d] + (long)index[d] * (d == 0 ? 1 : (long)c.step[d]);
                            long whole = c.way == LOAD || d > 0 ? at : at - at % (16 / (long)c.width);
                            inside = inside && whole >= 0 && whole < (long)c.size[d];
                            offset += at * (d == 0 ? (long)c.width : (long)c.stride[d - 1]);
                        }
                        unsigned long row = number / count[0], pitch = c.swizzle ? 16ul << c.swizzle : count[0] * c.width;
                        unsigned char *in = pool + swizzled(c, c.base + row * pitch + index[0] * c.width);
                        if (c.way == LOAD) {
                            if (inside) {
                                memcpy(in, tensor + offset, c.width);
                                if (c.type == T(TFLOAT32))
                                    tf32(in);
                            } else
                                for (unsigned byte = 0; byte < c.width; byte++)
                                    in[byte] = c.fill == NANS ? "\xf7\x7f"[byte % 2] : 0;
                        } else if (inside) {
                            uint64_t old = 0, from = 0;
                            memcpy(&old, tensor + offset, c.width);
                            memcpy(&from, in, c.width);
                            old = combined(c, old, from);
                            memcpy(tensor + offset, &old, c.width);
                        }
                    }
    return (unsigned)(number * c.width);
}

static CUresult encode(CUtensorMap *map, const Case &c, void *tensor)
{
    typedef decltype(&cuTensorMapEncodeTiled) Encode;
    static void *found = nullptr;
    if (found == nullptr) {
        cudaDriverEntryPointQueryResult query;
        CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault, &query));
        if (query != cudaDriverEntryPointSuccess)
            exit(2);
    }
    return ((Encode)found)(map, c.type, c.rank, tensor, c.size, c.stride, c.reach, c.step, CU_TENSOR_MAP_INTERLEAVE_NONE,
                           (CUtensorMapSwizzle)c.swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE, c.fill);
}

int main()
{
    unsigned char *tensor, *dump;
    static unsigned char before[tensorBytes], after[tensorBytes], wanted[poolBytes], pool[poolBytes];
    CHECK(cudaMalloc(&tensor, tensorBytes));
    CHECK(cudaMalloc(&dump, poolBytes));
    unsigned seed = 1;
    for (const Case &c : cases) {
        for (unsigned char &byte : before)
            byte = (unsigned char)((seed = seed * 1664525u + 1013904223u) >> 24);
        CHECK(cudaMemcpy(tensor, before, tensorBytes, cudaMemcpyHostToDevice));
        CUtensorMap map;
        if (encode(&map, c, tensor) != CUDA_SUCCESS) {
            printf("%s: no map\n", c.name);
            continue;
        }
        for (unsigned i = 0; i < poolBytes; i++)
            wanted[i] = c.way == LOAD ? 0xcd : pattern(i);
        Job job = {};
        job.bytes = expect(c, before, wanted);
        job.rank = c.rank, job.way = c.way, job.base = c.base;
        memcpy(job.first, c.first, sizeof job.first);
        copy<<<1, 64>>>(map, job, dump);
        CHECK(cudaDeviceSynchronize());
        CHECK(cudaMemcpy(after, tensor, tensorBytes, cudaMemcpyDeviceToHost));
        CHECK(cudaMemcpy(pool, dump, poolBytes, cudaMemcpyDeviceToHost));
        unsigned wrong = 0;
        for (unsigned i = 0; i < tensorBytes; i++)
            wrong += before[i] != after[i];
        for (unsigned i = 0; i < poolBytes; i++)
            wrong += wanted[i] != pool[i];
        printf("%s: %u bytes, %u wrong\n", c.name, job.bytes, wrong);
    }

    // What is no map.
    Case bad = cases[5];
    CUtensorMap map;
    bad.reach[0] = 20;
    printf("row of 20 bytes: %d\n", encode(&map, bad, tensor));
    bad = cases[5], bad.stride[0] = 72;
    printf("stride of 72 bytes: %d\n", encode(&map, bad, tensor));
    bad = cases[5], bad.rank = 6;
    printf("six dimensions: %d\n", encode(&map, bad, tensor));
    printf("tensor at 8: %d\n", encode(&map, cases[5], tensor + 8));
    CHECK(cudaFree(dump));
    CHECK(cudaFree(tensor));
    return 0;
}
