// A graph was changed for its next run, and the host takes the last run for done.
__global__ void add(int *p) { *p += 1; } //~ race
int main()
{
    int *p;
    cudaMallocManaged(&p, 8);
    p[0] = p[1] = 0;
    cudaGraph_t graph;
    cudaGraphCreate(&graph, 0);
    void *args[] = {&p};
    cudaKernelNodeParams kernel = {};
    kernel.func = reinterpret_cast<void *>(add);
    kernel.gridDim = kernel.blockDim = dim3(1);
    kernel.kernelParams = args;
    cudaGraphNode_t node;
    cudaGraphAddKernelNode(&node, graph, nullptr, 0, &kernel);
    cudaGraphExec_t exec;
    cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphLaunch(exec, 0);
    int *other = p + 1;
    args[0] = &other;
    cudaGraphExecKernelNodeSetParams(exec, node, &kernel);
    p[0] += 10; //~ race
    cudaGraphLaunch(exec, 0);
    return cudaDeviceSynchronize() != cudaSuccess;
}
