// Allocation in stream order, pools, their attributes.
#include "check.h"

__global__ void fill(int *data, int value) { data[threadIdx.x] = value + threadIdx.x; }

int main()
{
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    int *first, *second, host[8];
    CHECK(cudaMallocAsync(&first, 32, stream));
    fill<<<1, 8, 0, stream>>>(first, 40);
    CHECK(cudaMemcpyAsync(host, first, 32, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaFreeAsync(first, stream));
    CHECK(cudaStreamSynchronize(stream));
    printf("%d %d\n", host[0], host[7]);
    cudaMemPool_t pool, standard, current;
    cudaMemPoolProps props = {};
    props.allocType = cudaMemAllocationTypePinned;
    props.location.type = cudaMemLocationTypeDevice;
    CHECK(cudaMemPoolCreate(&pool, &props));
    unsigned long long threshold = 1 << 20, read = 0;
    CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
    CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &read));
    printf("threshold %llu\n", read);
    CHECK(cudaMallocFromPoolAsync(&second, 1024, pool, stream));
    CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &read));
    printf("used %llu\n", read);
    CHECK(cudaFreeAsync(second, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &read));
    printf("used %llu\n", read);
    CHECK(cudaDeviceGetDefaultMemPool(&standard, 0));
    CHECK(cudaDeviceGetMemPool(&current, 0));
    printf("default is current: %d\n", standard == current);
    CHECK(cudaDeviceSetMemPool(0, pool));
    CHECK(cudaDeviceGetMemPool(&current, 0));
    printf("chosen is current: %d\n", pool == current);
    CHECK(cudaMemPoolTrimTo(pool, 0));
    CHECK(cudaMemPoolDestroy(pool));
    printf("%s\n", cudaGetErrorName(cudaMallocAsync(&first, 16, (cudaStream_t)0)));
}
