// A function of the host waits for one branch; the kernel of the other is not ordered by that.
__global__ void first(int *p) { p[0] = 1; } //~ race
__global__ void second(int *p) { p[0] = 2; } //~ race
static void look(void *) {}
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
    cudaGraphNode_t function, begin = node(graph, first, p);
    cudaHostNodeParams call = {look, nullptr};
    cudaGraphAddHostNode(&function, graph, &begin, 1, &call);
    node(graph, second, p);
    cudaGraphExec_t exec;
    cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphLaunch(exec, 0);
    return cudaDeviceSynchronize() != cudaSuccess;
}
