// A capture forks in front of the kernel whose result the branch reads.
__global__ void w(int *p) { p[0] = 1; } //~ race
__global__ void r(int *p) { p[1] = p[0]; } //~ race
int main()
{
    int *p; cudaMalloc(&p, 256);
    cudaStream_t a, b; cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking); cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
    cudaEvent_t e, f; cudaEventCreate(&e); cudaEventCreate(&f);
    cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal);
    cudaEventRecord(e, a); cudaStreamWaitEvent(b, e, 0);
    w<<<1, 1, 0, a>>>(p);
    r<<<1, 1, 0, b>>>(p);
    cudaEventRecord(f, b); cudaStreamWaitEvent(a, f, 0);
    cudaGraph_t g; cudaStreamEndCapture(a, &g);
    cudaGraphExec_t x; cudaGraphInstantiate(&x, g, 0);
    cudaGraphLaunch(x, a);
    return cudaDeviceSynchronize() != cudaSuccess;
}
