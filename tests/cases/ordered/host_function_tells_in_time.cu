// A function of the host that runs behind a kernel tells the host that it may go on.
#include <atomic>
std::atomic<int> flag;
__global__ void write(int *p) { p[threadIdx.x] = 5; }
__global__ void read(int *p) { p[32 + threadIdx.x] = p[threadIdx.x]; }
void tell(void *) { flag = 1; }
int main()
{
    int *p;
    cudaMalloc(&p, 4096);
    cudaStream_t a, b;
    cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
    write<<<1, 32, 0, a>>>(p);
    cudaLaunchHostFunc(a, tell, 0);
    while (!flag) { }
    read<<<1, 32, 0, b>>>(p);
    return cudaDeviceSynchronize() != cudaSuccess;
}
