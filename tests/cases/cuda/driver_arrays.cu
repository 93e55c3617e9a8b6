// Arrays by the driver's calls: their descriptions, copies of bytes, rectangles and boxes, texture and surface objects that
// kernels read and write through, levels of a mipmapped array, and what is refused.
#include "driver.h"

#include <cstring>
#include <cuda.h>
#include <cuda_runtime.h>
#include <vector>

__global__ void sample(cudaTextureObject_t texture, float *out, int n)
{
    int i = threadIdx.x;
    if (i < n) {
        out[i] = tex2D<float>(texture, i + 0.5f, 1.5f);
    }
}

__global__ void bytes(cudaTextureObject_t integers, cudaTextureObject_t numbers, float *out)
{
    int i = threadIdx.x;
    uchar4 four = tex1D<uchar4>(integers, float(i));
    float4 read = tex1D<float4>(numbers, float(i));
    out[2 * i] = four.x + 1000.0f * four.w;
    out[2 * i + 1] = read.y * 255.0f;
}

__global__ void invert(cudaSurfaceObject_t surface, int width, int height)
{
    int x = threadIdx.x, y = threadIdx.y;
    if (x < width && y < height) {
        float value = surf2Dread<float>(surface, x * 4, y);
        surf2Dwrite(-value, surface, x * 4, y);
    }
}

__global__ void level(cudaTextureObject_t texture, float *out)
{
    out[threadIdx.x] = tex2DLod<float>(texture, 0.5f, 0.5f, float(threadIdx.x));
}

static void show(const char *what, CUdeviceptr data, int n)
{
    std::vector<float> host(n);
    CHECK(cuMemcpyDtoH(host.data(), data, n * sizeof(float)));
    printf("%s:", what);
    for (float value : host) {
        printf(" %g", value);
    }
    printf("\n");
}

static CUDA_RESOURCE_DESC of_array(CUarray array)
{
    CUDA_RESOURCE_DESC resource;
    memset(&resource, 0, sizeof resource);
    resource.resType = CU_RESOURCE_TYPE_ARRAY;
    resource.res.array.hArray = array;
    return resource;
}

// A copy of all elements of an array from the host.
static CUDA_MEMCPY2D fill(CUarray array, const float *from, int width, int height)
{
    CUDA_MEMCPY2D copy = {};
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = from;
    copy.srcPitch = width * sizeof(float);
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.dstArray = array;
    copy.WidthInBytes = width * sizeof(float);
    copy.Height = height;
    return copy;
}

