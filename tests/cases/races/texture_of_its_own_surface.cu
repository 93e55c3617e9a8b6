// A kernel writes an array through a surface, meets, and fetches it through a texture, which need not see that.
__global__ void k(cudaSurfaceObject_t s, cudaTextureObject_t t, int *out)
{
    surf2Dwrite((int)threadIdx.x, s, threadIdx.x * 4, 0); //~ race
    __syncthreads();
    out[threadIdx.x] = tex2D<int>(t, threadIdx.x ^ 1, 0); //~ race
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
    cudaMalloc(&out, 256);
    k<<<1, 64>>>(s, t, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
