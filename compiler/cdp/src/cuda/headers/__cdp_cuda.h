// What clang's own headers for CUDA lack, included before everything of a program's.
#pragma once

// nvcc has read these before a program's first line.
#include <math.h>
#include <initializer_list>
#include <new>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "__cdp_atomics.h"
#include "__cdp_cache.h"
#if !defined(__CUDA_ARCH__) && CUDART_VERSION >= 12000 && CUDART_VERSION < 13000
#include "__cdp_toolkit_12.h"
#endif

// CUTLASS leaves it out for clang, which knows it: kernels would copy their tensor maps into local memory, where the hardware takes none.
#if defined(__CUDA_ARCH__) && !defined(CUTLASS_GRID_CONSTANT)
#define CUTLASS_GRID_CONSTANT __grid_constant__
#endif

#undef __nv_pure__
#define __nv_pure__ __attribute__((pure))

static __inline__ __device__ float __tanhf(float x)
{
    float y;
    asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

// CUDA's header asks for the component of a gather before the place of its residency, clang's functions behind it.
namespace {
namespace __cuda_tex {
template <typename _Op> struct __cdp_resident_gather {
};
template <> struct __cdp_resident_gather<__Tag<__tex_op_hash("__itex2Dgather_sparse")>> {
    typedef void type;
};
template <typename _Op, typename T>
static __inline__ __device__ typename __cdp_resident_gather<_Op>::type __tex_fetch_impl(
    __texture_op_tag, T *value, cudaTextureObject_t __texture, float x, float y, int __component, unsigned char *__resident)
{
    typedef typename __TypeInfoT<T>::__fetch_t _F;
    *value = __convert<T, _F>::__run(__tex_fetch_v4<_Op>::template __run<_F>(__texture, x, y, __resident, __component));
}
}
}

// What CUDA's headers call in the C library's manner and clang's do not. A `long double` of device code is a double.
#define __CDP_CLASS(name, T, means)                                                                         \
    static __inline__ __device__ int name(T x) __attribute__((enable_if(true, "")))                         \
    {                                                                                                       \
        return means(static_cast<double>(x));                                                               \
    }
__CDP_CLASS(__signbit, double, __nv_signbitd)
__CDP_CLASS(__signbitl, long double, __nv_signbitd)
__CDP_CLASS(__finitel, long double, __nv_isfinited)
__CDP_CLASS(__isinfl, long double, __nv_isinfd)
__CDP_CLASS(__isnanl, long double, __nv_isnand)
#undef __CDP_CLASS

// With it CUDA's headers read the C++ library's, which must not be read before clang's have declared malloc for device code.
#ifdef __CDP_EXTENDED_LAMBDA__
#define __CUDACC_EXTENDED_LAMBDA__ 1
#include <functional>
#include <utility>
#endif

// nvcc asks so for the classes that its front end makes of lambdas of device code. Here a lambda is its own class on both
// sides, with all that the classes of the host's have.
#define __nv_is_extended_device_lambda_closure_type(type) false
#define __nv_is_extended_host_device_lambda_closure_type(type) false
#define __nv_is_extended_device_lambda_with_preserved_return_type(type) false

// A kernel where the device runtime takes an address, which nvcc makes of it. clang looks for one function of that name.
template <typename... _P>
static __inline__ __device__ cudaError_t __cdp_launch_device(
    void (*kernel)(_P...), void *buffer, dim3 __grid, dim3 __block, unsigned int __shared_bytes, cudaStream_t stream)
{
    return ::cudaLaunchDevice((void *)kernel, buffer, __grid, __block, __shared_bytes, stream);
}
static __inline__ __device__ cudaError_t __cdp_launch_device(
    void *kernel, void *buffer, dim3 __grid, dim3 __block, unsigned int __shared_bytes, cudaStream_t stream)
{
    return ::cudaLaunchDevice(kernel, buffer, __grid, __block, __shared_bytes, stream);
}
#define cudaLaunchDevice(...) __cdp_launch_device(__VA_ARGS__)

// Managed variables are known by their section (crate cdp-llvm, managed.rs).
#undef __managed__
#define __managed__ __attribute__((device)) __attribute__((section("__cdp_managed")))

// clang has no attribute for it (crate cdp-llvm, clang.rs).
#undef __maxnreg__
#define __maxnreg__(count) __attribute__((annotate("cdp.maxnreg", count)))

// For nvcc a function of the device runtime is the host's by that name, whose declaration gives the last arguments a value.
// For clang the two are overloads.
extern "C" {
__device__ cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = 0);
__device__ cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream = 0, unsigned int flags = 0);
__device__ cudaError_t cudaMemcpy2DAsync(
    void *to, size_t __to_pitch, const void *from, size_t __from_pitch, size_t width, size_t height, cudaMemcpyKind kind,
    cudaStream_t stream = 0);
