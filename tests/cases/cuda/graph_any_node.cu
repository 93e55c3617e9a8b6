// Nodes of graphs by one description for all kinds, beside a kernel for a conditional node that is not launched.
#include <cstdio>
#include <vector>

__global__ void add(int *values, int count, int amount)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        values[i] += amount;
}

__global__ void spawn(int *values, int count) { add<<<1, count>>>(values, count, 1000); }

// Not launched here.
__global__ void again(cudaGraphConditionalHandle handle, int *left) { cudaGraphSetConditional(handle, --*left > 0); }

static int calls;
static void count_calls(void *amount) { calls += *static_cast<int *>(amount); }

int main()
{
    int count = 256, amount = 5, two = 2, *values;
    std::vector<int> out(count);
    cudaMalloc(&values, count * sizeof(int));
    cudaGraph_t graph, outer;
    cudaGraphNode_t set, kernel, children, copy, host, empty, child;
    cudaGraphCreate(&graph, 0);

    cudaGraphNodeParams node = {};
    node.type = cudaGraphNodeTypeMemset;
    node.memset.dst = values;
    node.memset.elementSize = 4;
    node.memset.width = count;
    node.memset.height = 1;
    node.memset.value = 3;
    printf("%d\n", cudaGraphAddNode(&set, graph, nullptr, nullptr, 0, &node));

    void *args[] = {&values, &count, &amount};
    node = {};
    node.type = cudaGraphNodeTypeKernel;
    node.kernel.func = reinterpret_cast<void *>(add);
    node.kernel.gridDim = 1;
    node.kernel.blockDim = 256;
    node.kernel.kernelParams = args;
    cudaGraphNodeParams kernel_node = node;
    printf("%d\n", cudaGraphAddNode(&kernel, graph, &set, nullptr, 1, &node));
    node.kernel.func = reinterpret_cast<void *>(spawn);
    node.kernel.blockDim = 1;
    printf("%d\n", cudaGraphAddNode(&children, graph, &kernel, nullptr, 1, &node));

    node = {};
    node.type = cudaGraphNodeTypeMemcpy;
    node.memcpy.copyParams.srcPtr = make_cudaPitchedPtr(values, count * 4, count, 1);
    node.memcpy.copyParams.dstPtr = make_cudaPitchedPtr(out.data(), count * 4, count, 1);
    node.memcpy.copyParams.extent = make_cudaExtent(count * 4, 1, 1);
    node.memcpy.copyParams.kind = cudaMemcpyDeviceToHost;
    printf("%d\n", cudaGraphAddNode(&copy, graph, &children, nullptr, 1, &node));

    node = {};
    node.type = cudaGraphNodeTypeHost;
    node.host.fn = count_calls;
    node.host.userData = &two;
    printf("%d\n", cudaGraphAddNode(&host, graph, &copy, nullptr, 1, &node));

    node = {};
    node.type = cudaGraphNodeTypeEmpty;
    printf("%d\n", cudaGraphAddNode(&empty, graph, &host, nullptr, 1, &node));

    cudaGraphExec_t made;
    printf("%d\n", cudaGraphInstantiate(&made, graph, 0));
    cudaGraphLaunch(made, 0);
    printf("%d\n", cudaDeviceSynchronize());
    printf("%d %d %d\n", out[0], out[255], calls);
    amount = 50;
    printf("%d\n", cudaGraphExecNodeSetParams(made, kernel, &kernel_node));
    cudaGraphLaunch(made, 0);
    cudaDeviceSynchronize();
    printf("%d %d\n", out[9], calls);

    node = {};
    node.type = cudaGraphNodeTypeGraph;
    node.graph.graph = graph;
    cudaGraphCreate(&outer, 0);
    printf("%d\n", cudaGraphAddNode(&child, outer, nullptr, nullptr, 0, &node));
    cudaGraphNodeType type;
    cudaGraphNodeGetType(child, &type);
    printf("%d\n", type == cudaGraphNodeTypeGraph);
    cudaGraphExec_t whole;
    printf("%d\n", cudaGraphInstantiate(&whole, outer, 0));
    cudaGraphLaunch(whole, 0);
    printf("%d\n", cudaDeviceSynchronize());
    printf("%d %d\n", out[100], calls);
    printf("%s\n", cudaGetErrorName(cudaGetLastError()));
}
