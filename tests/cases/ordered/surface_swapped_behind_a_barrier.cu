// Threads read a row of a surface, meet, and write it.
__global__ void k(cudaSurfaceObject_t s)
{
    int x = threadIdx.x;
    int v = surf2Dread<int>(s, (63 - x) * 4, 0);
    __syncthreads();
    surf2Dwrite(v + 1, s, x * 4, 0);
}
int main()
{
    cudaArray_t a;
    auto c = cudaCreateChannelDesc<int>();
    cudaMallocArray(&a, &c, 64, 4, cudaArraySurfaceLoadStore);
    static int zero[256];
    cudaMemcpy2DToArray(a, 0, 0, zero, 256, 256, 4, cudaMemcpyHostToDevice);
    cudaResourceDesc d = {};
    d.resType = cudaResourceTypeArray;
    d.res.array.array = a;
    cudaSurfaceObject_t s;
    cudaCreateSurfaceObject(&s, &d);
    k<<<1, 64>>>(s);
    return cudaDeviceSynchronize() != cudaSuccess;
}
