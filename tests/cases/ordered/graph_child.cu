// A child graph with branches between two nodes, which know all of it.
__global__ void left(int *p) { p[0] += 1; }
__global__ void right(int *p) { p[1] += 2; }
__global__ void outer(int *p) { p[0] = p[1] = p[0] + p[1]; }
static cudaGraphNode_t node(cudaGraph_t graph, void (*function)(int *), int *p, cudaGraphNode_t after = nullptr)
{
    void *args[] = {&p};
    cudaKernelNodeParams params = {};
    params.func = reinterpret_cast<void *>(function);
    params.gridDim = params.blockDim = 1;
    params.kernelParams = args;
    cudaGraphNode_t made;
    cudaGraphAddKernelNode(&made, graph, &after, after ? 1 : 0, &params);
    return made;
}
int main()
{
    int *p;
    cudaMalloc(&p, 4096);
    cudaGraph_t graph;
    cudaGraphCreate(&graph, 0);
    cudaGraph_t child;
    cudaGraphCreate(&child, 0);
    node(child, left, p);
    node(child, right, p);
    cudaGraphNode_t whole, before = node(graph, outer, p);
    cudaGraphAddChildGraphNode(&whole, graph, &before, 1, child);
    node(graph, outer, p, whole);
    cudaGraphExec_t exec;
    cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphLaunch(exec, 0);
    return cudaDeviceSynchronize() != cudaSuccess;
}
