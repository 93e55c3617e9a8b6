// Fetches and gathers that tell whether the texels are there, by CUDA's own functions.
#include <cstdio>

__global__ void fetches(cudaTextureObject_t texture, float4 *values, bool *resident)
{
    float x = 1.5f + threadIdx.x, y = 2;
    float4 *mine = values + 6 * threadIdx.x;
    bool *there = resident + 6 * threadIdx.x;
    for (int component = 0; component < 4; component++)
        mine[component] = tex2Dgather<float4>(texture, x, y, &there[component], component);
    mine[4] = tex2Dgather<float4>(texture, x, y, &there[4]);
    mine[5] = tex2D<float4>(texture, x, y, &there[5]);
}

__global__ void parent(cudaTextureObject_t texture, float4 *values, bool *resident)
{
    fetches<<<1, 2>>>(texture, values, resident);
}

int main()
{
    float4 texels[4][4];
    for (int y = 0; y < 4; y++)
        for (int x = 0; x < 4; x++)
            texels[y][x] = make_float4(x + 10 * y, 100 + x + 10 * y, 200 + x + 10 * y, 300 + x + 10 * y);
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float4>();
    cudaArray_t array;
    cudaMallocArray(&array, &format, 4, 4, cudaArrayTextureGather);
    cudaMemcpy2DToArray(array, 0, 0, texels, sizeof texels[0], sizeof texels[0], 4, cudaMemcpyHostToDevice);
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc how = {};
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
    how.readMode = cudaReadModeElementType;
    cudaTextureObject_t texture;
    cudaCreateTextureObject(&texture, &resource, &how, nullptr);
    float4 *values;
    bool *resident;
    cudaMallocManaged(&values, 12 * sizeof *values);
    cudaMallocManaged(&resident, 12);
    parent<<<1, 1>>>(texture, values, resident);
    printf("%d\n", cudaDeviceSynchronize());
    for (int i = 0; i < 12; i++)
        printf("%d: %g %g %g %g\n", resident[i], values[i].x, values[i].y, values[i].z, values[i].w);
}
