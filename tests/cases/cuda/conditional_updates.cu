// Graphs with conditional nodes: what their bodies may have, and executables of them that are changed: nodes of the
// graph and of bodies, nodes switched off, whole updates by the graph itself, by a graph made alike, and by others.
#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        cudaError_t code = (call);                                                                                     \
        if (code != cudaSuccess) {                                                                                     \
            printf("line %d: %s\n", __LINE__, cudaGetErrorName(code));                                                 \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

using Condition = cudaGraphConditionalHandle;

__global__ void choose(Condition branch, int value) { cudaGraphSetConditional(branch, value); }
__global__ void add(int *sum, int amount) { *sum += amount; }
__global__ void subtract(int *sum, int amount) { *sum -= amount; }

struct Made {
    cudaGraph_t graph, body;
    cudaGraphNode_t test, node, inner, second;
    Condition condition;
};

static int *sum;

static cudaKernelNodeParams described(void *function, void **args)
{
    cudaKernelNodeParams params = {};
    params.func = function;
    params.gridDim = 1;
    params.blockDim = 1;
    params.kernelParams = args;
    return params;
}

static cudaGraphNode_t adding(cudaGraph_t graph, cudaGraphNode_t after, int amount)
{
    void *args[] = {&sum, &amount};
    cudaKernelNodeParams params = described(reinterpret_cast<void *>(add), args);
    cudaGraphNode_t node;
    CHECK(cudaGraphAddKernelNode(&node, graph, after ? &after : nullptr, after ? 1 : 0, &params));
    return node;
}

static cudaGraphNode_t conditional(cudaGraph_t graph, cudaGraphNode_t after, Condition condition,
                                   cudaGraphConditionalNodeType type, cudaGraph_t *body)
{
    cudaGraphNodeParams params = {};
    params.type = cudaGraphNodeTypeConditional;
    params.conditional.handle = condition;
    params.conditional.type = type;
    params.conditional.size = type == cudaGraphCondTypeSwitch ? 2 : 1;
    cudaGraphNode_t node;
    CHECK(cudaGraphAddNode(&node, graph, after ? &after : nullptr, nullptr, after ? 1 : 0, &params));
    *body = params.conditional.phGraph_out[0];
    return node;
}

// A kernel that sets a value if it `tests`, and a node with a body that adds `amount`, and 100 in further steps.
static Made make(int value, int amount, int steps = 1, cudaGraphConditionalNodeType type = cudaGraphCondTypeIf,
                 int first = 0, bool tests = true)
{
    Made made = {};
    CHECK(cudaGraphCreate(&made.graph, 0));
    CHECK(cudaGraphConditionalHandleCreate(&made.condition, made.graph, first, cudaGraphCondAssignDefault));
    if (tests) {
        void *args[] = {&made.condition, &value};
        cudaKernelNodeParams params = described(reinterpret_cast<void *>(choose), args);
        CHECK(cudaGraphAddKernelNode(&made.test, made.graph, nullptr, 0, &params));
    }
    made.node = conditional(made.graph, made.test, made.condition, type, &made.body);
    made.inner = adding(made.body, nullptr, amount);
    for (int i = 1; i < steps; ++i)
        made.second = adding(made.body, made.inner, 100);
    return made;
}

static void run(const char *what, cudaGraphExec_t executable)
{
    *sum = 0;
    cudaError_t launched = cudaGraphLaunch(executable, 0);
    cudaError_t done = cudaDeviceSynchronize();
    printf("%s: %d %d, sum %d\n", what, launched, done, *sum);
}

static void update(const char *what, cudaGraphExec_t executable, cudaGraph_t graph)
{
    cudaGraphExecUpdateResultInfo info = {};
    cudaError_t code = cudaGraphExecUpdate(executable, graph, &info);
    printf("%s: %d, result %d\n", what, code, info.result);
    cudaGetLastError();
}

static int told;
static void tell(void *data) { told += static_cast<int>(reinterpret_cast<size_t>(data)); }

static cudaMemAllocNodeParams memory()
{
    cudaMemAllocNodeParams params = {};
    params.poolProps.allocType = cudaMemAllocationTypePinned;
    params.poolProps.location.type = cudaMemLocationTypeDevice;
    params.bytesize = 256;
    return params;
}

// What may stand in a body.
static void in_bodies(int *pinned, int *value, cudaEvent_t event)
{
    int pageable[2];
    cudaHostNodeParams telling = {tell, nullptr};
    cudaMemsetParams filled = {};
    filled.dst = value;
    filled.elementSize = 4;
    filled.width = 2;
    filled.height = 1;
    const char *names[] = {"function", "from pageable", "from pinned", "to pageable", "to pinned", "set",
                           "empty", "record", "wait", "memory", "from managed", "host to host"};
    for (int kind = 0; kind < 12; ++kind) {
        Made made = make(1, 1);
        cudaGraph_t body = made.body;
        cudaGraphNode_t node;
        cudaError_t code = cudaSuccess;
        cudaMemAllocNodeParams allocated = memory();
        auto copy = [&](void *to, const void *from, cudaMemcpyKind direction) {
            return cudaGraphAddMemcpyNode1D(&node, body, nullptr, 0, to, from, 4, direction);
        };
        switch (kind) {
        case 0: code = cudaGraphAddHostNode(&node, body, nullptr, 0, &telling); break;
        case 1: code = copy(value, pageable, cudaMemcpyHostToDevice); break;
        case 2: code = copy(value, pinned, cudaMemcpyHostToDevice); break;
        case 3: code = copy(pageable, value, cudaMemcpyDeviceToHost); break;
        case 4: code = copy(pinned, value, cudaMemcpyDeviceToHost); break;
        case 5: code = cudaGraphAddMemsetNode(&node, body, nullptr, 0, &filled); break;
        case 6: code = cudaGraphAddEmptyNode(&node, body, nullptr, 0); break;
        case 7: code = cudaGraphAddEventRecordNode(&node, body, nullptr, 0, event); break;
        case 8: code = cudaGraphAddEventWaitNode(&node, body, nullptr, 0, event); break;
        case 9: code = cudaGraphAddMemAllocNode(&node, body, nullptr, 0, &allocated); break;
        case 10: code = copy(value, sum + 1, cudaMemcpyDefault); break;
        case 11: code = copy(sum + 1, pinned, cudaMemcpyHostToHost); break;
        }
        cudaGraphExec_t executable;
        cudaError_t made_code = cudaGraphInstantiate(&executable, made.graph, 0);
        printf("in a body, %s: %d %d\n", names[kind], code, made_code);
        if (made_code == cudaSuccess)
            run("  ", executable);
        cudaGetLastError();
    }
}

// What may stand below a node with a graph in a body, and beside a conditional node.
static void beside(int *pinned, int *value, cudaEvent_t event)
{
    int pageable[2];
    cudaArray_t array;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<int>();
    CHECK(cudaMallocArray(&array, &format, 2, 1));
    pinned[0] = 21, pinned[1] = 22;
    const char *names[] = {"function in a graph in a body", "copy in a graph in a body", "array in a body", "array",
                           "event", "memory", "event in a graph"};
    for (int kind = 0; kind < 7; ++kind) {
        Made made = make(1, 1);
        cudaGraphNode_t node, child;
        cudaGraph_t below;
        CHECK(cudaGraphCreate(&below, 0));
        cudaHostNodeParams telling = {tell, nullptr};
        cudaMemAllocNodeParams allocated = memory();
        cudaMemcpy3DParms box = {};
        box.srcPtr = make_cudaPitchedPtr(pinned, 8, 2, 1);
        box.dstArray = array;
        box.extent = make_cudaExtent(2, 1, 1);
        box.kind = cudaMemcpyHostToDevice;
        switch (kind) {
        case 0: CHECK(cudaGraphAddHostNode(&node, below, nullptr, 0, &telling)); break;
        case 1: CHECK(cudaGraphAddMemcpyNode1D(&node, below, nullptr, 0, value, pageable, 8, cudaMemcpyHostToDevice)); break;
        case 2: CHECK(cudaGraphAddMemcpyNode(&node, made.body, nullptr, 0, &box)); break;
        case 3: CHECK(cudaGraphAddMemcpyNode(&node, made.graph, nullptr, 0, &box)); break;
        case 4: CHECK(cudaGraphAddEventRecordNode(&node, made.graph, nullptr, 0, event)); break;
        case 5: CHECK(cudaGraphAddMemAllocNode(&node, made.graph, nullptr, 0, &allocated)); break;
        case 6: CHECK(cudaGraphAddEventRecordNode(&node, below, nullptr, 0, event)); break;
        }
        if (kind < 2 || kind == 6)
            CHECK(cudaGraphAddChildGraphNode(&child, kind == 6 ? made.graph : made.body, nullptr, 0, below));
        cudaGraphExec_t executable;
        cudaError_t code = cudaGraphInstantiate(&executable, made.graph, 0);
        printf("%s: %d\n", names[kind], code);
        if (code == cudaSuccess)
            run("  ", executable);
        if (kind == 3) {
            box.extent.width = 1;
            pinned[0] = 31;
            printf("  box: %d\n", cudaGraphExecMemcpyNodeSetParams(executable, node, &box));
            run("  ", executable);
            int found[2];
            CHECK(cudaMemcpy2DFromArray(found, 8, array, 0, 0, 8, 1, cudaMemcpyDeviceToHost));
            printf("  array %d %d\n", found[0], found[1]);
        }
        if (kind == 4) {
            cudaEvent_t other;
            CHECK(cudaEventCreate(&other));
            printf("  event: %d\n", cudaGraphExecEventRecordNodeSetEvent(executable, node, other));
            run("  ", executable);
            printf("  event: %d\n", cudaEventQuery(other));
        }
        cudaGetLastError();
    }
}

// Copies, sets, functions of the host and a graph in a body, all of them changed and switched off.
static void all_kinds()
{
    int *in, *out, *value;
    CHECK(cudaMallocHost(&in, 2 * sizeof *in));
    CHECK(cudaMallocHost(&out, 2 * sizeof *out));
    CHECK(cudaMalloc(&value, 2 * sizeof *value));
    CHECK(cudaMemset(value, 0, 2 * sizeof *value));
    in[0] = 40, in[1] = 50;
    cudaGraph_t graph, below, body, inside;
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphCreate(&below, 0));
    cudaGraphNode_t lowest = adding(below, nullptr, 3), copy, set, host, child, back, found;
    Condition condition;
    CHECK(cudaGraphConditionalHandleCreate(&condition, graph, 1, cudaGraphCondAssignDefault));
    cudaGraphNode_t test = conditional(graph, nullptr, condition, cudaGraphCondTypeIf, &body);
    CHECK(cudaGraphAddMemcpyNode1D(&copy, body, nullptr, 0, value, in, sizeof(int), cudaMemcpyHostToDevice));
    cudaMemsetParams filled = {};
    filled.dst = value + 1;
    filled.value = 1;
    filled.elementSize = 1;
    filled.width = 1;
    filled.height = 1;
    CHECK(cudaGraphAddMemsetNode(&set, body, &copy, 1, &filled));
    cudaHostNodeParams telling = {tell, reinterpret_cast<void *>(1)};
    CHECK(cudaGraphAddHostNode(&host, graph, &test, 1, &telling));
    CHECK(cudaGraphAddChildGraphNode(&child, body, &set, 1, below));
    CHECK(cudaGraphChildGraphNodeGetGraph(child, &inside));
    size_t count = 1;
    CHECK(cudaGraphGetNodes(inside, &found, &count));
    CHECK(cudaGraphAddMemcpyNode1D(&back, body, &child, 1, out, value, 2 * sizeof(int), cudaMemcpyDeviceToHost));
    cudaGraphExec_t executable;
    CHECK(cudaGraphInstantiate(&executable, graph, 0));
    auto show = [&](const char *what) {
        told = out[0] = out[1] = 0;
        run(what, executable);
        printf("  told %d, values %d %d\n", told, out[0], out[1]);
    };
    show("all kinds");
    printf("copy: %d\n",
           cudaGraphExecMemcpyNodeSetParams1D(executable, copy, value, in + 1, sizeof(int), cudaMemcpyHostToDevice));
    show("other copy");
    filled.value = 2;
    printf("set: %d\n", cudaGraphExecMemsetNodeSetParams(executable, set, &filled));
    telling.userData = reinterpret_cast<void *>(10);
    printf("host: %d\n", cudaGraphExecHostNodeSetParams(executable, host, &telling));
    int amount = 33;
    void *args[] = {&sum, &amount};
    cudaKernelNodeParams kernel = described(reinterpret_cast<void *>(add), args);
    printf("kernel in a graph in a body: %d\n", cudaGraphExecKernelNodeSetParams(executable, found, &kernel));
    printf("of a graph that was copied: %d\n", cudaGraphExecKernelNodeSetParams(executable, lowest, &kernel));
    show("others too");
    printf("off: %d %d %d\n", cudaGraphNodeSetEnabled(executable, set, 0), cudaGraphNodeSetEnabled(executable, copy, 0),
           cudaGraphNodeSetEnabled(executable, found, 0));
    printf("off, host and child: %d %d\n", cudaGraphNodeSetEnabled(executable, host, 0),
           cudaGraphNodeSetEnabled(executable, child, 0));
    CHECK(cudaMemset(value, 0, 2 * sizeof *value));
    show("off");
    unsigned enabled[2] = {7, 7};
    printf("enabled: %d %d", cudaGraphNodeGetEnabled(executable, set, &enabled[0]),
           cudaGraphNodeGetEnabled(executable, back, &enabled[1]));
    printf(", %u %u\n", enabled[0], enabled[1]);
    update("updated while off", executable, graph);
    show("still off");
    printf("on: %d\n", cudaGraphNodeSetEnabled(executable, set, 1));
    show("set on");
    CHECK(cudaGraphExecDestroy(executable));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaGraphDestroy(below));
    cudaGetLastError();
}

