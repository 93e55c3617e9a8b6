// Memory apart from its addresses: a pool that grows where it is, memory that is mapped twice and elsewhere, what is
// allowed where, memory that is handed on by a descriptor of a file, and what cannot be.
#include "driver.h"

#include <cstring>
#include <cuda.h>
#include <cuda_runtime.h>
#include <unistd.h>
#include <vector>

__global__ void number(int *data, size_t n, int first)
{
    size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i < n) {
        data[i] = int(i) + first;
    }
}

__global__ void sum(const int4 *data, size_t n, unsigned long long *result)
{
    unsigned long long own = 0;
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x) {
        int4 four = data[i];
        own += (unsigned long long)four.x + four.y + four.z + four.w;
    }
    atomicAdd(result, own);
}

static CUmemAllocationProp prop;
static CUmemAccessDesc both;
static size_t granularity;

// A pool that keeps its address while it grows.
struct Pool {
    CUdeviceptr base = 0;
    size_t reserved = 0, used = 0;
    std::vector<size_t> pieces;

    void begin(size_t bytes)
    {
        reserved = bytes;
        CHECK(cuMemAddressReserve(&base, bytes, 0, 0, 0));
    }

    void grow(size_t bytes)
    {
        CUmemGenericAllocationHandle handle;
        CHECK(cuMemCreate(&handle, bytes, &prop, 0));
        CHECK(cuMemMap(base + used, bytes, 0, handle, 0));
        // The memory stays while it is mapped.
        CHECK(cuMemRelease(handle));
        CHECK(cuMemSetAccess(base + used, bytes, &both, 1));
        pieces.push_back(bytes);
        used += bytes;
    }

    void end()
    {
        CHECK(cuMemUnmap(base, used));
        CHECK(cuMemAddressFree(base, reserved));
    }
};

static unsigned long long total(CUdeviceptr data, size_t ints)
{
    unsigned long long *result, host = 0;
    cudaMalloc(&result, sizeof *result);
    cudaMemset(result, 0, sizeof *result);
    sum<<<4, 256>>>((const int4 *)data, ints / 4, result);
    cudaMemcpy(&host, result, sizeof host, cudaMemcpyDeviceToHost);
    cudaFree(result);
    return host;
}

