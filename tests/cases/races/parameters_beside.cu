// Two warps fill a parameter buffer by hand; the one that launches waits for the other's flag, which has no fence.
__global__ void child(int *p, int n) { p[0] = n; }
__global__ void k(int *p)
{
    __shared__ void *buffer;
    __shared__ volatile int flag;
    if (threadIdx.x == 0) {
        flag = 0;
        buffer = cudaGetParameterBufferV2((void *)child, dim3(1), dim3(1), 0);
        *(int **)buffer = p;
    }
    __syncthreads();
    if (threadIdx.x == 32) {
        ((int *)buffer)[2] = 7; //~ race
        flag = 1;
    }
    if (threadIdx.x == 0) {
        while (flag == 0) {
        }
        cudaLaunchDeviceV2(buffer, 0); //~ race
    }
}
int main()
{
    int *p;
    cudaMalloc(&p, 4);
    k<<<1, 64>>>(p);
    return cudaDeviceSynchronize() != cudaSuccess;
}
