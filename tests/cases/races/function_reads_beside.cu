// A function of the host in another stream reads what a kernel writes.
int seen;
__global__ void write(int *p) { p[threadIdx.x] = 7; } //~ race
void look(void *data) { seen = static_cast<int *>(data)[9]; } //~ race
int main()
{
    int *p;
    cudaMallocManaged(&p, 256);
    cudaStream_t a, b;
    cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
    write<<<1, 64, 0, a>>>(p);
    cudaLaunchHostFunc(b, look, p);
    if (cudaDeviceSynchronize())
        return 1;
    return 0;
}
