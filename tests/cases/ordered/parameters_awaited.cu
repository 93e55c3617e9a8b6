// Two warps fill a parameter buffer by hand, and meet before one of them launches.
__global__ void child(int *p, int n) { p[0] = n; }
__global__ void k(int *p)
{
    __shared__ void *buffer;
    if (threadIdx.x == 0) {
        buffer = cudaGetParameterBufferV2((void *)child, dim3(1), dim3(1), 0);
        *(int **)buffer = p;
    }
    __syncthreads();
    if (threadIdx.x == 32)
        ((int *)buffer)[2] = 7;
    __syncthreads();
    if (threadIdx.x == 0)
        cudaLaunchDeviceV2(buffer, 0);
}
int main()
{
    int *p;
    cudaMalloc(&p, 4);
    k<<<1, 64>>>(p);
    return cudaDeviceSynchronize() != cudaSuccess;
}
