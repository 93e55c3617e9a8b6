// An array is read through a surface when the host has waited for who writes it.
__global__ void write(cudaSurfaceObject_t s) { surf2Dwrite<int>(threadIdx.x, s, threadIdx.x * 4, 1); }
__global__ void read(cudaSurfaceObject_t s, int *out) { out[threadIdx.x] = surf2Dread<int>(s, threadIdx.x * 4, 1); }
int main()
{
    int *out;
    cudaMalloc(&out, 4096);
    cudaChannelFormatDesc c = cudaCreateChannelDesc<int>();
    cudaArray_t arr;
    if (cudaMallocArray(&arr, &c, 64, 8, cudaArraySurfaceLoadStore)) return 4;
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeArray;
    r.res.array.array = arr;
    cudaSurfaceObject_t s;
    if (cudaCreateSurfaceObject(&s, &r)) return 5;
    cudaStream_t a, b;
    cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
    write<<<1, 32, 0, a>>>(s);
    cudaStreamSynchronize(a);
    read<<<1, 32, 0, b>>>(s, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
