// Mipmapped arrays: levels by number, by gradients and between limits, of pictures, boxes, layers and cubes, and sRGB.
#include <cstdio>

__global__ void by_level(cudaTextureObject_t texture, float *out)
{
    float detail = threadIdx.x * 0.5f;
    out[threadIdx.x] = tex2DLod<float>(texture, 0.5f, 0.5f, detail);
}

__global__ void by_gradient(cudaTextureObject_t texture, float *out)
{
    float texels = (1 << threadIdx.x) / 16.0f;
    out[threadIdx.x] = tex2DGrad<float>(texture, 0.5f, 0.5f, make_float2(texels, 0), make_float2(0, texels / 2));
}

__global__ void boxes(cudaTextureObject_t texture, float *out)
{
    out[threadIdx.x] = tex3DLod<float>(texture, 0.5f, 0.5f, 0.5f, threadIdx.x);
}

__global__ void layers(cudaTextureObject_t texture, float *out)
{
    out[threadIdx.x] = tex2DLayeredLod<float>(texture, 0.5f, 0.5f, threadIdx.x / 3, threadIdx.x % 3);
}

__global__ void cubes(cudaTextureObject_t texture, float *out)
{
    float side = threadIdx.x & 1 ? -1 : 1;
    float3 at = make_float3(threadIdx.x / 2 == 0 ? side : 0, threadIdx.x / 2 == 1 ? side : 0, threadIdx.x / 2 == 2 ? side : 0);
    out[threadIdx.x] = texCubemapLod<float>(texture, at.x, at.y, at.z, 1);
}

__global__ void plain(cudaTextureObject_t texture, float *out) { *out = tex2D<float>(texture, 0.5f, 0.5f); }

__global__ void fill(cudaSurfaceObject_t level, float value, int width)
{
    for (int i = threadIdx.x; i < width * width; i += blockDim.x)
        surf2Dwrite(value, level, i % width * int(sizeof value), i / width);
}

__global__ void parent(cudaTextureObject_t nearest, cudaTextureObject_t mean, float *out)
{
    by_level<<<1, 11>>>(nearest, out);
    by_level<<<1, 11>>>(mean, out + 16);
    by_gradient<<<1, 6>>>(nearest, out + 32);
}

__global__ void pixels(cudaTextureObject_t texture, float4 *out) { out[threadIdx.x] = tex2D<float4>(texture, threadIdx.x, 0); }

static void show(const char *what, const float *values, int count)
{
    printf("%s: error %d:", what, cudaDeviceSynchronize());
    for (int i = 0; i < count; i++)
        printf(" %g", values[i]);
    printf("\n");
}

static cudaTextureObject_t texture_of(cudaMipmappedArray_t array, cudaTextureFilterMode filter, float bias, float least, float most)
{
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeMipmappedArray;
    resource.res.mipmap.mipmap = array;
    cudaTextureDesc how = {};
    how.normalizedCoords = 1;
    how.filterMode = cudaFilterModeLinear;
    how.mipmapFilterMode = filter;
    how.addressMode[0] = how.addressMode[1] = how.addressMode[2] = cudaAddressModeClamp;
    how.mipmapLevelBias = bias;
    how.minMipmapLevelClamp = least;
    how.maxMipmapLevelClamp = most;
    cudaTextureObject_t texture = 0;
    int error = cudaCreateTextureObject(&texture, &resource, &how, nullptr);
    if (error)
        printf("texture: %d\n", error);
    return texture;
}

// Every texel of a level (and layer) is one number.
static void set(cudaMipmappedArray_t array, int levels, int layer_step)
{
    for (int number = 0; number < levels; number++) {
        cudaArray_t level;
        cudaGetMipmappedArrayLevel(&level, array, number);
        cudaExtent size;
        cudaArrayGetInfo(nullptr, &size, nullptr, level);
        static float texels[4096];
        cudaExtent whole = make_cudaExtent(size.width, size.height, size.depth ? size.depth : 1);
        for (size_t i = 0; i < whole.width * whole.height * whole.depth; i++)
            texels[i] = number + 1 + i / (whole.width * whole.height) * layer_step;
        cudaMemcpy3DParms copy = {};
        copy.srcPtr = make_cudaPitchedPtr(texels, whole.width * sizeof *texels, whole.width, whole.height);
        copy.dstArray = level;
        copy.extent = whole;
        copy.kind = cudaMemcpyHostToDevice;
        int error = cudaMemcpy3D(&copy);
        printf("level %d: %zu %zu %zu, error %d\n", number, size.width, size.height, size.depth, error);
    }
}

