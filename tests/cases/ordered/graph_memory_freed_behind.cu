// Memory that a graph allocates is freed behind the branch that reads it.
__global__ void fill(int *p) { p[threadIdx.x] = 3; }
__global__ void use(const int *p, int *out) { out[threadIdx.x] = p[threadIdx.x]; }
int main()
{
    int *out, *p;
    cudaMalloc(&out, 4096);
    cudaStream_t a, b;
    cudaStreamCreate(&a);
    cudaStreamCreate(&b);
    cudaEvent_t e, j;
    cudaEventCreate(&e);
    cudaEventCreate(&j);
    cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal);
    cudaMallocAsync((void **)&p, 1024, a);
    fill<<<1, 32, 0, a>>>(p);
    cudaEventRecord(e, a);
    cudaStreamWaitEvent(b, e, 0);
    use<<<1, 32, 0, b>>>(p, out);
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
