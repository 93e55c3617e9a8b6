// Programs that must be accepted without findings, and whose modules verify; a line of dashes ends each.

// Statements.
enum Kind { SMALL, LARGE = 10, HUGE };
enum class Color : unsigned char { Red, Green };
__device__ int classify(int n, Kind kind, Color color) {
    int total = 0;
    for (int i = 0, j = 10; i < j; ++i, --j) {
        if (i == 3) continue;
        total += i * j;
    }
    while (int left = n - total) {
        if (left < 0) break;
        total++;
    }
    do { total -= 2; } while (total > 100);
    switch (kind) {
    case SMALL:
        total = 1;
    case LARGE: {
        int inner = total;
        total = inner + 1;
        break;
    }
    default:
        switch (color) { case Color::Red: total = 7; break; case Color::Green: ; }
    }
    switch (n & 3) {
        do {
        case 3: total++;
        case 2: total++;
        case 1: total++;
        case 0: ;
        } while (--n > 0);
    }
    return total > 5 && kind != HUGE || !total ? total : -total;
}
// ----

// Overloads, operators, references.
namespace math {
    struct Vec { float x, y; };
    __device__ Vec operator+(Vec a, Vec b) { return {a.x + b.x, a.y + b.y}; }
    __device__ Vec &operator+=(Vec &a, const Vec &b) { a.x += b.x; a.y += b.y; return a; }
    __device__ float length(const Vec &v, float scale = 1.0f) { return scale * (v.x * v.x + v.y * v.y); }
    inline namespace v1 { __device__ int version() { return 1; } }
}
__device__ int pick(int) { return 1; }
__device__ int pick(float) { return 2; }
__device__ int pick(const char *) { return 3; }
__device__ void bump(volatile int &value) { value = value + 1; }
__device__ int apply(int (*f)(int), int x) { return f(x); }
__device__ int *const *deep(int *const *p) { return p; }
__global__ void run(float *out, int n) {
    math::Vec a{1, 2}, b = {3, 4};
    a += b;
    math::Vec c = a + b;
    *out = length(c) + length(c, 2) + math::version();
    out[1] = pick(n) + pick(1.5f) + pick("x") + pick('c');
    bump(n);
    out[2] = apply(pick, n);
    auto f = &bump;
    f(n);
    auto &ref = out[3];
    ref = (n++, n) + +n - -n + ~n;
    const int &temp = n * 2;
    out[4] = temp;
    using namespace math;
    Vec d = c;
    (n > 0 ? out[5] : out[6]) = d.x;
}
// ----

// Casts and constants.
constexpr int N = 4 * 4;
const float scale = 0.5f;
static_assert(N == 16 && sizeof(long) == 8 && -1 / 2 == 0 && (-7 >> 1) == -4, "");
static_assert((unsigned char)300 == 44 && ~0u == 4294967295u && 'a' == 97, "");
static_assert(sizeof(float4) == 16 && alignof(double) == 8 && sizeof(dim3) == 12, "");
typedef unsigned long long u64;
using Table = int[N];
__constant__ Table lookup = {1, 2, 3};
__device__ int *where = (int *)0;
__device__ int second = 5;
__device__ int *address = &second;
__device__ const char *name = "name";
__device__ u64 convert(void *p, int *q, double d, bool b, signed char c) {
    float f = d;
    int i = d;
    i += 1.5;
    i <<= 2;
    u64 bits = reinterpret_cast<u64>(p);
    int *back = static_cast<int *>(p);
    const int *cq = q;
    int *mq = const_cast<int *>(cq);
    unsigned char low = (unsigned char)i;
    b = !p;
    b |= i > 3;
    c = -c;
    u64 sum = bits + (back - q) + *mq + low + f * scale + lookup[2] + b + c + N;
    return nullptr == p ? sum : sum % 10 ^ 3;
}
// ----

// Storage and linkage.
static __device__ int counter = 3;
__managed__ int shared_with_host;
extern __device__ int elsewhere;
extern "C" __device__ int c_linkage(int);
extern "C" { __global__ void c_kernel(int *p) { static int calls; calls++; *p = calls; } }
__shared__ int file_tile[8];
__device__ __forceinline__ int quick() { return counter; }
__device__ __noinline__ int slow() { return elsewhere + c_linkage(shared_with_host); }
__global__ void __launch_bounds__(256, 2) bounded(const float *__restrict__ in, float *out) {
    __shared__ float tile[16][16 + 1];
    tile[threadIdx.y][threadIdx.x] = in[0] + file_tile[1] + quick() + slow();
    *out = tile[0][1];
}
__device__ void mutual(int n);
__device__ void other(int n) { if (n) mutual(n - 1); }
__device__ void mutual(int n) { if (n) other(n - 1); }
// ----

// Kernel pointers and forms of launches.
struct Args { float4 v; int *p; char tail[3]; };
__global__ void child(Args args, double d, int *out) { out[0] = args.tail[0] + d; }
__global__ void none() {}
__global__ void far(int *);
typedef void (*Kernel)(Args, double, int *);
__global__ void parent(int *out, Kernel given) {
    Args args = {make_float4(1, 2, 3, 4), out, {'a'}};
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    dim3 grid(2, 3), block = 32;
    child<<<grid, block, 0, stream>>>(args, 1, out);
    none<<<1, 1>>>();
    none<<<dim3(1, 2, 3), {4, 5}>>>();
    far<<<gridDim, blockDim>>>(out);
    Kernel k = child;
    k<<<1, 1>>>(args, 2.5, out);
    given<<<1, 1>>>(args, 2.5f, nullptr);
    parent<<<1, 1, 0, cudaStreamFireAndForget>>>(out, given);
    cudaStreamDestroy(stream);
}
// ----

// Sizes, alignments and offsets as a program compiled by nvcc 13.0 printed them.
#include <stddef.h>
struct A { char c; double d; short s; };
static_assert(sizeof(A) == 24 && offsetof(A, d) == 8 && offsetof(A, s) == 16, "");
struct __align__(16) B { int x; };
static_assert(sizeof(B) == 16 && alignof(B) == 16, "");
struct C { char c; B b; float4 f[2]; };
static_assert(sizeof(C) == 64 && offsetof(C, b) == 16 && offsetof(C, f[1].y) == 52, "");
struct D { unsigned a : 3; unsigned b : 30; char c : 2; long long d : 40; };
static_assert(sizeof(D) == 16, "");
struct __attribute__((packed)) E { char c; int i; };
static_assert(sizeof(E) == 5 && offsetof(E, i) == 1, "");
union U { char c[9]; double d; };
static_assert(sizeof(U) == 16, "");
struct Empty {};
static_assert(sizeof(Empty) == 1, "");
struct F { char c; alignas(32) int i; char d; };
static_assert(sizeof(F) == 64 && offsetof(F, i) == 32 && alignof(F) == 32, "");
struct G { float3 p; char c; uchar3 u; double2 d; };
static_assert(sizeof(G) == 32 && offsetof(G, u) == 13 && offsetof(G, d) == 16, "");
// ----
