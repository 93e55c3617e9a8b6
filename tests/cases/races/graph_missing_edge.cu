// Of a diamond's lower node only one edge is there: it reads what the other branch writes.
__global__ void top(int *p) { p[0] = p[1] = 1; }
__global__ void left(int *p) { p[0] += 1; }
__global__ void right(int *p) { p[1] += 1; } //~ race
__global__ void bottom(int *p) { p[2] = p[0] + p[1]; } //~ race
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
    cudaGraphNode_t above = node(graph, top, p), one = node(graph, left, p, above);
    node(graph, right, p, above);
    node(graph, bottom, p, one);
    cudaGraphExec_t exec;
    cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphLaunch(exec, 0);
    return cudaDeviceSynchronize() != cudaSuccess;
}
