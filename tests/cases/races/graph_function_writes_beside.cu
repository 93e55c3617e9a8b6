// A function of a graph writes managed memory that a kernel of another branch reads.
__global__ void read(const int *p, int *q) { q[threadIdx.x] = p[0]; } //~ race
void set(void *p) { *static_cast<int *>(p) = 5; } //~ race
int main()
{
    int *p, *q;
    cudaMallocManaged(&p, 4);
    cudaMallocManaged(&q, 256);
    cudaGraph_t graph;
    cudaGraphCreate(&graph, 0);
    cudaHostNodeParams host = {set, p};
    cudaKernelNodeParams kernel = {};
    void *args[] = {&p, &q};
    kernel.func = reinterpret_cast<void *>(read);
    kernel.gridDim = dim3(1);
    kernel.blockDim = dim3(64);
    kernel.kernelParams = args;
    cudaGraphNode_t first, second;
    cudaGraphAddHostNode(&first, graph, nullptr, 0, &host);
    cudaGraphAddKernelNode(&second, graph, nullptr, 0, &kernel);
    cudaGraphExec_t exec;
    cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphLaunch(exec, 0);
    if (cudaDeviceSynchronize())
        return 1;
    return 0;
}
