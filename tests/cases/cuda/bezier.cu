// Bezier curves of as many points as they are bent: the parent allocates memory with cudaMalloc on the
// device and launches a child for each line; after NVIDIA's cdpBezierTessellation.
#include <cmath>
#include <cstdio>
#include <vector>
#include <helper_cuda.h>
#include <helper_math.h>

#define MAX_TESSELLATION 32

struct Line {
    float2 control[3];
    float2 *vertices;
    int count;
};

__forceinline__ __device__ float curvature(const float2 *p) {
    return length(p[1] - 0.5f * (p[0] + p[2])) / length(p[2] - p[0]);
}

__global__ void positions(int index, Line *lines, int count) {
    int i = threadIdx.x + blockDim.x * blockIdx.x;
    if (i >= count)
        return;
    float u = (float)i / (float)(count - 1), v = 1.0f - u;
    float b[3] = {v * v, 2.0f * u * v, u * u};
    float2 position = make_float2(0.0f);
    for (int k = 0; k < 3; k++)
        position += b[k] * lines[index].control[k];
    lines[index].vertices[i] = position;
}

__global__ void tessellate(Line *lines, int lines_count) {
    int i = threadIdx.x + blockDim.x * blockIdx.x;
    if (i >= lines_count)
        return;
    int points = min(max((int)(curvature(lines[i].control) * 16.0f), 4), MAX_TESSELLATION);
    lines[i].count = points;
    if (cudaMalloc((void **)&lines[i].vertices, points * sizeof(float2)) != cudaSuccess)
        return;
    positions<<<(points + 31) / 32, 32>>>(i, lines, points);
}

__global__ void copy_and_free(Line *lines, int lines_count, float2 *out) {
    int at = 0;
    for (int i = 0; i < lines_count; i++) {
        for (int k = 0; k < lines[i].count; k++)
            out[at++] = lines[i].vertices[k];
        cudaFree(lines[i].vertices);
    }
}

int main() {
    const int count = 8;
    std::vector<Line> lines(count);
    for (int i = 0; i < count; i++) {
        float last = i + 1.0f;
        lines[i].control[0] = make_float2(0.0f, i);
        lines[i].control[1] = make_float2(0.25f * i, 0.5f * i * i);
        lines[i].control[2] = make_float2(last, 1.0f);
        lines[i].vertices = nullptr;
        lines[i].count = 0;
    }
    Line *device;
    float2 *out;
    checkCudaErrors(cudaMalloc(&device, count * sizeof(Line)));
    checkCudaErrors(cudaMalloc(&out, count * MAX_TESSELLATION * sizeof(float2)));
    checkCudaErrors(cudaMemcpy(device, lines.data(), count * sizeof(Line), cudaMemcpyHostToDevice));
    tessellate<<<1, 32>>>(device, count);
    getLastCudaError("tessellate");
    copy_and_free<<<1, 1>>>(device, count, out);
    checkCudaErrors(cudaDeviceSynchronize());
    checkCudaErrors(cudaMemcpy(lines.data(), device, count * sizeof(Line), cudaMemcpyDeviceToHost));
    std::vector<float2> all(count * MAX_TESSELLATION);
    checkCudaErrors(cudaMemcpy(all.data(), out, all.size() * sizeof(float2), cudaMemcpyDeviceToHost));
    int at = 0;
    for (const Line &line : lines) {
        float2 middle = all[at + line.count / 2], last = all[at + line.count - 1];
        printf("%d points, middle (%.3f, %.3f), last (%.1f, %.1f)\n", line.count, middle.x, middle.y, last.x,
               last.y);
        at += line.count;
    }
}
