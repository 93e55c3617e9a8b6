// Host code waits for the stream of a graph before it reads what that wrote.
__global__ void add(int *p) { p[threadIdx.x] += 1; }
int main()
{
    int *p;
    cudaMallocManaged(&p, 256);
    for (int i = 0; i < 64; i++)
        p[i] = 0;
    cudaStream_t s;
    cudaStreamCreate(&s);
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
    add<<<1, 64, 0, s>>>(p);
    add<<<1, 64, 0, s>>>(p);
    cudaStreamEndCapture(s, &graph);
    cudaGraphInstantiate(&exec, graph, 0);
    int sum = 0;
    for (int round = 0; round < 2; round++) {
        cudaGraphLaunch(exec, s);
        cudaStreamSynchronize(s);
        sum += p[5];
    }
    return sum != 6;
}
