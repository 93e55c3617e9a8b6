// A disabled node keeps the order of what is before and behind it.
__global__ void before(int *p) { p[0] = 1; }
__global__ void nothing(int *p) { p[1] = 1; }
__global__ void behind(int *p) { p[0] += 1; }
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
    cudaGraphNode_t middle = node(graph, nothing, p, node(graph, before, p));
    node(graph, behind, p, middle);
    cudaGraphExec_t exec;
    cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphNodeSetEnabled(exec, middle, 0);
    cudaGraphLaunch(exec, 0);
    return cudaDeviceSynchronize() != cudaSuccess;
}
