// A second thread of the host fills managed memory while a kernel reads it.
#include <thread>
__global__ void sum(const int *p, int *q) { atomicAdd(q, p[threadIdx.x]); } //~ race
int main()
{
    int *p, *q;
    cudaMallocManaged(&p, 256);
    cudaMalloc(&q, 4);
    cudaMemset(q, 0, 4);
    cudaDeviceSynchronize();
    sum<<<1, 64>>>(p, q);
    std::thread filler([=] {
        for (int i = 0; i < 64; i++)
            p[i] = i; //~ race
    });
    filler.join();
    return cudaDeviceSynchronize() != cudaSuccess;
}
