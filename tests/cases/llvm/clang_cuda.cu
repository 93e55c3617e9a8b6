// Source of clang_cuda.ll, made by
//   clang-22 -x cuda --cuda-device-only --cuda-gpu-arch=sm_90 --cuda-feature=+ptx80 \
//            -nocudainc -nocudalib -O1 -S -emit-llvm clang_cuda.cu -o clang_cuda.ll
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))

struct point {
    double x;
    float weight;
};

extern "C" __device__ int launch_child(const void *kernel, unsigned gx, unsigned gy, unsigned gz,
                                       unsigned bx, unsigned by, unsigned bz, unsigned shared_bytes,
                                       void *stream, point p, float scale,
                                       int *out) __asm__("cdp.launch");

__global__ void child(point p, float scale, int *out)
{
    out[0] = (int)(p.x * p.weight * scale);
}

__global__ void parent(int *out)
{
    point p = {21.0, 2.0f};
    out[1] = launch_child((const void *)child, 1, 1, 1, 1, 1, 1, 0, nullptr, p, 0.5f, out);
}
