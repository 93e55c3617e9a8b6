// Host code asks for an event that was recorded before the kernel.
__global__ void write(int *p) { p[threadIdx.x] = 5; } //~ race
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
    while (cudaEventQuery(before) == cudaErrorNotReady) { }
    int seen = p[1]; //~ race
    return cudaDeviceSynchronize() != cudaSuccess || seen > 5;
}
