// Two threads of the host launch into streams that nothing orders.
#include <thread>
#include <mutex>
std::mutex mutex;
__global__ void add(int *p) { *p += 1; } //~ race
int main()
{
    int *p;
    cudaMalloc(&p, 65536);
    cudaMemset(p, 0, 65536);
    auto work = [p] {
        cudaStream_t s;
        cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
        add<<<1, 1, 0, s>>>(p);
    };
    cudaDeviceSynchronize();
    std::thread other(work);
    work();
    other.join();
    return cudaDeviceSynchronize() != cudaSuccess;
}
