// thrust in host code, on vectors of the device, with a kernel of our own between.
#include <iostream>
#include <thrust/device_vector.h>
#include <thrust/functional.h>
#include <thrust/host_vector.h>
#include <thrust/reduce.h>
#include <thrust/sort.h>
#include <thrust/transform.h>

struct Square {
    __host__ __device__ int operator()(int x) const { return x * x; }
};

__global__ void child(int *data, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] += 1;
}
__global__ void parent(int *data, int n) { child<<<(n + 31) / 32, 32>>>(data, n); }

int main() {
    const int n = 300;
    thrust::host_vector<int> host(n);
    for (int i = 0; i < n; i++)
        host[i] = (i * 7919) % 211;
    thrust::device_vector<int> device = host;
    thrust::sort(device.begin(), device.end(), thrust::greater<int>());
    parent<<<1, 1>>>(thrust::raw_pointer_cast(device.data()), n);
    thrust::device_vector<int> squares(n);
    thrust::transform(device.begin(), device.end(), squares.begin(), Square());
    int sum = thrust::reduce(squares.begin(), squares.end(), 0, thrust::plus<int>());
    thrust::host_vector<int> back = device;
    std::cout << back[0] << " " << back[1] << " ... " << back[n - 1] << ", sum of squares " << sum << std::endl;
}
