// Calls and launches across two compilers' host code; a cudart that prints stands behind both.

#include "types.h"
#include <cstdio>
#include <cstring>
#include <cuda_fp16.h>

extern __device__ int counter;
extern __managed__ long long managed;

__global__ void plain(char a, bool b, short c, unsigned d, long long e, float f, double g, int *h);
__global__ void structs(Bytes a, Floats b, Three c, Mixed d, Doubles e, Both f, Reverse g, Large h);
__global__ void vectors(int4 a, float2 b, double2 c, char3 d, dim3 e, __half f, __half2 g);
__global__ void others(Empty a, Nested b, Either c, Bits d, int e);
__global__ void many(long long a, long long b, long long c, long long d, long long e, Both f, int g,
                     Doubles h, Doubles i, Doubles j, Floats k, Floats l, Three m, int4 n);

Bytes give_bytes(int first);
Floats give_floats(float x);
Three give_three(float x);
Mixed give_mixed(float f, int i);
Doubles give_doubles(double a);
Both give_both(long long n);
Reverse give_reverse(short n);
Large give_large(double a);
int4 give_int4(int a);
__half give_half(float a);
int weigh_halves(int a, int b, int c, int d, int e, __half f, __half g, float h, __half i);
int their_halves(int a, int b, int c, int d, int e, int f, __half g, float h, __half i)
{
    return a + b + c + d + e + f + 10 * (int)__half2float(g) + 100 * (int)h + 1000 * (int)__half2float(i);
}
double weigh(Bytes a, Floats b, Three c, Mixed d, Doubles e, Both f, Reverse g, Large h, int4 i, Doubles j,
             Doubles k);
double weigh_any(const char *kinds, ...);
double weigh_given(const char *kinds, va_list list);
void weigh_from_here();
void from_here();

Mixed swap_mixed(Mixed m) { return {(float)m.i, (int)m.f}; }
Large add_large(Large a, Large b)
{
    for (int i = 0; i < 3; ++i)
        a.values[i] += b.values[i];
    return a;
}
Three turn(Three t, int by) { return by == 1 ? Three{t.y, t.z, t.x} : t; }
__global__ void foreign(Reverse r, Bytes b, double d) {}

template <typename T> static T at(void **args, int index)
{
    T value;
    memcpy(&value, args[index], sizeof value);
    return value;
}

double their_given(const char *kinds, va_list list) { return weigh_list(kinds, list); }
double their_weight(const char *kinds, ...)
{
    va_list list;
    va_start(list, kinds);
    double sum = weigh_list(kinds, list);
    va_end(list);
    return sum;
}
static double forwarded(const char *kinds, ...)
{
    va_list list;
    va_start(list, kinds);
    double sum = va_arg(list, double) + weigh_given(kinds, list);
    va_end(list);
    return sum;
}

