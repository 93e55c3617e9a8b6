// fault: uninitialized
// flags: -O0
// A switch without a default leaves a value unset.
__global__ void k(const int *a, int *out)
{
    int factor;
    switch (a[threadIdx.x]) {
    case 1: factor = 3; break;
    case 2: factor = 5; break;
    }
    out[threadIdx.x] = 7 * factor; //~ fault
}
int main()
{
    int *p;
    cudaMalloc(&p, 4096);
    cudaMemset(p, 0, 4096);
    k<<<1, 32>>>(p, p + 512);
    return cudaDeviceSynchronize() != cudaSuccess;
}
