// fault: uninitialized
// What calls of the runtime write into managed and pinned memory is set; the count beside it is not.
#include <cstdio>
#include <cstdlib>

struct Answers {
    size_t free_bytes, all_bytes;
    int device, threads;
    cudaPointerAttributes attributes;
    cudaDeviceProp properties;
    int count;
};

__global__ void sum(const Answers *answers, const cudaStream_t *stream, unsigned long long *total)
{
    unsigned long long sum = answers->free_bytes + answers->all_bytes + answers->device + answers->threads;
    sum += answers->attributes.type + answers->properties.warpSize + (*stream != nullptr);
    *total = sum + answers->count; //~ fault
}

int main()
{
    Answers *answers;
    cudaStream_t *stream;
    unsigned long long *total;
    cudaMallocManaged(&answers, sizeof *answers);
    cudaMallocHost(&stream, sizeof *stream);
    cudaMallocManaged(&total, sizeof *total);
    cudaMemGetInfo(&answers->free_bytes, &answers->all_bytes);
    cudaGetDevice(&answers->device);
    cudaDeviceGetAttribute(&answers->threads, cudaDevAttrMaxThreadsPerBlock, 0);
    cudaPointerGetAttributes(&answers->attributes, total);
    cudaGetDeviceProperties(&answers->properties, 0);
    cudaStreamCreate(stream);
    sum<<<1, 1>>>(answers, stream, total);
    int code = cudaDeviceSynchronize();
    printf("%d\n", *total > 0);
    return code;
}
