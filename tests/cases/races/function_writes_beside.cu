// A kernel in another stream reads what a function of the host writes.
__global__ void read(const int *p, int *q) { q[threadIdx.x] = p[threadIdx.x]; } //~ race
void fill(void *data)
{
    for (int i = 0; i < 64; i++)
        static_cast<int *>(data)[i] = i; //~ race
}
int main()
{
    int *p, *q;
    cudaHostAlloc(&p, 256, cudaHostAllocMapped);
    cudaMallocManaged(&q, 256);
    cudaStream_t a, b;
    cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
    cudaEvent_t filled;
    cudaEventCreate(&filled);
    cudaLaunchHostFunc(a, fill, p);
    cudaEventRecord(filled, a);
    read<<<1, 64, 0, b>>>(p, q);
    if (cudaDeviceSynchronize())
        return 1;
    return 0;
}
