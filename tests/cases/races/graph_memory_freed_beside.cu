// Memory that a graph allocates is freed by a node for which a reader in another branch does not wait.
__global__ void fill(int *p) { p[threadIdx.x] = 3; }
__global__ void use(const int *p, int *out) { out[threadIdx.x] = p[threadIdx.x]; } //~ race
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
    cudaFreeAsync(p, a);
    cudaStreamWaitEvent(a, j, 0);
    cudaGraph_t g;
    if (cudaStreamEndCapture(a, &g)) return 5;
    cudaGraphExec_t x;
    if (cudaGraphInstantiate(&x, g, 0)) return 6;
    cudaGraphLaunch(x, a);
    return cudaDeviceSynchronize() != cudaSuccess;
}
