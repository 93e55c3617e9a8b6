// Host code waits for one stream and reads what another one writes.
__global__ void write(int *p, int n) { p[threadIdx.x] = n; } //~ race
int main()
{
    int *p;
    cudaMallocManaged(&p, 512);
    cudaStream_t a, b;
    cudaStreamCreate(&a);
    cudaStreamCreate(&b);
    write<<<1, 64, 0, a>>>(p, 1);
    write<<<1, 64, 0, b>>>(p + 64, 2);
    cudaStreamSynchronize(b);
    int seen = p[0]; //~ race
    return cudaDeviceSynchronize() != cudaSuccess || seen > 1;
}
