// Dependent grids of programmatic launches: what came before the grid that they follow is known to them at once,
// what that one writes when they have waited for it; grids launched as usual follow both.

__global__ void fill(int *data) { data[threadIdx.x] = threadIdx.x; }

__global__ void first(const int *data, int *sums)
{
    cudaTriggerProgrammaticLaunchCompletion();
    sums[threadIdx.x] = data[threadIdx.x] + 1;
}

__global__ void second(const int *data, const int *sums, int *out)
{
    int mine = data[threadIdx.x];
    cudaGridDependencySynchronize();
    out[threadIdx.x] = mine + sums[threadIdx.x];
}

__global__ void third(int *sums, int *out)
{
    sums[threadIdx.x] += out[threadIdx.x];
}

int main()
{
    int *p;
    cudaMalloc(&p, 96 * sizeof(int));
    cudaLaunchConfig_t config = {};
    config.gridDim = 1;
    config.blockDim = 32;
    cudaLaunchAttribute early = {};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    config.attrs = &early;
    config.numAttrs = 1;
    for (int i = 0; i < 2; i++) {
        fill<<<1, 32>>>(p);
        first<<<1, 32>>>(p, p + 32);
        cudaLaunchKernelEx(&config, second, (const int *)p, (const int *)(p + 32), p + 64);
        third<<<1, 32>>>(p + 32, p + 64);
    }
    return cudaDeviceSynchronize() != cudaSuccess;
}
