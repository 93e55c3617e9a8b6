// What the threads of a warp tell each other: reductions, matches, votes and shuffles, with all lanes and with
// some, in templates, and from kernels that launch kernels by what they found.
#include <cstdio>

__global__ void found(unsigned lanes, int key) { printf("key %d: lanes %08x\n", key, lanes); }

template <class T> __device__ T sum_of(T value)
{
    for (int distance = 16; distance > 0; distance /= 2) {
        value += __shfl_down_sync(0xffffffff, value, distance);
    }
    return __shfl_sync(0xffffffff, value, 0);
}

__global__ void talk()
{
    const int lane = threadIdx.x;
    const int key = lane * lane % 3 + (lane > 20 ? 5 : 0);

    const unsigned same = __match_any_sync(0xffffffff, key);
    if (lane == __ffs(same) - 1) {
        found<<<1, 1>>>(same, key);
    }
    int all = 0;
    const unsigned whole = __match_all_sync(0xffffffff, key < 10, &all);
    const unsigned sum = __reduce_add_sync(0xffffffff, lane);
    const int least = __reduce_min_sync(0xffffffff, 7 - lane), most = __reduce_max_sync(0xffffffff, 7 - lane);
    const unsigned bits = __reduce_xor_sync(0xffffffff, 1u << (lane / 2)) | __reduce_or_sync(0xffffffff, lane & 4);
    const double total = sum_of(lane * 0.5);
    const long long wide = sum_of(static_cast<long long>(lane) << 33);
    if (lane == 0) {
        printf("%08x %d | %u %d %d %x | %g %lld\n", whole, all, sum, least, most, bits, total, wide);
    }
    if (lane % 3 == 1) {
        // Who else is there is nobody's promise.
        const unsigned active = __activemask();
        const unsigned part = __reduce_add_sync(0x92492492, lane);
        const int odd = __popc(__ballot_sync(0x92492492, lane % 2));
        const int up = __shfl_up_sync(0x92492492, lane, 3);
        const int any = __any_sync(0x92492492, lane == 4), every = __all_sync(0x92492492, lane > 0);
        if (lane == 31) {
            printf("%d %u %d %d | %d %d\n", active >> 31, part, odd, up, any, every);
        }
    }
    const int swapped = __shfl_xor_sync(0xffffffff, lane, 5, 8);
    const unsigned order = __reduce_add_sync(0xffffffff, swapped * lane);
    if (lane == 0) {
        printf("%u\n", order);
    }
}

int main()
{
    talk<<<1, 32>>>();
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
