// Host code appends to a list between walks of kernels.
struct Node { int value; Node *next; };
__global__ void walk(Node *n, int *sum)
{
    int s = 0;
    for (; n; n = n->next)
        s += n->value;
    *sum = s;
}
int main()
{
    Node *nodes;
    int *sum;
    cudaMallocManaged(&nodes, 8 * sizeof(Node));
    cudaMallocManaged(&sum, 4);
    nodes[0] = {1, nullptr};
    for (int i = 1; i < 4; i++) {
        walk<<<1, 1>>>(nodes, sum);
        if (cudaDeviceSynchronize())
            return 1;
        nodes[i].value = i;
        nodes[i].next = nullptr;
        nodes[i - 1].next = nodes + i;
    }
    return cudaDeviceSynchronize() != cudaSuccess;
}
