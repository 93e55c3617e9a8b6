// Fetches outside of a texture whose address mode is the border's: its colour, by the nearest texel and mixed by
// filtering, of numbers, of integers (the bits of the floating values that the description holds) and normalised.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define CHECK(call)                                                \
    do {                                                           \
        cudaError_t status = (call);                               \
        if (status != cudaSuccess) {                               \
            printf("%s: %s\n", #call, cudaGetErrorString(status)); \
            exit(1);                                               \
        }                                                          \
    } while (0)

template <class T> __global__ void across(cudaTextureObject_t map, T *out, float step)
{
    int i = threadIdx.x;
    out[i] = tex2D<T>(map, (i - 2) * step, 0.5f * step);
    out[i + 8] = tex2D<T>(map, 1.5f * step, (i - 2) * step);
}

__global__ void along(cudaTextureObject_t map, float *out) { out[threadIdx.x] = tex1D<float>(map, threadIdx.x - 2.0f); }

template <class T> cudaArray_t square()
{
    auto format = cudaCreateChannelDesc<T>();
    cudaArray_t array;
    CHECK(cudaMallocArray(&array, &format, 4, 4));
    std::vector<unsigned char> texels(16 * sizeof(T));
    for (size_t i = 0; i < texels.size(); i++)
        texels[i] = i % sizeof(T) % 4 == 3 ? 0 : i;
    CHECK(cudaMemcpy2DToArray(array, 0, 0, texels.data(), 4 * sizeof(T), 4 * sizeof(T), 4, cudaMemcpyHostToDevice));
    return array;
}

cudaTextureObject_t texture(cudaArray_t array, cudaTextureFilterMode filter, cudaTextureReadMode read, bool normalized,
                            const float (&border)[4])
{
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc description = {};
    for (auto &mode : description.addressMode)
        mode = cudaAddressModeBorder;
    description.filterMode = filter;
    description.readMode = read;
    description.normalizedCoords = normalized;
    memcpy(description.borderColor, border, sizeof border);
    cudaTextureObject_t made;
    CHECK(cudaCreateTextureObject(&made, &resource, &description, nullptr));
    return made;
}

int main()
{
    float *numbers;
    uchar4 *bytes;
    float4 *fractions;
    CHECK(cudaMallocManaged(&numbers, 16 * sizeof *numbers));
    CHECK(cudaMallocManaged(&bytes, 16 * sizeof *bytes));
    CHECK(cudaMallocManaged(&fractions, 16 * sizeof *fractions));
    float colour[4] = {8, 4, 2, 1}, of_integers[4];
    unsigned integers[4] = {200, 100, 50, 25};
    memcpy(of_integers, integers, sizeof integers);

    cudaArray_t plane = square<float>();
    std::vector<float> ramp = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    CHECK(cudaMemcpy2DToArray(plane, 0, 0, ramp.data(), 16, 16, 4, cudaMemcpyHostToDevice));
    for (auto filter : {cudaFilterModePoint, cudaFilterModeLinear})
        for (bool normalized : {false, true}) {
            auto map = texture(plane, filter, cudaReadModeElementType, normalized, colour);
            across<<<1, 8>>>(map, numbers, normalized ? 0.25f : 1.0f);
            CHECK(cudaDeviceSynchronize());
            for (int i = 0; i < 16; i++)
                printf("%g%c", numbers[i], i < 15 ? ' ' : '\n');
            CHECK(cudaDestroyTextureObject(map));
        }

    cudaArray_t colours = square<uchar4>();
    auto whole = texture(colours, cudaFilterModePoint, cudaReadModeElementType, true, of_integers);
    across<<<1, 8>>>(whole, bytes, 0.25f);
    auto parts = texture(colours, cudaFilterModePoint, cudaReadModeNormalizedFloat, true, {0.5f, 0.25f, 0.75f, 1});
    across<<<1, 8>>>(parts, fractions, 0.25f);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 8; i++)
        printf("%d %d %d %d, %.3f %.3f %.3f %.3f\n", bytes[i].x, bytes[i].y, bytes[i].z, bytes[i].w, fractions[i].x,
               fractions[i].y, fractions[i].z, fractions[i].w);

    cudaArray_t line;
    auto format = cudaCreateChannelDesc<float>();
    CHECK(cudaMallocArray(&line, &format, 4));
    CHECK(cudaMemcpy2DToArray(line, 0, 0, ramp.data() + 8, 16, 16, 1, cudaMemcpyHostToDevice));
    along<<<1, 8>>>(texture(line, cudaFilterModePoint, cudaReadModeElementType, false, colour), numbers);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 8; i++)
        printf("%g%c", numbers[i], i < 7 ? ' ' : '\n');
}
