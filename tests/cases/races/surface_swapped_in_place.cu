// Threads read and write one row of a surface in turn, without a barrier.
__global__ void k(cudaSurfaceObject_t s)
{
    int x = threadIdx.x;
    int v = surf2Dread<int>(s, (63 - x) * 4, 0); //~ race
    surf2Dwrite(v + 1, s, x * 4, 0); //~ race
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
