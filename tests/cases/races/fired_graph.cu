// A graph that a kernel fires and forgets writes what the kernel reads afterwards.
__device__ cudaGraphExec_t fired;
__device__ int box;
__global__ void inside() { box = 1; } //~ race
__global__ void k(int *out)
{
    cudaGraphLaunch(fired, cudaStreamGraphFireAndForget);
    *out = box; //~ race
}
int main()
{
    int *p;
    cudaMalloc(&p, 4096);
    cudaStream_t a;
    cudaStreamCreate(&a);
    cudaGraph_t graph, outer;
    cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal);
    inside<<<1, 1, 0, a>>>();
    cudaStreamEndCapture(a, &graph);
    cudaGraphExec_t exec, first;
    cudaGraphInstantiate(&exec, graph, cudaGraphInstantiateFlagDeviceLaunch);
    cudaGraphUpload(exec, a);
    cudaMemcpyToSymbolAsync(fired, &exec, sizeof exec, 0, cudaMemcpyHostToDevice, a);
    cudaStreamSynchronize(a);
    cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal);
    k<<<1, 1, 0, a>>>(p);
    cudaStreamEndCapture(a, &outer);
    cudaGraphInstantiate(&first, outer, cudaGraphInstantiateFlagDeviceLaunch);
    cudaGraphUpload(first, a);
    cudaGraphLaunch(first, a);
    return cudaDeviceSynchronize() != cudaSuccess;
}
