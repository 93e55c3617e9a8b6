// A quadtree of points, built by kernels that launch kernels for the quarters: classes, templates,
// shared memory; after NVIDIA's cdpQuadtree.
#include <cstdio>
#include <vector>

class Bounds {
    float2 low, high;

public:
    __host__ __device__ Bounds() : low(make_float2(0, 0)), high(make_float2(1, 1)) {}
    __host__ __device__ void set(float x0, float y0, float x1, float y1) {
        low = make_float2(x0, y0);
        high = make_float2(x1, y1);
    }
    __host__ __device__ float2 center() const {
        return make_float2(0.5f * (low.x + high.x), 0.5f * (low.y + high.y));
    }
    __host__ __device__ Bounds quarter(int index) const {
        float2 c = center();
        Bounds out;
        out.set(index & 1 ? c.x : low.x, index & 2 ? c.y : low.y, index & 1 ? high.x : c.x,
                index & 2 ? high.y : c.y);
        return out;
    }
    __host__ __device__ bool contains(float2 p) const {
        return p.x >= low.x && p.x < high.x && p.y >= low.y && p.y < high.y;
    }
};

struct Node {
    Bounds bounds;
    int begin = 0, end = 0, depth = 0;
    bool leaf = true;
};

struct Parameters {
    const int max_depth, min_points;
    Parameters(int depth, int points) : max_depth(depth), min_points(points) {}
};

// Nodes lie level by level: the children of node i of a level are 4i to 4i+3 of the next.
template <int THREADS>
__global__ void build(Node *level, float2 *points, float2 *scratch, int index, Parameters parameters) {
    __shared__ int count[4], start[4];
    Node &node = level[index];
    int points_here = node.end - node.begin;
    if (node.depth >= parameters.max_depth || points_here <= parameters.min_points)
        return;
    if (threadIdx.x < 4)
        count[threadIdx.x] = 0;
    __syncthreads();
    // One thread a quarter keeps the order of the points, so that the result is always the same.
    float2 c = node.bounds.center();
    auto quarter_of = [c](float2 p) { return (p.x >= c.x) + 2 * (p.y >= c.y); };
    for (int i = node.begin + threadIdx.x; i < node.end; i += THREADS)
        atomicAdd(&count[quarter_of(points[i])], 1);
    __syncthreads();
    if (threadIdx.x == 0) {
        int at = node.begin;
        for (int quarter = 0; quarter < 4; quarter++) {
            start[quarter] = at;
            at += count[quarter];
        }
    }
    __syncthreads();
    if (threadIdx.x < 4) {
        int at = start[threadIdx.x];
        for (int i = node.begin; i < node.end; i++)
            if (quarter_of(points[i]) == threadIdx.x)
                scratch[at++] = points[i];
    }
    __syncthreads();
    for (int i = node.begin + threadIdx.x; i < node.end; i += THREADS)
        points[i] = scratch[i];
    __syncthreads();
    int width = 1 << (2 * node.depth);
    Node *next = level + width;
    if (threadIdx.x < 4) {
        Node &child = next[4 * index + threadIdx.x];
        child.bounds = node.bounds.quarter(threadIdx.x);
        child.begin = start[threadIdx.x];
        child.end = child.begin + count[threadIdx.x];
        child.depth = node.depth + 1;
        node.leaf = false;
        build<THREADS><<<1, THREADS>>>(next, points, scratch, 4 * index + threadIdx.x, parameters);
    }
}

static int check(const std::vector<Node> &nodes, const std::vector<float2> &points, int base, int index,
                 int *leaves) {
    const Node &node = nodes[base + index];
    if (node.leaf) {
        ++*leaves;
        for (int i = node.begin; i < node.end; i++)
            if (!node.bounds.contains(points[i]))
                return 1;
        return 0;
    }
    int wrong = 0;
    for (int child = 0; child < 4; child++)
        wrong += check(nodes, points, base + (1 << (2 * node.depth)), 4 * index + child, leaves);
    return wrong;
}

int main() {
    const int count = 600, max_depth = 4;
    std::vector<float2> host(count);
    unsigned state = 1;
    auto next = [&state] { return ((state = state * 1103515245u + 12345u) >> 8 & 0xffff) / 65536.0f; };
    for (float2 &p : host) {
        p.x = next() * next();
        p.y = next();
    }
    int total = 0;
    for (int depth = 0, width = 1; depth <= max_depth; depth++, width *= 4)
        total += width;
    std::vector<Node> nodes(total);
    nodes[0].end = count;
    float2 *points, *scratch;
    Node *tree;
    cudaMalloc(&points, count * sizeof(float2));
    cudaMalloc(&scratch, count * sizeof(float2));
    cudaMalloc(&tree, total * sizeof(Node));
    cudaMemcpy(points, host.data(), count * sizeof(float2), cudaMemcpyHostToDevice);
    cudaMemcpy(tree, nodes.data(), total * sizeof(Node), cudaMemcpyHostToDevice);
    build<32><<<1, 32>>>(tree, points, scratch, 0, Parameters(max_depth, 16));
    cudaError_t error = cudaDeviceSynchronize();
    cudaMemcpy(host.data(), points, count * sizeof(float2), cudaMemcpyDeviceToHost);
    cudaMemcpy(nodes.data(), tree, total * sizeof(Node), cudaMemcpyDeviceToHost);
    int leaves = 0, wrong = check(nodes, host, 0, 0, &leaves);
    printf("error %d, %d leaves, %d wrong\n", error, leaves, wrong);
}
