// nvcc: --default-stream per-thread
// A default stream for each host thread.
#include "check.h"
#include <thread>

__global__ void work(int *data, int value)
{
    for (int i = 0; i < 100; i++)
        *data += value;
}

static void run(int value, int *result)
{
    int *data;
    CHECK(cudaMalloc(&data, 4));
    CHECK(cudaMemset(data, 0, 4));
    work<<<1, 1>>>(data, value);
    work<<<1, 1>>>(data, 1);
    CHECK(cudaMemcpyAsync(result, data, 4, cudaMemcpyDeviceToHost, 0));
    CHECK(cudaStreamSynchronize(0));
    CHECK(cudaFree(data));
}

int main()
{
    int results[4];
    std::thread threads[4];
    for (int i = 0; i < 4; i++)
        threads[i] = std::thread(run, i, &results[i]);
    for (auto &thread : threads)
        thread.join();
    printf("%d %d %d %d\n", results[0], results[1], results[2], results[3]);
}
