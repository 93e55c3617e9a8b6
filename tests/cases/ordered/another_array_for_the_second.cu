// A parent prepares another array for its second child.
__global__ void child(const int *in, int *out) { out[threadIdx.x] = in[threadIdx.x]; }
__global__ void parent(int *a, int *b, int *out)
{
    a[0] = 1;
    child<<<1, 32>>>(a, out);
    b[0] = 2;
    child<<<1, 32>>>(b, out + 32);
}
int main()
{
    int *p;
    cudaMalloc(&p, 4096);
    cudaMemset(p, 0, 4096);
    parent<<<1, 1>>>(p, p + 32, p + 64);
    return cudaDeviceSynchronize() != cudaSuccess;
}
