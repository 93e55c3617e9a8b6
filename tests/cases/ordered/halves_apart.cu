// A recursion whose halves have nothing in common.
__global__ void part(int *p, int low, int high)
{
    for (int i = low; i <= high; i++) p[i] = p[i] * 2 + low;
    if (high - low < 4) return;
    int middle = (low + high) / 2;
    cudaStream_t a, b;
    cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
    part<<<1, 1, 0, a>>>(p, low, middle);
    part<<<1, 1, 0, b>>>(p, middle + 1, high);
    cudaStreamDestroy(a);
    cudaStreamDestroy(b);
}
int main()
{
    int *p;
    cudaMalloc(&p, 4096);
    cudaMemset(p, 0, 4096);
    part<<<1, 1>>>(p, 0, 30);
    return cudaDeviceSynchronize() != cudaSuccess;
}
