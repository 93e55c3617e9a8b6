// Atomic sums of float2 and float4, whose old values are asked for or not.
#include <cstdio>

struct Places {
    float4 whole;
    float2 halves[2];
    float4 of_system;
    float last;
};

__global__ void add(Places *places)
{
    atomicAdd(&places->whole, make_float4(1, 2, 3, 4));
    float2 old = atomicAdd(&places->halves[0], make_float2(1, 2));
    if (blockIdx.x == 0) {
        atomicAdd_block(&places->halves[1], make_float2(3, 4));
    }
    atomicAdd_system(&places->of_system, make_float4(.5f, 1, 2, 4));
    if (old.x == 127) {
        places->last = old.y;
    }
}

__global__ void parent(Places *places)
{
    if (threadIdx.x == 0) {
        add<<<4, 32>>>(places);
    }
}

int main()
{
    Places *places;
    cudaMallocManaged(&places, sizeof(Places));
    *places = {};
    parent<<<1, 32>>>(places);
    int error = cudaDeviceSynchronize();
    float4 a = places->whole, b = places->of_system;
    printf("%d: %g %g %g %g\n", error, a.x, a.y, a.z, a.w);
    for (float2 half : places->halves) {
        printf("%g %g\n", half.x, half.y);
    }
    printf("%g %g %g %g, %g\n", b.x, b.y, b.z, b.w, places->last);
    cudaFree(places);
    return error;
}
