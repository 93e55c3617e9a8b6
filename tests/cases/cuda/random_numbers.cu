// needs: curand_kernel.h
// cuRAND's functions for kernels: generators, distributions, and pi by a kernel that launches its parts.
#include <cstdio>
#include <curand_kernel.h>

__global__ void prepare(curandState *states, unsigned long long seed)
{
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    curand_init(seed, i, 0, &states[i]);
}

__global__ void throw_darts(curandState *states, unsigned *hits, int darts)
{
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    curandState state = states[i];
    unsigned own = 0;
    for (int dart = 0; dart < darts; dart++) {
        float x = curand_uniform(&state), y = curand_uniform(&state);
        own += x * x + y * y <= 1.0f;
    }
    states[i] = state;
    atomicAdd(hits, own);
}

__global__ void pi(curandState *states, unsigned *hits)
{
    prepare<<<2, 64>>>(states, 1234);
    throw_darts<<<2, 64>>>(states, hits, 100);
}

template <typename State>
__global__ void numbers(unsigned *out, unsigned long long seed)
{
    State state;
    curand_init(seed, threadIdx.x, 3, &state);
    out[threadIdx.x] = curand(&state);
}

__global__ void distributions(float *out, double *wide, unsigned *whole)
{
    int i = threadIdx.x;
    curandStatePhilox4_32_10_t philox;
    curand_init(99, i, 5, &philox);
    uint4 four = curand4(&philox);
    whole[i] = four.x ^ four.w;
    wide[i] = curand_uniform_double(&philox);
    curandStateXORWOW_t xorwow;
    curand_init(7, i, 0, &xorwow);
    whole[i] += curand_poisson(&xorwow, 4.0);
    out[i] = curand_normal(&xorwow) + curand_log_normal(&xorwow, 0.5f, 0.25f) + curand_normal2(&xorwow).y;
}

int main()
{
    curandState *states;
    unsigned *out;
    float *single;
    double *wide;
    cudaMallocManaged(&states, 128 * sizeof(curandState));
    cudaMallocManaged(&out, 64 * sizeof(unsigned));
    cudaMallocManaged(&single, 32 * sizeof(float));
    cudaMallocManaged(&wide, 32 * sizeof(double));
    out[0] = 0;
    pi<<<1, 1>>>(states, out);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    printf("%u of 12800: %.3f\n", out[0], 4.0 * out[0] / 12800);

    numbers<curandStateXORWOW_t><<<1, 2>>>(out, 1);
    numbers<curandStateMRG32k3a_t><<<1, 2>>>(out + 2, 2);
    numbers<curandStatePhilox4_32_10_t><<<1, 2>>>(out + 4, 3);
    cudaDeviceSynchronize();
    for (int i = 0; i < 6; i++) {
        printf("%u ", out[i]);
    }
    printf("\n");
    distributions<<<1, 32>>>(single, wide, out);
    cudaDeviceSynchronize();
    for (int i = 0; i < 32; i += 9) {
        printf("%.3f %.6f %u\n", single[i], wide[i], out[i]);
    }
    return 0;
}
