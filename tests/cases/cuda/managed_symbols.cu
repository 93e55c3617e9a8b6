// `__managed__` variables as symbols of the runtime: copies to and from them, their address and size.
#include <cstdio>

__managed__ int counter = 5;
__managed__ double table[4] = {1, 2, 3, 4};
namespace inner { static __managed__ long hidden = 77; }
__device__ int plain = 3;

__global__ void read(long *out) { *out = counter * 1000 + long(table[2]) * 10 + inner::hidden % 10 + plain; }

int main()
{
    int x = 1234;
    double two[2] = {8, 9};
    printf("%d ", cudaMemcpyToSymbol(counter, &x, sizeof x));
    printf("%d\n", counter);
    printf("%d ", cudaMemcpyToSymbol(table, two, sizeof two, 8));
    printf("%g %g\n", table[1], table[2]);
    inner::hidden = 42;
    long y = 0;
    printf("%d ", cudaMemcpyFromSymbol(&y, inner::hidden, sizeof y));
    printf("%ld\n", y);
    void *address;
    printf("%d ", cudaGetSymbolAddress(&address, table));
    printf("%d\n", address == table);
    size_t bytes;
    printf("%d ", cudaGetSymbolSize(&bytes, table));
    printf("%zu\n", bytes);
    printf("%s\n", cudaGetErrorName(cudaMemcpyToSymbol(table, two, sizeof two, 24)));
    cudaGetLastError();
    int host = 0;
    printf("%s\n", cudaGetErrorName(cudaGetSymbolAddress(&address, host)));
    cudaGetLastError();
    long *out, result;
    cudaMalloc(&out, sizeof *out);
    read<<<1, 1>>>(out);
    cudaMemcpy(&result, out, sizeof result, cudaMemcpyDeviceToHost);
    printf("%ld\n%s\n", result, cudaGetErrorName(cudaGetLastError()));
}
