// An array is filled and read through a texture in one stream.
__global__ void read(cudaTextureObject_t t, float *out) { out[threadIdx.x] = tex2D<float>(t, threadIdx.x, 2); }
int main()
{
    float *out, *h;
    cudaMalloc(&out, 4096);
    cudaMallocHost(&h, 64 * 8 * 4);
    for (int i = 0; i < 512; i++) h[i] = i;
    cudaChannelFormatDesc c = cudaCreateChannelDesc<float>();
    cudaArray_t arr;
    if (cudaMallocArray(&arr, &c, 64, 8)) return 4;
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeArray;
    r.res.array.array = arr;
    cudaTextureDesc d = {};
    d.readMode = cudaReadModeElementType;
    cudaTextureObject_t t;
    if (cudaCreateTextureObject(&t, &r, &d, 0)) return 5;
    cudaStream_t a, b;
    cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
    cudaMemcpy2DToArrayAsync(arr, 0, 0, h, 256, 256, 8, cudaMemcpyHostToDevice, a);
    read<<<1, 32, 0, a>>>(t, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
