// Which kernels a graph may have that kernels launch: none that calls the device runtime, itself or in a function. Graphs they
// may launch. As an H100 answers.
#include <cstdio>

__global__ void leaf(int *o) { o[0] = 1; }
__device__ __noinline__ void launch(int *o)
{
    if (o[0] == 12345)
        leaf<<<1, 1>>>(o);
}

__global__ void plain(int *o) { printf("%d\n", o[0]); }
__global__ void allocates(int *o)
{
    int *p = new int;
    o[0] = p != nullptr;
    delete p;
}
__global__ void graphs(int *o, cudaGraphExec_t g)
{
    o[0] = g && cudaGraphLaunch(g, cudaStreamGraphTailLaunch);
    o[1] = cudaGetCurrentGraphExec() != nullptr;
}
__global__ void launches(int *o) { leaf<<<1, 1>>>(o); }
__global__ void calls(int *o) { launch(o); }
__global__ void streams(int *o)
{
    cudaStream_t s;
    o[0] = cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking) || cudaStreamDestroy(s);
}
__global__ void copies(int *o) { cudaMemcpyAsync(o, o + 4, 4, cudaMemcpyDeviceToDevice, 0); }
__global__ void asks(int *o) { o[0] = cudaGetLastError(); }
__global__ void takes(int *o)
{
    int *p;
    cudaMalloc(&p, 16);
    o[0] = p != nullptr;
    cudaFree(p);
}

static cudaKernelNodeParams node(void *kernel, void **args)
{
    cudaKernelNodeParams p = {};
    p.func = kernel;
    p.gridDim = dim3(1);
    p.blockDim = dim3(1);
    p.kernelParams = args;
    return p;
}

static void test(const char *name, void *kernel)
{
    int *o;
    cudaMalloc(&o, 64);
    void *none = nullptr, *args[] = {&o, &none};
    cudaGraph_t g;
    cudaGraphCreate(&g, 0);
    cudaKernelNodeParams p = node(kernel, args);
    cudaGraphNode_t n;
    cudaGraphAddKernelNode(&n, g, nullptr, 0, &p);
    cudaGraphExec_t e;
    cudaError_t by_kernels = cudaGraphInstantiate(&e, g, cudaGraphInstantiateFlagDeviceLaunch);
    cudaError_t by_host = cudaGraphInstantiate(&e, g, 0);
    printf("%s: by kernels %d, by the host %d, last %d\n", name, by_kernels, by_host, cudaGetLastError());
}

int main()
{
    test("plain", (void *)plain);
    test("allocates", (void *)allocates);
    test("graphs", (void *)graphs);
    test("launches", (void *)launches);
    test("calls", (void *)calls);
    test("streams", (void *)streams);
    test("copies", (void *)copies);
    test("asks", (void *)asks);
    test("takes", (void *)takes);
    // A kernel that becomes another one.
    int *o;
    cudaMalloc(&o, 64);
    void *args[] = {&o};
    cudaGraph_t g, h, whole;
    cudaGraphCreate(&g, 0);
    cudaGraphCreate(&h, 0);
    cudaGraphCreate(&whole, 0);
    cudaKernelNodeParams p = node((void *)plain, args);
    cudaGraphNode_t n, other;
    cudaGraphAddKernelNode(&n, g, nullptr, 0, &p);
    cudaGraphExec_t e;
    printf("made %d", cudaGraphInstantiate(&e, g, cudaGraphInstantiateFlagDeviceLaunch));
    p.func = (void *)launches;
    printf(", changed %d", cudaGraphExecKernelNodeSetParams(e, n, &p));
    cudaGraphAddKernelNode(&other, h, nullptr, 0, &p);
    cudaGraphExecUpdateResultInfo result;
    printf(", updated %d", cudaGraphExecUpdate(e, h, &result));
    printf(" %d", result.result);
    cudaGraphAddChildGraphNode(&other, whole, nullptr, 0, h);
    printf(", in another %d\n", cudaGraphInstantiate(&e, whole, cudaGraphInstantiateFlagDeviceLaunch));
}