// Graphs without conditional nodes that differ in something.
static void differences()
{
    auto chain = [](int kind) {
        cudaGraph_t graph, below;
        CHECK(cudaGraphCreate(&graph, 0));
        CHECK(cudaGraphCreate(&below, 0));
        cudaGraphNode_t first = adding(graph, nullptr, 1), second, third;
        if (kind == 1) {
            CHECK(cudaGraphAddEmptyNode(&second, graph, &first, 1));
        } else if (kind == 2) {
            int amount = 1;
            void *args[] = {&sum, &amount};
            cudaKernelNodeParams params = described(reinterpret_cast<void *>(subtract), args);
            CHECK(cudaGraphAddKernelNode(&second, graph, &first, 1, &params));
        } else {
            second = adding(graph, kind == 3 ? nullptr : first, 2);
        }
        cudaGraphNode_t inner = adding(below, nullptr, kind == 6 ? 8 : 4);
        if (kind == 4)
            adding(below, inner, 5);
        CHECK(cudaGraphAddChildGraphNode(&third, graph, &second, 1, below));
        if (kind == 5)
            CHECK(cudaGraphDestroyNode(third));
        return graph;
    };
    cudaGraphExec_t executable;
    CHECK(cudaGraphInstantiate(&executable, chain(0), 0));
    run("chain", executable);
    const char *names[] = {"the same",     "an empty node", "another function", "another edge",
                           "longer below", "shorter",       "another below"};
    for (int kind = 0; kind < 7; ++kind) {
        update(names[kind], executable, chain(kind));
        run("then", executable);
    }
}

