// Streams that block wait for the NULL stream's work, and it for theirs, whatever the work is: kernels, copies in each
// direction, sets and functions of the host.
#include <cstdio>
#include <cuda_runtime.h>

const int n = 64;

__global__ void fill(int *data, int value) { data[threadIdx.x] = value; }

__global__ void copy(const int *from, int *to) { to[threadIdx.x] = from[threadIdx.x]; }

static void look(void *data) { printf("function: %d\n", ((int *)data)[n - 1]); }

static void expect(const char *what, const int *data)
{
    printf("%s: %d %d\n", what, data[0], data[n - 1]);
}

int main()
{
    int *device, *other, *pinned, *managed;
    cudaMalloc(&device, n * sizeof(int));
    cudaMalloc(&other, n * sizeof(int));
    cudaMallocHost(&pinned, n * sizeof(int));
    cudaMallocManaged(&managed, n * sizeof(int));
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    cudaMemset(device, 0, n * sizeof(int));

    // The NULL stream's kernel, then the stream's copies.
    fill<<<1, n>>>(device, 1);
    cudaMemcpyAsync(pinned, device, n * sizeof(int), cudaMemcpyDeviceToHost, stream);
    cudaStreamSynchronize(stream);
    expect("to the host", pinned);
    for (int i = 0; i < n; i++) {
        pinned[i] = 2;
    }
    copy<<<1, n>>>(device, other);
    cudaMemcpyAsync(device, pinned, n * sizeof(int), cudaMemcpyHostToDevice, stream);
    cudaStreamSynchronize(stream);
    int host[n];
    cudaMemcpy(host, other, sizeof host, cudaMemcpyDeviceToHost);
    expect("read before it was overwritten", host);
    fill<<<1, n>>>(device, 3);
    cudaMemcpyAsync(other, device, n * sizeof(int), cudaMemcpyDeviceToDevice, stream);
    cudaMemcpyAsync(pinned, other, n * sizeof(int), cudaMemcpyDeviceToHost, stream);
    cudaStreamSynchronize(stream);
    expect("within the device", pinned);
    fill<<<1, n>>>(device, 4);
    cudaMemsetAsync(device, 0, sizeof(int), stream);
    cudaMemcpyAsync(pinned, device, n * sizeof(int), cudaMemcpyDeviceToHost, stream);
    cudaStreamSynchronize(stream);
    expect("set", pinned);

    // A function of the host behind the NULL stream's kernel, and the NULL stream's copy behind the stream's kernel.
    fill<<<1, n>>>(managed, 5);
    cudaLaunchHostFunc(stream, look, managed);
    cudaStreamSynchronize(stream);
    fill<<<1, n, 0, stream>>>(device, 6);
    cudaMemcpyAsync(pinned, device, n * sizeof(int), cudaMemcpyDeviceToHost, 0);
    cudaStreamSynchronize(0);
    expect("behind the stream", pinned);

    // One stream's work, the NULL stream's, another stream's.
    cudaStream_t second;
    cudaStreamCreate(&second);
    fill<<<1, n, 0, stream>>>(device, 7);
    copy<<<1, n>>>(device, other);
    cudaMemcpyAsync(pinned, other, n * sizeof(int), cudaMemcpyDeviceToHost, second);
    cudaStreamSynchronize(second);
    expect("through the NULL stream", pinned);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
