// Host code reads managed memory that it has released.
// fault: use-after-free
__global__ void k(int *p) { *p = 5; }
int main()
{
    int *p;
    cudaMallocManaged(&p, 64);
    k<<<1, 1>>>(p);
    cudaDeviceSynchronize();
    cudaFree(p);
    return *p > 5; //~ fault
}
