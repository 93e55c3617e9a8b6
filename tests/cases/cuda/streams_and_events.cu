// Every stream that device code can launch into, with over-aligned and large parameters, through
// templates, lambdas and function pointers.
#include <cstdio>
#include <utility>

struct alignas(64) Wide {
    float v[16];
};
struct Large {
    int v[1000];
};

__device__ int order;

template <class F> __global__ void apply(F f) { f(); }
__global__ void wide(char c, Wide w, int *out) { out[0] = (int)w.v[15] + c; }
__global__ void large(Large l, int *out) {
    int sum = 0;
    for (int x : l.v)
        sum += x;
    out[1] = sum;
}
__global__ void log_order(int *out, int slot) { out[slot] = atomicAdd(&order, 1); }
template <class K, class... A> __device__ cudaError_t start(K *kernel, dim3 grid, cudaStream_t stream, A... args) {
    kernel<<<grid, 1, 0, stream>>>(std::forward<A>(args)...);
    return cudaGetLastError();
}
typedef void (*Kernel)(int *, int);
__device__ Kernel table[2] = {nullptr, nullptr};

__global__ void root(int *out) {
    Wide w = {};
    w.v[15] = 7;
    wide<<<1, 1>>>(3, w, out);
    Large l;
    for (int i = 0; i < 1000; i++)
        l.v[i] = i;
    large<<<1, 1>>>(l, out);
    apply<<<1, 1>>>([=] { out[2] = 222; });
    log_order<<<1, 1, 0, cudaStreamTailLaunch>>>(out, 3);
    log_order<<<1, 1>>>(out, 4);
    out[5] = start(log_order, dim3(1), (cudaStream_t)cudaStreamFireAndForget, out, 9);
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    out[6] = start(log_order, dim3(1), stream, out, 10);
    cudaStreamDestroy(stream);
    cudaMemsetAsync(out + 7, 0x01, 4, 0);
    Kernel chosen = out[8] == 0 ? log_order : table[1];
    chosen<<<1, 1>>>(out, 8);
}

int main() {
    int *out;
    cudaMallocManaged(&out, 11 * sizeof(int));
    for (int i = 0; i < 11; i++)
        out[i] = 0;
    root<<<1, 1>>>(out);
    printf("error %d\n", cudaDeviceSynchronize());
    printf("%d %d %d, errors %d %d, tail last: %d\n", out[0], out[1], out[2], out[5], out[6], out[3] == 4);
    printf("%08x, in order: %d\n", out[7], out[4] < out[8]);
}
