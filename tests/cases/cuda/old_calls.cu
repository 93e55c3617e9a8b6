// What nvcc takes of older programs that clang refuses: functions of both sides that call some of the host (never in
// device code), steps through memory without a type, pointers as numbers that are too small, and `main` without a type.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>

static int calls = 0;
void count(int by) { calls += by; }
void count(float by) { calls += (int)(by * 10); }
int report(const char *what, int value)
{
    printf("%s %d\n", what, value);
    return value;
}

__host__ __device__ void check(cudaError_t error, const char *file, bool stop = true)
{
    if (error != cudaSuccess) {
        printf("%s: %s\n", cudaGetErrorString(error), file);
        if (stop)
            std::exit(error);
    }
}

__host__ __device__ int mixed(int value)
{
    if (value < 0) {
        count(value);
        count(1.5f);
        srand(time(NULL));
        return report("negative", -value) + ::abs(value);
    }
    return value + 1;
}

template <typename T> __host__ __device__ void order(T *a, T *b)
{
    if (*b < *a)
        std::swap(*a, *b);
}

__global__ void child(void *bytes, size_t offset, int value)
{
    int *at = (int *)(bytes + offset);
    const void *begin = bytes;
    void *end = bytes;
    end += sizeof(int) * 4;
    end -= 4;
    *at = mixed(value) + (int)((char *)end - (char *)begin);
    *(int *)(bytes + 4 + 4) = ((int)at & 3) + (int)((unsigned)end % 4);
}

__global__ void parent(void *bytes)
{
    child<<<1, 1>>>(bytes, 4, 20);
    check(cudaGetLastError(), "old_calls");
}

main()
{
    void *bytes;
    check(cudaMalloc(&bytes, 16), "old_calls");
    parent<<<1, 1>>>(bytes);
    check(cudaDeviceSynchronize(), "old_calls");
    int found[2], a = 3, b = 2;
    check(cudaMemcpy(found, bytes + 4, 8, cudaMemcpyDeviceToHost), "old_calls");
    order(&a, &b);
    printf("%d %d, %d %d, %d\n", found[0], found[1], a, b, mixed(4));
    a = mixed(-7);
    printf("%d %d\n", a, calls);
    return 0;
}
