// Linear memory is read through a texture behind an event of the stream that writes it.
__global__ void write(int *p) { p[threadIdx.x] = 7; }
__global__ void read(cudaTextureObject_t t, int *out) { out[threadIdx.x] = tex1Dfetch<int>(t, threadIdx.x); }
int main()
{
    int *p, *out;
    cudaMalloc(&p, 4096);
    cudaMalloc(&out, 4096);
    cudaMemset(p, 0, 4096);
    cudaDeviceSynchronize();
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeLinear;
    r.res.linear.devPtr = p;
    r.res.linear.desc = cudaCreateChannelDesc<int>();
    r.res.linear.sizeInBytes = 4096;
    cudaTextureDesc d = {};
    d.readMode = cudaReadModeElementType;
    cudaTextureObject_t t;
    if (cudaCreateTextureObject(&t, &r, &d, 0)) return 5;
    cudaStream_t a, b;
    cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
    write<<<1, 32, 0, a>>>(p);
    cudaEvent_t e;
    cudaEventCreate(&e);
    cudaEventRecord(e, a);
    cudaStreamWaitEvent(b, e, 0);
    read<<<1, 32, 0, b>>>(t, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
