// A parent writes what its first child reads before it launches the second.
__global__ void child(const int *in, int *out) { out[threadIdx.x] = in[threadIdx.x]; } //~ race
__global__ void parent(int *a, int *b, int *out)
{
    a[0] = 1;
    child<<<1, 32>>>(a, out);
    a[0] = 2; //~ race
    child<<<1, 32>>>(a, out + 32);
}
int main()
{
    int *p;
    cudaMalloc(&p, 4096);
    cudaMemset(p, 0, 4096);
    parent<<<1, 1>>>(p, p + 32, p + 64);
    return cudaDeviceSynchronize() != cudaSuccess;
}
