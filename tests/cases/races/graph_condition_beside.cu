// What a conditional node does once its value is tested is not ordered with the other branch.
__global__ void inside(int *p) { p[0] = 1; } //~ race
__global__ void beside(int *p) { p[1] = p[0]; } //~ race
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
    cudaGraphConditionalHandle value;
    cudaGraphConditionalHandleCreate(&value, graph, 1, cudaGraphCondAssignDefault);
    cudaGraphNodeParams params = {};
    params.type = cudaGraphNodeTypeConditional;
    params.conditional.handle = value;
    params.conditional.type = cudaGraphCondTypeIf;
    params.conditional.size = 1;
    cudaGraphNode_t choice;
    cudaGraphAddNode(&choice, graph, nullptr, nullptr, 0, &params);
    node(params.conditional.phGraph_out[0], inside, p);
    node(graph, beside, p);
    cudaGraphExec_t exec;
    cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphLaunch(exec, 0);
    return cudaDeviceSynchronize() != cudaSuccess;
}
