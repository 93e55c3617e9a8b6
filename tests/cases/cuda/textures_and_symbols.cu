// Constant and device variables from host code, a texture object, pinned memory, streams, events and
// occupancy, with an iostream at the end.
#include <iomanip>
#include <iostream>
#include <numeric>
#include <string>
#include <vector>
#include <helper_functions.h>
#include <helper_cuda.h>

__constant__ float weights[4];
__device__ int hits;
static __device__ int private_hits;

__global__ void blur(cudaTextureObject_t texture, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float sum = 0;
    for (int k = 0; k < 4; k++)
        sum += weights[k] * tex1Dfetch<float>(texture, min(i + k, n - 1));
    out[i] = sum;
    atomicAdd(&hits, 1);
    atomicAdd(&private_hits, 2);
}

__global__ void parent(cudaTextureObject_t texture, float *out, int n) {
    blur<<<(n + 31) / 32, 32>>>(texture, out, n);
}

int main() {
    const int n = 100;
    std::vector<float> host(n), result(n);
    std::iota(host.begin(), host.end(), 1.0f);
    float w[4] = {0.5f, 0.25f, 0.125f, 0.125f}, *in, *out;
    checkCudaErrors(cudaMemcpyToSymbol(weights, w, sizeof w));
    checkCudaErrors(cudaMalloc(&in, n * sizeof(float)));
    checkCudaErrors(cudaMalloc(&out, n * sizeof(float)));
    cudaStream_t stream;
    cudaEvent_t begin, end;
    checkCudaErrors(cudaStreamCreate(&stream));
    checkCudaErrors(cudaEventCreate(&begin));
    checkCudaErrors(cudaEventCreate(&end));
    checkCudaErrors(cudaMemcpyAsync(in, host.data(), n * sizeof(float), cudaMemcpyHostToDevice, stream));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = in;
    resource.res.linear.desc = cudaCreateChannelDesc<float>();
    resource.res.linear.sizeInBytes = n * sizeof(float);
    cudaTextureDesc description = {};
    description.readMode = cudaReadModeElementType;
    cudaTextureObject_t texture;
    checkCudaErrors(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
    checkCudaErrors(cudaEventRecord(begin, stream));
    parent<<<1, 1, 0, stream>>>(texture, out, n);
    checkCudaErrors(cudaEventRecord(end, stream));
    checkCudaErrors(cudaStreamSynchronize(stream));
    float milliseconds = -1;
    checkCudaErrors(cudaEventElapsedTime(&milliseconds, begin, end));
    checkCudaErrors(cudaMemcpy(result.data(), out, n * sizeof(float), cudaMemcpyDeviceToHost));
    int counts[2];
    checkCudaErrors(cudaMemcpyFromSymbol(&counts[0], hits, sizeof(int)));
    checkCudaErrors(cudaMemcpyFromSymbol(&counts[1], private_hits, sizeof(int)));
    checkCudaErrors(cudaDestroyTextureObject(texture));
    std::cout << std::fixed << std::setprecision(3) << result[0] << " " << result[50] << " " << result[99] << " "
              << counts[0] << " " << counts[1] << (milliseconds >= 0 ? " timed" : " untimed") << std::endl;
}