__device__ cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms *what, cudaStream_t stream = 0);
__device__ cudaError_t cudaMemcpyAsync(
    void *to, const void *from, size_t count, cudaMemcpyKind kind, cudaStream_t stream = 0);
__device__ cudaError_t cudaMemset2DAsync(
    void *to, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream = 0);
__device__ cudaError_t cudaMemset3DAsync(cudaPitchedPtr to, int value, cudaExtent extent, cudaStream_t stream = 0);
__device__ cudaError_t cudaMemsetAsync(void *to, int value, size_t count, cudaStream_t stream = 0);
__device__ cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags = 0);
}

// CUDA's headers declare these for device code, and define them for nvcc's front end only.
template <typename T> static __inline__ __device__ cudaError_t cudaMalloc(T **__place, size_t bytes)
{
    return ::cudaMalloc((void **)(void *)__place, bytes);
}

template <typename T>
static __inline__ __device__ cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, T *kernel)
{
    return ::cudaFuncGetAttributes(attributes, (const void *)kernel);
}

template <typename T>
static __inline__ __device__ cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(
    int *__blocks, T kernel, int __block_threads, size_t __shared_bytes)
{
    return ::cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        __blocks, (const void *)kernel, __block_threads, __shared_bytes);
}

template <typename T>
static __inline__ __device__ cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *__blocks, T kernel, int __block_threads, size_t __shared_bytes, unsigned int flags)
{
    return ::cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        __blocks, (const void *)kernel, __block_threads, __shared_bytes, flags);
}

// A power by an integer is one by a double, as the C++ library has had it since 2011; clang's device code has powers of floats
// that are floats, and products. Squares are products here too, which are not as slow.
static __inline__ __device__ double __cdp_power(double base, int __exponent)
{
    return __builtin_constant_p(__exponent) && __exponent == 2 ? base * base : ::pow(base, (double)__exponent);
}
static __inline__ __device__ double pow(float base, int __exponent) __attribute__((enable_if(true, "")))
{
    return __cdp_power(base, __exponent);
}
static __inline__ __device__ double pow(double base, int __exponent) __attribute__((enable_if(true, "")))
{
    return __cdp_power(base, __exponent);
}
namespace std {
using ::pow;
}

// The least and the greatest of two numbers in host code, for the types that nvcc has them for; clang has them in device
// code alone. A program may have its own of them: of two equal candidates the one with a condition is taken, and both
// can be there.
#define __CDP_HOST_PAIR(_R, _A, _B)                                                                         \
    static __inline__ __host__ _R min(_A a, _B b) __attribute__((enable_if(true, "")))                      \
    {                                                                                                       \
        return static_cast<_R>(a) < static_cast<_R>(b) ? static_cast<_R>(a) : static_cast<_R>(b);           \
    }                                                                                                       \
    static __inline__ __host__ _R max(_A a, _B b) __attribute__((enable_if(true, "")))                      \
    {                                                                                                       \
        return static_cast<_R>(a) > static_cast<_R>(b) ? static_cast<_R>(a) : static_cast<_R>(b);           \
    }
#define __CDP_HOST_PAIRS(S, U)                                                                              \
    __CDP_HOST_PAIR(S, S, S)                                                                                \
    __CDP_HOST_PAIR(U, U, U)                                                                                \
    __CDP_HOST_PAIR(U, S, U)                                                                                \
    __CDP_HOST_PAIR(U, U, S)

__CDP_HOST_PAIRS(int, unsigned int)
__CDP_HOST_PAIRS(long, unsigned long)
__CDP_HOST_PAIRS(long long, unsigned long long)
#undef __CDP_HOST_PAIRS
#undef __CDP_HOST_PAIR

