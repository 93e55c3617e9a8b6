// A branch of a graph waits for the node that allocates what it uses.
__global__ void use(int *p) { p[threadIdx.x] = 3; }
int main()
{
    int *p;
    cudaStream_t a, b;
    cudaStreamCreate(&a);
    cudaStreamCreate(&b);
    cudaEvent_t e, j, f;
    cudaEventCreate(&e);
    cudaEventCreate(&j);
    cudaEventCreate(&f);
    cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal);
    cudaEventRecord(e, a);
    cudaMallocAsync((void **)&p, 1024, a);
    cudaEventRecord(f, a);
    cudaStreamWaitEvent(b, f, 0);
    use<<<1, 32, 0, b>>>(p);
    cudaEventRecord(j, b);
    cudaStreamWaitEvent(a, j, 0);
    cudaFreeAsync(p, a);
    cudaGraph_t g;
    if (cudaStreamEndCapture(a, &g)) return 5;
    cudaGraphExec_t x;
    if (cudaGraphInstantiate(&x, g, 0)) return 6;
    cudaGraphLaunch(x, a);
    return cudaDeviceSynchronize() != cudaSuccess;
}