// Changes of one executable, first node by node.
static cudaGraphExec_t node_by_node(const Made &made)
{
    cudaGraphExec_t executable;
    CHECK(cudaGraphInstantiate(&executable, made.graph, 0));
    run("as made", executable);
    int value = 0, amount = 7;
    void *test_args[] = {const_cast<Condition *>(&made.condition), &value}, *add_args[] = {&sum, &amount};
    cudaKernelNodeParams test = described(reinterpret_cast<void *>(choose), test_args);
    cudaKernelNodeParams inner = described(reinterpret_cast<void *>(add), add_args);
    printf("test: %d\n", cudaGraphExecKernelNodeSetParams(executable, made.test, &test));
    run("not chosen", executable);
    value = 1;
    printf("test: %d\n", cudaGraphExecKernelNodeSetParams(executable, made.test, &test));
    printf("inner: %d\n", cudaGraphExecKernelNodeSetParams(executable, made.inner, &inner));
    run("seven", executable);
    update("by itself", executable, made.graph);
    run("as made again", executable);
    amount = 9;
    CHECK(cudaGraphKernelNodeSetParams(made.inner, &inner));
    run("graph changed only", executable);
    update("by itself", executable, made.graph);
    run("nine", executable);
    printf("off: %d\n", cudaGraphNodeSetEnabled(executable, made.inner, 0));
    run("inner off", executable);
    printf("on: %d\n", cudaGraphNodeSetEnabled(executable, made.inner, 1));
    printf("off: %d\n", cudaGraphNodeSetEnabled(executable, made.test, 0));
    run("test off", executable);
    printf("on: %d\n", cudaGraphNodeSetEnabled(executable, made.test, 1));
    run("all on", executable);
    return executable;
}

