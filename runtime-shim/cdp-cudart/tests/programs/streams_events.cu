// Two streams that wait for each other by events, timing, queries and priorities.
#include "check.h"

__global__ void add(int *data, int n, int value)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] = data[i] * 2 + value;
}

int main()
{
    const int n = 1000;
    int least, greatest, *data, *host;
    CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    printf("least %d, greatest below: %d\n", least, greatest < least);
    cudaStream_t first, second;
    CHECK(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithPriority(&second, cudaStreamDefault, greatest));
    unsigned flags;
    int priority;
    CHECK(cudaStreamGetFlags(first, &flags));
    CHECK(cudaStreamGetPriority(second, &priority));
    printf("flags %u, priority kept: %d\n", flags, priority == greatest);
    cudaEvent_t begin, middle, end;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreateWithFlags(&middle, cudaEventDisableTiming));
    CHECK(cudaEventCreate(&end));
    CHECK(cudaMalloc(&data, n * sizeof(int)));
    CHECK(cudaMallocHost(&host, n * sizeof(int)));
    for (int i = 0; i < n; i++)
        host[i] = i;
    CHECK(cudaEventRecord(begin, first));
    CHECK(cudaMemcpyAsync(data, host, n * sizeof(int), cudaMemcpyHostToDevice, first));
    add<<<(n + 255) / 256, 256, 0, first>>>(data, n, 1);
    CHECK(cudaEventRecord(middle, first));
    CHECK(cudaStreamWaitEvent(second, middle, 0));
    add<<<(n + 255) / 256, 256, 0, second>>>(data, n, 5);
    CHECK(cudaMemcpyAsync(host, data, n * sizeof(int), cudaMemcpyDeviceToHost, second));
    CHECK(cudaEventRecord(end, second));
    CHECK(cudaEventSynchronize(end));
    printf("query %s\n", cudaGetErrorName(cudaEventQuery(end)));
    float milliseconds = -1;
    CHECK(cudaEventElapsedTime(&milliseconds, begin, end));
    printf("time is not negative: %d\n", milliseconds >= 0);
    printf("untimed: %s\n", cudaGetErrorName(cudaEventElapsedTime(&milliseconds, begin, middle)));
    long sum = 0;
    for (int i = 0; i < n; i++)
        sum += host[i];
    printf("sum %ld\n", sum);
    CHECK(cudaStreamDestroy(first));
    CHECK(cudaStreamDestroy(second));
    CHECK(cudaEventDestroy(begin));
    CHECK(cudaFreeHost(host));
    CHECK(cudaFree(data));
    cudaGetLastError();
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
