// Graphs made node by node and by capture, launched, changed and updated.
#include "check.h"
#include <vector>

__global__ void scale(int *data, int factor) { data[threadIdx.x] *= factor; }
__global__ void shift(int *data, int value) { data[threadIdx.x] += value; }

static void CUDART_CB note(void *data) { ++*static_cast<int *>(data); }

static int sum(int *device)
{
    int host[8], all = 0;
    CHECK(cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost));
    for (int value : host)
        all += value;
    return all;
}

static void by_hand(int *data, cudaStream_t stream)
{
    int host[8] = {1, 2, 3, 4, 5, 6, 7, 8}, calls = 0, factor = 2, value = 10;
    cudaGraph_t graph;
    cudaGraphNode_t copy, first, second, meet, called, set;
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphAddMemcpyNode1D(&copy, graph, nullptr, 0, data, host, sizeof host, cudaMemcpyHostToDevice));
    void *scale_args[] = {&data, &factor}, *shift_args[] = {&data, &value};
    cudaKernelNodeParams params = {};
    params.func = (void *)scale;
    params.gridDim = dim3(1);
    params.blockDim = dim3(8);
    params.kernelParams = scale_args;
    CHECK(cudaGraphAddKernelNode(&first, graph, &copy, 1, &params));
    params.func = (void *)shift;
    params.kernelParams = shift_args;
    CHECK(cudaGraphAddKernelNode(&second, graph, nullptr, 0, &params));
    CHECK(cudaGraphAddDependencies(graph, &first, &second, nullptr, 1));
    cudaHostNodeParams host_params = {note, &calls};
    CHECK(cudaGraphAddHostNode(&called, graph, &second, 1, &host_params));
    CHECK(cudaGraphAddEmptyNode(&meet, graph, &called, 1));
    cudaMemsetParams fill = {};
    fill.dst = data;
    fill.value = 7;
    fill.elementSize = 4;
    fill.width = 1;
    fill.height = 1;
    CHECK(cudaGraphAddMemsetNode(&set, graph, &meet, 1, &fill));
    size_t nodes = 0, roots = 0, edges = 0;
    CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
    CHECK(cudaGraphGetRootNodes(graph, nullptr, &roots));
    CHECK(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
    cudaGraphNodeType type;
    CHECK(cudaGraphNodeGetType(set, &type));
    printf("%zu nodes, %zu roots, %zu edges, type %d\n", nodes, roots, edges, type);
    cudaGraphExec_t run;
    CHECK(cudaGraphInstantiate(&run, graph, 0));
    CHECK(cudaGraphLaunch(run, stream));
    CHECK(cudaStreamSynchronize(stream));
    printf("sum %d, calls %d\n", sum(data), calls);
    value = 100;
    CHECK(cudaGraphExecKernelNodeSetParams(run, second, &params));
    CHECK(cudaGraphNodeSetEnabled(run, set, 0));
    CHECK(cudaGraphLaunch(run, stream));
    CHECK(cudaGraphLaunch(run, stream));
    CHECK(cudaStreamSynchronize(stream));
    printf("sum %d, calls %d\n", sum(data), calls);
    printf("%s\n", cudaGetErrorName(cudaGraphAddDependencies(graph, &second, &second, nullptr, 1)));
    CHECK(cudaGraphExecDestroy(run));
    CHECK(cudaGraphDestroy(graph));
}

static cudaGraph_t captured(int *data, cudaStream_t stream, cudaStream_t other, int value)
{
    cudaEvent_t fork, join;
    CHECK(cudaEventCreate(&fork));
    CHECK(cudaEventCreate(&join));
    cudaStreamCaptureStatus status;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CHECK(cudaMemsetAsync(data, 0, 32, stream));
    shift<<<1, 4, 0, stream>>>(data, value);
    CHECK(cudaEventRecord(fork, stream));
    CHECK(cudaStreamWaitEvent(other, fork, 0));
    shift<<<1, 4, 0, other>>>(data + 4, 2 * value);
    CHECK(cudaStreamIsCapturing(other, &status));
    printf("other stream captured: %d\n", status == cudaStreamCaptureStatusActive);
    CHECK(cudaEventRecord(join, other));
    scale<<<1, 4, 0, stream>>>(data, 3);
    CHECK(cudaStreamWaitEvent(stream, join, 0));
    scale<<<1, 8, 0, stream>>>(data, 2);
    cudaGraph_t graph;
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaStreamIsCapturing(stream, &status));
    size_t nodes = 0, edges = 0;
    CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
    CHECK(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
    printf("captured %d: %zu nodes, %zu edges\n", status != cudaStreamCaptureStatusNone, nodes, edges);
    return graph;
}

