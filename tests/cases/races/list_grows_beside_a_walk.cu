// Host code appends to a list while a kernel walks along it.
struct Node { int value; Node *next; };
__global__ void walk(Node *n, int *sum)
{
    int s = 0;
    for (; n; n = n->next) //~ race
        s += n->value; //~ race
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
        nodes[i].value = i; //~ race
        nodes[i].next = nullptr; //~ race
        nodes[i - 1].next = nodes + i; //~ race
    }
    return cudaDeviceSynchronize() != cudaSuccess;
}
