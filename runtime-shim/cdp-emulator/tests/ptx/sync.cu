// The first version of dynamic parallelism: compiled with
// nvcc -ptx -rdc=true -arch=sm_75 -DCUDA_FORCE_CDP1_IF_SUPPORTED
#include <stdio.h>

__global__ void child_launch(int *data) { data[threadIdx.x] = data[threadIdx.x] + 1; }
__device__ int data[256];
__global__ void parent_launch() {
    data[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) {
        child_launch<<<1, 256>>>(data);
        cudaDeviceSynchronize();
    }
    __syncthreads();
    if (threadIdx.x % 100 == 0) printf("%d ", data[threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0) printf("\n");
}

__global__ void nested(int depth) {
    printf("enter %d\n", depth);
    if (depth < 4) nested<<<1, 1>>>(depth + 1);
    int rc = (int)cudaDeviceSynchronize();
    printf("leave %d: %d\n", depth, rc);
}
__global__ void start_nested() { nested<<<1, 1>>>(1); }

__global__ void deeper(int depth) {
    deeper<<<1, 1>>>(depth + 1);
    int rc = (int)cudaGetLastError();
    if (rc != 0) printf("depth %d: %d\n", depth, rc);
}
