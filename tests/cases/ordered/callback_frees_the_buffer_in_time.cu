// A function in the stream tells behind the kernel that its buffer is free.
#include <atomic>
std::atomic<bool> is_free{true};
void done(void *) { is_free = true; }
__global__ void sum(const int *p, int *q) { atomicAdd(q, p[threadIdx.x]); }
int main()
{
    int *p, *q;
    cudaMallocManaged(&p, 256);
    cudaMalloc(&q, 4);
    cudaMemset(q, 0, 4);
    cudaDeviceSynchronize();
    cudaStream_t s;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    for (int round = 0; round < 3; round++) {
        while (!is_free) { }
        is_free = false;
        for (int i = 0; i < 64; i++)
            p[i] = i + round;
        sum<<<1, 64, 0, s>>>(p, q);
        cudaLaunchHostFunc(s, done, nullptr);
    }
    return cudaDeviceSynchronize() != cudaSuccess;
}
