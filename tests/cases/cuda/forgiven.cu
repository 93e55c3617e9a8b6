// What nvcc forgives, by itself and through g++ without optimisation: functions with a value that end without `return`,
// memory read as another type than it was written as, and host arithmetic that goes round.
#include <cstdio>
#include <cstring>

struct Matrix {
    float *cells;
    Matrix &operator=(const Matrix &other) { cells = other.cells; }
};

int fill(int *a, int n)
{
    for (int i = 0; i < n; i++) {
        a[i] = i;
    }
}

bool announce(const char *what) { printf("%s\n", what); }

__device__ int put(int *a, int value) { a[threadIdx.x] = value; }

__device__ float doubled(int k)
{
    if (k > 0) {
        return k * 2.0f;
    }
}

// The first lane alone has a result, which goes elsewhere.
template <typename T>
__device__ T least(T value, T *result)
{
    for (int by = 1; by < 4; by *= 2) {
        value = min(value, __shfl_down_sync(15, value, by));
    }
    if (threadIdx.x > 0) {
        return;
    }
    *result = value;
}

__global__ void lowest(int *a) { least(a[threadIdx.x], a + 8); }

__global__ void child(int *a)
{
    put(a, 7);
    a[threadIdx.x] += (int)doubled(3);
}

__global__ void parent(int *a) { child<<<1, 4>>>(a); }

// The two are one place.
__global__ void two_views(float *f, int *i, float *result)
{
    f[threadIdx.x] = 1.0f;
    i[threadIdx.x] |= 0x80000000;
    result[threadIdx.x] = f[threadIdx.x];
}

struct Halves {
    short low, high;
};

__device__ __noinline__ unsigned joined(unsigned *word, Halves *parts)
{
    *word = 0;
    parts->low = 5;
    parts->high = 7;
    return *word;
}

__global__ void parts(unsigned *result)
{
    __shared__ unsigned word;
    *result = joined(&word, (Halves *)&word);
}

__attribute__((noinline)) float host_views(float *f, int *i)
{
    *f = 1.0f;
    *i = 0x40000000;
    return *f;
}

__attribute__((noinline)) int steps_until_negative(int from)
{
    int count = 0;
    for (int i = from; i > 0; i += 100000000) {
        count++;
    }
    return count;
}

int main()
{
    void *memory;
    cudaMallocManaged(&memory, 1024);
    int *a = (int *)memory;
    fill(a, 8);
    announce("without return");
    Matrix one, two;
    one.cells = (float *)memory;
    two = one;
    printf("%d\n", two.cells == memory);
    parent<<<1, 1>>>(a);
    cudaDeviceSynchronize();
    for (int i = 0; i < 8; i++) {
        printf("%d ", a[i]);
    }
    printf("\n");
    lowest<<<1, 4>>>(a);
    cudaDeviceSynchronize();
    printf("%d\n", a[8]);

    float *f = (float *)memory;
    two_views<<<1, 4>>>(f, a, f + 8);
    cudaDeviceSynchronize();
    printf("%g %g\n", f[8], f[11]);
    parts<<<1, 1>>>((unsigned *)memory);
    cudaDeviceSynchronize();
    printf("%x\n", *(unsigned *)memory);

    printf("%g\n", host_views(f, a));
    printf("%d\n", steps_until_negative(2000000000));
    return 0;
}
