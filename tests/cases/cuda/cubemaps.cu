// Cube maps: the face that a direction meets, points and lines on faces, layers of cubes, surfaces of faces.
#include <cstdio>

__global__ void fetch(cudaTextureObject_t map, const float3 *directions, float *out)
{
    float3 d = directions[threadIdx.x];
    out[threadIdx.x] = texCubemap<float>(map, d.x, d.y, d.z);
}

__global__ void fetchLayers(cudaTextureObject_t map, const float3 *directions, float *out)
{
    float3 d = directions[threadIdx.x];
    out[threadIdx.x] = texCubemapLayered<float>(map, d.x, d.y, d.z, threadIdx.x % 2);
}

__global__ void turn(cudaSurfaceObject_t faces)
{
    int x = threadIdx.x, y = threadIdx.y, face = blockIdx.x;
    float value;
    surfCubemapread(&value, faces, x * sizeof(float), y, face);
    surfCubemapwrite(value + 1000, faces, x * sizeof(float), y, face);
}

static cudaArray_t cubes(int side, int count, unsigned flags)
{
    cudaArray_t array;
    auto format = cudaCreateChannelDesc<float>();
    int error = cudaMalloc3DArray(&array, &format, make_cudaExtent(side, side, 6 * count), flags);
    float *texels = new float[side * side * 6 * count];
    for (int i = 0; i < side * side * 6 * count; i++) {
        texels[i] = i / (side * side) * 100 + i % (side * side);
    }
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(texels, side * sizeof(float), side, side);
    copy.dstArray = array;
    copy.extent = make_cudaExtent(side, side, 6 * count);
    copy.kind = cudaMemcpyHostToDevice;
    printf("array %d, copy %d\n", error, cudaMemcpy3D(&copy));
    delete[] texels;
    return array;
}

static cudaTextureObject_t texture(cudaArray_t array, cudaTextureFilterMode filter)
{
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc how = {};
    how.addressMode[0] = how.addressMode[1] = how.addressMode[2] = cudaAddressModeClamp;
    how.filterMode = filter;
    how.normalizedCoords = 1;
    cudaTextureObject_t object;
    printf("texture %d\n", cudaCreateTextureObject(&object, &resource, &how, nullptr));
    return object;
}

static void show(const char *what, const float *values, int count)
{
    printf("%s:", what);
    for (int i = 0; i < count; i++) {
        printf(" %g", values[i]);
    }
    printf("\n");
}

int main()
{
    const int COUNT = 40;
    float3 *directions;
    float *out;
    cudaMallocManaged(&directions, COUNT * sizeof(float3));
    cudaMallocManaged(&out, COUNT * sizeof(float));
    // Each face, its quarters, and where two and three faces meet.
    const float fixed[][3] = {{1, 0.1f, 0.2f}, {-1, 0.1f, 0.2f}, {0.1f, 1, 0.2f}, {0.1f, -1, 0.2f},
                              {0.1f, 0.2f, 1}, {0.1f, 0.2f, -1}, {3, 2, -1},      {-3, -2, 1},
                              {2, 3, -1},      {-2, -3, 1},      {1, -2, 3},      {-1, 2, -3},
                              {1, 1, 0.3f},    {-1, 1, 0.3f},    {1, 0.3f, 1},    {0.3f, 1, -1},
                              {1, 1, 1},       {-1, -1, -1},     {0.3f, -1, 1},   {-1, 0.3f, -1}};
    for (int i = 0; i < COUNT; i++) {
        if (i < 20) {
            directions[i] = make_float3(fixed[i][0], fixed[i][1], fixed[i][2]);
        } else {
            directions[i] = make_float3((i * 37 % 41 - 20) / 16.f, (i * 29 % 43 - 21) / 16.f, (i * 31 % 37 - 18) / 16.f);
        }
    }
    cudaArray_t one = cubes(4, 1, cudaArrayCubemap | cudaArraySurfaceLoadStore);
    fetch<<<1, COUNT>>>(texture(one, cudaFilterModePoint), directions, out);
    cudaDeviceSynchronize();
    show("points", out, COUNT);
    fetch<<<1, COUNT>>>(texture(one, cudaFilterModeLinear), directions, out);
    cudaDeviceSynchronize();
    show("lines", out, COUNT);
    cudaArray_t two = cubes(4, 2, cudaArrayCubemap | cudaArrayLayered);
    fetchLayers<<<1, COUNT>>>(texture(two, cudaFilterModePoint), directions, out);
    cudaDeviceSynchronize();
    show("layers", out, COUNT);

    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = one;
    cudaSurfaceObject_t faces;
    cudaCreateSurfaceObject(&faces, &resource);
    turn<<<6, dim3(4, 4)>>>(faces);
    fetch<<<1, COUNT>>>(texture(one, cudaFilterModePoint), directions, out);
    cudaDeviceSynchronize();
    show("written", out, COUNT);

    cudaArray_t wrong;
    auto format = cudaCreateChannelDesc<float>();
    printf("%d", cudaMalloc3DArray(&wrong, &format, make_cudaExtent(4, 8, 6), cudaArrayCubemap));
    printf(" %d", cudaMalloc3DArray(&wrong, &format, make_cudaExtent(4, 4, 5), cudaArrayCubemap));
    printf(" %d", cudaMalloc3DArray(&wrong, &format, make_cudaExtent(4, 4, 12), cudaArrayCubemap));
    printf(" %d\n", cudaMalloc3DArray(&wrong, &format, make_cudaExtent(4, 4, 9), cudaArrayCubemap | cudaArrayLayered));
    return 0;
}
