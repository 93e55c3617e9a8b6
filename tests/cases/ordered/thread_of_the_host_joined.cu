// A second thread of the host fills managed memory, and is joined before the launch.
#include <thread>
__global__ void sum(const int *p, int *q) { atomicAdd(q, p[threadIdx.x]); }
int main()
{
    int *p, *q;
    cudaMallocManaged(&p, 256);
    cudaMalloc(&q, 4);
    cudaMemset(q, 0, 4);
    cudaDeviceSynchronize();
    std::thread filler([=] {
        for (int i = 0; i < 64; i++)
            p[i] = i;
    });
    filler.join();
    sum<<<1, 64>>>(p, q);
    return cudaDeviceSynchronize() != cudaSuccess;
}
