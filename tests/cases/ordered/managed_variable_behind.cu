// Host code adds to a managed variable once the kernel is done.
__managed__ int total;
__global__ void add() { atomicAdd(&total, 1); }
int main()
{
    total = 10;
    add<<<1, 64>>>();
    if (cudaDeviceSynchronize() || total != 74)
        return 1;
    total += 5;
    return cudaDeviceSynchronize() != cudaSuccess;
}
