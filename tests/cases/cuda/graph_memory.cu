// Nodes that allocate and free memory, objects that graphs keep alive, and what nodes say of themselves.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        cudaError_t code = (call);                                                                                     \
        if (code != cudaSuccess) {                                                                                     \
            printf("line %d: %s\n", __LINE__, cudaGetErrorName(code));                                                 \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

__constant__ int offset = 5;
__device__ int result;

__global__ void fill(int *values, int first) { values[threadIdx.x] = first + threadIdx.x; }
__global__ void sum(const int *values, int *total, int count)
{
    int all = offset;
    for (int i = 0; i < count; ++i)
        all += values[i];
    *total = all;
    result = -all;
}
__global__ void twice(int *total) { *total *= 2; }

static cudaKernelNodeParams launch(void *function, int threads, void **args)
{
    cudaKernelNodeParams params = {};
    params.func = function;
    params.gridDim = 1;
    params.blockDim = threads;
    params.kernelParams = args;
    return params;
}

static void memory()
{
    int n = 32, first = 10, *total;
    CHECK(cudaMallocManaged(&total, sizeof(int)));
    cudaGraph_t graph;
    CHECK(cudaGraphCreate(&graph, 0));
    cudaMemAllocNodeParams room = {};
    room.poolProps.allocType = cudaMemAllocationTypePinned;
    room.poolProps.location.type = cudaMemLocationTypeDevice;
    room.bytesize = n * sizeof(int);
    cudaGraphNode_t take, fills, sums, give;
    CHECK(cudaGraphAddMemAllocNode(&take, graph, nullptr, 0, &room));
    void *fill_args[] = {&room.dptr, &first}, *sum_args[] = {&room.dptr, &total, &n};
    auto params = launch((void *)fill, n, fill_args);
    CHECK(cudaGraphAddKernelNode(&fills, graph, &take, 1, &params));
    params = launch((void *)sum, 1, sum_args);
    CHECK(cudaGraphAddKernelNode(&sums, graph, &fills, 1, &params));
    CHECK(cudaGraphAddMemFreeNode(&give, graph, &sums, 1, room.dptr));
    cudaMemAllocNodeParams said;
    CHECK(cudaGraphMemAllocNodeGetParams(take, &said));
    void *freed;
    CHECK(cudaGraphMemFreeNodeGetParams(give, &freed));
    printf("%d bytes, the same %d\n", (int)said.bytesize, said.dptr == room.dptr && freed == room.dptr);
    cudaGraphExec_t executable;
    CHECK(cudaGraphInstantiate(&executable, graph, 0));
    for (int i = 0; i < 3; ++i) {
        CHECK(cudaGraphLaunch(executable, 0));
        CHECK(cudaDeviceSynchronize());
        printf("total %d\n", *total);
        first += 1;
        params = launch((void *)fill, n, fill_args);
        CHECK(cudaGraphExecKernelNodeSetParams(executable, fills, &params));
    }
    unsigned long long high = 0;
    CHECK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &high));
    printf("high mark %d\n", high >= n * sizeof(int));
    CHECK(cudaGraphExecDestroy(executable));
    CHECK(cudaDeviceGraphMemTrim(0));
    CHECK(cudaGraphDestroy(graph));
}

struct Resource {
    const char *name;
};
static void destroy(void *data) { printf("destroyed %s\n", static_cast<Resource *>(data)->name); }

static void objects()
{
    Resource moved = {"moved"}, shared = {"shared"};
    cudaUserObject_t first, second;
    CHECK(cudaUserObjectCreate(&first, &moved, destroy, 1, cudaUserObjectNoDestructorSync));
    CHECK(cudaUserObjectCreate(&second, &shared, destroy, 1, cudaUserObjectNoDestructorSync));
    cudaGraph_t graph;
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphRetainUserObject(graph, first, 1, cudaGraphUserObjectMove));
    CHECK(cudaGraphRetainUserObject(graph, second, 2, 0));
    CHECK(cudaGraphReleaseUserObject(graph, second, 1));
    CHECK(cudaGraphDestroy(graph));
    printf("graph gone\n");
    CHECK(cudaUserObjectRetain(second, 2));
    CHECK(cudaUserObjectRelease(second, 2));
    printf("last reference\n");
    CHECK(cudaUserObjectRelease(second, 1));
    printf("%s\n", cudaGetErrorName(cudaUserObjectCreate(&first, &moved, destroy, 0, 1)));
    printf("%s\n", cudaGetErrorName(cudaGetLastError()));
}

