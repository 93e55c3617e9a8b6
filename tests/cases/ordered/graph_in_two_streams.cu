// A graph is launched into two streams: a launch follows the graph's last one. Work in the NULL stream follows both.
__global__ void add(int *out) { out[threadIdx.x] += 1; }
__global__ void other(int *out) { out[threadIdx.x + 32] += 1; }
int main()
{
    int *p;
    cudaMalloc(&p, 4096);
    cudaMemset(p, 0, 4096);
    cudaStream_t a, b, c;
    cudaStreamCreate(&a);
    cudaStreamCreate(&b);
    cudaStreamCreateWithFlags(&c, cudaStreamNonBlocking);
    cudaEvent_t fork, join;
    cudaEventCreate(&fork);
    cudaEventCreate(&join);
    cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal);
    cudaEventRecord(fork, a);
    cudaStreamWaitEvent(b, fork, 0);
    add<<<1, 32, 0, a>>>(p);
    other<<<1, 32, 0, b>>>(p);
    cudaEventRecord(join, b);
    cudaStreamWaitEvent(a, join, 0);
    cudaGraph_t graph;
    cudaStreamEndCapture(a, &graph);
    cudaGraphExec_t exec;
    cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphLaunch(exec, a);
    cudaGraphLaunch(exec, c);
    cudaGraphLaunch(exec, b);
    add<<<1, 32>>>(p);
    other<<<1, 32, 0, a>>>(p);
    cudaStreamSynchronize(a);
    int back[64];
    cudaMemcpy(back, p, sizeof back, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 64; ++i)
        if (back[i] != 4)
            return 1;
    return cudaDeviceSynchronize() != cudaSuccess;
}
