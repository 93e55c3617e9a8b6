// A copy within the device is in the NULL stream, the copy to the host in a stream that blocks: it comes behind.
#include <cstdio>

int main()
{
    float *a, *b, host[128];
    cudaMalloc(&a, sizeof host);
    cudaMalloc(&b, sizeof host);
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    cudaMemset(a, 0, sizeof host);
    cudaMemcpy(b, a, sizeof host, cudaMemcpyDeviceToDevice);
    cudaMemcpyAsync(host, b, sizeof host, cudaMemcpyDeviceToHost, stream);
    cudaStreamSynchronize(stream);
    printf("%g\n", host[127]);
    cudaFree(a);
    cudaFree(b);
}
