// fault: uninitialized
// flags: -O0
// The number of rounds was never set.
__global__ void k(int *out)
{
    int left;
    while (left > 0) { //~ fault
        out[left & 7] += 1;
        left -= 3;
    }
}
int main()
{
    int *p;
    cudaMalloc(&p, 4096);
    cudaMemset(p, 0, 4096);
    k<<<1, 1>>>(p);
    return cudaDeviceSynchronize() != cudaSuccess;
}
