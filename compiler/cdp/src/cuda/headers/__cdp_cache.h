// Loads and stores with cache operators (CUDA C++ Programming Guide, "Load Functions Using Cache Hints"): those of CUDA's
// header `sm_32_intrinsics.h` that clang's have not. The bits of a value of 1 to 16 bytes are moved at once.
#pragma once

#include "__cdp_atomics.h"

#define __CDP_CACHED(T)                                                                                     \
    static_assert(sizeof(T) <= 16 && alignof(T) == sizeof(T), "cache operators are for the built-in types")

#define __CDP_LOAD_BITS(T, __place, instruction, type, _R, _W)                                              \
    {                                                                                                       \
        _W __bits;                                                                                          \
        asm volatile(instruction "." type " %0, [%1];" : "=" _R(__bits) : "l"(__place) : "memory");         \
        __cdp_put(&value, __bits);                                                                          \
    }

// `head` is what begins a template, if it is one.
#define __CDP_LOAD(head, T, name, instruction)                                                              \
    head static __inline__ __device__ T name(const T *__place)                                              \
    {                                                                                                       \
        __CDP_CACHED(T);                                                                                    \
        T value;                                                                                            \
        if (sizeof(T) == 1)                                                                                 \
            __CDP_LOAD_BITS(T, __place, instruction, "b8", "h", unsigned short)                             \
        else if (sizeof(T) == 2)                                                                            \
            __CDP_LOAD_BITS(T, __place, instruction, "b16", "h", unsigned short)                            \
        else if (sizeof(T) == 4)                                                                            \
            __CDP_LOAD_BITS(T, __place, instruction, "b32", "r", unsigned int)                              \
        else if (sizeof(T) == 8)                                                                            \
            __CDP_LOAD_BITS(T, __place, instruction, "b64", "l", unsigned long long)                        \
        else {                                                                                              \
            __cdp_pair __bits;                                                                              \
            asm volatile(instruction ".v2.b64 {%0, %1}, [%2];"                                              \
                         : "=l"(__bits.__halves[0]), "=l"(__bits.__halves[1])                               \
                         : "l"(__place)                                                                     \
                         : "memory");                                                                       \
            __cdp_put(&value, __bits);                                                                      \
        }                                                                                                   \
        return value;                                                                                       \
    }

#define __CDP_STORE_BITS(T, __place, instruction, type, _R, _W)                                             \
    {                                                                                                       \
        _W __bits = __cdp_bits<_W, T>(value);                                                               \
        asm volatile(instruction "." type " [%0], %1;" : : "l"(__place), _R(__bits) : "memory");            \
    }

#define __CDP_STORE(head, T, name, instruction)                                                             \
    head static __inline__ __device__ void name(T *__place, typename __cdp_same<T>::type value)             \
    {                                                                                                       \
        __CDP_CACHED(T);                                                                                    \
        if (sizeof(T) == 1)                                                                                 \
            __CDP_STORE_BITS(T, __place, instruction, "b8", "h", unsigned short)                            \
        else if (sizeof(T) == 2)                                                                            \
            __CDP_STORE_BITS(T, __place, instruction, "b16", "h", unsigned short)                           \
        else if (sizeof(T) == 4)                                                                            \
            __CDP_STORE_BITS(T, __place, instruction, "b32", "r", unsigned int)                             \
        else if (sizeof(T) == 8)                                                                            \
            __CDP_STORE_BITS(T, __place, instruction, "b64", "l", unsigned long long)                       \
        else {                                                                                              \
            __cdp_pair __bits = __cdp_bits<__cdp_pair, T>(value);                                           \
            asm volatile(instruction ".v2.b64 [%0], {%1, %2};"                                              \
                         :                                                                                  \
                         : "l"(__place), "l"(__bits.__halves[0]), "l"(__bits.__halves[1])                   \
                         : "memory");                                                                       \
        }                                                                                                   \
    }

struct __cdp_pair {
    unsigned long long __halves[2];
};

#define __CDP_ANY template <typename T>
__CDP_LOAD(__CDP_ANY, T, __ldca, "ld.global.ca")
__CDP_LOAD(__CDP_ANY, T, __ldlu, "ld.global.lu")
__CDP_LOAD(, unsigned long, __ldcg, "ld.global.cg")
__CDP_LOAD(, unsigned long, __ldcs, "ld.global.cs")
__CDP_LOAD(, unsigned long, __ldcv, "ld.global.cv")
__CDP_STORE(__CDP_ANY, T, __stwb, "st.global.wb")
__CDP_STORE(__CDP_ANY, T, __stcg, "st.global.cg")
__CDP_STORE(__CDP_ANY, T, __stcs, "st.global.cs")
__CDP_STORE(, long, __stwt, "st.global.wt")
__CDP_STORE(, unsigned long, __stwt, "st.global.wt")

#undef __CDP_ANY
#undef __CDP_STORE
#undef __CDP_STORE_BITS
#undef __CDP_LOAD
#undef __CDP_LOAD_BITS
#undef __CDP_CACHED