#define __CDP_HOST_FLOATS(_R, _A, _B)                                                                       \
    static __inline__ __host__ _R min(_A a, _B b) __attribute__((enable_if(true, "")))                      \
    {                                                                                                       \
        return __builtin_fmin(a, b);                                                                        \
    }                                                                                                       \
    static __inline__ __host__ _R max(_A a, _B b) __attribute__((enable_if(true, "")))                      \
    {                                                                                                       \
        return __builtin_fmax(a, b);                                                                        \
    }

__CDP_HOST_FLOATS(float, float, float)
__CDP_HOST_FLOATS(double, double, double)
__CDP_HOST_FLOATS(double, float, double)
__CDP_HOST_FLOATS(double, double, float)
#undef __CDP_HOST_FLOATS

// The same by their older names.
#define __CDP_HOST_NAMED(name, T, means)                                                                    \
    static __inline__ __host__ T name(T a, T b) __attribute__((enable_if(true, "")))                        \
    {                                                                                                       \
        return means(a, b);                                                                                 \
    }

__CDP_HOST_NAMED(umin, unsigned int, min)
__CDP_HOST_NAMED(umax, unsigned int, max)
__CDP_HOST_NAMED(llmin, long long, min)
__CDP_HOST_NAMED(llmax, long long, max)
__CDP_HOST_NAMED(ullmin, unsigned long long, min)
__CDP_HOST_NAMED(ullmax, unsigned long long, max)
#undef __CDP_HOST_NAMED

// A program's own conditions that ask for nvcc ask for this (crate cdp, cuda/spelling.rs).
#define __CDPC__ 1

// What these headers of CUDA define is there: clang includes the files behind them. Old programs name them.
#define __DEVICE_ATOMIC_FUNCTIONS_H__
#define __SM_20_ATOMIC_FUNCTIONS_H__
#define __SM_20_INTRINSICS_H__
#define __SM_30_INTRINSICS_H__
#define __SM_32_ATOMIC_FUNCTIONS_H__
#define __SM_32_INTRINSICS_H__
#define __SM_35_ATOMIC_FUNCTIONS_H__
#define __SM_35_INTRINSICS_H__
#define __SM_60_ATOMIC_FUNCTIONS_H__
#define __SM_61_INTRINSICS_H__

// What second readings write (crate cdp, cuda/lenient.rs). A function of the host that a function of both sides calls:
// device code that comes there stops.
template <typename _R, typename... _A>
struct __cdp_no_function {
    template <typename... _B>
    static __inline__ __device__ _R __call(_A..., _B &&...)
    {
        __builtin_trap();
    }
};
template <typename _R, typename... _A>
__host__ __device__ __cdp_no_function<_R, _A...> __cdp_absent(_R (*)(_A...));
template <typename _R, typename... _A>
__host__ __device__ __cdp_no_function<_R, _A...> __cdp_absent(_R (*)(_A..., ...));

// `x = {}` where several classes could be made of the braces is `x = decltype(__cdp_value(x)){}`.
template <typename T>
__host__ __device__ T __cdp_value(const T &);

// An array whose length is computed begins with some elements: `T a[n], *x = __cdp_filled(a, sizeof a, {1, 2})`.
template <typename T>
static __inline__ T *__cdp_filled(T *array, size_t bytes, std::initializer_list<typename __cdp_same<T>::type> first)
{
    memset(array, 0, bytes);
    size_t index = 0;
    for (const T &__element : first)
        array[index++] = __element;
    return array;
}
static __inline__ char *__cdp_filled(char *array, size_t bytes, const char *__text)
{
    return strncpy(array, __text, bytes);
}
// All zeros, whatever the elements are.
struct __cdp_zeros {
    void *__place;
    template <typename T>
    operator T *() const
    {
        return (T *)__place;
    }
};
static __inline__ __cdp_zeros __cdp_cleared(void *array, size_t bytes) { return {memset(array, 0, bytes)}; }

