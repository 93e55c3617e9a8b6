// Two branches of a captured graph write the same words.
__global__ void first(int *out) { out[threadIdx.x] = 1; } //~ race
__global__ void second(int *out) { out[threadIdx.x] = 2; } //~ race
int main()
{
    int *p;
    cudaMalloc(&p, 4096);
    cudaStream_t a, b;
    cudaStreamCreate(&a);
    cudaStreamCreate(&b);
    cudaEvent_t fork, join;
    cudaEventCreate(&fork);
    cudaEventCreate(&join);
    cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal);
    cudaEventRecord(fork, a);
    cudaStreamWaitEvent(b, fork, 0);
    first<<<1, 32, 0, a>>>(p);
    second<<<1, 32, 0, b>>>(p);
    cudaEventRecord(join, b);
    cudaStreamWaitEvent(a, join, 0);
    cudaGraph_t graph;
    cudaStreamEndCapture(a, &graph);
    cudaGraphExec_t exec;
    cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphLaunch(exec, a);
    return cudaDeviceSynchronize() != cudaSuccess;
}