int main()
{
    float *out;
    cudaMallocManaged(&out, 64 * sizeof *out);
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaMipmappedArray_t array;
    printf("%d\n", cudaMallocMipmappedArray(&array, &format, make_cudaExtent(16, 8, 0), 5));
    set(array, 5, 0);
    cudaArray_t none;
    printf("no level: %d\n", cudaGetMipmappedArrayLevel(&none, array, 5));
    parent<<<1, 1>>>(texture_of(array, cudaFilterModePoint, 0, 0, 10), texture_of(array, cudaFilterModeLinear, 0, 0, 10), out);
    show("nearest", out, 11);
    show("mean", out + 16, 11);
    show("gradient", out + 32, 6);
    by_level<<<1, 11>>>(texture_of(array, cudaFilterModeLinear, 0.25f, 1, 2.5f), out);
    show("between limits", out, 11);
    plain<<<1, 1>>>(texture_of(array, cudaFilterModePoint, 0, 0, 10), out);
    show("without a level", out, 1);
    printf("%d\n", cudaFreeMipmappedArray(array));

    cudaMallocMipmappedArray(&array, &format, make_cudaExtent(4, 8, 2), 9);
    set(array, 4, 0);
    boxes<<<1, 5>>>(texture_of(array, cudaFilterModePoint, 0, 0, 10), out);
    show("boxes", out, 5);
    cudaFreeMipmappedArray(array);

    cudaMallocMipmappedArray(&array, &format, make_cudaExtent(4, 4, 3), 3, cudaArrayLayered);
    set(array, 3, 10);
    layers<<<1, 9>>>(texture_of(array, cudaFilterModePoint, 0, 0, 10), out);
    show("layers", out, 9);
    cudaFreeMipmappedArray(array);

    cudaMallocMipmappedArray(&array, &format, make_cudaExtent(4, 4, 6), 2, cudaArrayCubemap);
    set(array, 2, 10);
    cubes<<<1, 6>>>(texture_of(array, cudaFilterModePoint, 0, 0, 10), out);
    show("cubes", out, 6);
    cudaFreeMipmappedArray(array);

    cudaMallocMipmappedArray(&array, &format, make_cudaExtent(8, 8, 0), 4, cudaArraySurfaceLoadStore);
    for (int number = 0; number < 4; number++) {
        cudaResourceDesc resource = {};
        resource.resType = cudaResourceTypeArray;
        cudaGetMipmappedArrayLevel(&resource.res.array.array, array, number);
        cudaSurfaceObject_t level;
        cudaCreateSurfaceObject(&level, &resource);
        fill<<<1, 32>>>(level, 100 + number, 8 >> number);
    }
    by_level<<<1, 8>>>(texture_of(array, cudaFilterModePoint, 0, 0, 10), out);
    show("written by kernels", out, 8);
    cudaFreeMipmappedArray(array);

    uchar4 colours[2] = {{0, 10, 188, 188}, {255, 128, 1, 0}};
    cudaChannelFormatDesc bytes = cudaCreateChannelDesc<uchar4>();
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    cudaMallocArray(&resource.res.array.array, &bytes, 2, 1);
    cudaMemcpy2DToArray(resource.res.array.array, 0, 0, colours, sizeof colours, sizeof colours, 1, cudaMemcpyHostToDevice);
    cudaTextureDesc how = {};
    how.readMode = cudaReadModeNormalizedFloat;
    how.sRGB = 1;
    cudaTextureObject_t texture;
    printf("%d\n", cudaCreateTextureObject(&texture, &resource, &how, nullptr));
    pixels<<<1, 2>>>(texture, reinterpret_cast<float4 *>(out));
    cudaDeviceSynchronize();
    for (int i = 0; i < 8; i++)
        printf("%.3f ", out[i]);
    printf("\n");
}
