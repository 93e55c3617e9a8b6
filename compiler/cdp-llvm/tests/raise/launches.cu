// Source of clang_*.ll in this folder, made by clang 22 with CUDA 13.0's headers:
//   clang-22 -x cuda --cuda-device-only --cuda-gpu-arch=sm_90 -fgpu-rdc -D__CUDACC_RDC__ -S -emit-llvm
// and -O0, -O2, or -O1 -Xclang -disable-llvm-passes.
struct point { int x; double y; char tag; };
struct alignas(64) wide { float v[16]; };

__global__ void child(int *out, point p, float f, bool b) { out[threadIdx.x] = p.x + (int)f + b; }
__global__ void over(char c, wide w, int *out) { out[0] = (int)w.v[15] + c; }
__global__ void none() {}
__global__ void far(int n, point p);
template <class T> __global__ void down(T *out, int n) {
    *out = n;
    if (n > 0)
        down<T><<<1, 1, 0, cudaStreamTailLaunch>>>(out, n - 1);
}
template <class K, class... A> __device__ void start(K kernel, A... args) { kernel<<<1, 1>>>(args...); }

__global__ void parent(int *out, int n, cudaStream_t stream) {
    point p{1, 2.0, 'c'};
    child<<<n, 32>>>(out, p, 3.5f, n > 1);
    child<<<dim3(2, 3), dim3(n, 4), 128, cudaStreamFireAndForget>>>(out + 1, point{n, 1., 'x'}, 1, true);
    far<<<1, 1, 0, stream>>>(n, p);
    none<<<1, 1>>>();
    down<<<1, 1>>>(out, 2);
    over<<<1, 1>>>('c', wide{}, out);
    start(down<int>, out, 1);
    void (*chosen)(int *, int) = n > 5 ? down<int> : nullptr;
    chosen<<<n, 1>>>(out, 7);
}
