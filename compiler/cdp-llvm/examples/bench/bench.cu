extern "C" __global__ void matmul(const float *a, const float *b, float *c, int n) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0;
    for (int k = 0; k < n; k++) s += a[row * n + k] * b[k * n + col];
    c[row * n + col] = s;
}
extern "C" __global__ void matmul_tiled(const float *a, const float *b, float *c, int n) {
    __shared__ float ta[16][16], tb[16][16];
    int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    float s = 0;
    for (int t = 0; t < n / 16; t++) {
        ta[threadIdx.y][threadIdx.x] = a[row * n + t * 16 + threadIdx.x];
        tb[threadIdx.y][threadIdx.x] = b[(t * 16 + threadIdx.y) * n + col];
        __syncthreads();
        for (int k = 0; k < 16; k++) s += ta[threadIdx.y][k] * tb[k][threadIdx.x];
        __syncthreads();
    }
    c[row * n + col] = s;
}
extern "C" __global__ void mandelbrot(int *out, int w, int h, int limit) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float cr = 3.0f * x / w - 2.0f, ci = 2.0f * y / h - 1.0f, zr = 0, zi = 0;
    int i = 0;
    for (; i < limit && zr * zr + zi * zi < 4.0f; i++) {
        float t = zr * zr - zi * zi + cr;
        zi = 2.0f * zr * zi + ci;
        zr = t;
    }
    out[y * w + x] = i;
}
extern "C" __global__ void reduce(const int *in, unsigned long long *out, int n) {
    __shared__ int s[256];
    int sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += in[i];
    s[threadIdx.x] = sum;
    __syncthreads();
    for (int k = 128; k > 0; k /= 2) {
        if (threadIdx.x < k) s[threadIdx.x] += s[threadIdx.x + k];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(out, (unsigned long long)s[0]);
}
extern "C" __global__ void tree(int depth, unsigned *count) {
    atomicAdd(count, 1u);
    if (depth > 0) tree<<<1, 2>>>(depth - 1, count);
}
extern "C" __global__ void forked_tree(int depth, unsigned *count) {
    atomicAdd(count, 1u);
    if (depth > 0) forked_tree<<<1, 2, 0, cudaStreamFireAndForget>>>(depth - 1, count);
}
__device__ __noinline__ int mix(int a, int b) { return a * 3 + (b ^ a); }
__device__ __noinline__ double blend(const double *table, double x, long long k) { return x * 0.5 + table[k & 7]; }
__device__ double blended[8] = {1, 2, 3, 4, 5, 6, 7, 8};
extern "C" __global__ void calls(int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, s = i;
    double x = i;
    for (int k = 0; k < n; k++) {
        s = mix(s, k);
        x = blend(blended, x, k);
    }
    out[i] = s + (int)x;
}
__device__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
extern "C" __global__ void recursion(int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = fib(n + i % 4);
}
extern "C" __global__ void working_tree(int depth, float *out, unsigned *count) {
    float s = threadIdx.x;
    for (int i = 0; i < 256; i++) s = s * 0.999f + i;
    out[blockIdx.x * blockDim.x + threadIdx.x] = s;
    if (threadIdx.x == 0) {
        atomicAdd(count, 1u);
        if (depth > 0) working_tree<<<2, 128>>>(depth - 1, out, count);
    }
}
extern "C" __global__ void saxpy(int n, float a, const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
