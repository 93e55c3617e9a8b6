// What calls of the device runtime return in a kernel when something about them is wrong or unusual.
#include <cstdio>
#include <cstring>

__device__ char bytes[4096];

__global__ void settings(int *codes)
{
    cudaStream_t none = (cudaStream_t)0x4321;
    int n = 0;
    codes[n++] = cudaMemsetAsync(bytes, 1, 32, none);
    codes[n++] = cudaMemset2DAsync(bytes, 3, 1, 5, 2, 0);
    codes[n++] = cudaMemset2DAsync(bytes, 8, 1, 5, 2, 0);
    codes[n++] = cudaMemsetAsync(bytes, 1, 0, 0);
    codes[n++] = cudaMemcpyAsync(bytes, bytes + 64, 32, cudaMemcpyDeviceToDevice, none);
    codes[n++] = cudaMemcpy2DAsync(bytes, 3, bytes + 64, 8, 5, 2, cudaMemcpyDeviceToDevice, 0);
    codes[n++] = cudaMemcpyAsync(nullptr, bytes, 32, cudaMemcpyDeviceToDevice, 0);
    codes[n++] = cudaMemsetAsync(nullptr, 1, 32, 0);
    codes[n++] = cudaMemset2DAsync(nullptr, 8, 1, 5, 2, 0);
    codes[n++] = cudaMemset2DAsync(bytes, 3, 1, 5, 1, 0);
    codes[n++] = cudaMemset2DAsync(bytes, 3, 1, 5, 0, none);
    codes[n++] = cudaMemcpy2DAsync(bytes, 3, bytes + 64, 8, 5, 1, cudaMemcpyDeviceToDevice, 0);
    codes[n++] = cudaMemcpyAsync(bytes, bytes + 64, 0, cudaMemcpyHostToDevice, none);
    int local = 0;
    codes[n++] = cudaFree(&local) + local;
    cudaPitchedPtr box = {bytes, 3, 3, 2};
    codes[n++] = cudaMemset3DAsync(box, 0, {5, 1, 1}, 0);
    codes[n++] = cudaMemset3DAsync(box, 0, {5, 1, 2}, 0);
    box.pitch = 16;
    codes[n++] = cudaMemset3DAsync(box, 0, {5, 3, 1}, 0);
    codes[n++] = cudaMemset3DAsync(box, 0, {5, 3, 2}, 0);
    codes[n++] = cudaMemset3DAsync(box, 0, {5, 2, 2}, none);
    codes[n++] = cudaMemset3DAsync(box, 0, {5, 2, 2}, 0);
}

__global__ void leaf(int *count) { atomicAdd(count, 1); }

__global__ void handles(int *codes, int *count)
{
    int n = 0;
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    leaf<<<1, 1, 0, stream>>>(count);
    codes[n++] = cudaStreamDestroy(stream);
    codes[n++] = cudaStreamDestroy(stream);
    leaf<<<1, 1, 0, stream>>>(count);
    codes[n++] = cudaGetLastError();
    codes[n++] = cudaStreamDestroy((cudaStream_t)0x4321);
    codes[n++] = cudaStreamDestroy(0);
    cudaEvent_t event;
    for (unsigned flags = 0; flags < 64; flags++)
        codes[n++] = cudaEventCreateWithFlags(&event, flags);
    cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    codes[n++] = cudaEventDestroy(event);
    codes[n++] = cudaEventDestroy(event);
}

__global__ void questions(unsigned long long *values, cudaFuncAttributes *attributes)
{
    size_t size = 7;
    int n = 0;
    for (int limit = cudaLimitMaxL2FetchGranularity; limit <= cudaLimitPersistingL2CacheSize; limit++) {
        values[n++] = cudaDeviceGetLimit(&size, (cudaLimit)limit);
        values[n++] = size;
    }
    cudaSharedMemConfig banks = cudaSharedMemBankSizeEightByte;
    values[n++] = cudaDeviceGetSharedMemConfig(&banks);
    values[n++] = banks;
    values[n++] = cudaFuncGetAttributes(attributes, leaf);
}

// The texts of errors below 48, each in 128 bytes.
__global__ void texts(char *names)
{
    int code = threadIdx.x / 2;
    const char *text =
        threadIdx.x % 2 ? cudaGetErrorString((cudaError_t)code) : cudaGetErrorName((cudaError_t)code);
    for (int i = 0; i < 127 && text[i]; i++)
        names[threadIdx.x * 128 + i] = text[i];
}

static void show(const char *what, const int *codes, int count)
{
    cudaError_t code = cudaDeviceSynchronize();
    printf("%s:", what);
    for (int i = 0; i < count; i++)
        printf(" %d", codes[i]);
    printf("; %s\n", cudaGetErrorName(code));
}

int main()
{
    int *codes, *count;
    cudaMallocManaged(&codes, 128 * sizeof(int));
    cudaMallocManaged(&count, sizeof(int));
    settings<<<1, 1>>>(codes);
    show("settings and copies", codes, 20);
    *count = 0;
    handles<<<1, 1>>>(codes, count);
    show("handles", codes, 71);
    printf("%d launched\n", *count);

    unsigned long long *values;
    cudaFuncAttributes *attributes, here;
    cudaMallocManaged(&values, 64);
    cudaMallocManaged(&attributes, sizeof(cudaFuncAttributes));
    questions<<<1, 1>>>(values, attributes);
    cudaDeviceSynchronize();
    size_t fetch, persisting;
    cudaDeviceGetLimit(&fetch, cudaLimitMaxL2FetchGranularity);
    cudaDeviceGetLimit(&persisting, cudaLimitPersistingL2CacheSize);
    cudaFuncGetAttributes(&here, leaf);
    printf("%d %d %d %d, banks %d %d, attributes %d %d %d\n", (int)values[0], values[1] == fetch, (int)values[2],
           values[3] == persisting, (int)values[4], (int)values[5], (int)values[6],
           attributes->ptxVersion == here.ptxVersion, attributes->binaryVersion == here.binaryVersion);

    char *names;
    cudaMallocManaged(&names, 96 * 128);
    memset(names, 0, 96 * 128);
    texts<<<1, 96>>>(names);
    cudaDeviceSynchronize();
    int same = 0;
    for (int i = 0; i < 96; i++) {
        cudaError_t code = (cudaError_t)(i / 2);
        same += !strcmp(names + i * 128, i % 2 ? cudaGetErrorString(code) : cudaGetErrorName(code));
    }
    printf("%d texts of 96 are the host's\n", same);
    return 0;
}
