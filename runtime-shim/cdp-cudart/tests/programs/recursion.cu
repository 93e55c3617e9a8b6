// nvcc: -rdc=true -lcudadevrt
// Kernels that launch kernels, a class with virtual functions, device memory from a kernel.
#include "check.h"

struct Shape {
    __device__ virtual int area() const = 0;
    __device__ virtual ~Shape() {}
};
struct Box : Shape {
    int w, h;
    __device__ Box(int w, int h) : w(w), h(h) {}
    __device__ int area() const override { return w * h; }
};

__global__ void leaf(int depth, int *sum)
{
    Shape *shape = new Box(depth, 2);
    atomicAdd(sum, shape->area());
    delete shape;
}

__global__ void tree(int depth, int *sum)
{
    if (depth == 0)
        return;
    leaf<<<1, 2>>>(depth, sum);
    tree<<<2, 1>>>(depth - 1, sum);
    leaf<<<1, 1, 0, cudaStreamTailLaunch>>>(10 * depth, sum);
}

int main()
{
    int *sum, host;
    CHECK(cudaMalloc(&sum, 4));
    CHECK(cudaMemset(sum, 0, 4));
    tree<<<1, 1>>>(4, sum);
    CHECK(cudaMemcpy(&host, sum, 4, cudaMemcpyDeviceToHost));
    printf("%d\n", host);
}
