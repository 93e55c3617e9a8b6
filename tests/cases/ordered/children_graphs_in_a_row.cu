// One graph stands twice in another one, in a row.
__global__ void add(int *p) { *p += 1; }
int main()
{
    int *p;
    cudaMalloc(&p, 65536);
    cudaMemset(p, 0, 65536);
    cudaGraph_t inner, outer;
    cudaGraphCreate(&inner, 0);
    cudaGraphCreate(&outer, 0);
    void *args[] = {&p};
    cudaKernelNodeParams kernel = {};
    kernel.func = reinterpret_cast<void *>(add);
    kernel.gridDim = kernel.blockDim = dim3(1);
    kernel.kernelParams = args;
    cudaGraphNode_t node, first, second;
    cudaGraphAddKernelNode(&node, inner, nullptr, 0, &kernel);
    cudaGraphAddChildGraphNode(&first, outer, nullptr, 0, inner);
    cudaGraphAddChildGraphNode(&second, outer, &first, 1, inner);
    cudaGraphExec_t exec;
    cudaGraphInstantiate(&exec, outer, 0);
    cudaGraphLaunch(exec, 0);
    return cudaDeviceSynchronize() != cudaSuccess;
}
