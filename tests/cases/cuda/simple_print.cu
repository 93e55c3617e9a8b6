// Kernels that launch themselves and print who they are, after NVIDIA's cdpSimplePrint.
#include <cstdio>
#include <cstdlib>
#include <helper_cuda.h>
#include <helper_string.h>

__device__ int g_uids = 0;

__device__ void print_info(int depth, int thread, int uid, int parent_uid) {
    if (threadIdx.x == 0) {
        if (depth == 0)
            printf("BLOCK %d launched by the host\n", uid);
        else
            printf("%*sBLOCK %d launched by thread %d of block %d\n", 2 * depth, "", uid, thread, parent_uid);
    }
    __syncthreads();
}

__global__ void print_kernel(int max_depth, int depth, int thread, int parent_uid) {
    __shared__ int s_uid;
    if (threadIdx.x == 0)
        s_uid = atomicAdd(&g_uids, 1);
    __syncthreads();
    print_info(depth, thread, s_uid, parent_uid);
    if (++depth >= max_depth)
        return;
    print_kernel<<<1, blockDim.x>>>(max_depth, depth, threadIdx.x, s_uid);
}

int main(int argc, char **argv) {
    int max_depth = 3;
    if (checkCmdLineFlag(argc, (const char **)argv, "depth"))
        max_depth = getCmdLineArgumentInt(argc, (const char **)argv, "depth");
    cudaDeviceProp properties;
    checkCudaErrors(cudaGetDeviceProperties(&properties, 0));
    if (properties.major < 3)
        return EXIT_WAIVED;
    print_kernel<<<1, 2>>>(max_depth, 0, 0, -1);
    checkCudaErrors(cudaGetLastError());
    checkCudaErrors(cudaDeviceSynchronize());
    int uids = 0;
    checkCudaErrors(cudaMemcpyFromSymbol(&uids, g_uids, sizeof uids));
    printf("%d blocks\n", uids);
    return 0;
}
