// Loads and stores with cache operators (CUDA C++ Programming Guide, "Load Functions Using Cache Hints"): those of CUDA's
// header `sm_32_intrinsics.h` that clang's have not. The bits of a value of 1 to 16 bytes are moved at once.
#pragma once

#define __CDP_LOAD_BITS(type, R, W)                                                                         \
    {                                                                                                       \
        W bits;                                                                                             \
        asm volatile(__CDP_OPERATOR "." type " %0, [%1];" : "=" R(bits) : "l"(place) : "memory");           \
        __builtin_memcpy(__builtin_addressof(value), &bits, sizeof(T) < sizeof(W) ? sizeof(T) : sizeof(W)); \
    }
#define __CDP_LOAD_BODY(T)                                                                                  \
    static_assert(sizeof(T) <= 16 && alignof(T) == sizeof(T), "cache operators are for the built-in types"); \
    T value;                                                                                                \
    if (sizeof(T) == 1)                                                                                     \
        __CDP_LOAD_BITS("b8", "h", unsigned short)                                                          \
    else if (sizeof(T) == 2)                                                                                \
        __CDP_LOAD_BITS("b16", "h", unsigned short)                                                         \
    else if (sizeof(T) == 4)                                                                                \
        __CDP_LOAD_BITS("b32", "r", unsigned int)                                                           \
    else if (sizeof(T) == 8)                                                                                \
        __CDP_LOAD_BITS("b64", "l", unsigned long long)                                                     \
    else {                                                                                                  \
        unsigned long long bits[2];                                                                         \
        asm volatile(__CDP_OPERATOR ".v2.b64 {%0, %1}, [%2];"                                               \
                     : "=l"(bits[0]), "=l"(bits[1])                                                         \
                     : "l"(place)                                                                           \
                     : "memory");                                                                           \
        __builtin_memcpy(__builtin_addressof(value), bits, sizeof(T) < 16 ? sizeof(T) : 16);                \
    }                                                                                                       \
    return value;

#define __CDP_STORE_BITS(type, R, W)                                                                        \
    {                                                                                                       \
        W bits = 0;                                                                                         \
        __builtin_memcpy(&bits, __builtin_addressof(value), sizeof(T) < sizeof(W) ? sizeof(T) : sizeof(W)); \
        asm volatile(__CDP_OPERATOR "." type " [%0], %1;" : : "l"(place), R(bits) : "memory");              \
    }
#define __CDP_STORE_BODY(T)                                                                                 \
    static_assert(sizeof(T) <= 16 && alignof(T) == sizeof(T), "cache operators are for the built-in types"); \
    if (sizeof(T) == 1)                                                                                     \
        __CDP_STORE_BITS("b8", "h", unsigned short)                                                         \
    else if (sizeof(T) == 2)                                                                                \
        __CDP_STORE_BITS("b16", "h", unsigned short)                                                        \
    else if (sizeof(T) == 4)                                                                                \
        __CDP_STORE_BITS("b32", "r", unsigned int)                                                          \
    else if (sizeof(T) == 8)                                                                                \
        __CDP_STORE_BITS("b64", "l", unsigned long long)                                                    \
    else {                                                                                                  \
        unsigned long long bits[2];                                                                         \
        __builtin_memcpy(bits, __builtin_addressof(value), sizeof(T) < 16 ? sizeof(T) : 16);                \
        asm volatile(__CDP_OPERATOR ".v2.b64 [%0], {%1, %2};"                                               \
                     :                                                                                      \
                     : "l"(place), "l"(bits[0]), "l"(bits[1])                                               \
                     : "memory");                                                                           \
    }

#define __CDP_OPERATOR "ld.global.ca"
template <typename T>
static __inline__ __device__ T __ldca(const T *place)
{
    __CDP_LOAD_BODY(T)
}
#undef __CDP_OPERATOR
#define __CDP_OPERATOR "ld.global.lu"
template <typename T>
static __inline__ __device__ T __ldlu(const T *place)
{
    __CDP_LOAD_BODY(T)
}
#undef __CDP_OPERATOR
#define __CDP_OPERATOR "ld.global.cg"
static __inline__ __device__ unsigned long __ldcg(const unsigned long *place)
{
    typedef unsigned long T;
    __CDP_LOAD_BODY(T)
}
#undef __CDP_OPERATOR
#define __CDP_OPERATOR "ld.global.cs"
static __inline__ __device__ unsigned long __ldcs(const unsigned long *place)
{
    typedef unsigned long T;
    __CDP_LOAD_BODY(T)
}
#undef __CDP_OPERATOR
#define __CDP_OPERATOR "ld.global.cv"
static __inline__ __device__ unsigned long __ldcv(const unsigned long *place)
{
    typedef unsigned long T;
    __CDP_LOAD_BODY(T)
}
#undef __CDP_OPERATOR
#define __CDP_OPERATOR "st.global.wb"
template <typename T>
static __inline__ __device__ void __stwb(T *place, typename __cdp_same<T>::type value)
{
    __CDP_STORE_BODY(T)
}
#undef __CDP_OPERATOR
#define __CDP_OPERATOR "st.global.cg"
template <typename T>
static __inline__ __device__ void __stcg(T *place, typename __cdp_same<T>::type value)
{
    __CDP_STORE_BODY(T)
}
#undef __CDP_OPERATOR
#define __CDP_OPERATOR "st.global.cs"
template <typename T>
static __inline__ __device__ void __stcs(T *place, typename __cdp_same<T>::type value)
{
    __CDP_STORE_BODY(T)
}
#undef __CDP_OPERATOR
#define __CDP_OPERATOR "st.global.wt"
static __inline__ __device__ void __stwt(long *place, long value)
{
    typedef long T;
    __CDP_STORE_BODY(T)
}
static __inline__ __device__ void __stwt(unsigned long *place, unsigned long value)
{
    typedef unsigned long T;
    __CDP_STORE_BODY(T)
}
#undef __CDP_OPERATOR

#undef __CDP_STORE_BODY
#undef __CDP_STORE_BITS
#undef __CDP_LOAD_BODY
#undef __CDP_LOAD_BITS
