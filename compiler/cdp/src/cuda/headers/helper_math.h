/* Operators and functions for CUDA's vector types, as NVIDIA's samples use them. Own writing. */
#ifndef CDP_SAMPLES_HELPER_MATH_H
#define CDP_SAMPLES_HELPER_MATH_H

#include <cmath>
#include <cuda_runtime.h>

typedef unsigned int uint;
typedef unsigned short ushort;

#define CDP_FN inline __host__ __device__

#ifndef __CUDACC__
inline int max(int a, int b) { return a > b ? a : b; }
inline int min(int a, int b) { return a < b ? a : b; }
inline uint max(uint a, uint b) { return a > b ? a : b; }
inline uint min(uint a, uint b) { return a < b ? a : b; }
inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
#endif

CDP_FN float lerp(float a, float b, float t) { return a + t * (b - a); }
CDP_FN float clamp(float f, float a, float b) { return fmaxf(a, fminf(f, b)); }
CDP_FN int clamp(int f, int a, int b) { return f < a ? a : f > b ? b : f; }
CDP_FN uint clamp(uint f, uint a, uint b) { return f < a ? a : f > b ? b : f; }
CDP_FN float fracf(float v) { return v - floorf(v); }
CDP_FN float smoothstep(float a, float b, float x) {
    float y = clamp((x - a) / (b - a), 0.0f, 1.0f);
    return y * y * (3.0f - 2.0f * y);
}

/* One operator for two, three and four elements, between vectors and with a number on either side. */
#define CDP_OPERATOR(S, V, op)                                                                                  \
    CDP_FN V##2 operator op(V##2 a, V##2 b) { return make_##V##2(a.x op b.x, a.y op b.y); }                     \
    CDP_FN V##2 operator op(V##2 a, S b) { return make_##V##2(a.x op b, a.y op b); }                            \
    CDP_FN V##2 operator op(S a, V##2 b) { return make_##V##2(a op b.x, a op b.y); }                            \
    CDP_FN V##3 operator op(V##3 a, V##3 b) { return make_##V##3(a.x op b.x, a.y op b.y, a.z op b.z); }         \
    CDP_FN V##3 operator op(V##3 a, S b) { return make_##V##3(a.x op b, a.y op b, a.z op b); }                  \
    CDP_FN V##3 operator op(S a, V##3 b) { return make_##V##3(a op b.x, a op b.y, a op b.z); }                  \
    CDP_FN V##4 operator op(V##4 a, V##4 b) {                                                                   \
        return make_##V##4(a.x op b.x, a.y op b.y, a.z op b.z, a.w op b.w);                                     \
    }                                                                                                           \
    CDP_FN V##4 operator op(V##4 a, S b) { return make_##V##4(a.x op b, a.y op b, a.z op b, a.w op b); }        \
    CDP_FN V##4 operator op(S a, V##4 b) { return make_##V##4(a op b.x, a op b.y, a op b.z, a op b.w); }        \
    CDP_FN void operator op##=(V##2 &a, V##2 b) { a = a op b; }                                                 \
    CDP_FN void operator op##=(V##2 &a, S b) { a = a op b; }                                                    \
    CDP_FN void operator op##=(V##3 &a, V##3 b) { a = a op b; }                                                 \
    CDP_FN void operator op##=(V##3 &a, S b) { a = a op b; }                                                    \
    CDP_FN void operator op##=(V##4 &a, V##4 b) { a = a op b; }                                                 \
    CDP_FN void operator op##=(V##4 &a, S b) { a = a op b; }

CDP_OPERATOR(float, float, +)
CDP_OPERATOR(float, float, -)
CDP_OPERATOR(float, float, *)
CDP_OPERATOR(float, float, /)
CDP_OPERATOR(int, int, +)
CDP_OPERATOR(int, int, -)
CDP_OPERATOR(int, int, *)
CDP_OPERATOR(uint, uint, +)
CDP_OPERATOR(uint, uint, -)
CDP_OPERATOR(uint, uint, *)

#define CDP_VECTOR(S, V)                                                                                        \
    CDP_FN V##2 make_##V##2(S s) { return make_##V##2(s, s); }                                                  \
    CDP_FN V##2 make_##V##2(V##3 a) { return make_##V##2(a.x, a.y); }                                           \
    CDP_FN V##3 make_##V##3(S s) { return make_##V##3(s, s, s); }                                               \
    CDP_FN V##3 make_##V##3(V##2 a) { return make_##V##3(a.x, a.y, S(0)); }                                     \
    CDP_FN V##3 make_##V##3(V##2 a, S s) { return make_##V##3(a.x, a.y, s); }                                   \
    CDP_FN V##3 make_##V##3(V##4 a) { return make_##V##3(a.x, a.y, a.z); }                                      \
    CDP_FN V##4 make_##V##4(S s) { return make_##V##4(s, s, s, s); }                                            \
    CDP_FN V##4 make_##V##4(V##3 a) { return make_##V##4(a.x, a.y, a.z, S(0)); }                                \
    CDP_FN V##4 make_##V##4(V##3 a, S w) { return make_##V##4(a.x, a.y, a.z, w); }                              \
    CDP_FN S dot(V##2 a, V##2 b) { return a.x * b.x + a.y * b.y; }                                              \
    CDP_FN S dot(V##3 a, V##3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }                                  \
    CDP_FN S dot(V##4 a, V##4 b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }                      \
    CDP_FN V##2 clamp(V##2 v, S a, S b) { return make_##V##2(clamp(v.x, a, b), clamp(v.y, a, b)); }             \
    CDP_FN V##3 clamp(V##3 v, S a, S b) {                                                                       \
        return make_##V##3(clamp(v.x, a, b), clamp(v.y, a, b), clamp(v.z, a, b));                               \
    }                                                                                                           \
    CDP_FN V##4 clamp(V##4 v, S a, S b) {                                                                       \
        return make_##V##4(clamp(v.x, a, b), clamp(v.y, a, b), clamp(v.z, a, b), clamp(v.w, a, b));             \
    }                                                                                                           \
    CDP_FN V##2 clamp(V##2 v, V##2 a, V##2 b) { return make_##V##2(clamp(v.x, a.x, b.x), clamp(v.y, a.y, b.y)); } \
    CDP_FN V##3 clamp(V##3 v, V##3 a, V##3 b) {                                                                 \
        return make_##V##3(clamp(v.x, a.x, b.x), clamp(v.y, a.y, b.y), clamp(v.z, a.z, b.z));                   \
    }                                                                                                           \
    CDP_FN V##4 clamp(V##4 v, V##4 a, V##4 b) {                                                                 \
        return make_##V##4(clamp(v.x, a.x, b.x), clamp(v.y, a.y, b.y), clamp(v.z, a.z, b.z), clamp(v.w, a.w, b.w)); \
    }

