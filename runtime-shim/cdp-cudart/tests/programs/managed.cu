// Managed variables and memory, advice, prefetches and what pointers are.
#include "check.h"

__managed__ int counts[4] = {1, 2, 3, 4};
__device__ __managed__ double scale = 0.5;
__device__ int own = 7;

__global__ void count(int *more)
{
    counts[threadIdx.x] += more[threadIdx.x] + own;
    scale = scale + counts[0] * 0.0;
}

static const char *kind(const void *pointer)
{
    cudaPointerAttributes attributes;
    CHECK(cudaPointerGetAttributes(&attributes, pointer));
    const char *names[] = {"unregistered", "host", "device", "managed"};
    return names[attributes.type];
}

int main()
{
    counts[3] = 10;
    int *more, *pinned, *device, plain = 0;
    CHECK(cudaMallocManaged(&more, 4 * sizeof(int)));
    CHECK(cudaMallocHost(&pinned, 4));
    CHECK(cudaMalloc(&device, 4));
    for (int i = 0; i < 4; i++)
        more[i] = 100 * i;
    int id = 0;
    cudaMemLocation here = {cudaMemLocationTypeDevice, 0}, host = {cudaMemLocationTypeHost, 0};
    CHECK(cudaGetDevice(&id));
    CHECK(cudaMemAdvise(more, 16, cudaMemAdviseSetReadMostly, here));
    CHECK(cudaMemAdvise(more, 16, cudaMemAdviseSetPreferredLocation, host));
    CHECK(cudaMemPrefetchAsync(more, 16, here, 0, 0));
    count<<<1, 4>>>(more);
    CHECK(cudaDeviceSynchronize());
    printf("%d %d %d %d, scale %.2f\n", counts[0], counts[1], counts[2], counts[3], scale);
    int read_mostly = -5;
    CHECK(cudaMemRangeGetAttribute(&read_mostly, 4, cudaMemRangeAttributeReadMostly, more, 16));
    printf("read mostly %d\n", read_mostly);
    printf("%s %s %s %s\n", kind(more), kind(pinned), kind(device), kind(&plain));
    int value = 41;
    CHECK(cudaMemcpyToSymbol(own, &value, sizeof value));
    value = 0;
    CHECK(cudaMemcpyFromSymbol(&value, own, sizeof value));
    size_t bytes = 0;
    CHECK(cudaGetSymbolSize(&bytes, own));
    void *address = nullptr;
    CHECK(cudaGetSymbolAddress(&address, own));
    printf("%d in %zu bytes of %s memory\n", value, bytes, kind(address));
    CHECK(cudaFree(more));
    CHECK(cudaFreeHost(pinned));
    CHECK(cudaFree(device));
}
