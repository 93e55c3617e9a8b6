// Pitched and three-dimensional memory, copies of rectangles and boxes, fills, and batches.
#include "check.h"
#include <vector>

__global__ void number(char *base, size_t pitch, int width, int height)
{
    for (int z = 0; z < 2; z++)
        for (int y = 0; y < height; y++)
            ((int *)(base + (z * height + y) * pitch))[threadIdx.x] = 100 * z + 10 * y + threadIdx.x;
}

int main()
{
    const int width = 5, height = 3;
    cudaPitchedPtr box;
    cudaExtent extent = make_cudaExtent(width * sizeof(int), height, 2);
    CHECK(cudaMalloc3D(&box, extent));
    CHECK(cudaMemset3D(box, 0, extent));
    number<<<1, width>>>((char *)box.ptr, box.pitch, width, height);
    std::vector<int> host(width * height * 2, -1);
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = box;
    copy.dstPtr = make_cudaPitchedPtr(host.data(), width * sizeof(int), width, height);
    copy.extent = extent;
    copy.kind = cudaMemcpyDeviceToHost;
    CHECK(cudaMemcpy3D(&copy));
    for (int value : host)
        printf("%d ", value);
    printf("\n");
    int *rows, part[4] = {0};
    size_t pitch;
    CHECK(cudaMallocPitch(&rows, &pitch, width * sizeof(int), height));
    printf("pitch holds a row: %d\n", pitch >= width * sizeof(int));
    CHECK(cudaMemset2D(rows, pitch, 0x11, width * sizeof(int), height));
    CHECK(cudaMemcpy2D(rows, pitch, host.data(), width * 4, 8, 2, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy2D(part, 8, rows, pitch, 8, 2, cudaMemcpyDefault));
    printf("%d %d %d %d\n", part[0], part[1], part[2], part[3]);
    CHECK(cudaMemcpy(part, (char *)rows + 2 * pitch, 4, cudaMemcpyDefault));
    printf("%x\n", part[0]);
    CHECK(cudaMemcpyPeer(rows, 0, box.ptr, 0, 8));
    CHECK(cudaMemcpy(part, rows, 8, cudaMemcpyDefault));
    printf("%d %d\n", part[0], part[1]);
    printf("%s\n", cudaGetErrorName(cudaMemcpy2D(part, 4, rows, pitch, 8, 2, cudaMemcpyDefault)));
    printf("%s\n", cudaGetErrorName(cudaMemcpy(part, rows, 8, (cudaMemcpyKind)9)));
    CHECK(cudaFree(box.ptr));
    CHECK(cudaFree(rows));
}