CDP_VECTOR(float, float)
CDP_VECTOR(int, int)
CDP_VECTOR(uint, uint)

/* The elements of one type as another's. */
#define CDP_CONVERT(S, V, W)                                                                                    \
    CDP_FN V##2 make_##V##2(W##2 a) { return make_##V##2(S(a.x), S(a.y)); }                                     \
    CDP_FN V##3 make_##V##3(W##3 a) { return make_##V##3(S(a.x), S(a.y), S(a.z)); }                             \
    CDP_FN V##4 make_##V##4(W##4 a) { return make_##V##4(S(a.x), S(a.y), S(a.z), S(a.w)); }

CDP_CONVERT(float, float, int)
CDP_CONVERT(float, float, uint)
CDP_CONVERT(int, int, float)
CDP_CONVERT(int, int, uint)
CDP_CONVERT(uint, uint, int)

CDP_FN float2 operator-(const float2 &a) { return make_float2(-a.x, -a.y); }
CDP_FN float3 operator-(const float3 &a) { return make_float3(-a.x, -a.y, -a.z); }
CDP_FN float4 operator-(const float4 &a) { return make_float4(-a.x, -a.y, -a.z, -a.w); }
CDP_FN int2 operator-(const int2 &a) { return make_int2(-a.x, -a.y); }
CDP_FN int3 operator-(const int3 &a) { return make_int3(-a.x, -a.y, -a.z); }
CDP_FN int4 operator-(const int4 &a) { return make_int4(-a.x, -a.y, -a.z, -a.w); }

/* A function of one number, or of two, for every element. */
#define CDP_EACH(V, name, f)                                                                                    \
    CDP_FN V##2 name(V##2 v) { return make_##V##2(f(v.x), f(v.y)); }                                            \
    CDP_FN V##3 name(V##3 v) { return make_##V##3(f(v.x), f(v.y), f(v.z)); }                                    \
    CDP_FN V##4 name(V##4 v) { return make_##V##4(f(v.x), f(v.y), f(v.z), f(v.w)); }
#define CDP_EACH_OF_TWO(V, name, f)                                                                             \
    CDP_FN V##2 name(V##2 a, V##2 b) { return make_##V##2(f(a.x, b.x), f(a.y, b.y)); }                          \
    CDP_FN V##3 name(V##3 a, V##3 b) { return make_##V##3(f(a.x, b.x), f(a.y, b.y), f(a.z, b.z)); }             \
    CDP_FN V##4 name(V##4 a, V##4 b) {                                                                          \
        return make_##V##4(f(a.x, b.x), f(a.y, b.y), f(a.z, b.z), f(a.w, b.w));                                 \
    }

CDP_EACH(float, floorf, ::floorf)
CDP_EACH(float, fracf, ::fracf)
CDP_EACH(float, fabs, ::fabsf)
CDP_EACH(int, abs, ::abs)
CDP_EACH_OF_TWO(float, fminf, ::fminf)
CDP_EACH_OF_TWO(float, fmaxf, ::fmaxf)
CDP_EACH_OF_TWO(float, fmodf, ::fmodf)
CDP_EACH_OF_TWO(int, min, ::min)
CDP_EACH_OF_TWO(int, max, ::max)
CDP_EACH_OF_TWO(uint, min, ::min)
CDP_EACH_OF_TWO(uint, max, ::max)

#define CDP_LENGTHS(V)                                                                                          \
    CDP_FN V lerp(V a, V b, float t) { return a + t * (b - a); }                                                \
    CDP_FN float length(V v) { return sqrtf(dot(v, v)); }                                                       \
    CDP_FN V normalize(V v) { return v * (1.0f / sqrtf(dot(v, v))); }                                           \
    CDP_FN V reflect(V i, V n) { return i - 2.0f * n * dot(n, i); }                                             \
    CDP_FN V smoothstep(V a, V b, V x) {                                                                        \
        V y = clamp((x - a) / (b - a), 0.0f, 1.0f);                                                             \
        return y * y * (3.0f - 2.0f * y);                                                                       \
    }

CDP_LENGTHS(float2)
CDP_LENGTHS(float3)
CDP_LENGTHS(float4)

CDP_FN float3 cross(float3 a, float3 b) {
    return make_float3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

#undef CDP_CONVERT
#undef CDP_EACH
#undef CDP_EACH_OF_TWO
#undef CDP_LENGTHS
#undef CDP_OPERATOR
#undef CDP_VECTOR
#undef CDP_FN

#endif
