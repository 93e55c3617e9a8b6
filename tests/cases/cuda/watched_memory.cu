// A host that makes no call after a launch: it watches managed and pinned memory until a kernel has written there, and
// answers a kernel that waits for it.
#include <cstdio>
#include <unistd.h>

__global__ void grandchild(unsigned *flag) { atomicAdd_system(flag, 5u); }

__global__ void child(unsigned *flag)
{
    grandchild<<<1, 1, 0, cudaStreamFireAndForget>>>(flag);
    printf("launched\n");
}

__global__ void ask(volatile unsigned *question, volatile unsigned *answer)
{
    *question = 1;
    __threadfence_system();
    while (*answer == 0)
        ;
    *question = *answer + 1;
}

// The value once it is `wanted`, or what it is after 20 seconds.
static unsigned watch(volatile unsigned *flag, unsigned wanted)
{
    for (int i = 0; i < 4000 && *flag != wanted; i++)
        usleep(5000);
    return *flag;
}

int main()
{
    unsigned *managed, *pinned;
    cudaMallocManaged(&managed, 2 * sizeof(unsigned));
    cudaHostAlloc(&pinned, 2 * sizeof(unsigned), cudaHostAllocMapped);
    managed[0] = pinned[0] = pinned[1] = 0;

    for (int i = 1; i < 3; i++) {
        child<<<1, 1>>>(managed);
        unsigned seen = watch(managed, 5 * i);
        printf("managed %u, %s\n", seen, cudaGetErrorName(cudaDeviceSynchronize()));
    }
    ask<<<1, 1>>>(pinned, pinned + 1);
    printf("asked %u\n", watch(pinned, 1));
    ((volatile unsigned *)pinned)[1] = 41;
    printf("answered %u, ", watch(pinned, 42));
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    return 0;
}
