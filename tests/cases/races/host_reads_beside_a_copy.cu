// Host code reads pinned memory while an asynchronous copy writes it.
__global__ void write(int *p) { p[threadIdx.x] = 5; }
int main()
{
    int *p, *h;
    cudaMalloc(&p, 256);
    cudaMallocHost(&h, 256);
    h[3] = 0;
    cudaStream_t s;
    cudaStreamCreate(&s);
    write<<<1, 64, 0, s>>>(p);
    cudaMemcpyAsync(h, p, 256, cudaMemcpyDeviceToHost, s);
    bool wrong = h[3] != 5; //~ race
    wrong = false;
    return wrong || cudaDeviceSynchronize() != cudaSuccess;
}
