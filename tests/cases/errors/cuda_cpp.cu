// Errors and warnings of C++ on both sides, with templates between.
#include <cstdio>

template <class T> __device__ T twice(T value) { return value.doubled(); } //~ E0901
__device__ int only_device() { return 1; }

__global__ void kernel(int *out) {
    out[0] = twice(out[1]);
    out[2] == 3; //~ W0901
    printf("%d\n", undeclared); //~ E0901
}

int main() {
    return only_device(); //~ E0901
}