static void report(void *data) { printf("host %s\n", static_cast<const char *>(data)); }

static void reading()
{
    int n = 8, first = 1, *values, *total, out = 0, minus = 0, five = 100;
    CHECK(cudaMalloc(&values, n * sizeof(int)));
    CHECK(cudaMalloc(&total, sizeof(int)));
    cudaGraph_t graph, child;
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphCreate(&child, 0));
    cudaGraphNode_t sets, fills, sums, doubles, copies, results, calls;
    CHECK(cudaGraphAddMemcpyNodeToSymbol(&sets, graph, nullptr, 0, offset, &five, sizeof(int), 0,
                                         cudaMemcpyHostToDevice));
    void *fill_args[] = {&values, &first}, *sum_args[] = {&values, &total, &n}, *twice_args[] = {&total};
    auto params = launch((void *)fill, n, fill_args);
    CHECK(cudaGraphAddKernelNode(&fills, graph, &sets, 1, &params));
    first = 1000;
    cudaKernelNodeParams found;
    CHECK(cudaGraphKernelNodeGetParams(fills, &found));
    printf("kernel %d, %u threads, first %d\n", found.func == (void *)fill, found.blockDim.x,
           *static_cast<int *>(found.kernelParams[1]));
    // What was read makes a node like it.
    params = launch((void *)sum, 1, sum_args);
    CHECK(cudaGraphAddKernelNode(&sums, graph, &fills, 1, &params));
    params = launch((void *)twice, 1, twice_args);
    cudaGraphNode_t inner;
    CHECK(cudaGraphAddKernelNode(&inner, child, nullptr, 0, &params));
    CHECK(cudaGraphAddChildGraphNode(&doubles, graph, &sums, 1, child));
    CHECK(cudaGraphAddMemcpyNode1D(&copies, graph, &doubles, 1, &out, total, sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(cudaGraphAddMemcpyNodeFromSymbol(&results, graph, &copies, 1, &minus, result, sizeof(int), 0,
                                           cudaMemcpyDeviceToHost));
    char name[] = "function";
    cudaHostNodeParams host = {report, name}, said;
    CHECK(cudaGraphAddHostNode(&calls, graph, &results, 1, &host));
    CHECK(cudaGraphHostNodeGetParams(calls, &said));
    printf("host node %d\n", said.fn == report && said.userData == name);

    cudaLaunchAttributeValue value = {}, back = {};
    value.priority = -1;
    CHECK(cudaGraphKernelNodeSetAttribute(sums, cudaLaunchAttributePriority, &value));
    CHECK(cudaGraphKernelNodeCopyAttributes(fills, sums));
    CHECK(cudaGraphKernelNodeGetAttribute(fills, cudaLaunchAttributePriority, &back));
    printf("priority %d\n", back.priority);

    cudaGraphExec_t executable;
    CHECK(cudaGraphInstantiate(&executable, graph, 0));
    CHECK(cudaGraphLaunch(executable, 0));
    CHECK(cudaDeviceSynchronize());
    printf("out %d, minus %d\n", out, minus);
    five = 6;
    int seven = 7;
    CHECK(cudaGraphExecMemcpyNodeSetParamsToSymbol(executable, sets, offset, &seven, sizeof(int), 0,
                                                   cudaMemcpyHostToDevice));
    CHECK(cudaGraphLaunch(executable, 0));
    CHECK(cudaDeviceSynchronize());
    printf("out %d, minus %d\n", out, minus);

    cudaEvent_t event, other;
    cudaGraphNode_t record;
    CHECK(cudaEventCreate(&event));
    CHECK(cudaGraphAddEventRecordNode(&record, graph, &calls, 1, event));
    CHECK(cudaGraphEventRecordNodeGetEvent(record, &other));
    printf("event %d\n", event == other);
    printf("%s\n", cudaGetErrorName(cudaGraphKernelNodeGetParams(record, &found)));
    CHECK(cudaGraphDebugDotPrint(graph, "graph.dot", 0));
    FILE *file = fopen("graph.dot", "r");
    char line[256];
    int arrows = 0, is_digraph = 0;
    while (file && fgets(line, sizeof line, file)) {
        arrows += strstr(line, "->") != nullptr;
        is_digraph |= strncmp(line, "digraph", 7) == 0;
    }
    if (file)
        fclose(file);
    remove("graph.dot");
    printf("picture %d, edges %d\n", is_digraph, arrows >= 7);
}

int main()
{
    memory();
    objects();
    reading();
}
