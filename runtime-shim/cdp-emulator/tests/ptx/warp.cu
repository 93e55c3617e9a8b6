// Warps: divergence, exchanges, votes, locks, barriers.
#include <stdio.h>

__global__ void shuffles(int *out) {
    int lane = threadIdx.x;
    int v = lane * lane;
    int a = __shfl_sync(~0u, v, 3);
    int b = __shfl_up_sync(~0u, v, 2);
    int c = __shfl_down_sync(~0u, v, 4, 16);
    int d = __shfl_xor_sync(~0u, v, 5);
    unsigned e = __ballot_sync(~0u, lane % 3 == 0);
    int f = __any_sync(~0u, lane == 40) * 2 + __all_sync(~0u, lane < 32);
    unsigned g = __match_any_sync(~0u, lane / 5);
    int h = __reduce_add_sync(~0u, lane);
    unsigned i = __activemask();
    long long j = __shfl_sync(~0u, (long long)lane << 33, 7);
    if (lane == 6) printf("%d %d %d %d %x %d %x %d %x %llx\n", a, b, c, d, e, f, g, h, i, j);
}

__device__ int lock, total;
__global__ void spin_lock() {
    // Every lane of the warp takes the lock: ends only if diverged lanes make progress.
    while (atomicCAS(&lock, 0, 1) != 0) { }
    total = total + 1;
    __threadfence();
    atomicExch(&lock, 0);
}
__global__ void show_total() { printf("total %d\n", total); total = 0; }

__device__ volatile int flag;
__global__ void two_branches() {
    if (threadIdx.x == 0) {
        while (flag == 0) { }
        printf("seen\n");
    } else {
        flag = 1;
    }
}

__global__ void reduce() {
    __shared__ int s[256];
    int t = threadIdx.x;
    s[t] = t + blockIdx.x;
    __syncthreads();
    for (int n = 128; n > 0; n /= 2) {
        if (t < n) s[t] += s[t + n];
        __syncthreads();
    }
    if (t == 0) printf("block %d sum %d\n", blockIdx.x, s[0]);
}

__global__ void votes() {
    int n = __syncthreads_count(threadIdx.x % 4 == 0);
    int a = __syncthreads_and(threadIdx.x < 100);
    int o = __syncthreads_or(threadIdx.x == 99);
    if (threadIdx.x == 70) printf("%d %d %d\n", n, a != 0, o != 0);
}

__device__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
__global__ void recursion() { printf("fib %d\n", fib(5 + threadIdx.x)); }

__device__ __noinline__ int twice(int x) { return 2 * x; }
__device__ __noinline__ int square(int x) { return x * x; }
__device__ int (*table[2])(int) = {twice, square};
__global__ void pointers() { printf("%d\n", table[threadIdx.x & 1](threadIdx.x + 3)); }

__global__ void partial() {
    unsigned m = threadIdx.x < 8 ? 0xffu : 0xffffff00u;
    int v;
    if (threadIdx.x < 8) v = __reduce_add_sync(m, (int)threadIdx.x);
    else v = __reduce_max_sync(m, (int)threadIdx.x);
    __syncwarp();
    if (threadIdx.x % 8 == 0) printf("%d:%d ", threadIdx.x, v);
    if (threadIdx.x == 31) printf("\n");
}

__global__ void early(int n) {
    if (threadIdx.x >= 50) return;
    __syncthreads();
    if (threadIdx.x == 49) printf("early ok\n");
}

__global__ void local_array(int n) {
    int a[16];
    for (int i = 0; i < 16; i++) a[i] = i * (int)threadIdx.x;
    int s = 0;
    for (int i = 0; i < 16; i++) s += a[(i * 5 + (int)threadIdx.x) & 15] * i;
    if (threadIdx.x == 9) printf("local %d\n", s);
}

struct Node { int v; Node *next; };
__global__ void heap() {
    Node *head = nullptr;
    for (int i = 0; i < 10; i++) { Node *n = new Node{i, head}; head = n; }
    int s = 0;
    while (head) { s = s * 3 + head->v; Node *n = head->next; delete head; head = n; }
    void *big = malloc(100 << 20);
    printf("heap %d %d\n", s, big == nullptr);
}

__global__ void formats() {
    printf("%5d|%-5d|%05d|%x|%X|%o|%c|%s|%%|%p\n", 42, 42, 42, 255, 255, 8, 'z', "str", (void *)0);
    printf("%f %e %g %.3f %10.2f %lld %llu %u\n", 1.5, 12345.678, 0.0001, 2.71828, 3.14159,
           -5000000000LL, 18446744073709551615ULL, 4000000000u);
    int n = printf("a%db%d\n", 1, 2);
    printf("%d\n", n);
}

__global__ void switches() {
    int r;
    switch (threadIdx.x % 7) {
        case 0: r = 5; break;
        case 1: r = 17; break;
        case 2: r = 31; break;
        case 3: r = 2; break;
        case 4: r = 99; break;
        case 5: r = 44; break;
        default: r = -1;
    }
    r = __reduce_add_sync(~0u, r);
    if (threadIdx.x == 0) printf("switch %d\n", r);
}
