// Graphs with conditional nodes: if with and without else, loops, switches, one inside another, bodies made of
// captured work and of child graphs, between copies and functions of the host.
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        cudaError_t code = (call);                                                                                     \
        if (code != cudaSuccess) {                                                                                     \
            printf("line %d: %s\n", __LINE__, cudaGetErrorName(code));                                                 \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

using Condition = cudaGraphConditionalHandle;

// Newton's square root in steps; the loop ends when nothing changes any more.
__global__ void improve(double *root, double of, int *steps, Condition again)
{
    double before = *root, after = 0.5 * (before + of / before);
    *root = after;
    ++*steps;
    cudaGraphSetConditional(again, after < before);
}

// Each thread looks at its own value; one of them decides.
__global__ void decide(const int *values, int count, int limit, Condition is_over)
{
    __shared__ int over;
    if (threadIdx.x == 0)
        over = 0;
    __syncthreads();
    if (threadIdx.x < count && values[threadIdx.x] > limit)
        atomicAdd(&over, 1);
    __syncthreads();
    if (threadIdx.x == 0)
        cudaGraphSetConditional(is_over, over);
}

__global__ void scale(int *values, int factor) { values[threadIdx.x] *= factor; }
__global__ void add(int *values, int amount) { values[threadIdx.x] += amount; }
__global__ void choose(Condition branch, const int *which) { cudaGraphSetConditional(branch, *which); }
__global__ void count_down(int *left, Condition more) { cudaGraphSetConditional(more, --*left > 0); }
__global__ void set_again(int *left, int value, Condition more)
{
    *left = value;
    cudaGraphSetConditional(more, value > 0);
}

template <class... Formal, class... Actual>
static cudaGraphNode_t kernel(cudaGraph_t graph, cudaGraphNode_t after, void (*function)(Formal...), int threads,
                              Actual... actual)
{
    auto launch = [&](Formal... values) {
        void *args[] = {&values...};
        cudaGraphNodeParams params = {};
        params.type = cudaGraphNodeTypeKernel;
        params.kernel.func = reinterpret_cast<void *>(function);
        params.kernel.gridDim = 1;
        params.kernel.blockDim = threads;
        params.kernel.kernelParams = args;
        cudaGraphNode_t node;
        CHECK(cudaGraphAddNode(&node, graph, after ? &after : nullptr, nullptr, after ? 1 : 0, &params));
        return node;
    };
    return launch(actual...);
}

static cudaGraphNode_t conditional(cudaGraph_t graph, cudaGraphNode_t after, Condition value,
                                   cudaGraphConditionalNodeType type, unsigned size, cudaGraph_t *bodies)
{
    cudaGraphNodeParams params = {};
    params.type = cudaGraphNodeTypeConditional;
    params.conditional.handle = value;
    params.conditional.type = type;
    params.conditional.size = size;
    cudaGraphNode_t node;
    CHECK(cudaGraphAddNode(&node, graph, after ? &after : nullptr, nullptr, after ? 1 : 0, &params));
    for (unsigned i = 0; i < size; ++i)
        bodies[i] = params.conditional.phGraph_out[i];
    return node;
}

static void run(cudaGraph_t graph, int times = 1)
{
    cudaGraphExec_t executable;
    CHECK(cudaGraphInstantiate(&executable, graph, 0));
    for (int i = 0; i < times; ++i)
        CHECK(cudaGraphLaunch(executable, 0));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaGraphExecDestroy(executable));
    CHECK(cudaGraphDestroy(graph));
}

static void square_root()
{
    double *root;
    int *steps;
    CHECK(cudaMallocManaged(&root, sizeof *root));
    CHECK(cudaMallocManaged(&steps, sizeof *steps));
    *root = 1000;
    *steps = 0;
    cudaGraph_t graph, body;
    CHECK(cudaGraphCreate(&graph, 0));
    Condition again;
    CHECK(cudaGraphConditionalHandleCreate(&again, graph, 1, cudaGraphCondAssignDefault));
    conditional(graph, nullptr, again, cudaGraphCondTypeWhile, 1, &body);
    kernel(body, nullptr, improve, 1, root, 1000.0, steps, again);
    run(graph, 2);
    printf("root %.6f in %d steps\n", *root, *steps);
}

static int reported;
static void report(void *data) { reported += *static_cast<int *>(data); }

