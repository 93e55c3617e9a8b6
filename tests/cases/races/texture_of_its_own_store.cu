// A thread stores to memory that it then fetches through a texture, which need not see that.
__global__ void k(int *p, cudaTextureObject_t t, int *out)
{
    p[threadIdx.x] = threadIdx.x; //~ race
    out[threadIdx.x] = tex1Dfetch<int>(t, threadIdx.x); //~ race
}
int main()
{
    int *p, *out;
    cudaMalloc(&p, 128);
    cudaMalloc(&out, 128);
    cudaResourceDesc d = {};
    d.resType = cudaResourceTypeLinear;
    d.res.linear.devPtr = p;
    d.res.linear.desc = cudaCreateChannelDesc<int>();
    d.res.linear.sizeInBytes = 128;
    cudaTextureDesc td = {};
    td.readMode = cudaReadModeElementType;
    cudaTextureObject_t t;
    cudaCreateTextureObject(&t, &d, &td, 0);
    k<<<1, 32>>>(p, t, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
