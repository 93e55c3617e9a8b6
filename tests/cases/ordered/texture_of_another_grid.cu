// What a texture fetches was written by the kernel before, or by the parent before it launched; each row is then written anew.
__global__ void fetch(cudaTextureObject_t t, int *out, int y) { out[threadIdx.x] = tex2D<int>(t, threadIdx.x ^ 1, y); }
__global__ void k(cudaSurfaceObject_t s, cudaTextureObject_t t, int *out)
{
    out[threadIdx.x] = tex2D<int>(t, threadIdx.x ^ 1, 0);
    surf2Dwrite((int)threadIdx.x, s, threadIdx.x * 4, 1);
    __syncthreads();
    out[threadIdx.x] += surf2Dread<int>(s, (threadIdx.x ^ 1) * 4, 1);
    surf2Dwrite((int)threadIdx.x, s, threadIdx.x * 4, 0);
    if (threadIdx.x == 0)
        fetch<<<1, 64>>>(t, out + 64, 1);
}
int main()
{
    cudaArray_t a;
    auto c = cudaCreateChannelDesc<int>();
    cudaMallocArray(&a, &c, 64, 4, cudaArraySurfaceLoadStore);
    cudaResourceDesc d = {};
    d.resType = cudaResourceTypeArray;
    d.res.array.array = a;
    cudaSurfaceObject_t s;
    cudaCreateSurfaceObject(&s, &d);
    cudaTextureDesc td = {};
    td.readMode = cudaReadModeElementType;
    cudaTextureObject_t t;
    cudaCreateTextureObject(&t, &d, &td, 0);
    int *out;
    cudaMalloc(&out, 512);
    for (int i = 0; i < 2; i++)
        k<<<1, 64>>>(s, t, out);
    fetch<<<1, 64>>>(t, out, 0);
    return cudaDeviceSynchronize() != cudaSuccess;
}
