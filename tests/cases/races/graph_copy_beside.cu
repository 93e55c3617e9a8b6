// A graph copies from the host what a kernel of another branch reads; the copy is made while the graph is launched.
__global__ void first(int *p) { p[8] = 1; }
__global__ void reader(int *p) { p[9] = p[0]; } //~ race
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
    static int host[4] = {1, 2, 3, 4};
    cudaGraphNode_t copy, begin = node(graph, first, p);
    cudaGraphAddMemcpyNode1D(&copy, graph, &begin, 1, p, host, sizeof host, cudaMemcpyHostToDevice);
    node(graph, reader, p);
    cudaGraphExec_t exec;
    cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphLaunch(exec, 0);
    return cudaDeviceSynchronize() != cudaSuccess;
}