// Called by the cudart behind this for every launch.
extern "C" void show_arguments(const char *kernel, void **args)
{
    if (strstr(kernel, "plain"))
        printf("  %c %d %d %u %lld %g %g %p\n", at<char>(args, 0), at<bool>(args, 1), at<short>(args, 2),
               at<unsigned>(args, 3), at<long long>(args, 4), at<float>(args, 5), at<double>(args, 6),
               at<void *>(args, 7));
    if (strstr(kernel, "structs")) {
        Bytes a = at<Bytes>(args, 0);
        Floats b = at<Floats>(args, 1);
        Three c = at<Three>(args, 2);
        Mixed d = at<Mixed>(args, 3);
        Doubles e = at<Doubles>(args, 4);
        Both f = at<Both>(args, 5);
        Reverse g = at<Reverse>(args, 6);
        Large h = at<Large>(args, 7);
        printf("  %d%d%d %g %g, %g %g %g, %g %d, %g %g, %lld %g, %g %d, %g %g %g\n", a.a[0], a.a[1], a.a[2],
               b.x, b.y, c.x, c.y, c.z, d.f, d.i, e.a, e.b, f.number, f.fraction, g.fraction, g.number,
               h.values[0], h.values[1], h.values[2]);
    }
    if (strstr(kernel, "vectors")) {
        int4 a = at<int4>(args, 0);
        float2 b = at<float2>(args, 1);
        double2 c = at<double2>(args, 2);
        char3 d = at<char3>(args, 3);
        dim3 e = at<dim3>(args, 4);
        __half2 g = at<__half2>(args, 6);
        printf("  %d %d %d %d, %g %g, %g %g, %d %d %d, %u %u %u, %g, %g %g\n", a.x, a.y, a.z, a.w, b.x, b.y,
               c.x, c.y, d.x, d.y, d.z, e.x, e.y, e.z, __half2float(at<__half>(args, 5)),
               __half2float(__low2half(g)), __half2float(__high2half(g)));
    }
    if (strstr(kernel, "others")) {
        Nested b = at<Nested>(args, 1);
        Bits d = at<Bits>(args, 3);
        printf("  %g %d %d, %g, %u %u %d, %d\n", b.mixed.f, b.mixed.i, b.bytes.a[1], at<Either>(args, 2).d,
               d.low, d.high, d.rest, at<int>(args, 4));
    }
    if (strstr(kernel, "many")) {
        for (int i = 0; i < 5; ++i)
            printf("  %lld", at<long long>(args, i));
        Both f = at<Both>(args, 5);
        printf("  %lld %g, %d", f.number, f.fraction, at<int>(args, 6));
        for (int i = 7; i < 10; ++i)
            printf(", %g %g", at<Doubles>(args, i).a, at<Doubles>(args, i).b);
        for (int i = 10; i < 12; ++i)
            printf(", %g %g", at<Floats>(args, i).x, at<Floats>(args, i).y);
        Three m = at<Three>(args, 12);
        int4 n = at<int4>(args, 13);
        printf(", %g %g %g, %d %d %d %d\n", m.x, m.y, m.z, n.x, n.y, n.z, n.w);
    }
    if (strstr(kernel, "own")) {
        Mixed a = at<Mixed>(args, 0);
        Large b = at<Large>(args, 1);
        printf("  %g %d, %g %g %g\n", a.f, a.i, b.values[0], b.values[1], b.values[2]);
    }
    if (strstr(kernel, "foreign")) {
        Reverse a = at<Reverse>(args, 0);
        Bytes b = at<Bytes>(args, 1);
        printf("  %g %d, %d %d %d, %g\n", a.fraction, a.number, b.a[0], b.a[1], b.a[2], at<double>(args, 2));
    }
}

int main()
{
    plain<<<1, 2, 3>>>('a', false, 7, 8u, 1LL << 40, 0.5f, 0.25, nullptr);
    structs<<<dim3(2, 3, 4), dim3(5, 6, 7)>>>(give_bytes(1), give_floats(1.5f), give_three(2.5f),
                                              give_mixed(3.5f, 4), give_doubles(5), give_both(6),
                                              give_reverse(7), give_large(8));
    vectors<<<1, 1>>>(give_int4(1), make_float2(1.5f, 2.5f), make_double2(3.5, 4.5), make_char3(1, 2, 3),
                      dim3(7, 8, 9), give_half(0.75f), __floats2half2_rn(1.25f, 2.25f));
    // More halves than integer registers are left for.
    printf("%d\n", weigh_halves(1, 2, 3, 4, 5, give_half(1), give_half(2), 3.0f, give_half(4)));
    Nested nested = {give_mixed(1.0f, 2), give_bytes(3)};
    Either either;
    either.d = 0.1;
    Bits bits = {17, 99999, -5};
    others<<<1, 1>>>(Empty(), nested, either, bits, 42);
    many<<<1, 1>>>(1, 2, 3, 4, 5, give_both(6), 7, give_doubles(8), give_doubles(9), give_doubles(10),
                   give_floats(11), give_floats(12), give_three(13), give_int4(14));
    printf("weight %g\n", weigh(give_bytes(1), give_floats(2), give_three(3), give_mixed(4, 5), give_doubles(6),
                                give_both(7), give_reverse(8), give_large(9), give_int4(10), give_doubles(11),
                                give_doubles(12)));
    __int128 wide = (__int128)3 << 64;
    printf("any %.17g\n", weigh_any("FTMDROL4EidqB", give_floats(1), give_three(2), give_mixed(3, 4),
                                    give_doubles(5), give_reverse(6), give_both(7), give_large(8), give_int4(9),
                                    Empty(), 10, 11.0, wide, give_bytes(12)));
    printf("given %.17g\n", forwarded("DDDDDdFqOOidL", 5.0, give_doubles(1), give_doubles(2), give_doubles(3),
                                      give_doubles(4), give_doubles(5), 6.0, give_floats(7), wide, give_both(8),
                                      give_both(9), 10, 11.0, give_large(12)));
    weigh_from_here();
    from_here();
    managed += 100;
    printf("managed %lld\n", managed);
    int value = 0;
    cudaMemcpyFromSymbol(&value, counter, sizeof value);
    return 0;
}
