// A node of a child graph writes what a node beside the child graph reads.
__global__ void inner(int *p) { p[0] = 1; } //~ race
__global__ void outer(int *p) { p[1] = p[0]; } //~ race
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
    node(child, inner, p);
    cudaGraphNode_t whole;
    cudaGraphAddChildGraphNode(&whole, graph, nullptr, 0, child);
    node(graph, outer, p);
    cudaGraphExec_t exec;
    cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphLaunch(exec, 0);
    return cudaDeviceSynchronize() != cudaSuccess;
}
