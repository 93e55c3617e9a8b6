// A captured branch is joined before the kernel that follows it.
__global__ void add(int *p, int n) { p[threadIdx.x] = p[threadIdx.x] * 2 + n; }
int main()
{
    int *p;
    cudaMalloc(&p, 65536);
    cudaMemset(p, 0, 65536);
    cudaStream_t a, b;
    cudaStreamCreate(&a);
    cudaStreamCreate(&b);
    cudaEvent_t fork, join;
    cudaEventCreate(&fork);
    cudaEventCreate(&join);
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal);
    cudaEventRecord(fork, a);
    cudaStreamWaitEvent(b, fork, 0);
    add<<<1, 32, 0, b>>>(p, 1);
    cudaEventRecord(join, b);
    cudaStreamWaitEvent(a, join, 0);
    add<<<1, 32, 0, a>>>(p, 2);
    cudaStreamEndCapture(a, &graph);
    cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphLaunch(exec, a);
    return cudaDeviceSynchronize() != cudaSuccess;
}
