// fault: uninitialized
// flags: -O0
// Threads that find nothing decide by what only those that find something set.
__global__ void k(const int *a, int *out)
{
    int found;
    if (a[threadIdx.x] > 3)
        found = a[threadIdx.x];
    if (found > 5) //~ fault
        out[threadIdx.x] = 1;
}
int main()
{
    int *p;
    cudaMalloc(&p, 4096);
    cudaMemset(p, 0, 4096);
    k<<<1, 32>>>(p, p + 512);
    return cudaDeviceSynchronize() != cudaSuccess;
}
