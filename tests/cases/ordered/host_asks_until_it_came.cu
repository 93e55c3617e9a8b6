// Host code asks for an event behind a kernel until it has come.
__global__ void write(int *p) { p[threadIdx.x] = 5; }
int main()
{
    int *p;
    cudaMallocManaged(&p, 256);
    cudaEvent_t before, behind;
    cudaEventCreate(&before);
    cudaEventCreate(&behind);
    cudaEventRecord(before);
    write<<<1, 64>>>(p);
    cudaEventRecord(behind);
    while (cudaEventQuery(behind) == cudaErrorNotReady) { }
    int seen = p[1];
    return cudaDeviceSynchronize() != cudaSuccess || seen > 5;
}
