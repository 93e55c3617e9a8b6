// Host code reads what a graph that it has launched writes.
__global__ void add(int *p) { p[threadIdx.x] += 1; } //~ race
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
        sum += p[5]; //~ race
    }
    return cudaDeviceSynchronize() != cudaSuccess;
}