// Steps through memory without a type are bytes: `p + __cdp_bytes() + 4`, `p += __cdp_bytes() = 4`.
struct __cdp_step {
    long count;
};
struct __cdp_bytes {
    __host__ __device__ __cdp_step operator=(long count) const { return {count}; }
};
template <typename _V>
struct __cdp_start {
    _V *__place;
    __host__ __device__ _V *operator+(long count) const { return (_V *)((char *)__place + count); }
    __host__ __device__ _V *operator-(long count) const { return (_V *)((char *)__place - count); }
};
#define __CDP_STEPS(_V)                                                                                     \
    static __inline__ __host__ __device__ __cdp_start<_V> operator+(_V *__place, __cdp_bytes) { return {__place}; } \
    static __inline__ __host__ __device__ __cdp_start<_V> operator-(_V *__place, __cdp_bytes) { return {__place}; } \
    static __inline__ __host__ __device__ _V *&operator+=(_V *&__place, __cdp_step __by)                    \
    {                                                                                                       \
        return __place = (_V *)((char *)__place + __by.count);                                              \
    }                                                                                                       \
    static __inline__ __host__ __device__ _V *&operator-=(_V *&__place, __cdp_step __by)                    \
    {                                                                                                       \
        return __place = (_V *)((char *)__place - __by.count);                                              \
    }
__CDP_STEPS(void)
__CDP_STEPS(const void)
#undef __CDP_STEPS

// Compare-and-swap and exchange of 16 bytes, which nvcc's front end makes from builtins of its own. Host passes
// check kernels too.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
template <typename T, bool>
struct __cdp_if_quad {
};
template <typename T>
struct __cdp_if_quad<T, true> {
    typedef T type;
};
#define __CDP_QUAD(T)                                                                                       \
    typename __cdp_if_quad<T, sizeof(T) == 16 && alignof(T) >= 16 && __is_trivially_copyable(T)>::type

union __cdp_quad {
    unsigned long long __halves[2];
    char bytes[16];
};

#define __CDP_QUAD_FORMS(suffix, scope)                                                                     \
    template <typename T>                                                                                   \
    static __inline__ __device__ __CDP_QUAD(T) atomicCAS##suffix(T *__place, T compare, T value)            \
    {                                                                                                       \
        __cdp_quad c, v;                                                                                    \
        __builtin_memcpy(&c, (const void *)__builtin_addressof(compare), 16);                               \
        __builtin_memcpy(&v, (const void *)__builtin_addressof(value), 16);                                 \
        asm volatile("{\n\t.reg .b128 c, v, r;\n\t"                                                         \
                     "mov.b128 c, {%3, %4};\n\tmov.b128 v, {%5, %6};\n\t"                                   \
                     "atom.relaxed" scope ".cas.b128 r, [%2], c, v;\n\tmov.b128 {%0, %1}, r;\n\t}"          \
                     : "=l"(v.__halves[0]), "=l"(v.__halves[1])                                             \
                     : "l"(__place), "l"(c.__halves[0]), "l"(c.__halves[1]), "l"(v.__halves[0]), "l"(v.__halves[1]) \
                     : "memory");                                                                           \
        __builtin_memcpy((void *)__builtin_addressof(value), &v, 16);                                       \
        return value;                                                                                       \
    }                                                                                                       \
    template <typename T>                                                                                   \
    static __inline__ __device__ __CDP_QUAD(T) atomicExch##suffix(T *__place, T value)                      \
    {                                                                                                       \
        __cdp_quad v;                                                                                       \
        __builtin_memcpy(&v, (const void *)__builtin_addressof(value), 16);                                 \
        asm volatile("{\n\t.reg .b128 v, r;\n\tmov.b128 v, {%3, %4};\n\t"                                   \
                     "atom.relaxed" scope ".exch.b128 r, [%2], v;\n\tmov.b128 {%0, %1}, r;\n\t}"            \
                     : "=l"(v.__halves[0]), "=l"(v.__halves[1])                                             \
                     : "l"(__place), "l"(v.__halves[0]), "l"(v.__halves[1])                                 \
                     : "memory");                                                                           \
        __builtin_memcpy((void *)__builtin_addressof(value), &v, 16);                                       \
        return value;                                                                                       \
    }

__CDP_QUAD_FORMS(, ".gpu")
__CDP_QUAD_FORMS(_block, ".cta")
__CDP_QUAD_FORMS(_system, ".sys")
#undef __CDP_QUAD_FORMS
#undef __CDP_QUAD
#endif

