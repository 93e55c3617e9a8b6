// Quicksort by launches into streams of the kernel's own, selection sort below, after NVIDIA's
// cdpSimpleQuicksort.
#include <algorithm>
#include <iostream>
#include <vector>

constexpr int max_depth = 16, insertion_sort = 32;

__device__ void selection_sort(unsigned *data, int left, int right) {
    for (int i = left; i <= right; ++i) {
        int smallest = i;
        for (int j = i + 1; j <= right; ++j)
            if (data[j] < data[smallest])
                smallest = j;
        if (i != smallest) {
            unsigned value = data[i];
            data[i] = data[smallest];
            data[smallest] = value;
        }
    }
}

__global__ void simple_quicksort(unsigned *data, int left, int right, int depth) {
    if (depth >= max_depth || right - left <= insertion_sort) {
        selection_sort(data, left, right);
        return;
    }
    unsigned *low = data + left, *high = data + right, pivot = data[(left + right) / 2];
    while (low <= high) {
        unsigned low_value = *low, high_value = *high;
        while (low_value < pivot)
            low_value = *++low;
        while (high_value > pivot)
            high_value = *--high;
        if (low <= high) {
            *low++ = high_value;
            *high-- = low_value;
        }
    }
    int new_right = high - data, new_left = low - data;
    if (left < high - data) {
        cudaStream_t stream;
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
        simple_quicksort<<<1, 1, 0, stream>>>(data, left, new_right, depth + 1);
        cudaStreamDestroy(stream);
    }
    if (low - data < right) {
        cudaStream_t stream;
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
        simple_quicksort<<<1, 1, 0, stream>>>(data, new_left, right, depth + 1);
        cudaStreamDestroy(stream);
    }
}

int main() {
    const int count = 1024;
    std::vector<unsigned> host(count), sorted(count);
    unsigned state = 2047;
    for (unsigned &value : host)
        value = (state = state * 1664525u + 1013904223u) >> 12;
    unsigned *data;
    cudaMalloc(&data, count * sizeof(unsigned));
    cudaMemcpy(data, host.data(), count * sizeof(unsigned), cudaMemcpyHostToDevice);
    simple_quicksort<<<1, 1>>>(data, 0, count - 1, 0);
    std::cout << "launched: " << cudaGetErrorString(cudaDeviceSynchronize()) << "\n";
    cudaMemcpy(sorted.data(), data, count * sizeof(unsigned), cudaMemcpyDeviceToHost);
    cudaFree(data);
    std::sort(host.begin(), host.end());
    std::cout << (sorted == host ? "sorted" : "not sorted") << ", from " << sorted.front() << " to "
              << sorted.back() << std::endl;
}
