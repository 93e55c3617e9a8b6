// A variable is copied to the host when its writer is done.
__device__ int data[64];
__global__ void fill() { data[threadIdx.x] = threadIdx.x; }
int main()
{
    int *h;
    cudaStream_t s, t;
    cudaMallocHost(&h, 256);
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking);
    fill<<<1, 64, 0, s>>>();
    cudaStreamSynchronize(s);
    cudaMemcpyFromSymbolAsync(h, data, 256, 0, cudaMemcpyDeviceToHost, t);
    return cudaDeviceSynchronize() != cudaSuccess;
}
