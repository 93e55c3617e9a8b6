// `__managed__` variables: host code and kernels use them by name, with initial values, as arrays, classes,
// through pointers and references, in conditional expressions, and from children.
#include <cstdio>

struct Point {
    int x, y;
};

__managed__ int total = 5;
__device__ __managed__ float table[4] = {1.5f, 2.5f};
__managed__ Point corner;
static __managed__ long long hidden = 1;
__managed__ int other = 40;

template <class T> __managed__ T shared_by_type = T(3);

__global__ void add(int amount) { atomicAdd(&total, amount); }

__global__ void change()
{
    table[2] = table[0] + table[1];
    corner.x += 7;
    corner.y = table[3] == 0;
    hidden <<= 40;
    shared_by_type<double> += 0.25;
    add<<<1, 4>>>(3);
}

static int &chosen(bool first) { return first ? total : other; }

static void show()
{
    printf("%d | %g %g %g | %d %d | %lld | %g\n", total, table[0], table[2], table[3], corner.x, corner.y, hidden,
           shared_by_type<double>);
}

int main()
{
    total += 1;
    show();
    int *pointer = &total;
    const float *second = &table[1];
    change<<<1, 1>>>();
    cudaDeviceSynchronize();
    show();
    *pointer = 100;
    table[0] = *second * 2;
    corner = Point{1, 2};
    for (int i = 0; i < 3; ++i) {
        chosen(i % 2) += i;
    }
    change<<<1, 1>>>();
    cudaDeviceSynchronize();
    show();
    printf("%d %d %zu\n", chosen(true), chosen(false), sizeof(table));

    cudaPointerAttributes attributes;
    cudaPointerGetAttributes(&attributes, pointer);
    printf("%s\n", attributes.type == cudaMemoryTypeManaged ? "managed" : "not managed");
    printf("%s\n", cudaGetErrorString(cudaGetLastError()));
}
