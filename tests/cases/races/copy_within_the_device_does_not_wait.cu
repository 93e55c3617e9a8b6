// cudaMemcpy within the device does not make the host wait.
__global__ void write(int *p) { p[threadIdx.x] = 5; } //~ race
int main()
{
    int *p, *q;
    static int h[1024];
    cudaMalloc(&p, 4096);
    cudaMalloc(&q, 4096);
    cudaMemset(p, 0, 4096);
    cudaDeviceSynchronize();
    cudaStream_t b;
    cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
    cudaMemcpy(q, p, 4096, cudaMemcpyDeviceToDevice);
    write<<<1, 32, 0, b>>>(p);
    return cudaDeviceSynchronize() != cudaSuccess;
}
