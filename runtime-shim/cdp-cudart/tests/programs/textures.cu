// Texture and surface objects over arrays, pitched and linear memory.
#include "check.h"
#include <cstring>

__global__ void sample(cudaTextureObject_t linear, cudaTextureObject_t image, float *out)
{
    int i = threadIdx.x;
    out[i] = tex1Dfetch<float>(linear, i) + tex2D<float>(image, i + 0.5f, 1.5f);
}

__global__ void stamp(cudaSurfaceObject_t surface)
{
    surf2Dwrite((float)(threadIdx.x * 10), surface, threadIdx.x * 4, 0);
}

int main()
{
    float host[2][4] = {{1, 2, 3, 4}, {5, 6, 7, 8}}, *memory, *out, found[4];
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaArray_t array;
    CHECK(cudaMallocArray(&array, &format, 4, 2, cudaArraySurfaceLoadStore));
    CHECK(cudaMemcpy2DToArray(array, 0, 0, host, 16, 16, 2, cudaMemcpyHostToDevice));
    CHECK(cudaMalloc(&memory, 16));
    CHECK(cudaMalloc(&out, 16));
    CHECK(cudaMemcpy(memory, host, 16, cudaMemcpyHostToDevice));
    cudaResourceDesc resource;
    memset(&resource, 0, sizeof resource);
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc description;
    memset(&description, 0, sizeof description);
    description.addressMode[0] = description.addressMode[1] = cudaAddressModeClamp;
    cudaTextureObject_t image, linear;
    CHECK(cudaCreateTextureObject(&image, &resource, &description, nullptr));
    cudaSurfaceObject_t surface;
    CHECK(cudaCreateSurfaceObject(&surface, &resource));
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = memory;
    resource.res.linear.desc = format;
    resource.res.linear.sizeInBytes = 16;
    CHECK(cudaCreateTextureObject(&linear, &resource, &description, nullptr));
    sample<<<1, 4>>>(linear, image, out);
    CHECK(cudaMemcpy(found, out, 16, cudaMemcpyDeviceToHost));
    printf("%g %g %g %g\n", found[0], found[1], found[2], found[3]);
    stamp<<<1, 4>>>(surface);
    CHECK(cudaMemcpy2DFromArray(host, 16, array, 0, 0, 16, 2, cudaMemcpyDeviceToHost));
    printf("%g %g %g %g | %g\n", host[0][0], host[0][1], host[0][2], host[0][3], host[1][0]);
    cudaResourceDesc asked;
    CHECK(cudaGetTextureObjectResourceDesc(&asked, linear));
    printf("linear of %zu bytes\n", asked.res.linear.sizeInBytes);
    cudaExtent extent;
    unsigned flags;
    CHECK(cudaArrayGetInfo(&format, &extent, &flags, array));
    printf("%zu x %zu, flags %u, %d bits\n", extent.width, extent.height, flags, format.x);
    CHECK(cudaDestroyTextureObject(image));
    CHECK(cudaDestroyTextureObject(linear));
    CHECK(cudaDestroySurfaceObject(surface));
    CHECK(cudaFreeArray(array));
}
