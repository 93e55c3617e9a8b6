// Graphs by the driver's calls: nodes of each kind with the driver's own descriptions, what they are asked and what
// becomes of a change, edges, copies, executables that are updated, memory and captures.
#include "driver.h"

#include <cstring>
#include <cuda.h>
#include <cuda_runtime.h>
#include <vector>

__global__ void add(int *data, int by)
{
    data[threadIdx.x] += by;
}

__global__ void multiply(int *data, int by)
{
    data[threadIdx.x] *= by;
}

const int n = 8;
static CUcontext context;

static void report(void *data) { printf("%s\n", (const char *)data); }

static void show(const char *what, const int *data)
{
    printf("%s:", what);
    for (int i = 0; i < n; i++) {
        printf(" %d", data[i]);
    }
    printf("\n");
}

static CUDA_KERNEL_NODE_PARAMS launch(CUfunction function, void **params)
{
    CUDA_KERNEL_NODE_PARAMS node;
    memset(&node, 0, sizeof node);
    node.func = function;
    node.gridDimX = node.gridDimY = node.gridDimZ = 1;
    node.blockDimX = n;
    node.blockDimY = node.blockDimZ = 1;
    node.kernelParams = params;
    return node;
}

int main()
{
    begin(&context);
    cudaFunction_t of_add, of_multiply;
    cudaGetFuncBySymbol(&of_add, (const void *)add);
    cudaGetFuncBySymbol(&of_multiply, (const void *)multiply);

    CUdeviceptr data;
    CHECK(cuMemAlloc(&data, n * sizeof(int)));
    int *result;
    CHECK(cuMemAllocHost((void **)&result, n * sizeof(int)));
    CUstream stream;
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));

    // A set, two kernels, a copy and a function of the host, one after another.
    CUgraph graph;
    CHECK(cuGraphCreate(&graph, 0));
    CUDA_MEMSET_NODE_PARAMS set;
    memset(&set, 0, sizeof set);
    set.dst = data;
    set.value = 3;
    set.elementSize = 4;
    set.width = n;
    set.height = 1;
    CUgraphNode set_node, add_node, multiply_node, copy_node, host_node, empty_node;
    CHECK(cuGraphAddMemsetNode(&set_node, graph, nullptr, 0, &set, context));
    int five = 5, two = 2;
    void *add_params[] = {&data, &five};
    CUDA_KERNEL_NODE_PARAMS kernel = launch(of_add, add_params);
    CHECK(cuGraphAddKernelNode(&add_node, graph, &set_node, 1, &kernel));
    // Parameters in a buffer.
    struct {
        CUdeviceptr data;
        int by;
    } buffer = {data, two};
    size_t bytes = sizeof(CUdeviceptr) + sizeof(int);
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
    kernel = launch(of_multiply, nullptr);
    kernel.extra = extra;
    CHECK(cuGraphAddKernelNode(&multiply_node, graph, &add_node, 1, &kernel));
    CUDA_MEMCPY3D copy;
    memset(&copy, 0, sizeof copy);
    copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = data;
    copy.dstMemoryType = CU_MEMORYTYPE_HOST;
    copy.dstHost = result;
    copy.WidthInBytes = n * sizeof(int);
    copy.Height = copy.Depth = 1;
    CHECK(cuGraphAddMemcpyNode(&copy_node, graph, &multiply_node, 1, &copy, context));
    CUDA_HOST_NODE_PARAMS host = {report, (void *)"the host"};
    CHECK(cuGraphAddHostNode(&host_node, graph, &copy_node, 1, &host));
    CHECK(cuGraphAddEmptyNode(&empty_node, graph, nullptr, 0));
    CHECK(cuGraphAddDependencies(graph, &host_node, &empty_node, nullptr, 1));

    size_t nodes = 0, edges = 0, roots = 0, before = 0, behind = 0;
    CHECK(cuGraphGetNodes(graph, nullptr, &nodes));
    CHECK(cuGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
    CHECK(cuGraphGetRootNodes(graph, nullptr, &roots));
    CHECK(cuGraphNodeGetDependencies(copy_node, nullptr, nullptr, &before));
    CUgraphNode next = nullptr;
    behind = 1;
    CHECK(cuGraphNodeGetDependentNodes(set_node, &next, nullptr, &behind));
    printf("graph: %zu nodes, %zu edges, %zu roots, %zu before the copy, %zu behind the set: %d\n", nodes, edges, roots, before,
           behind, next == add_node);
    CUgraphNodeType types[6];
    CUgraphNode all[] = {set_node, add_node, copy_node, host_node, empty_node};
    printf("types:");
    for (int i = 0; i < 5; i++) {
        CHECK(cuGraphNodeGetType(all[i], &types[i]));
        printf(" %d", (int)types[i]);
    }
    printf("\n");

    CUgraphExec executable;
    CHECK(cuGraphInstantiate(&executable, graph, 0));
    CHECK(cuGraphLaunch(executable, stream));
    CHECK(cuStreamSynchronize(stream));
    show("first", result);

    // What the nodes say of themselves.
    CUDA_KERNEL_NODE_PARAMS said;
    CHECK(cuGraphKernelNodeGetParams(add_node, &said));
    printf("kernel: %d %u %d\n", said.func == of_add, said.blockDimX, *(int *)said.kernelParams[1]);
    CUDA_MEMSET_NODE_PARAMS said_set;
    CHECK(cuGraphMemsetNodeGetParams(set_node, &said_set));
    printf("set: %d %u %u %zu\n", said_set.dst == data, said_set.value, said_set.elementSize, said_set.width);
    CUDA_MEMCPY3D said_copy;
    CHECK(cuGraphMemcpyNodeGetParams(copy_node, &said_copy));
    printf("copy: %d %d %zu\n", said_copy.srcDevice == data, said_copy.dstHost == result, said_copy.WidthInBytes);
    CUDA_HOST_NODE_PARAMS said_host;
    CHECK(cuGraphHostNodeGetParams(host_node, &said_host));
    printf("host: %d %s\n", said_host.fn == report, (const char *)said_host.userData);

    // Changes: of the executable alone, of the graph, and of the executable by the graph.
    int seven = 7;
    void *other_params[] = {&data, &seven};
    kernel = launch(of_add, other_params);
    CHECK(cuGraphExecKernelNodeSetParams(executable, add_node, &kernel));
    set.value = 1;
    CHECK(cuGraphExecMemsetNodeSetParams(executable, set_node, &set, context));
    host.userData = (void *)"the host again";
    CHECK(cuGraphExecHostNodeSetParams(executable, host_node, &host));
    copy.WidthInBytes = 4 * sizeof(int);
    CHECK(cuGraphExecMemcpyNodeSetParams(executable, copy_node, &copy, context));
    memset(result, 0, n * sizeof(int));
    CHECK(cuGraphLaunch(executable, stream));
    CHECK(cuStreamSynchronize(stream));
    show("changed", result);
    kernel = launch(of_add, other_params);
    CHECK(cuGraphKernelNodeSetParams(add_node, &kernel));
    set.value = 2;
    CHECK(cuGraphMemsetNodeSetParams(set_node, &set));
    CUgraphExecUpdateResultInfo info;
    CHECK(cuGraphExecUpdate(executable, graph, &info));
    printf("update: %d\n", info.result == CU_GRAPH_EXEC_UPDATE_SUCCESS);
    CHECK(cuGraphNodeSetEnabled(executable, multiply_node, 0));
    unsigned enabled = 1;
    CHECK(cuGraphNodeGetEnabled(executable, multiply_node, &enabled));
    CHECK(cuGraphLaunch(executable, stream));
    CHECK(cuStreamSynchronize(stream));
    printf("enabled: %u\n", enabled);
    show("updated", result);

    // A clone without its last node, as a child of another graph, beside memory of that graph.
    CUgraph clone, whole;
    CHECK(cuGraphClone(&clone, graph));
    CUgraphNode in_clone;
    CHECK(cuGraphNodeFindInClone(&in_clone, host_node, clone));
    CHECK(cuGraphDestroyNode(in_clone));
    CHECK(cuGraphCreate(&whole, 0));
    CUgraphNode child_node, memory_node, free_node, fill_node, pass_node;
    CHECK(cuGraphAddChildGraphNode(&child_node, whole, nullptr, 0, clone));
    CUDA_MEM_ALLOC_NODE_PARAMS memory;
    memset(&memory, 0, sizeof memory);
    memory.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    memory.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    memory.poolProps.location.id = 0;
    memory.bytesize = n * sizeof(int);
    CHECK(cuGraphAddMemAllocNode(&memory_node, whole, &child_node, 1, &memory));
    // Nodes by the description of any kind.
    CUgraphNodeParams any;
    memset(&any, 0, sizeof any);
    any.type = CU_GRAPH_NODE_TYPE_MEMSET;
    any.memset.dst = memory.dptr;
    any.memset.value = 40;
    any.memset.elementSize = 4;
    any.memset.width = n;
    any.memset.height = 1;
    any.memset.ctx = context;
    CHECK(cuGraphAddNode(&fill_node, whole, &memory_node, nullptr, 1, &any));
    void *memory_params[] = {&memory.dptr, &two};
    memset(&any, 0, sizeof any);
    any.type = CU_GRAPH_NODE_TYPE_KERNEL;
    any.kernel.func = of_add;
    any.kernel.gridDimX = any.kernel.gridDimY = any.kernel.gridDimZ = 1;
    any.kernel.blockDimX = n;
    any.kernel.blockDimY = any.kernel.blockDimZ = 1;
    any.kernel.kernelParams = memory_params;
    CUgraphNode memory_add;
    CHECK(cuGraphAddNode(&memory_add, whole, &fill_node, nullptr, 1, &any));
    memset(&any, 0, sizeof any);
    any.type = CU_GRAPH_NODE_TYPE_MEMCPY;
    any.memcpy.copyCtx = context;
    any.memcpy.copyParams.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    any.memcpy.copyParams.srcDevice = memory.dptr;
    any.memcpy.copyParams.dstMemoryType = CU_MEMORYTYPE_HOST;
    any.memcpy.copyParams.dstHost = result + 4;
    any.memcpy.copyParams.WidthInBytes = 4 * sizeof(int);
    any.memcpy.copyParams.Height = any.memcpy.copyParams.Depth = 1;
    CHECK(cuGraphAddNode(&pass_node, whole, &memory_add, nullptr, 1, &any));
    CHECK(cuGraphAddMemFreeNode(&free_node, whole, &pass_node, 1, memory.dptr));
    CUgraphExec whole_executable;
    CHECK(cuGraphInstantiate(&whole_executable, whole, 0));
    CHECK(cuGraphLaunch(whole_executable, stream));
    CHECK(cuStreamSynchronize(stream));
    show("whole", result);

    // A capture that is asked what it is.
    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CHECK(cuMemsetD32Async(data, 9, n, stream));
    CHECK(cuLaunchKernel(of_add, 1, 1, 1, n, 1, 1, 0, stream, add_params, nullptr));
    CUstreamCaptureStatus status;
    CUgraph captured_so_far;
    const CUgraphNode *last;
    size_t count = 0;
    CHECK(cuStreamGetCaptureInfo(stream, &status, nullptr, &captured_so_far, &last, nullptr, &count));
    CUgraphNodeType last_type = CU_GRAPH_NODE_TYPE_EMPTY;
    CHECK(cuGraphNodeGetType(last[0], &last_type));
    CUDA_MEMCPY2D rectangle;
    memset(&rectangle, 0, sizeof rectangle);
    rectangle.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    rectangle.srcDevice = data;
    rectangle.srcPitch = n * sizeof(int);
    rectangle.dstMemoryType = CU_MEMORYTYPE_HOST;
    rectangle.dstHost = result;
    rectangle.dstPitch = n * sizeof(int);
    rectangle.WidthInBytes = n * sizeof(int);
    rectangle.Height = 1;
    CHECK(cuMemcpy2DAsync(&rectangle, stream));
    CUgraph captured;
    CHECK(cuStreamEndCapture(stream, &captured));
    printf("captured: %d %zu %d %d\n", status == CU_STREAM_CAPTURE_STATUS_ACTIVE, count, (int)last_type,
           captured == captured_so_far);
    CUgraphExec captured_executable;
    CHECK(cuGraphInstantiate(&captured_executable, captured, 0));
    CHECK(cuGraphLaunch(captured_executable, stream));
    CHECK(cuStreamSynchronize(stream));
    show("captured", result);

    // What cannot be.
    printf("another shape: %d\n", cuGraphExecUpdate(executable, captured, &info) == CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
    printf("twice: %d\n", cuGraphAddDependencies(graph, &host_node, &empty_node, nullptr, 1) != CUDA_SUCCESS);
    CHECK(cuGraphRemoveDependencies(graph, &host_node, &empty_node, nullptr, 1));
    CHECK(cuGraphExecDestroy(executable));
    CHECK(cuGraphExecDestroy(whole_executable));
    CHECK(cuGraphExecDestroy(captured_executable));
    CHECK(cuGraphDestroy(graph));
    CHECK(cuGraphDestroy(clone));
    CHECK(cuGraphDestroy(whole));
    CHECK(cuGraphDestroy(captured));
    CHECK(cuMemFree(data));
    CHECK(cuMemFreeHost(result));
    printf("done\n");
}
