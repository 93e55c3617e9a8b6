// A function of the host reads what the kernel before it in its stream wrote.
int seen;
__global__ void write(int *p) { p[threadIdx.x] = 7; }
void look(void *data) { seen = static_cast<int *>(data)[9]; }
int main()
{
    int *p;
    cudaMallocManaged(&p, 256);
    cudaStream_t a, b;
    cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
    write<<<1, 64, 0, a>>>(p);
    cudaLaunchHostFunc(a, look, p);
    if (cudaDeviceSynchronize())
        return 1;
    return seen != 7;
}
