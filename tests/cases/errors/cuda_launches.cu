// What clang says, and what is said of the launches that are taken over from it.
#include <vector>

struct big { char bytes[4097]; };
struct fits { char bytes[4096]; };
__global__ void takes_big(big b);
__global__ void takes_fits(fits f);
__global__ void child(int *out);
template <int THREADS> __global__ void of_threads(int *out);

__device__ void by_hand(int *out, size_t bytes) {
    void *buffer = cudaGetParameterBuffer(64, bytes);
    if (buffer)
        cudaLaunchDevice((void *)child, buffer, dim3(1), dim3(1), 0, 0);
}

__global__ void parent(big *b, fits *f, int *out) {
    takes_big<<<1, 1>>>(*b); //~ E0902
    takes_fits<<<1, 1>>>(*f);
    by_hand(out, 8);
}

int main() {
    std::vector<int> v;
    parent<<<1, 1>>>(nullptr, nullptr, v.data());
}
