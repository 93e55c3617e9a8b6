// Two graphs in two streams: nothing orders them, though each knows its own branches.
__global__ void k(int *out, int by) { out[threadIdx.x] = by; } //~ race
static cudaGraphExec_t captured(cudaStream_t stream, int *p, int by)
{
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    k<<<1, 32, 0, stream>>>(p, by);
    cudaGraph_t graph;
    cudaStreamEndCapture(stream, &graph);
    cudaGraphExec_t exec;
    cudaGraphInstantiate(&exec, graph, 0);
    return exec;
}
int main()
{
    int *p;
    cudaMalloc(&p, 4096);
    cudaStream_t a, b;
    cudaStreamCreate(&a);
    cudaStreamCreate(&b);
    cudaGraphExec_t one = captured(a, p, 1), two = captured(b, p, 2);
    cudaGraphLaunch(one, a);
    cudaGraphLaunch(two, b);
    return cudaDeviceSynchronize() != cudaSuccess;
}