int main()
{
    CUdevice device = begin();
    int has = 0, has_files = 0;
    CHECK(cuDeviceGetAttribute(&has, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, device));
    CHECK(cuDeviceGetAttribute(&has_files, CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED, device));
    printf("supported: %d %d\n", has, has_files);
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    prop.location.id = device;
    both.location = prop.location;
    both.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    CHECK(cuMemGetAllocationGranularity(&granularity, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    printf("granularity: %d\n", granularity > 0 && (granularity & (granularity - 1)) == 0);

    // Pieces that touch each other are one array.
    Pool pool;
    pool.begin(8 * granularity);
    pool.grow(granularity);
    pool.grow(2 * granularity);
    size_t n = pool.used / sizeof(int);
    number<<<unsigned((n + 255) / 256), 256>>>((int *)pool.base, n, 1);
    printf("pool: %d\n", total(pool.base, n) == (unsigned long long)n * (n + 1) / 2);
    // A copy across the seam.
    std::vector<int> host(64);
    CHECK(cuMemcpyDtoH(host.data(), pool.base + granularity - 128, 256));
    printf("seam: %d\n", host[0] == int(granularity / 4 - 32 + 1) && host[63] == host[0] + 63);
    pool.grow(granularity);
    CHECK(cuMemsetD32(pool.base + 3 * granularity, 1, granularity / 4));
    printf("grown: %d\n", total(pool.base, pool.used / 4) == (unsigned long long)n * (n + 1) / 2 + granularity / 4);
    CUdeviceptr found;
    size_t found_bytes = 0;
    CHECK(cuMemGetAddressRange(&found, &found_bytes, pool.base + granularity + 100));
    printf("range: %d %zu\n", found == pool.base + granularity, found_bytes / granularity);
    // An attribute tells of all that is reserved.
    CHECK(cuPointerGetAttribute(&found, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, pool.base + granularity + 100));
    CHECK(cuPointerGetAttribute(&found_bytes, CU_POINTER_ATTRIBUTE_RANGE_SIZE, pool.base + granularity + 100));
    printf("reserved: %d %d\n", found == pool.base, found_bytes == pool.reserved);
    found = 7;
    printf("gap: %d", cuMemGetAddressRange(&found, &found_bytes, pool.base + pool.reserved - 100) == CUDA_ERROR_NOT_FOUND);
    printf(" %llu %zu\n", (unsigned long long)found, found_bytes);
    unsigned on = 1;
    printf("set: %d", cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, pool.base) == CUDA_SUCCESS);
    printf(" %d\n", cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, pool.base) == CUDA_ERROR_INVALID_VALUE);
    CUcontext context;
    CHECK(cuCtxGetCurrent(&context));
    printf("peer: %d", cuCtxEnablePeerAccess(context, 0) == CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
    printf(" %d\n", cuCtxDisablePeerAccess(context) == CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
    CUmemorytype type;
    CHECK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, pool.base));
    printf("type: %d\n", type == CU_MEMORYTYPE_DEVICE);

    // Memory that is mapped twice, one behind the other: a ring.
    CUmemGenericAllocationHandle ring;
    prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    CHECK(cuMemCreate(&ring, granularity, &prop, 0));
    CUdeviceptr twice;
    CHECK(cuMemAddressReserve(&twice, 2 * granularity, granularity, 0, 0));
    CHECK(cuMemMap(twice, granularity, 0, ring, 0));
    CHECK(cuMemMap(twice + granularity, granularity, 0, ring, 0));
    unsigned long long flags = 7;
    CHECK(cuMemGetAccess(&flags, &prop.location, twice));
    printf("access: %llu", flags);
    CHECK(cuMemSetAccess(twice, 2 * granularity, &both, 1));
    CHECK(cuMemGetAccess(&flags, &prop.location, twice + granularity));
    printf(" %llu\n", flags);
    n = granularity / sizeof(int);
    number<<<unsigned((n + 255) / 256), 256>>>((int *)twice, n, 0);
    CHECK(cuCtxSynchronize());
    CHECK(cuMemcpyDtoH(host.data(), twice + granularity - 8, 16));
    printf("ring: %d %d %d %d\n", host[0] == int(n - 2), host[1] == int(n - 1), host[2], host[3]);

    // It keeps what it holds where it is mapped next, and by another handle.
    CHECK(cuMemUnmap(twice, 2 * granularity));
    CHECK(cuMemMap(twice + granularity, granularity, 0, ring, 0));
    CHECK(cuMemSetAccess(twice + granularity, granularity, &both, 1));
    printf("elsewhere: %d\n", total(twice + granularity, n) == (unsigned long long)n * (n - 1) / 2);
    int file = -1;
    CHECK(cuMemExportToShareableHandle(&file, ring, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    CUmemGenericAllocationHandle imported;
    CHECK(cuMemImportFromShareableHandle(&imported, (void *)(size_t)file, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    close(file);
    CHECK(cuMemMap(twice, granularity, 0, imported, 0));
    CHECK(cuMemSetAccess(twice, granularity, &both, 1));
    CHECK(cuMemsetD32(twice, 5, 4));
    CHECK(cuMemcpyDtoH(host.data(), twice + granularity, 32));
    printf("imported: %d %d %d\n", host[0], host[3], host[4]);
    CUmemGenericAllocationHandle known;
    CUmemAllocationProp said;
    CHECK(cuMemRetainAllocationHandle(&known, (void *)(twice + granularity + 4)));
    CHECK(cuMemGetAllocationPropertiesFromHandle(&said, known));
    printf("handle: %d %d %d\n", known == ring, said.type == prop.type, said.location.id == prop.location.id);
    CHECK(cuMemRelease(known));

    // What cannot be.
    printf("refused:");
    CUmemGenericAllocationHandle none;
    printf(" %d", cuMemCreate(&none, granularity - 1, &prop, 0) != CUDA_SUCCESS);
    printf(" %d", cuMemMap(twice, granularity, 0, ring, 0) != CUDA_SUCCESS);
    printf(" %d", cuMemAddressFree(twice, 2 * granularity) != CUDA_SUCCESS);
    printf(" %d", cuMemSetAccess(pool.base + 4 * granularity, granularity, &both, 1) != CUDA_SUCCESS);
    printf(" %d\n", cuMemcpyHtoD(pool.base + 5 * granularity, host.data(), 16) != CUDA_SUCCESS);
    CHECK(cuMemUnmap(twice, granularity));
    CHECK(cuMemUnmap(twice + granularity, granularity));
    CHECK(cuMemRelease(ring));
    CHECK(cuMemRelease(imported));
    CHECK(cuMemAddressFree(twice, 2 * granularity));
    pool.end();

    // Attributes of an address, several at once.
    CUdeviceptr plain;
    CHECK(cuMemAlloc(&plain, 1000));
    CUpointer_attribute names[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
                                   CU_POINTER_ATTRIBUTE_RANGE_SIZE, CU_POINTER_ATTRIBUTE_IS_MANAGED};
    CUdeviceptr start = 0;
    size_t size = 0;
    unsigned managed = 9;
    void *targets[] = {&type, &start, &size, &managed};
    CHECK(cuPointerGetAttributes(4, names, targets, plain + 10));
    printf("attributes: %d %d %d %u\n", type == CU_MEMORYTYPE_DEVICE, start == plain, size >= 1000, managed);
    CHECK(cuPointerGetAttributes(4, names, targets, (CUdeviceptr)host.data()));
    printf("of the host: %d %llu %zu %u\n", (int)type, (unsigned long long)start, size, managed);
    CUpointer_attribute of_pool = CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE;
    CUmemoryPool pool_handle = (CUmemoryPool)host.data();
    void *target = &pool_handle;
    CHECK(cuPointerGetAttributes(1, &of_pool, &target, (CUdeviceptr)host.data()));
    printf("no pool: %d\n", pool_handle == nullptr);
    CHECK(cuMemFree(plain));
    printf("done\n");
}
