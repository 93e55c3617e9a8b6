// A value that a conditional node tests is set by kernels of its graph alone, before the node and behind it. Setting it
// outside a run of the graph ends with an illegal address.
// skip: race: the last kernel is at fault
#include <cstdio>

using Condition = cudaGraphConditionalHandle;

__global__ void set(Condition condition, int value) { cudaGraphSetConditional(condition, value); }
__global__ void count(int *counter) { ++*counter; }

template <class... Formal, class... Actual>
static cudaGraphNode_t add(cudaGraph_t graph, cudaGraphNode_t after, void (*function)(Formal...), Actual... actual)
{
    auto launch = [&](Formal... values) {
        void *args[] = {&values...};
        cudaKernelNodeParams params = {};
        params.func = reinterpret_cast<void *>(function);
        params.gridDim = params.blockDim = 1;
        params.kernelParams = args;
        cudaGraphNode_t node = nullptr;
        cudaError_t code = cudaGraphAddKernelNode(&node, graph, &after, after != nullptr, &params);
        if (code != cudaSuccess)
            printf("%s\n", cudaGetErrorName(code));
        return node;
    };
    return launch(actual...);
}

int main()
{
    int *counter = nullptr;
    cudaMalloc(&counter, sizeof *counter);
    cudaMemset(counter, 0, sizeof *counter);

    cudaGraph_t graph;
    cudaGraphCreate(&graph, 0);
    Condition condition;
    cudaGraphConditionalHandleCreate(&condition, graph, 0, cudaGraphCondAssignDefault);
    cudaGraphNode_t before = add(graph, nullptr, set, condition, 1);
    cudaGraphNodeParams params = {};
    params.type = cudaGraphNodeTypeConditional;
    params.conditional.handle = condition;
    params.conditional.type = cudaGraphCondTypeIf;
    params.conditional.size = 1;
    cudaGraphNode_t node;
    cudaGraphAddNode(&node, graph, &before, nullptr, 1, &params);
    add(params.conditional.phGraph_out[0], nullptr, count, counter);
    add(graph, node, set, condition, 0);
    cudaGraphExec_t executable;
    printf("%s\n", cudaGetErrorName(cudaGraphInstantiate(&executable, graph, 0)));

    for (int i = 0; i < 3; ++i)
        cudaGraphLaunch(executable, 0);
    int counted = 0;
    cudaMemcpy(&counted, counter, sizeof counted, cudaMemcpyDeviceToHost);
    cudaError_t code = cudaDeviceSynchronize();
    printf("%d times, %s\n", counted, cudaGetErrorName(code));

    set<<<1, 1>>>(condition, 1);
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
