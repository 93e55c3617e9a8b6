// LU decomposition without pivoting, blocked, each step launched by the one before as a tail: after
// NVIDIA's cdpLUDecomposition.
#include <cmath>
#include <cstdio>
#include <memory>

constexpr int BLOCK = 8;

template <typename T> struct Matrix {
    T *data;
    int size;
    __host__ __device__ T &operator()(int row, int column) const { return data[row * size + column]; }
};

template <typename T> __global__ void panel(Matrix<T> a, int k) {
    int end = min(k + BLOCK, a.size);
    for (int j = k; j < end; j++) {
        for (int row = j + 1 + threadIdx.x; row < a.size; row += blockDim.x) {
            T factor = a(row, j) /= a(j, j);
            for (int column = j + 1; column < end; column++)
                a(row, column) -= factor * a(j, column);
        }
        __syncthreads();
    }
    for (int j = k; j < end; j++) {
        for (int column = end + threadIdx.x; column < a.size; column += blockDim.x)
            for (int row = j + 1; row < end; row++)
                a(row, column) -= a(row, j) * a(j, column);
        __syncthreads();
    }
}

template <typename T> __global__ void update(Matrix<T> a, int k) {
    int row = k + BLOCK + blockIdx.y * blockDim.y + threadIdx.y;
    int column = k + BLOCK + blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= a.size || column >= a.size)
        return;
    T sum = a(row, column);
    for (int j = k; j < k + BLOCK; j++)
        sum -= a(row, j) * a(j, column);
    a(row, column) = sum;
}

template <typename T> __global__ void step(Matrix<T> a, int k) {
    if (k >= a.size)
        return;
    panel<T><<<1, 32>>>(a, k);
    int rest = (a.size - k - 1) / BLOCK;
    if (rest > 0)
        update<T><<<dim3(rest, rest), dim3(BLOCK, BLOCK)>>>(a, k);
    step<T><<<1, 1, 0, cudaStreamTailLaunch>>>(a, k + BLOCK);
}

int main() {
    const int n = 40;
    auto host = std::make_unique<double[]>(n * n), lu = std::make_unique<double[]>(n * n);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            host[i * n + j] = (i == j ? n : 0) + ((i * 7 + j * 13) % 11) / 11.0;
    Matrix<double> a{nullptr, n};
    cudaMalloc(&a.data, n * n * sizeof(double));
    cudaMemcpy(a.data, host.get(), n * n * sizeof(double), cudaMemcpyHostToDevice);
    step<<<1, 1>>>(a, 0);
    cudaError_t error = cudaDeviceSynchronize();
    cudaMemcpy(lu.get(), a.data, n * n * sizeof(double), cudaMemcpyDeviceToHost);
    double worst = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int k = 0; k <= (i < j ? i : j); k++)
                sum += (k == i ? 1.0 : lu[i * n + k]) * lu[k * n + j];
            worst = fmax(worst, fabs(sum - host[i * n + j]));
        }
    printf("%s, %s, u(39,39) = %.6f\n", cudaGetErrorName(error), worst < 1e-9 ? "right" : "wrong",
           lu[n * n - 1]);
}
