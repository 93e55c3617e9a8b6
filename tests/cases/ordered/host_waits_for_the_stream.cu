// Host code reads what the stream writes that it has waited for, while another one runs on.
__global__ void write(int *p, int n) { p[threadIdx.x] = n; }
int main()
{
    int *p;
    cudaMallocManaged(&p, 512);
    cudaStream_t a, b;
    cudaStreamCreate(&a);
    cudaStreamCreate(&b);
    write<<<1, 64, 0, a>>>(p, 1);
    write<<<1, 64, 0, b>>>(p + 64, 2);
    cudaStreamSynchronize(a);
    int seen = p[0];
    return cudaDeviceSynchronize() != cudaSuccess || seen > 1;
}
