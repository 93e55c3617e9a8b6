// Truth values in memory whose bytes are neither 0 nor 1, as `cudaMemset` makes them and memory read as another type: true
// is what is not 0, and copies and numbers made of them are the byte's value.
#include <cstdio>
#include <cstring>

struct Flags {
    bool visited, done;
    int id;
};

__device__ bool device_flags[4];

__global__ void child(const bool *set, int *out) { out[threadIdx.x] += set[threadIdx.x] ? 100 : 1; }

__global__ void look(bool *set, const Flags *flags, int *out)
{
    int i = threadIdx.x;
    if (set[i])
        out[i] = 1;
    if (!set[i])
        out[i] = 2;
    out[i] += 10 * (set[i] && flags[i].visited);
    out[i] += flags[i].done ? 20 : 0;
    set[8 + i] = set[i];
    out[8 + i] = set[i];
    out[16 + i] = set[i] == set[(i + 1) % 8];
    out[24 + i] = __popc(__ballot_sync(255, set[i]));
    __syncthreads();
    if (i == 0)
        child<<<1, 8>>>(set, out);
}

__global__ void count(const bool *set, int n, int *result)
{
    int sum = 0;
    float real = 0;
    for (int i = 0; i < n; i++) {
        sum += set[i] != false;
        real += set[i];
    }
    result[0] = sum;
    result[1] = (int)real;
    result[2] = device_flags[0] + device_flags[1];
}

__attribute__((noinline)) int host_count(const bool *set, int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        if (set[i])
            sum++;
    return sum;
}

__attribute__((noinline)) const char *said(const Flags &flags)
{
    if (flags.visited)
        return flags.done ? "done" : "seen";
    return "new";
}

int main()
{
    const unsigned char bytes[8] = {0, 1, 2, 4, 0x80, 0xfe, 0xff, 0};
    bool *set;
    Flags *flags;
    int *out;
    cudaMallocManaged(&set, 64);
    cudaMallocManaged(&flags, 8 * sizeof *flags);
    cudaMallocManaged(&out, 64 * sizeof *out);
    cudaMemset(flags, 2, 8 * sizeof *flags);
    memcpy(set, bytes, sizeof bytes);
    cudaMemcpyToSymbol(device_flags, bytes + 2, 4);
    look<<<1, 8>>>(set, flags, out);
    cudaDeviceSynchronize();
    for (int i = 0; i < 8; i++)
        printf("%d %d %d %d %d\n", out[i], ((unsigned char *)set)[8 + i], out[8 + i], out[16 + i], out[24 + i]);
    count<<<1, 1>>>(set, 8, out);
    cudaDeviceSynchronize();
    printf("%d %d %d\n", out[0], out[1], out[2]);
    printf("%d %s\n", host_count(set, 8), said(flags[3]));
    memset((void *)flags, 4, sizeof *flags);
    flags[0].done = false;
    printf("%s\n", said(flags[0]));
}
