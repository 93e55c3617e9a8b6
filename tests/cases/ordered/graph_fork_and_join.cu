// Branches of a graph, joined before what reads both; the graph twice in a row.
__global__ void k(int *out, int by) { out[threadIdx.x] = by; }
__global__ void sum(int *a, int *b) { a[threadIdx.x] += b[threadIdx.x]; }
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
    k<<<1, 32, 0, a>>>(p, 1);
    k<<<1, 32, 0, b>>>(p + 32, 2);
    cudaEventRecord(join, b);
    cudaStreamWaitEvent(a, join, 0);
    sum<<<1, 32, 0, a>>>(p, p + 32);
    cudaGraph_t graph;
    cudaStreamEndCapture(a, &graph);
    cudaGraphExec_t exec;
    cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphLaunch(exec, a);
    cudaGraphLaunch(exec, a);
    int back[32];
    cudaMemcpyAsync(back, p, 128, cudaMemcpyDeviceToHost, a);
    return cudaDeviceSynchronize() != cudaSuccess;
}
