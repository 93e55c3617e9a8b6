// A thread of the host answers a kernel while another one waits for it in a call: nothing is wrong with that.
#include <cstdio>
#include <thread>
#include <unistd.h>

__global__ void ask(volatile unsigned *memory)
{
    memory[0] = 1;
    __threadfence_system();
    while (memory[1] == 0)
        ;
    memory[0] = memory[1] + 1;
}

int main()
{
    unsigned *memory;
    cudaHostAlloc(&memory, 2 * sizeof(unsigned), cudaHostAllocMapped);
    memory[0] = memory[1] = 0;
    volatile unsigned *watched = memory;
    std::thread answers([watched] {
        while (watched[0] == 0)
            usleep(1000);
        // Long enough for everybody to see that nothing happens.
        usleep(400000);
        watched[1] = 41;
    });
    ask<<<1, 32>>>(memory);
    cudaError_t error = cudaDeviceSynchronize();
    answers.join();
    printf("%s, %u\n", cudaGetErrorName(error), memory[0]);
    return 0;
}