// Then by other graphs: alike, with conditions of their own, and not alike.
static void by_others()
{
    Made made = make(1, 5);
    cudaGraphExec_t executable = node_by_node(made), other;
    Made alike = make(1, 11);
    update("alike", executable, alike.graph);
    run("eleven", executable);
    int amount = 13;
    void *args[] = {&sum, &amount};
    cudaKernelNodeParams inner = described(reinterpret_cast<void *>(add), args);
    printf("inner: %d\n", cudaGraphExecKernelNodeSetParams(executable, alike.inner, &inner));
    printf("inner, first graph: %d\n", cudaGraphExecKernelNodeSetParams(executable, made.inner, &inner));
    run("thirteen", executable);
    update("back", executable, made.graph);
    run("nine", executable);

    // Other first values, with no kernel that sets one.
    Made quiet = make(0, 17, 1, cudaGraphCondTypeIf, 0, false), loud = make(0, 19, 1, cudaGraphCondTypeIf, 1, false);
    CHECK(cudaGraphInstantiate(&other, quiet.graph, 0));
    run("first value 0", other);
    update("first value", other, loud.graph);
    run("first value 1", other);
    CHECK(cudaGraphExecDestroy(other));

    Made longer = make(1, 23, 2), loop = make(0, 29, 1, cudaGraphCondTypeWhile),
         choice = make(0, 31, 1, cudaGraphCondTypeSwitch);
    update("longer body", executable, longer.graph);
    update("loop", executable, loop.graph);
    update("switch", executable, choice.graph);
    update("no test", executable, loud.graph);
    run("still nine", executable);
    made.second = adding(made.body, made.inner, 1000);
    update("grown", executable, made.graph);
    run("still nine", executable);
    CHECK(cudaGraphExecDestroy(executable));
    CHECK(cudaGraphInstantiate(&executable, made.graph, 0));
    run("grown", executable);
    CHECK(cudaGraphExecDestroy(executable));

    // An executable whose graphs are gone.
    CHECK(cudaGraphInstantiate(&executable, alike.graph, 0));
    Made third = make(1, 37);
    update("third", executable, third.graph);
    CHECK(cudaGraphDestroy(alike.graph));
    CHECK(cudaGraphDestroy(third.graph));
    run("graphs gone", executable);
    CHECK(cudaGraphExecDestroy(executable));
}

int main()
{
    int *pinned, *value;
    CHECK(cudaMallocManaged(&sum, 2 * sizeof *sum));
    CHECK(cudaMallocHost(&pinned, 8));
    CHECK(cudaMalloc(&value, 8));
    cudaEvent_t event;
    CHECK(cudaEventCreate(&event));
    in_bodies(pinned, value, event);
    beside(pinned, value, event);
    all_kinds();
    differences();
    by_others();
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
