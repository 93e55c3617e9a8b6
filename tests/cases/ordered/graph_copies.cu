// Copies from and to the host, sets and a function of the host between the kernels of a graph, each behind the other.
__global__ void twice(int *p) { p[0] *= 2; }
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
    static int host[4] = {1, 2, 3, 4}, back[4];
    cudaGraphNode_t in, out, function, set, begin = node(graph, twice, p);
    cudaGraphAddMemcpyNode1D(&in, graph, &begin, 1, p, host, sizeof host, cudaMemcpyHostToDevice);
    cudaGraphNode_t middle = node(graph, twice, p, in);
    cudaGraphAddMemcpyNode1D(&out, graph, &middle, 1, back, p, sizeof back, cudaMemcpyDeviceToHost);
    cudaHostNodeParams call = {look, nullptr};
    cudaGraphAddHostNode(&function, graph, &out, 1, &call);
    cudaMemsetParams value = {p, 0, 0x01020304, 4, 2, 1};
    cudaGraphAddMemsetNode(&set, graph, &function, 1, &value);
    node(graph, twice, p, set);
    cudaGraphExec_t exec;
    cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphLaunch(exec, 0);
    return cudaDeviceSynchronize() != cudaSuccess;
}
