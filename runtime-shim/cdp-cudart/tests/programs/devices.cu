// Devices, limits, versions, peers and errors.
#include "check.h"
#include <cstring>

int main()
{
    int count = 0, device = -1, version = 0, value = 0;
    CHECK(cudaGetDeviceCount(&count));
    CHECK(cudaGetDevice(&device));
    CHECK(cudaRuntimeGetVersion(&version));
    printf("some: %d, current %d, runtime %d\n", count > 0, device, version);
    cudaDeviceProp properties;
    CHECK(cudaGetDeviceProperties(&properties, 0));
    printf("%d.%d, warp %d, %d threads a block\n", properties.major, properties.minor,
           properties.warpSize, properties.maxThreadsPerBlock);
    CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrComputeCapabilityMajor, 0));
    printf("major %d\n", value);
    printf("%s\n", cudaGetErrorName(cudaSetDevice(1000)));
    printf("%s\n", cudaGetErrorName(cudaPeekAtLastError()));
    printf("%s\n", cudaGetErrorString(cudaGetLastError()));
    CHECK(cudaDeviceCanAccessPeer(&value, 0, 0));
    printf("peer of itself %d\n", value);
    printf("%s\n", cudaGetErrorName(cudaDeviceEnablePeerAccess(0, 0)));
    cudaGetLastError();
    char id[32];
    CHECK(cudaDeviceGetPCIBusId(id, sizeof id, 0));
    CHECK(cudaDeviceGetByPCIBusId(&value, id));
    printf("%zu characters, device %d\n", strlen(id), value);
    size_t bytes = 0, total = 0;
    CHECK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 64 << 20));
    CHECK(cudaDeviceGetLimit(&bytes, cudaLimitMallocHeapSize));
    printf("heap of %zu\n", bytes);
    CHECK(cudaMemGetInfo(&bytes, &total));
    printf("free of all: %d\n", bytes > 0 && bytes <= total);
    CHECK(cudaSetDeviceFlags(cudaDeviceScheduleYield));
    printf("%s\n", cudaGetErrorName(cudaFree((void *)16)));
    CHECK(cudaDeviceReset());
    printf("%s\n", cudaGetErrorName(cudaGetLastError()));
}