int main()
{
    begin();
    CUdeviceptr out;
    CHECK(cuMemAlloc(&out, 64 * sizeof(float)));

    // An array of two dimensions, filled by a rectangle, read by a texture.
    const int width = 5, height = 3;
    CUDA_ARRAY3D_DESCRIPTOR described = {};
    described.Width = width;
    described.Height = height;
    described.Format = CU_AD_FORMAT_FLOAT;
    described.NumChannels = 1;
    described.Flags = CUDA_ARRAY3D_SURFACE_LDST;
    CUarray flat;
    CHECK(cuArray3DCreate(&flat, &described));
    std::vector<float> host(width * height);
    for (int i = 0; i < width * height; i++) {
        host[i] = float(i);
    }
    CUDA_MEMCPY2D copy = fill(flat, host.data(), width, height);
    CHECK(cuMemcpy2D(&copy));
    CUDA_ARRAY_DESCRIPTOR found = {};
    CHECK(cuArrayGetDescriptor(&found, flat));
    printf("flat: %zu %zu %x %u\n", found.Width, found.Height, found.Format, found.NumChannels);

    CUDA_RESOURCE_DESC resource = of_array(flat);
    CUDA_TEXTURE_DESC texture = {};
    texture.addressMode[0] = texture.addressMode[1] = CU_TR_ADDRESS_MODE_CLAMP;
    texture.filterMode = CU_TR_FILTER_MODE_LINEAR;
    CUtexObject object;
    CHECK(cuTexObjectCreate(&object, &resource, &texture, nullptr));
    sample<<<1, 32>>>(object, (float *)out, 7);
    show("row", out, 7);
    CUDA_RESOURCE_DESC same;
    CUDA_TEXTURE_DESC same_texture;
    CHECK(cuTexObjectGetResourceDesc(&same, object));
    CHECK(cuTexObjectGetTextureDesc(&same_texture, object));
    printf("described: %d %d %d %u\n", same.resType == CU_RESOURCE_TYPE_ARRAY, same.res.array.hArray == flat,
           same_texture.addressMode[1] == CU_TR_ADDRESS_MODE_CLAMP, same_texture.flags);
    CHECK(cuTexObjectDestroy(object));

    // The same array as a surface, then copied out, in the order of a stream.
    CUsurfObject surface;
    CHECK(cuSurfObjectCreate(&surface, &resource));
    invert<<<1, dim3(8, 4)>>>(surface, width, height);
    CHECK(cuSurfObjectDestroy(surface));
    CUstream stream;
    CHECK(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
    CUDA_MEMCPY2D back = {};
    back.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    back.srcArray = flat;
    back.srcXInBytes = sizeof(float);
    back.srcY = 1;
    back.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    back.dstDevice = out;
    back.dstPitch = 2 * sizeof(float);
    back.WidthInBytes = 2 * sizeof(float);
    back.Height = 2;
    CHECK(cuMemcpy2DAsync(&back, stream));
    CHECK(cuStreamSynchronize(stream));
    show("inverted", out, 4);

    // Bytes to and from an array of one dimension.
    CUDA_ARRAY_DESCRIPTOR line_described = {8, 0, CU_AD_FORMAT_UNSIGNED_INT8, 4};
    CUarray line, other;
    CHECK(cuArrayCreate(&line, &line_described));
    CHECK(cuArrayCreate(&other, &line_described));
    unsigned char values[32], values_back[32] = {};
    for (int i = 0; i < 32; i++) {
        values[i] = (unsigned char)(3 * i);
    }
    CHECK(cuMemcpyHtoA(line, 0, values, 16));
    CHECK(cuMemcpyHtoAAsync(line, 16, values + 16, 16, stream));
    CHECK(cuStreamSynchronize(stream));
    CHECK(cuMemcpyAtoA(other, 4, line, 0, 28));
    CHECK(cuMemcpyHtoA(other, 0, values + 28, 4));
    CHECK(cuMemcpyAtoH(values_back, other, 0, 32));
    printf("bytes: %d %d %d %d\n", values_back[0], values_back[3], values_back[4], values_back[31]);
    CHECK(cuMemcpyAtoD(out, line, 4, 8));
    CHECK(cuMemcpyDtoA(other, 0, out, 8));
    CHECK(cuMemcpyAtoHAsync(values_back, other, 0, 8, stream));
    CHECK(cuStreamSynchronize(stream));
    printf("by memory: %d %d\n", values_back[0], values_back[7]);
    printf("too long: %d\n", cuMemcpyHtoA(line, 20, values, 16) != CUDA_SUCCESS);

    // The same elements as integers and as numbers from 0 to 1.
    resource = of_array(line);
    memset(&texture, 0, sizeof texture);
    texture.addressMode[0] = CU_TR_ADDRESS_MODE_CLAMP;
    texture.flags = CU_TRSF_READ_AS_INTEGER;
    CUtexObject integers, numbers;
    CHECK(cuTexObjectCreate(&integers, &resource, &texture, nullptr));
    texture.flags = 0;
    CHECK(cuTexObjectCreate(&numbers, &resource, &texture, nullptr));
    bytes<<<1, 3>>>(integers, numbers, (float *)out);
    show("elements", out, 6);
    CHECK(cuTexObjectGetTextureDesc(&same_texture, integers));
    printf("flags: %u\n", same_texture.flags);
    CHECK(cuTexObjectDestroy(integers));
    CHECK(cuTexObjectDestroy(numbers));

    // Memory as a texture.
    memset(&resource, 0, sizeof resource);
    resource.resType = CU_RESOURCE_TYPE_PITCH2D;
    size_t pitch;
    CUdeviceptr rows;
    CHECK(cuMemAllocPitch(&rows, &pitch, width * sizeof(float), height, 4));
    copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.dstDevice = rows;
    copy.dstPitch = pitch;
    CHECK(cuMemcpy2D(&copy));
    resource.res.pitch2D.devPtr = rows;
    resource.res.pitch2D.format = CU_AD_FORMAT_FLOAT;
    resource.res.pitch2D.numChannels = 1;
    resource.res.pitch2D.width = width;
    resource.res.pitch2D.height = height;
    resource.res.pitch2D.pitchInBytes = pitch;
    memset(&texture, 0, sizeof texture);
    texture.addressMode[0] = texture.addressMode[1] = CU_TR_ADDRESS_MODE_BORDER;
    CHECK(cuTexObjectCreate(&object, &resource, &texture, nullptr));
    sample<<<1, 32>>>(object, (float *)out, 7);
    show("rows", out, 7);
    CHECK(cuTexObjectDestroy(object));

    // A box.
    memset(&described, 0, sizeof described);
    described.Width = 4;
    described.Height = 3;
    described.Depth = 2;
    described.Format = CU_AD_FORMAT_SIGNED_INT32;
    described.NumChannels = 2;
    CUarray box;
    CHECK(cuArray3DCreate(&box, &described));
    int cells[2][3][4][2], part[2][2][2] = {};
    for (int i = 0; i < 48; i++) {
        (&cells[0][0][0][0])[i] = i;
    }
    CUDA_MEMCPY3D all = {};
    all.srcMemoryType = CU_MEMORYTYPE_HOST;
    all.srcHost = cells;
    all.srcPitch = sizeof cells[0][0];
    all.srcHeight = 3;
    all.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    all.dstArray = box;
    all.WidthInBytes = sizeof cells[0][0];
    all.Height = 3;
    all.Depth = 2;
    CHECK(cuMemcpy3D(&all));
    CUDA_MEMCPY3D some = {};
    some.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    some.srcArray = box;
    some.srcXInBytes = 8;
    some.srcY = 1;
    some.dstMemoryType = CU_MEMORYTYPE_HOST;
    some.dstHost = part;
    some.dstPitch = sizeof part[0][0];
    some.dstHeight = 2;
    some.WidthInBytes = 8;
    some.Height = 2;
    some.Depth = 2;
    CHECK(cuMemcpy3D(&some));
    printf("box: %d %d %d %d\n", part[0][0][0], part[0][1][1], part[1][0][0], part[1][1][1]);
    CUDA_ARRAY3D_DESCRIPTOR read = {};
    CHECK(cuArray3DGetDescriptor(&read, box));
    printf("box: %zu %zu %zu %x %u %u\n", read.Width, read.Height, read.Depth, read.Format, read.NumChannels, read.Flags);

    // Levels, each filled with its number.
    memset(&described, 0, sizeof described);
    described.Width = described.Height = 8;
    described.Format = CU_AD_FORMAT_FLOAT;
    described.NumChannels = 1;
    CUmipmappedArray mipmap;
    CHECK(cuMipmappedArrayCreate(&mipmap, &described, 4));
    for (unsigned number = 0; number < 4; number++) {
        CUarray one;
        CHECK(cuMipmappedArrayGetLevel(&one, mipmap, number));
        int size = 8 >> number;
        std::vector<float> same(size * size, number + 0.25f);
        CUDA_MEMCPY2D copy = fill(one, same.data(), size, size);
        CHECK(cuMemcpy2D(&copy));
    }
    memset(&resource, 0, sizeof resource);
    resource.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
    resource.res.mipmap.hMipmappedArray = mipmap;
    memset(&texture, 0, sizeof texture);
    texture.addressMode[0] = texture.addressMode[1] = CU_TR_ADDRESS_MODE_CLAMP;
    texture.flags = CU_TRSF_NORMALIZED_COORDINATES;
    texture.maxMipmapLevelClamp = 3;
    CHECK(cuTexObjectCreate(&object, &resource, &texture, nullptr));
    level<<<1, 4>>>(object, (float *)out);
    show("levels", out, 4);
    CHECK(cuTexObjectDestroy(object));
    CHECK(cuMipmappedArrayDestroy(mipmap));

    // What was not made for it is a surface all the same; then what is refused.
    resource = of_array(line);
    printf("surface: %d\n", cuSurfObjectCreate(&surface, &resource) == CUDA_SUCCESS);
    described.NumChannels = 3;
    printf("three channels: %d\n", cuArray3DCreate(&box, &described) != CUDA_SUCCESS);
    CHECK(cuArrayDestroy(flat));
    CHECK(cuArrayDestroy(line));
    CHECK(cuArrayDestroy(other));
    CHECK(cuMemFree(rows));
    CHECK(cuMemFree(out));
    CHECK(cuStreamDestroy(stream));
    printf("done\n");
}
