// Arrays of the host whose length is computed and that begin with some elements, which g++ takes; and a kernel with more
// parameters than older devices take.
#include <cstdio>

struct Table {
    int values[8000];
};

__global__ void pick(const __grid_constant__ Table table, int *out)
{
    out[threadIdx.x] = table.values[7999 - threadIdx.x];
}

int main(int argc, char **)
{
    int n = argc + 3;
    int a[n] = {0}, after = 7;
    int b[n] = {1, 2 + after};
    float grid[n][n] = {0};
    char s[n] = "ab";
    static Table table;
    for (int i = 0; i < 8000; i++) {
        table.values[i] = i;
    }
    int *out;
    cudaMallocManaged(&out, 128);
    pick<<<1, 32>>>(table, out);
    printf("%d %d %d %d %d %g %s\n", a[n - 1], after, b[0], b[1], b[n - 1], grid[n - 1][n - 1], s);
    cudaError_t error = cudaDeviceSynchronize();
    printf("%s %d %d\n", cudaGetErrorString(error), out[0], out[31]);
}
