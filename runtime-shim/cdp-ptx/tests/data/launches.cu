// Kernels launched from device code, and calls of the device runtime.
#include <cstdio>

struct Big { char c; double d; int a[3]; };

__global__ void child(int depth, int *data, double w) { data[threadIdx.x] += depth + (int)w; }

__global__ void parent(int depth, int *data) {
    if (depth > 0 && threadIdx.x == 0) {
        parent<<<1, 32>>>(depth - 1, data);
        child<<<dim3(2, 3), dim3(4, 5, 6), 128>>>(depth, data, 1.5);
        if (cudaGetLastError() != cudaSuccess) printf("depth %d\n", depth);
    }
}

__global__ void takes_struct(Big b, char c, float4 v) { printf("%d %f %f %d\n", b.a[1], v.x, b.d, c); }

__global__ void streams(int *data) {
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    child<<<1, 32, 0, stream>>>(1, data, 2);
    Big b;
    b.a[1] = 4;
    b.d = 1;
    takes_struct<<<1, 1, 0, cudaStreamFireAndForget>>>(b, 'c', make_float4(1, 2, 3, 4));
    cudaStreamDestroy(stream);
    int *memory = new int[4];
    delete[] memory;
}