static void if_else(int limit)
{
    int n = 8, one = 1, *values;
    std::vector<int> in(n), out(n);
    for (int i = 0; i < n; ++i)
        in[i] = i;
    CHECK(cudaMalloc(&values, n * sizeof(int)));
    cudaGraph_t graph, bodies[2];
    CHECK(cudaGraphCreate(&graph, 0));
    Condition is_over;
    CHECK(cudaGraphConditionalHandleCreate(&is_over, graph, 0, 0));
    cudaGraphNode_t up, down, host;
    CHECK(cudaGraphAddMemcpyNode1D(&up, graph, nullptr, 0, values, in.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    auto test = kernel(graph, up, decide, 32, values, n, limit, is_over);
    auto node = conditional(graph, test, is_over, cudaGraphCondTypeIf, 2, bodies);
    kernel(bodies[0], nullptr, scale, n, values, 10);
    auto first = kernel(bodies[1], nullptr, add, n, values, 100);
    kernel(bodies[1], first, add, n, values, 1000);
    CHECK(cudaGraphAddMemcpyNode1D(&down, graph, &node, 1, out.data(), values, n * sizeof(int), cudaMemcpyDeviceToHost));
    cudaHostNodeParams call = {report, &one};
    CHECK(cudaGraphAddHostNode(&host, graph, &down, 1, &call));
    cudaGraphNodeType type;
    CHECK(cudaGraphNodeGetType(node, &type));
    size_t count;
    CHECK(cudaGraphGetNodes(bodies[1], nullptr, &count));
    printf("conditional %d, %zu nodes in else\n", type == cudaGraphNodeTypeConditional, count);
    run(graph, 2);
    printf("limit %d: %d %d, reported %d\n", limit, out[0], out[7], reported);
    CHECK(cudaFree(values));
}

// Each value in turn; 3 and more have no graph. The body of 0 is captured, that of 1 has a child, that of 2 copies.
static void switches()
{
    int n = 4, *values, *which;
    CHECK(cudaMallocManaged(&values, 2 * n * sizeof(int)));
    CHECK(cudaMallocManaged(&which, sizeof(int)));
    for (int i = 0; i < 2 * n; ++i)
        values[i] = i;
    cudaGraph_t graph, child, bodies[3];
    CHECK(cudaGraphCreate(&graph, 0));
    Condition branch;
    CHECK(cudaGraphConditionalHandleCreate(&branch, graph, 7, cudaGraphCondAssignDefault));
    auto test = kernel(graph, nullptr, choose, 1, branch, which);
    conditional(graph, test, branch, cudaGraphCondTypeSwitch, 3, bodies);
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaStreamBeginCaptureToGraph(stream, bodies[0], nullptr, nullptr, 0, cudaStreamCaptureModeGlobal));
    add<<<1, n, 0, stream>>>(values, 5);
    scale<<<1, n, 0, stream>>>(values, 2);
    CHECK(cudaStreamEndCapture(stream, nullptr));
    CHECK(cudaGraphCreate(&child, 0));
    auto first = kernel(child, nullptr, scale, n, values, 3);
    kernel(child, first, add, n, values, 1);
    cudaGraphNode_t node;
    CHECK(cudaGraphAddChildGraphNode(&node, bodies[1], nullptr, 0, child));
    CHECK(cudaGraphAddMemcpyNode1D(&node, bodies[2], nullptr, 0, values, values + n, n * sizeof(int),
                                   cudaMemcpyDeviceToDevice));
    cudaGraphExec_t executable;
    CHECK(cudaGraphInstantiate(&executable, graph, 0));
    for (int value : {0, 1, 9, 2, 1}) {
        *which = value;
        CHECK(cudaGraphLaunch(executable, stream));
        CHECK(cudaStreamSynchronize(stream));
        printf("switch %d: %d %d %d %d\n", value, values[0], values[1], values[2], values[3]);
    }
}

// Three rounds of four: the inner loop's condition is set where the outer body begins.
static void nested()
{
    int *left, *total;
    CHECK(cudaMallocManaged(&left, 2 * sizeof(int)));
    CHECK(cudaMallocManaged(&total, sizeof(int)));
    left[0] = 3;
    *total = 0;
    cudaGraph_t graph, outer, inner;
    CHECK(cudaGraphCreate(&graph, 0));
    Condition rounds, more;
    CHECK(cudaGraphConditionalHandleCreate(&rounds, graph, 1, cudaGraphCondAssignDefault));
    CHECK(cudaGraphConditionalHandleCreate(&more, graph, 0, cudaGraphCondAssignDefault));
    conditional(graph, nullptr, rounds, cudaGraphCondTypeWhile, 1, &outer);
    auto begin = kernel(outer, nullptr, set_again, 1, left + 1, 4, more);
    auto loop = conditional(outer, begin, more, cudaGraphCondTypeWhile, 1, &inner);
    kernel(inner, kernel(inner, nullptr, add, 1, total, 1), count_down, 1, left + 1, more);
    kernel(outer, loop, count_down, 1, left, rounds);
    run(graph);
    printf("nested %d, left %d %d\n", *total, left[0], left[1]);
}

int main()
{
    square_root();
    if_else(6);
    if_else(7);
    switches();
    nested();
    cudaGraph_t graph;
    CHECK(cudaGraphCreate(&graph, 0));
    Condition value;
    printf("%s\n", cudaGetErrorName(cudaGraphConditionalHandleCreate(&value, graph, 0, 8)));
    printf("%s\n", cudaGetErrorName(cudaGetLastError()));
}
