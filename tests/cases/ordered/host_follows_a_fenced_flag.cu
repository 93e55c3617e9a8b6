// A kernel tells host code by a volatile flag behind a fence for the system that data is there.
__global__ void tell(int *data, volatile int *flag)
{
    data[0] = 42;
    __threadfence_system();
    *flag = 1;
}
int main()
{
    int *data, *flag;
    cudaMallocManaged(&data, 64);
    cudaHostAlloc(&flag, 64, cudaHostAllocMapped);
    volatile int *seen = flag;
    *seen = 0;
    tell<<<1, 1>>>(data, flag);
    while (*seen == 0) { }
    int got = data[0];
    return cudaDeviceSynchronize() != cudaSuccess || got > 42;
}
