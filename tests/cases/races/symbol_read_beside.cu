// A variable is copied to the host while another stream writes it.
__device__ int data[64];
__global__ void fill() { data[threadIdx.x] = threadIdx.x; } //~ race
int main()
{
    int *h;
    cudaStream_t s, t;
    cudaMallocHost(&h, 256);
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking);
    fill<<<1, 64, 0, s>>>();
    cudaMemcpyFromSymbolAsync(h, data, 256, 0, cudaMemcpyDeviceToHost, t); //~ race
    return cudaDeviceSynchronize() != cudaSuccess;
}
