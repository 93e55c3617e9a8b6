// Kernels that change large parameters, or hand their addresses on: each thread has a copy of its own.
#include <cstdio>

struct Words {
    float *out;
    int first, step;
    float w[40];
};

struct alignas(16) Wide {
    double d[19];
    char tail[7];
};

struct Bytes {
    unsigned char b[131];
};

__device__ __noinline__ float raise(Words *p, int k) {
    p->w[k] += k;
    return p->w[k] + p->w[(k + 1) % 40];
}

__global__ void escapes(Words p) {
    float sum = raise(&p, threadIdx.x) + raise(&p, threadIdx.x + 1);
    p.out[threadIdx.x] = sum + p.w[threadIdx.x + 1];
}

__global__ void changes(Words p, int at) {
    p.w[at + threadIdx.x] = -1;
    p.out += p.first;
    p.step *= 2;
    p.out[threadIdx.x * p.step] = p.w[threadIdx.x + 3] + p.w[at];
}

__device__ __noinline__ double last(Wide *p, int k) {
    p->tail[k % 7] += 1;
    p->d[k % 19] *= 2;
    return p->d[18] + p->tail[6] + p->d[k % 19];
}

__global__ void wide(Wide p, double *out) { out[threadIdx.x] = last(&p, threadIdx.x) + last(&p, 18); }

__global__ void bytes(Bytes p, int *out) {
    p.b[threadIdx.x * 10] = 200;
    int sum = 0;
    for (int i = 0; i < 131; i++) sum += p.b[i];
    out[threadIdx.x] = sum;
}

__global__ void parent(Words p, int at) {
    p.w[at] = 100 + threadIdx.x;
    p.out += 8 * threadIdx.x;
    if (threadIdx.x < 2) escapes<<<1, 8>>>(p);
}

int main() {
    float *out;
    double *doubles;
    int *ints;
    cudaMallocManaged(&out, 64 * sizeof(float));
    cudaMallocManaged(&doubles, 32 * sizeof(double));
    cudaMallocManaged(&ints, 8 * sizeof(int));
    Words p = {out, 2, 1, {}};
    for (int i = 0; i < 40; i++) p.w[i] = i * 0.5f;
    auto show = [&](const char *name) {
        printf("%s: %s", name, cudaGetErrorString(cudaDeviceSynchronize()));
        for (int i = 0; i < 20; i++) printf(" %g", out[i]);
        printf("\n");
    };
    escapes<<<1, 16>>>(p);
    show("escapes");
    changes<<<1, 8>>>(p, 5);
    show("changes");
    parent<<<1, 4>>>(p, 3);
    show("parent");
    Wide v = {};
    for (int i = 0; i < 19; i++) v.d[i] = i;
    for (int i = 0; i < 7; i++) v.tail[i] = 3 * i;
    wide<<<1, 32>>>(v, doubles);
    Bytes b;
    for (int i = 0; i < 131; i++) b.b[i] = i;
    bytes<<<1, 8>>>(b, ints);
    cudaDeviceSynchronize();
    for (int i = 0; i < 32; i++) printf("%g ", doubles[i]);
    for (int i = 0; i < 8; i++) printf("%d ", ints[i]);
    printf("\n%g %d\n", p.w[5], p.step);
}
