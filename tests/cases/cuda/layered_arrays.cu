// Layered arrays: textures of one and of two dimensions, a surface, copies and what is asked about them.
#include <cstdio>
#include <vector>

__global__ void fetch(cudaTextureObject_t texture, uchar4 *out)
{
    int i = threadIdx.x;
    out[i] = tex2DLayered<uchar4>(texture, i % 4, i / 4 % 4, i / 16);
}

__global__ void smooth(cudaTextureObject_t texture, float *out)
{
    out[threadIdx.x] = tex1DLayered<float>(texture, 1.5f + threadIdx.x, threadIdx.x % 3);
}

__global__ void change(cudaSurfaceObject_t surface)
{
    int x = threadIdx.x % 4, y = threadIdx.x / 4;
    uchar4 value;
    surf2DLayeredread(&value, surface, x * 4, y, 1);
    value.x += 100;
    surf2DLayeredwrite(value, surface, x * 4, y, 2);
}

__global__ void parent(cudaTextureObject_t texture, uchar4 *out) { fetch<<<1, 48>>>(texture, out); }

int main()
{
    cudaChannelFormatDesc format = cudaCreateChannelDesc<uchar4>();
    cudaExtent size = make_cudaExtent(4, 4, 3);
    cudaArray_t array;
    printf("%d\n", cudaMalloc3DArray(&array, &format, size, cudaArrayLayered | cudaArraySurfaceLoadStore));
    std::vector<uchar4> host(48);
    for (int i = 0; i < 48; ++i)
        host[i] = make_uchar4(i, 2 * i, 3 * i, 4 * i);
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(host.data(), 16, 4, 4);
    copy.dstArray = array;
    copy.extent = size;
    copy.kind = cudaMemcpyHostToDevice;
    printf("%d\n", cudaMemcpy3D(&copy));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc description = {};
    description.addressMode[0] = description.addressMode[1] = cudaAddressModeClamp;
    cudaTextureObject_t texture;
    printf("%d\n", cudaCreateTextureObject(&texture, &resource, &description, nullptr));
    uchar4 *out;
    cudaMallocManaged(&out, 48 * sizeof *out);
    parent<<<1, 1>>>(texture, out);
    printf("%d\n", cudaDeviceSynchronize());
    printf("%d %d %d\n", out[47].w, out[20].y, out[3].x);
    cudaSurfaceObject_t surface;
    printf("%d\n", cudaCreateSurfaceObject(&surface, &resource));
    change<<<1, 16>>>(surface);
    fetch<<<1, 48>>>(texture, out);
    printf("%d\n", cudaDeviceSynchronize());
    printf("%d %d %d\n", out[16].x, out[32].x, out[47].x);
    unsigned flags;
    cudaArrayGetInfo(&format, &size, &flags, array);
    printf("%zu %zu %zu, %u\n", size.width, size.height, size.depth, flags);

    cudaChannelFormatDesc real = cudaCreateChannelDesc<float>();
    cudaArray_t lines;
    printf("%d\n", cudaMalloc3DArray(&lines, &real, make_cudaExtent(8, 0, 3), cudaArrayLayered));
    float numbers[3][8];
    for (int i = 0; i < 24; ++i)
        numbers[i / 8][i % 8] = i * i;
    cudaMemcpy3DParms rows = {};
    rows.srcPtr = make_cudaPitchedPtr(numbers, 32, 8, 1);
    rows.dstArray = lines;
    rows.extent = make_cudaExtent(8, 1, 3);
    rows.kind = cudaMemcpyHostToDevice;
    printf("%d\n", cudaMemcpy3D(&rows));
    resource.res.array.array = lines;
    description.filterMode = cudaFilterModeLinear;
    printf("%d\n", cudaCreateTextureObject(&texture, &resource, &description, nullptr));
    float *sums;
    cudaMallocManaged(&sums, 6 * sizeof *sums);
    smooth<<<1, 6>>>(texture, sums);
    printf("%d\n", cudaDeviceSynchronize());
    for (int i = 0; i < 6; ++i)
        printf("%g ", sums[i]);
    printf("\n%s\n", cudaGetErrorName(cudaGetLastError()));
}
