// Dekker's algorithm by sequentially consistent cuda::atomic, a semaphore, a latch.
#include <cuda/atomic>
#include <cuda/semaphore>
#include <cuda/latch>
__device__ cuda::atomic<int, cuda::thread_scope_device> want[2], turn;
__device__ int count, held, table[8];
__device__ cuda::binary_semaphore<cuda::thread_scope_device> *sem;
__device__ cuda::latch<cuda::thread_scope_device> *start;
__global__ void make(void *at)
{
    sem = new (at) cuda::binary_semaphore<cuda::thread_scope_device>(1);
    start = new ((char *)at + 64) cuda::latch<cuda::thread_scope_device>(2);
}
__global__ void k()
{
    int me = blockIdx.x;
    table[me] = me;
    start->arrive_and_wait();
    table[4 + me] = table[1 - me];
    for (int i = 0; i < 3; i++) {
        want[me].store(1);
        while (want[1 - me].load()) {
            if (turn.load() != me) {
                want[me].store(0);
                while (turn.load() != me)
                    ;
                want[me].store(1);
            }
        }
        count += 1;
        turn.store(1 - me);
        want[me].store(0);
        sem->acquire();
        held += 1;
        sem->release();
    }
}
int main()
{
    int *p;
    cudaMalloc(&p, 4096);
    make<<<1, 1>>>(p);
    k<<<2, 1>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
