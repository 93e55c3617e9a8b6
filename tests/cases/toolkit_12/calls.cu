// What programs for CUDA 12 call and name that CUDA 13 has otherwise or not at all: with the headers of CUDA 12 they go on.
#include <cstdio>

__global__ void add(int *p) { p[threadIdx.x] += threadIdx.x; }

#define CALL(x) printf("%s%d", x == cudaSuccess ? " " : " failed ", __LINE__)

static void graphs(int *d)
{
    cudaStream_t s;
    cudaStreamCreate(&s);
    cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
    add<<<1, 32, 0, s>>>(d);
    cudaStreamCaptureStatus status;
    const cudaGraphNode_t *last;
    cudaGraph_t g;
    size_t n;
    unsigned long long id;
    CALL(cudaStreamGetCaptureInfo(s, &status, &id, &g, &last, &n));
    CALL(cudaStreamUpdateCaptureDependencies(s, const_cast<cudaGraphNode_t *>(last), n, cudaStreamSetCaptureDependencies));
    add<<<1, 32, 0, s>>>(d);
    CALL(cudaStreamEndCapture(s, &g));
    cudaGraphNode_t from[4], to[4], found[4];
    size_t edges = 4, before = 4, after = 4;
    CALL(cudaGraphGetEdges(g, from, to, &edges));
    CALL(cudaGraphNodeGetDependencies(to[0], found, &before));
    bool is_right = before == 1 && found[0] == from[0];
    CALL(cudaGraphNodeGetDependentNodes(from[0], found, &after));
    printf("\ncaptured %d %zu, edges %zu, neighbours %d\n", status, n, edges, is_right && after == 1 && found[0] == to[0]);
    CALL(cudaGraphRemoveDependencies(g, from, to, 1));
    CALL(cudaGraphAddDependencies(g, from, to, 1));
    cudaGraphNodeParams what = {};
    void *args[] = {&d};
    what.type = cudaGraphNodeTypeKernel;
    what.kernel.func = (void *)add;
    what.kernel.gridDim = 1;
    what.kernel.blockDim = 32;
    what.kernel.kernelParams = args;
    cudaGraphNode_t node;
    CALL(cudaGraphAddNode(&node, g, to, 1, &what));
    cudaGraphExec_t e;
    CALL(cudaGraphInstantiate(&e, g, nullptr, nullptr, 0));
    CALL(cudaGraphLaunch(e, s));
    CALL(cudaStreamSynchronize(s));
}

int main()
{
    cudaDeviceProp p;
    CALL(cudaGetDeviceProperties(&p, 0));
    int optin, count, cluster, block;
    cudaDeviceGetAttribute(&optin, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0);
    cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, 0);
    cudaDeviceGetAttribute(&cluster, cudaDevAttrClusterLaunch, 0);
    cudaDeviceGetAttribute(&block, cudaDevAttrMaxThreadsPerBlock, 0);
    printf("\n%d %d %d\n", p.clockRate > 0, p.deviceOverlap, p.major * 10 + p.minor);
    printf("%d %d %d %d\n", p.sharedMemPerBlockOptin == size_t(optin), p.multiProcessorCount == count,
        p.clusterLaunch == cluster, p.maxThreadsPerBlock == block);
    int *d;
    cudaMallocManaged(&d, 128);
    CALL(cudaMemset(d, 0, 128));
    CALL(cudaMemPrefetchAsync(d, 128, 0));
    CALL(cudaMemPrefetchAsync(d, 128, cudaCpuDeviceId, 0));
    CALL(cudaMemAdvise(d, 128, cudaMemAdviseSetPreferredLocation, cudaCpuDeviceId));
    int place = -7;
    CALL(cudaMemRangeGetAttribute(&place, 4, cudaMemRangeAttributePreferredLocation, d, 128));
    printf("\npreferred place %d\n", place);
    add<<<1, 32>>>(d);
    CALL(cudaThreadSynchronize());
    graphs(d);
    size_t stack = 0;
    CALL(cudaThreadGetLimit(&stack, cudaLimitStackSize));
    printf("\nsum %d, stack %d\n", d[31], stack > 0);
    cudaThreadExit();
}
