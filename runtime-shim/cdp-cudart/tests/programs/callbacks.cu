// Host functions in the order of a stream, on a thread of their own.
#include "check.h"
#include <atomic>
#include <thread>

__global__ void twice(int *value) { *value *= 2; }

static int *shared_value;
static std::atomic<int> order{0};
static std::thread::id main_thread;

static void CUDART_CB plain(void *data)
{
    *static_cast<int *>(data) = *shared_value + 100 * ++order;
    *shared_value += 1;
}

static void CUDART_CB with_status(cudaStream_t stream, cudaError_t status, void *data)
{
    bool other = std::this_thread::get_id() != main_thread;
    *static_cast<int *>(data) = 1000 * (status == cudaSuccess) + 10 * other + ++order;
}

int main()
{
    main_thread = std::this_thread::get_id();
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaMallocManaged(&shared_value, sizeof(int)));
    *shared_value = 5;
    int first = 0, second = 0, third = 0;
    twice<<<1, 1, 0, stream>>>(shared_value);
    CHECK(cudaLaunchHostFunc(stream, plain, &first));
    twice<<<1, 1, 0, stream>>>(shared_value);
    CHECK(cudaStreamAddCallback(stream, with_status, &second, 0));
    CHECK(cudaLaunchHostFunc(stream, plain, &third));
    CHECK(cudaStreamSynchronize(stream));
    printf("%d %d %d, value %d\n", first, second, third, *shared_value);
    printf("%s\n", cudaGetErrorName(cudaLaunchHostFunc(stream, nullptr, nullptr)));
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFree(shared_value));
}
