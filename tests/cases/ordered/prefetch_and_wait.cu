// Memory that is brought to the host in a stream is awaited before it is read.
__global__ void write(int *p) { p[threadIdx.x] = 5; }
int main()
{
    int *p;
    cudaMallocManaged(&p, 4096);
    cudaMemLocation host = {cudaMemLocationTypeHost, 0};
    write<<<1, 64>>>(p);
    cudaMemPrefetchAsync(p, 4096, host, 0, 0);
    cudaStreamSynchronize(0);
    int seen = p[1];
    return cudaDeviceSynchronize() != cudaSuccess || seen > 5;
}
