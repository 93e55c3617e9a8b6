// Quicksort of any type by any order: the warps of a grid part the range with one atomic each, the last one
// launches both sides into streams of its own, short sides are sorted by a bitonic network in shared memory.
#include <algorithm>
#include <cooperative_groups.h>
#include <cstdio>
#include <vector>

namespace cg = cooperative_groups;

constexpr int BLOCK = 128;
constexpr int SHORT = 64;
constexpr int DEEPEST = 12;

// What the warps of one grid share.
struct Progress {
    int below, above, done;
};

template <class T> struct Range {
    T *from, *to; // what is sorted, and where it is parted to
    int begin, count;
    bool in_place; // whether `from` is the caller's array

    __device__ T *result() const { return in_place ? from : to; }
    __device__ Range side(int at, int n) const { return Range{to, from, begin + at, n, !in_place}; }
};

template <class T, class Less> __global__ void short_sort(Range<T> range, Less less)
{
    __shared__ __align__(16) unsigned char storage[SHORT * sizeof(T)];
    T *values = reinterpret_cast<T *>(storage);
    const int i = threadIdx.x;
    if (i < range.count)
        values[i] = range.from[range.begin + i];
    __syncthreads();
    // Odd and even pairs in turn: right for any count.
    for (int round = 0; round < range.count; ++round) {
        const int left = 2 * i + (round & 1);
        if (left + 1 < range.count && less(values[left + 1], values[left])) {
            T kept = values[left];
            values[left] = values[left + 1];
            values[left + 1] = kept;
        }
        __syncthreads();
    }
    if (i < range.count)
        range.result()[range.begin + i] = values[i];
}

template <class T, class Less> __global__ void copy_sort(Range<T> range, Less less)
{
    for (int i = 1; i < range.count; ++i) {
        T *values = range.from + range.begin;
        T moved = values[i];
        int at = i;
        for (; at > 0 && less(moved, values[at - 1]); --at)
            values[at] = values[at - 1];
        values[at] = moved;
    }
    for (int i = 0; i < range.count; ++i)
        range.result()[range.begin + i] = range.from[range.begin + i];
}

template <class T, class Less> __global__ void part(Range<T> range, Progress *progress, Less less, int depth);

template <class T, class Less>
__device__ void launch_side(const Range<T> &range, Progress *progress, Less less, int depth)
{
    if (range.count == 0)
        return;
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    if (range.count <= SHORT) {
        short_sort<<<1, SHORT, 0, stream>>>(range, less);
    } else if (depth >= DEEPEST) {
        copy_sort<<<1, 1, 0, stream>>>(range, less);
    } else {
        *progress = Progress{0, 0, 0};
        part<<<(range.count + BLOCK - 1) / BLOCK, BLOCK, 0, stream>>>(range, progress, less, depth);
    }
    cudaStreamDestroy(stream);
}

template <class T, class Less> __global__ void part(Range<T> range, Progress *progress, Less less, int depth)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= range.count)
        return;
    const T pivot = range.from[range.begin + range.count / 2];
    const T value = range.from[range.begin + i];
    const bool below = less(value, pivot);
    const bool above = less(pivot, value);
    auto lanes = cg::coalesced_threads();
    const unsigned below_mask = lanes.ballot(below), above_mask = lanes.ballot(above);
    const unsigned earlier = (1u << lanes.thread_rank()) - 1;
    int first_below = 0, first_above = 0;
    if (lanes.thread_rank() == 0) {
        first_below = atomicAdd(&progress->below, __popc(below_mask));
        first_above = atomicAdd(&progress->above, __popc(above_mask));
    }
    first_below = lanes.shfl(first_below, 0);
    first_above = lanes.shfl(first_above, 0);
    if (below)
        range.to[range.begin + first_below + __popc(below_mask & earlier)] = value;
    else if (above)
        range.to[range.begin + range.count - 1 - (first_above + __popc(above_mask & earlier))] = value;
    __threadfence();
    lanes.sync();
    if (lanes.thread_rank() != 0)
        return;
    const int done = atomicAdd(&progress->done, static_cast<int>(lanes.size()));
    if (done + static_cast<int>(lanes.size()) != range.count)
        return;
    __threadfence();
    // Equal ones are in their places when the sides are.
    const int n = atomicAdd(&progress->below, 0), m = atomicAdd(&progress->above, 0);
    for (int at = n; at < range.count - m; ++at)
        range.result()[range.begin + at] = pivot;
    // A side needs less than half as many places as it has values.
    launch_side(range.side(0, n), progress + 1, less, depth + 1);
    launch_side(range.side(range.count - m, m), progress + 1 + n / 2, less, depth + 1);
}

struct Up {
    template <class T> __host__ __device__ bool operator()(const T &a, const T &b) const { return a < b; }
};

struct Point {
    short x;
    double y;
    __host__ __device__ bool operator<(const Point &other) const
    {
        return x != other.x ? x < other.x : y < other.y;
    }
};

struct ByDistance {
    int from;
    __host__ __device__ bool operator()(int a, int b) const
    {
        const int left = a > from ? a - from : from - a, right = b > from ? b - from : from - b;
        return left != right ? left < right : a < b;
    }
};

template <class T, class Less, class Make> void run(const char *name, int count, Less less, Make make)
{
    std::vector<T> values(count);
    unsigned state = 12345;
    for (T &value : values) {
        state = state * 1664525u + 1013904223u;
        value = make(state >> 8);
    }
    T *device, *scratch;
    Progress *progress;
    cudaMalloc(&device, count * sizeof(T));
    cudaMalloc(&scratch, count * sizeof(T));
    cudaMalloc(&progress, (count + 1) * sizeof(Progress));
    cudaMemset(progress, 0, (count + 1) * sizeof(Progress));
    cudaMemcpy(device, values.data(), count * sizeof(T), cudaMemcpyHostToDevice);
    Range<T> range{device, scratch, 0, count, true};
    part<<<(count + BLOCK - 1) / BLOCK, BLOCK>>>(range, progress, less, 0);
    const cudaError_t error = cudaDeviceSynchronize();
    std::vector<T> sorted(count);
    cudaMemcpy(sorted.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost);
    std::sort(values.begin(), values.end(), less);
    bool equal = true;
    for (int i = 0; i < count; ++i)
        equal = equal && !less(values[i], sorted[i]) && !less(sorted[i], values[i]);
    std::printf("%s: %d values, %s, %s\n", name, count, cudaGetErrorString(error), equal ? "sorted" : "NOT SORTED");
    cudaFree(progress);
    cudaFree(scratch);
    cudaFree(device);
}

int main()
{
    run<unsigned>("numbers", 3000, Up{}, [](unsigned bits) { return bits; });
    run<int>("few values", 1500, Up{}, [](unsigned bits) { return static_cast<int>(bits % 7); });
    run<double>("doubles", 1000, Up{}, [](unsigned bits) { return bits / 3.0 - 1e6; });
    run<int>("by distance", 1200, ByDistance{500}, [](unsigned bits) { return static_cast<int>(bits % 1000); });
    run<Point>("points", 900, Up{}, [](unsigned bits) { return Point{static_cast<short>(bits % 50), bits * 0.5}; });
}
