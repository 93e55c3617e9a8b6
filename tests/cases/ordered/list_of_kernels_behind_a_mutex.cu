// Two threads of the host launch and wait behind one mutex.
#include <thread>
#include <mutex>
std::mutex mutex;
__global__ void add(int *p) { *p += 1; }
int main()
{
    int *p;
    cudaMalloc(&p, 65536);
    cudaMemset(p, 0, 65536);
    auto work = [p] {
        cudaStream_t s;
        cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
        std::lock_guard<std::mutex> lock(mutex);
        add<<<1, 1, 0, s>>>(p);
        cudaStreamSynchronize(s);
    };
    cudaDeviceSynchronize();
    std::thread other(work);
    work();
    other.join();
    return cudaDeviceSynchronize() != cudaSuccess;
}