// The graph of a node is the node's: it is changed in its place, also where it is executable.
static void inside(cudaGraphNode_t child, cudaGraph_t parent, int *data, cudaStream_t stream)
{
    cudaGraph_t own, again;
    CHECK(cudaGraphChildGraphNodeGetGraph(child, &own));
    CHECK(cudaGraphChildGraphNodeGetGraph(child, &again));
    size_t count = 0;
    CHECK(cudaGraphGetNodes(own, nullptr, &count));
    std::vector<cudaGraphNode_t> leaves(count);
    CHECK(cudaGraphGetNodes(own, leaves.data(), &count));
    int value = 1000;
    void *args[] = {&data, &value};
    cudaKernelNodeParams params = {};
    params.func = (void *)shift;
    params.gridDim = 1;
    params.blockDim = 8;
    params.kernelParams = args;
    cudaGraphNode_t last;
    CHECK(cudaGraphAddKernelNode(&last, own, leaves.data(), count, &params));
    printf("%d, %zu nodes and one\n", own == again, count);
    cudaGraphExec_t run;
    CHECK(cudaMemset(data, 0, 32));
    CHECK(cudaGraphInstantiate(&run, parent, 0));
    CHECK(cudaGraphLaunch(run, stream));
    CHECK(cudaStreamSynchronize(stream));
    printf("sum %d\n", sum(data));
    value = 2000;
    CHECK(cudaGraphExecKernelNodeSetParams(run, last, &params));
    CHECK(cudaGraphLaunch(run, stream));
    CHECK(cudaStreamSynchronize(stream));
    printf("sum %d\n", sum(data));
    CHECK(cudaGraphExecDestroy(run));
}

int main()
{
    int *data;
    cudaStream_t stream, other;
    CHECK(cudaMalloc(&data, 32));
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaStreamCreate(&other));
    by_hand(data, stream);
    CHECK(cudaMemset(data, 1, 32));
    int before = sum(data);
    cudaGraph_t graph = captured(data, stream, other, 5), changed = captured(data, stream, other, 6);
    printf("nothing has run: %d\n", before == sum(data));
    cudaGraphExec_t run;
    CHECK(cudaGraphInstantiate(&run, graph, 0));
    CHECK(cudaGraphLaunch(run, stream));
    CHECK(cudaStreamSynchronize(stream));
    printf("sum %d\n", sum(data));
    cudaGraphExecUpdateResultInfo info;
    CHECK(cudaGraphExecUpdate(run, changed, &info));
    CHECK(cudaGraphLaunch(run, stream));
    CHECK(cudaStreamSynchronize(stream));
    printf("update %d, sum %d\n", info.result, sum(data));
    cudaGraph_t parent, empty;
    cudaGraphNode_t child, node;
    CHECK(cudaGraphCreate(&parent, 0));
    CHECK(cudaGraphCreate(&empty, 0));
    CHECK(cudaGraphAddChildGraphNode(&child, parent, nullptr, 0, graph));
    CHECK(cudaGraphAddEmptyNode(&node, empty, nullptr, 0));
    printf("%s\n", cudaGetErrorName(cudaGraphExecUpdate(run, empty, &info)));
    CHECK(cudaGraphExecDestroy(run));
    CHECK(cudaGraphInstantiate(&run, parent, 0));
    CHECK(cudaGraphLaunch(run, stream));
    CHECK(cudaStreamSynchronize(stream));
    printf("sum %d\n", sum(data));
    inside(child, parent, data, stream);
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    printf("%s\n", cudaGetErrorName(cudaStreamSynchronize(stream)));
    printf("%s\n", cudaGetErrorName(cudaStreamEndCapture(stream, &graph)));
    printf("no graph: %d\n", graph == nullptr);
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
