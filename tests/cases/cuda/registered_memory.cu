// Memory of the host that kernels use: registered, by its device address, from children too; flags of pinned memory.
#include <cstdio>
#include <cstdlib>

__global__ void add(int *values, int count, int amount)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        values[i] += amount;
}

__global__ void parent(int *values, int count)
{
    values[0] += 1000;
    add<<<(count + 127) / 128, 128>>>(values, count, 100);
}

int main()
{
    const int count = 1024;
    int *memory = static_cast<int *>(aligned_alloc(4096, count * sizeof(int))), *seen;
    for (int i = 0; i < count; ++i)
        memory[i] = i;
    printf("%d ", cudaHostRegister(memory, count * sizeof(int), cudaHostRegisterMapped));
    printf("%d\n", cudaHostGetDevicePointer(&seen, memory, 0));
    add<<<4, 256>>>(seen, count, 7);
    parent<<<1, 1>>>(seen, count);
    printf("%d\n", cudaDeviceSynchronize());
    printf("%d %d %d\n", memory[0], memory[3], memory[count - 1]);
    int *device, back[4];
    cudaMalloc(&device, sizeof back);
    cudaMemcpyAsync(device, memory + 4, sizeof back, cudaMemcpyHostToDevice);
    cudaMemcpy(back, device, sizeof back, cudaMemcpyDeviceToHost);
    printf("%d %d\n", back[0], back[3]);
    cudaPointerAttributes attributes;
    cudaPointerGetAttributes(&attributes, memory + 1);
    printf("%d %d\n", attributes.type == cudaMemoryTypeHost, attributes.hostPointer == memory + 1);
    printf("%s\n", cudaGetErrorName(cudaHostRegister(memory, 4096, cudaHostRegisterMapped)));
    cudaGetLastError();
    printf("%d ", cudaHostUnregister(memory));
    printf("%s\n", cudaGetErrorName(cudaHostUnregister(memory)));
    cudaGetLastError();
    printf("%d\n", memory[5]);
    free(memory);

    int *pinned;
    unsigned flags = 0;
    cudaHostAlloc(&pinned, 1024, cudaHostAllocMapped | cudaHostAllocPortable);
    printf("%d ", cudaHostGetFlags(&flags, pinned));
    printf("%u\n", flags);
    printf("%s\n", cudaGetErrorName(cudaHostGetFlags(&flags, back)));
    cudaGetLastError();
}
