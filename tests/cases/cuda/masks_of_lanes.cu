// skip: race: some masks leave out lanes that come, on purpose
// Lanes of a warp that come to exchanges with different masks: groups by mask, lanes that have ended, values of lanes
// that are not there or not named. What an H200 gives.
#include <cstdio>

template <int V> __global__ void meet(unsigned *out, unsigned zero)
{
    unsigned lane = threadIdx.x, v = 0;
    unsigned full = 0xffffffffu ^ zero, low = 0xffffu ^ zero, high = 0xffff0000u ^ zero;
    if (V == 0) {
        if (lane < 16)
            __syncwarp(full);
        else
            __syncwarp(high);
    }
    if (V == 1) {
        if (lane < 16)
            v = __shfl_sync(low, lane, 20);
        else
            v = __shfl_sync(high, lane, 3);
    }
    if (V == 2) {
        if (lane < 16)
            v = __ballot_sync(low, 1);
        else if (lane < 24)
            v = __ballot_sync(full, 1);
        else
            v = __ballot_sync(0xff00ffffu ^ zero, 1);
    }
    if (V == 3)
        v = __shfl_sync(lane < 16 ? low : full, lane, 5);
    if (V == 4)
        v = __any_sync(lane < 16 ? full : high, lane == 3);
    if (V == 5) {
        if (lane == 5)
            return;
        v = __shfl_sync(full, lane, 5);
    }
    if (V == 6) {
        if (lane == 0)
            v = __ballot_sync(3u ^ zero, 1);
        else if (lane == 1)
            v = __ballot_sync(6u ^ zero, 1);
        else
            v = 9;
    }
    if (V == 7) {
        if (lane & 1)
            v = __ballot_sync(full, 1);
        else
            v = __shfl_sync(0x55555555u ^ zero, lane, 4);
    }
    if (V == 8)
        v = __ballot_sync(low, 1);
    if (V == 9)
        v = __shfl_sync(lane & 1 ? 0xaaaaaaaau ^ zero : 0x55555555u ^ zero, lane, 5);
    if (V == 10)
        v = __reduce_add_sync(lane < 16 ? low : high, lane);
    if (V == 11)
        v = __shfl_down_sync(0xffffu, lane, 8);
    out[lane] = v;
}

template <int V> void show(unsigned *out)
{
    cudaMemset(out, 0, 32 * sizeof *out);
    meet<V><<<1, 32>>>(out, 0);
    unsigned host[32];
    cudaError_t error = cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    printf("%d %s:", V, cudaGetErrorString(error));
    for (int lane = 0; lane < 32; lane++)
        if (lane == 0 || host[lane] != host[lane - 1])
            printf(" %d: %x", lane, host[lane]);
    printf("\n");
    if constexpr (V > 0)
        show<V - 1>(out);
}

int main()
{
    unsigned *out;
    cudaMalloc(&out, 32 * sizeof *out);
    show<11>(out);
    return 0;
}
