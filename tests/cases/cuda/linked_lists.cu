// Lists in memory of device code's own: kernels that walk them, add to them and free them, launched from a kernel.
#include <cstdio>

struct Node {
    int value;
    Node *next;
};

struct Bucket {
    Node *first;
    int count;
};

__global__ void add(Bucket *bucket, int from, int step)
{
    Node *node = (Node *)malloc(sizeof *node);
    node->value = from + threadIdx.x * step;
    node->next = (Node *)atomicExch((unsigned long long *)&bucket->first, (unsigned long long)node);
    atomicAdd(&bucket->count, 1);
}

__global__ void drop(Bucket *bucket)
{
    for (Node *node = bucket->first, *next; node; node = next) {
        next = node->next;
        free(node);
    }
    bucket->first = nullptr;
}

__global__ void twice(Bucket bucket)
{
    for (Node *node = bucket.first; node != NULL; node = node->next)
        node->value *= 2;
}

__global__ void fill(Bucket *buckets, int n)
{
    int i = threadIdx.x;
    if (i < n)
        add<<<1, i + 1>>>(buckets + i, i, n);
}

__global__ void report(Bucket *buckets, int n)
{
    for (int i = 0; i < n; i++) {
        int sum = 0, count = 0;
        for (Node *node = buckets[i].first; node; node = node->next) {
            sum += node->value;
            count++;
        }
        printf("%d: %d of %d, %d\n", i, count, buckets[i].count, sum);
    }
    for (int i = 0; i < n; i++)
        twice<<<1, 1>>>(buckets[i]);
    for (int i = 0; i < n; i++)
        drop<<<1, 1>>>(buckets + i);
}

int main()
{
    const int n = 5;
    Bucket *buckets, found[n];
    cudaMalloc(&buckets, sizeof found);
    cudaMemset(buckets, 0, sizeof found);
    fill<<<1, 32>>>(buckets, n);
    report<<<1, 1>>>(buckets, n);
    cudaMemcpy(found, buckets, sizeof found, cudaMemcpyDeviceToHost);
    int left = 0;
    for (int i = 0; i < n; i++)
        left += found[i].first != NULL;
    printf("%s, %d left\n", cudaGetErrorString(cudaGetLastError()), left);
}
