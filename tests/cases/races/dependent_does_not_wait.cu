// A dependent grid of a programmatic launch reads what the grid before it writes, and does not wait for it.

__global__ void first(int *data)
{
    cudaTriggerProgrammaticLaunchCompletion();
    data[threadIdx.x] = threadIdx.x; //~ race
}

__global__ void second(const int *data, int *out)
{
    out[threadIdx.x] = data[threadIdx.x]; //~ race
    cudaGridDependencySynchronize();
}

int main()
{
    int *p;
    cudaMalloc(&p, 64 * sizeof(int));
    first<<<1, 32>>>(p);
    cudaLaunchConfig_t config = {};
    config.gridDim = 1;
    config.blockDim = 32;
    cudaLaunchAttribute early = {};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    config.attrs = &early;
    config.numAttrs = 1;
    cudaLaunchKernelEx(&config, second, (const int *)p, p + 32);
    return cudaDeviceSynchronize() != cudaSuccess;
}
