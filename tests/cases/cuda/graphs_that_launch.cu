// Graphs of host code, which kernels cannot launch, launch graphs of the device from their kernels: with other nodes
// around them, as graphs of graphs, updated, and once more. What is fired is done before what comes after the launch,
// what is in the tail comes after everything else of the graph.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CHECK(call)                                                                              \
    do {                                                                                         \
        cudaError_t error_ = (call);                                                             \
        if (error_ != cudaSuccess) {                                                             \
            printf("%s at %d\n", cudaGetErrorName(error_), __LINE__);                            \
            exit(1);                                                                             \
        }                                                                                        \
    } while (0)

struct Seen {
    int fired, tail, errors;
};

__global__ void add(int *values, int count, int much)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        values[i] += much;
}

__global__ void total(const int *values, int count, int *out)
{
    int sum = 0;
    for (int i = 0; i < count; i++)
        sum += values[i];
    *out = sum;
}

__global__ void lead(Seen *seen, cudaGraphExec_t fired, cudaGraphExec_t last)
{
    if (last)
        seen->errors += cudaGraphLaunch(last, cudaStreamGraphTailLaunch) != cudaSuccess;
    if (fired)
        seen->errors += cudaGraphLaunch(fired, cudaStreamGraphFireAndForget) != cudaSuccess;
}

template <typename Work> cudaGraph_t captured(cudaStream_t stream, Work work)
{
    cudaGraph_t graph;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    work();
    CHECK(cudaStreamEndCapture(stream, &graph));
    return graph;
}

template <typename Work> cudaGraphExec_t made(cudaStream_t stream, unsigned long long flags, Work work)
{
    cudaGraphExec_t executable;
    CHECK(cudaGraphInstantiate(&executable, captured(stream, work), flags));
    return executable;
}

int main()
{
    const int count = 64;
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    int *values, *host;
    Seen *seen, result;
    CHECK(cudaMalloc(&values, count * sizeof *values));
    CHECK(cudaMalloc(&seen, sizeof *seen));
    CHECK(cudaMallocHost(&host, count * sizeof *host));
    CHECK(cudaMemset(seen, 0, sizeof *seen));
    auto show = [&](const char *what) {
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaMemcpy(&result, seen, sizeof result, cudaMemcpyDeviceToHost));
        printf("%s: fired %d, tail %d, %d errors\n", what, result.fired, result.tail, result.errors);
    };

    // This one was launched before there was a graph that a kernel could launch.
    cudaGraphExec_t early = made(stream, 0, [&] { add<<<1, 64, 0, stream>>>(values, count, 0); });
    CHECK(cudaMemsetAsync(values, 0, count * sizeof *values, stream));
    CHECK(cudaGraphLaunch(early, stream));

    cudaGraphExec_t fired = made(stream, cudaGraphInstantiateFlagDeviceLaunch, [&] {
        add<<<2, 32, 0, stream>>>(values, count, 1);
        add<<<2, 32, 0, stream>>>(values, count, 10);
    });
    cudaGraphExec_t last = made(stream, cudaGraphInstantiateFlagDeviceLaunch,
                                [&] { total<<<1, 1, 0, stream>>>(values, count, &seen->tail); });
    CHECK(cudaGraphUpload(fired, stream));
    CHECK(cudaGraphUpload(last, stream));
    CHECK(cudaGraphLaunch(early, stream));

    cudaGraphExec_t simple = made(stream, 0, [&] { lead<<<1, 1, 0, stream>>>(seen, fired, last); });
    for (int i = 0; i < 2; i++) {
        CHECK(cudaGraphLaunch(simple, stream));
        total<<<1, 1, 0, stream>>>(values, count, &seen->fired);
        show("simple");
    }

    // Copies from and to the host's memory around it.
    for (int i = 0; i < count; i++)
        host[i] = i;
    cudaGraphExec_t around = made(stream, 0, [&] {
        cudaMemcpyAsync(values, host, count * sizeof *values, cudaMemcpyHostToDevice, stream);
        lead<<<1, 1, 0, stream>>>(seen, nullptr, last);
        add<<<2, 32, 0, stream>>>(values, count, 100);
        cudaMemcpyAsync(host, values, count * sizeof *values, cudaMemcpyDeviceToHost, stream);
    });
    CHECK(cudaGraphLaunch(around, stream));
    show("around");
    printf("the host has %d\n", host[count - 1]);

    // In a graph of a graph, with a branch beside it.
    cudaGraph_t inner = captured(stream, [&] { lead<<<1, 1, 0, stream>>>(seen, fired, nullptr); });
    cudaGraph_t outer;
    cudaGraphNode_t below;
    CHECK(cudaGraphCreate(&outer, 0));
    CHECK(cudaGraphAddChildGraphNode(&below, outer, nullptr, 0, inner));
    cudaGraphExec_t nested;
    CHECK(cudaGraphInstantiate(&nested, outer, 0));
    CHECK(cudaGraphLaunch(nested, stream));
    total<<<1, 1, 0, stream>>>(values, count, &seen->fired);
    show("nested");

    // The same executable does something else from now on.
    cudaGraphExecUpdateResultInfo info;
    cudaGraph_t other = captured(stream, [&] { lead<<<1, 1, 0, stream>>>(seen, nullptr, last); });
    CHECK(cudaGraphExecUpdate(simple, other, &info));
    CHECK(cudaGraphLaunch(simple, stream));
    show("updated");
    for (cudaGraphExec_t one : {early, fired, last, simple, around, nested})
        CHECK(cudaGraphExecDestroy(one));
    return 0;
}