// Sums of two and four floats. clang's own are assembly that it may drop where nobody asks for the old value, and
// move across other accesses; of two equal candidates it takes the one with a condition.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define __CDP_VECTOR_SUMS(suffix, scope)                                                                    \
    static __inline__ __device__ float2 atomicAdd##suffix(float2 *__place, float2 value)                    \
        __attribute__((enable_if(true, "")))                                                                \
    {                                                                                                       \
        asm volatile("atom.relaxed" scope ".global.add.v2.f32 {%0, %1}, [%2], {%0, %1};"                    \
                     : "+f"(value.x), "+f"(value.y)                                                         \
                     : "l"(__cvta_generic_to_global(__place))                                               \
                     : "memory");                                                                           \
        return value;                                                                                       \
    }                                                                                                       \
    static __inline__ __device__ float4 atomicAdd##suffix(float4 *__place, float4 value)                    \
        __attribute__((enable_if(true, "")))                                                                \
    {                                                                                                       \
        asm volatile("atom.relaxed" scope ".global.add.v4.f32 {%0, %1, %2, %3}, [%4], {%0, %1, %2, %3};"    \
                     : "+f"(value.x), "+f"(value.y), "+f"(value.z), "+f"(value.w)                           \
                     : "l"(__cvta_generic_to_global(__place))                                               \
                     : "memory");                                                                           \
        return value;                                                                                       \
    }

__CDP_VECTOR_SUMS(, ".gpu")
__CDP_VECTOR_SUMS(_block, ".cta")
__CDP_VECTOR_SUMS(_system, ".sys")
#undef __CDP_VECTOR_SUMS
#endif

// CUDA's header has this for passes that see `__CUDA_ARCH__` only; host passes check kernels too.
#if defined(CUDA_FORCE_CDP1_IF_SUPPORTED) && !defined(__CUDA_ARCH__)
extern "C" __device__ cudaError_t cudaDeviceSynchronize(void);
#endif

// Memory of types aligned to more than malloc aligns to: the start of the block stands before it.
#if defined(__cpp_aligned_new)
static __inline__ __device__ void *__cdp_aligned_new(__SIZE_TYPE__ bytes, __SIZE_TYPE__ alignment)
{
    char *__block = static_cast<char *>(::malloc(bytes + alignment + sizeof(void *)));
    if (!__block) {
        return nullptr;
    }
    __SIZE_TYPE__ first = reinterpret_cast<__SIZE_TYPE__>(__block) + sizeof(void *) + alignment - 1;
    void **__place = reinterpret_cast<void **>(first & ~(alignment - 1));
    __place[-1] = __block;
    return __place;
}

static __inline__ __device__ void __cdp_aligned_delete(void *__place)
{
    if (__place) {
        ::free(static_cast<void **>(__place)[-1]);
    }
}

#define __CDP_ALIGNED_FORMS(brackets)                                                                       \
    inline __device__ void *operator new brackets(__SIZE_TYPE__ bytes, std::align_val_t alignment)          \
    {                                                                                                       \
        return __cdp_aligned_new(bytes, static_cast<__SIZE_TYPE__>(alignment));                             \
    }                                                                                                       \
    inline __device__ void *operator new brackets(                                                          \
        __SIZE_TYPE__ bytes, std::align_val_t alignment, const std::nothrow_t &) noexcept                   \
    {                                                                                                       \
        return __cdp_aligned_new(bytes, static_cast<__SIZE_TYPE__>(alignment));                             \
    }                                                                                                       \
    inline __device__ void operator delete brackets(void *__place, std::align_val_t) noexcept               \
    {                                                                                                       \
        __cdp_aligned_delete(__place);                                                                      \
    }                                                                                                       \
    inline __device__ void operator delete brackets(                                                        \
        void *__place, std::align_val_t, const std::nothrow_t &) noexcept                                   \
    {                                                                                                       \
        __cdp_aligned_delete(__place);                                                                      \
    }                                                                                                       \
    inline __device__ void operator delete brackets(                                                        \
        void *__place, __SIZE_TYPE__, std::align_val_t) noexcept                                            \
    {                                                                                                       \
        __cdp_aligned_delete(__place);                                                                      \
    }

#define __CDP_SINGLE
__CDP_ALIGNED_FORMS(__CDP_SINGLE)
__CDP_ALIGNED_FORMS([])
#undef __CDP_SINGLE
#undef __CDP_ALIGNED_FORMS
#endif

// What comes now is the program's (headers.rs).
#define __CDP_BEGUN
