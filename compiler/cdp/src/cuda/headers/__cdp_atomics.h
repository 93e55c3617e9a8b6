// nvcc's built-in atomic functions (CUDA C++ Programming Guide, "Built-in Atomic Functions"). They are macros, since
// orders and scopes have to be literals and the scope may be left out. clang has such functions too, but for this
// target it drops their scopes, and LLVM the order of all but loads, stores and compare-and-swap.
#pragma once

#define __CUDACC_DEVICE_ATOMIC_BUILTINS__ 1

#define __NV_ATOMIC_RELAXED 0
#define __NV_ATOMIC_CONSUME 1
#define __NV_ATOMIC_ACQUIRE 2
#define __NV_ATOMIC_RELEASE 3
#define __NV_ATOMIC_ACQ_REL 4
#define __NV_ATOMIC_SEQ_CST 5

#define __NV_THREAD_SCOPE_THREAD 0
#define __NV_THREAD_SCOPE_BLOCK 1
#define __NV_THREAD_SCOPE_CLUSTER 2
#define __NV_THREAD_SCOPE_DEVICE 3
#define __NV_THREAD_SCOPE_SYSTEM 4

// An instruction whose words around the scope are `head` and `tail`.
#define __CDP_SCOPED(head, tail, ...)                                                                       \
    if (scope <= __NV_THREAD_SCOPE_BLOCK)                                                                   \
        asm volatile(head ".cta" tail : __VA_ARGS__ : "memory");                                            \
    else if (scope == __NV_THREAD_SCOPE_CLUSTER)                                                            \
        asm volatile(head ".cluster" tail : __VA_ARGS__ : "memory");                                        \
    else if (scope == __NV_THREAD_SCOPE_DEVICE)                                                             \
        asm volatile(head ".gpu" tail : __VA_ARGS__ : "memory");                                            \
    else                                                                                                    \
        asm volatile(head ".sys" tail : __VA_ARGS__ : "memory")

template <typename T>
struct __cdp_same {
    typedef T type;
};

template <int __order, int scope>
static __inline__ __device__ void __cdp_fence()
{
    if (scope == __NV_THREAD_SCOPE_THREAD || __order == __NV_ATOMIC_RELAXED) {
        return;
    }
    if (__order == __NV_ATOMIC_SEQ_CST) {
        __CDP_SCOPED("fence.sc", ";", :);
    } else {
        __CDP_SCOPED("fence.acq_rel", ";", :);
    }
}

// An access is relaxed, between the fences that its order asks for.
template <int __order, int scope>
static __inline__ __device__ void __cdp_before()
{
    if (__order >= __NV_ATOMIC_RELEASE) {
        __cdp_fence<__order, scope>();
    }
}

template <int __order, int scope>
static __inline__ __device__ void __cdp_after()
{
    if (__order != __NV_ATOMIC_RELAXED && __order != __NV_ATOMIC_RELEASE) {
        __cdp_fence<__NV_ATOMIC_ACQ_REL, scope>();
    }
}

#define __CDP_ATOM(name, type, _R, _W)                                                                      \
    template <int scope>                                                                                    \
    static __inline__ __device__ _W __cdp_##name##_##type(volatile void *__place, _W value)                 \
    {                                                                                                       \
        _W __old;                                                                                           \
        __CDP_SCOPED("atom.relaxed", "." #name "." #type " %0, [%1], %2;",                                  \
                     "=" _R(__old) : "l"(__place), _R(value));                                              \
        return __old;                                                                                       \
    }
#define __CDP_ATOM_BITS(name)                                                                               \
    __CDP_ATOM(name, b32, "r", unsigned int)                                                                \
    __CDP_ATOM(name, b64, "l", unsigned long long)
#define __CDP_ATOM_SIGNED(name)                                                                             \
    __CDP_ATOM(name, s32, "r", unsigned int)                                                                \
    __CDP_ATOM(name, s64, "l", unsigned long long)
#define __CDP_ATOM_UNSIGNED(name)                                                                           \
    __CDP_ATOM(name, u32, "r", unsigned int)                                                                \
    __CDP_ATOM(name, u64, "l", unsigned long long)

__CDP_ATOM_BITS(exch)
__CDP_ATOM_BITS(and)
__CDP_ATOM_BITS(or)
__CDP_ATOM_BITS(xor)
__CDP_ATOM_SIGNED(min)
__CDP_ATOM_UNSIGNED(min)
__CDP_ATOM_SIGNED(max)
__CDP_ATOM_UNSIGNED(max)
__CDP_ATOM_UNSIGNED(add)
__CDP_ATOM(add, f32, "r", unsigned int)
__CDP_ATOM(add, f64, "l", unsigned long long)

#define __CDP_MOVE(__bits, _R, _W)                                                                          \
    template <int scope>                                                                                    \
    static __inline__ __device__ _W __cdp_load_##__bits(const volatile void *__place)                       \
    {                                                                                                       \
        _W value;                                                                                           \
        __CDP_SCOPED("ld.relaxed", ".b" #__bits " %0, [%1];", "=" _R(value) : "l"(__place));                \
        return value;                                                                                       \
    }                                                                                                       \
    template <int scope>                                                                                    \
    static __inline__ __device__ void __cdp_store_##__bits(volatile void *__place, _W value)                \
    {                                                                                                       \
        __CDP_SCOPED("st.relaxed", ".b" #__bits " [%0], %1;", : "l"(__place), _R(value));                   \
    }
#define __CDP_SWAP(__bits, _R, _W)                                                                          \
    template <int scope>                                                                                    \
    static __inline__ __device__ _W __cdp_cas_##__bits(volatile void *__place, _W __expected, _W __desired) \
    {                                                                                                       \
        _W __old;                                                                                           \
        __CDP_SCOPED("atom.relaxed", ".cas.b" #__bits " %0, [%1], %2, %3;",                                 \
                     "=" _R(__old) : "l"(__place), _R(__expected), _R(__desired));                          \
        return __old;                                                                                       \
    }

__CDP_MOVE(8, "h", unsigned short)
__CDP_MOVE(16, "h", unsigned short)
__CDP_MOVE(32, "r", unsigned int)
__CDP_MOVE(64, "l", unsigned long long)
__CDP_SWAP(16, "h", unsigned short)
__CDP_SWAP(32, "r", unsigned int)
__CDP_SWAP(64, "l", unsigned long long)

// The bits of a value, and back.
template <typename _W, typename T>
static __inline__ __device__ _W __cdp_bits(const T &value)
{
    _W __bits = {};
    __builtin_memcpy(&__bits, __builtin_addressof(value), sizeof(T) < sizeof(_W) ? sizeof(T) : sizeof(_W));
    return __bits;
}

template <typename T, typename _W>
static __inline__ __device__ void __cdp_put(T *__place, _W __bits)
{
    __builtin_memcpy(__place, &__bits, sizeof(T) < sizeof(_W) ? sizeof(T) : sizeof(_W));
}

#define __CDP_FETCH(name, means, type32, type64, is_for, types)                                             \
    template <int __order, int scope, typename T>                                                           \
    static __inline__ __device__ T __cdp_fetch_##name(volatile T *__place, typename __cdp_same<T>::type value) \
    {                                                                                                       \
        static_assert((sizeof(T) == 4 || sizeof(T) == 8) && (is_for), "__nv_atomic_" #name " is for " types); \
        T __old;                                                                                            \
        __cdp_before<__order, scope>();                                                                     \
        if (sizeof(T) == 4) {                                                                               \
            unsigned int __bits = __cdp_bits<unsigned int, T>(means value);                                 \
            __cdp_put(&__old, type32);                                                                      \
        } else {                                                                                            \
            unsigned long long __bits = __cdp_bits<unsigned long long, T>(means value);                     \
            __cdp_put(&__old, type64);                                                                      \
        }                                                                                                   \
        __cdp_after<__order, scope>();                                                                      \
        return __old;                                                                                       \
    }
#define __CDP_FETCH_SUM(name, means)                                                                        \
    __CDP_FETCH(name, means,                                                                                \
                __is_floating_point(T) ? __cdp_add_f32<scope>(__place, __bits) : __cdp_add_u32<scope>(__place, __bits), \
                __is_floating_point(T) ? __cdp_add_f64<scope>(__place, __bits) : __cdp_add_u64<scope>(__place, __bits), \
                __is_arithmetic(T), "numbers of 32 and 64 bits")
#define __CDP_FETCH_BITS(name)                                                                              \
    __CDP_FETCH(name, , __cdp_##name##_b32<scope>(__place, __bits), __cdp_##name##_b64<scope>(__place, __bits), \
                __is_integral(T), "integers of 32 and 64 bits")
#define __CDP_FETCH_BOUND(name)                                                                             \
    __CDP_FETCH(name, ,                                                                                     \
                __is_signed(T) ? __cdp_##name##_s32<scope>(__place, __bits) : __cdp_##name##_u32<scope>(__place, __bits), \
                __is_signed(T) ? __cdp_##name##_s64<scope>(__place, __bits) : __cdp_##name##_u64<scope>(__place, __bits), \
                __is_integral(T), "integers of 32 and 64 bits")

__CDP_FETCH_SUM(add, +)
__CDP_FETCH_SUM(sub, -)
__CDP_FETCH_BITS(and)
__CDP_FETCH_BITS(or)
__CDP_FETCH_BITS(xor)
__CDP_FETCH_BOUND(min)
__CDP_FETCH_BOUND(max)

template <int __order, int scope, typename T>
static __inline__ __device__ T __cdp_exchange(volatile T *__place, typename __cdp_same<T>::type value)
{
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "__nv_atomic_exchange is for types of 32 and 64 bits");
    T __old;
    __cdp_before<__order, scope>();
    if (sizeof(T) == 4) {
        __cdp_put(&__old, __cdp_exch_b32<scope>(__place, __cdp_bits<unsigned int, T>(value)));
    } else {
        __cdp_put(&__old, __cdp_exch_b64<scope>(__place, __cdp_bits<unsigned long long, T>(value)));
    }
    __cdp_after<__order, scope>();
    return __old;
}

template <int __order, int scope, typename T>
static __inline__ __device__ bool __cdp_compare_exchange(
    volatile T *__place, typename __cdp_same<T>::type *__expected, typename __cdp_same<T>::type __desired)
{
    static_assert(sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8,
                  "__nv_atomic_compare_exchange is for types of 16, 32 and 64 bits");
    unsigned long long __wanted = __cdp_bits<unsigned long long, T>(*__expected);
    unsigned long long __bits = __cdp_bits<unsigned long long, T>(__desired);
    unsigned long long __old;
    __cdp_before<__order, scope>();
    if (sizeof(T) == 2) {
        __old = __cdp_cas_16<scope>(__place, (unsigned short)__wanted, (unsigned short)__bits);
    } else if (sizeof(T) == 4) {
        __old = __cdp_cas_32<scope>(__place, (unsigned int)__wanted, (unsigned int)__bits);
    } else {
        __old = __cdp_cas_64<scope>(__place, __wanted, __bits);
    }
    __cdp_after<__order, scope>();
    if (__old != __wanted) {
        __cdp_put(__expected, __old);
    }
    return __old == __wanted;
}

template <int __order, int scope, typename T>
static __inline__ __device__ T __cdp_load(const volatile T *__place)
{
    static_assert(sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8,
                  "__nv_atomic_load is for types of 8 to 64 bits");
    T value;
    if (__order == __NV_ATOMIC_SEQ_CST) {
        __cdp_fence<__order, scope>();
    }
    if (sizeof(T) == 1) {
        __cdp_put(&value, (unsigned char)__cdp_load_8<scope>(__place));
    } else if (sizeof(T) == 2) {
        __cdp_put(&value, __cdp_load_16<scope>(__place));
    } else if (sizeof(T) == 4) {
        __cdp_put(&value, __cdp_load_32<scope>(__place));
    } else {
        __cdp_put(&value, __cdp_load_64<scope>(__place));
    }
    __cdp_after<__order, scope>();
    return value;
}

template <int __order, int scope, typename T>
static __inline__ __device__ void __cdp_store(volatile T *__place, typename __cdp_same<T>::type value)
{
    static_assert(sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8,
                  "__nv_atomic_store is for types of 8 to 64 bits");
    unsigned long long __bits = __cdp_bits<unsigned long long, T>(value);
    __cdp_before<__order, scope>();
    if (sizeof(T) == 1) {
        __cdp_store_8<scope>(__place, (unsigned short)__bits);
    } else if (sizeof(T) == 2) {
        __cdp_store_16<scope>(__place, (unsigned short)__bits);
    } else if (sizeof(T) == 4) {
        __cdp_store_32<scope>(__place, (unsigned int)__bits);
    } else {
        __cdp_store_64<scope>(__place, __bits);
    }
}

#undef __CDP_FETCH_BOUND
#undef __CDP_FETCH_BITS
#undef __CDP_FETCH_SUM
#undef __CDP_FETCH
#undef __CDP_SWAP
#undef __CDP_MOVE
#undef __CDP_ATOM_UNSIGNED
#undef __CDP_ATOM_SIGNED
#undef __CDP_ATOM_BITS
#undef __CDP_ATOM
#undef __CDP_SCOPED

// The scope that begins a list, which may be empty.
#define __CDP_FIRST(scope, ...) scope
#define __CDP_SCOPE(...) __CDP_FIRST(__VA_ARGS__ __VA_OPT__(, ) __NV_THREAD_SCOPE_SYSTEM, )

#define __nv_atomic_load_n(__place, __order, ...) (__cdp_load<__order, __CDP_SCOPE(__VA_ARGS__)>(__place))
#define __nv_atomic_load(__place, result, __order, ...)                                                     \
    ((void)(*(result) = __cdp_load<__order, __CDP_SCOPE(__VA_ARGS__)>(__place)))
#define __nv_atomic_store_n(__place, value, __order, ...)                                                   \
    (__cdp_store<__order, __CDP_SCOPE(__VA_ARGS__)>(__place, value))
#define __nv_atomic_store(__place, value, __order, ...)                                                     \
    (__cdp_store<__order, __CDP_SCOPE(__VA_ARGS__)>(__place, *(value)))
#define __nv_atomic_exchange_n(__place, value, __order, ...)                                                \
    (__cdp_exchange<__order, __CDP_SCOPE(__VA_ARGS__)>(__place, value))
#define __nv_atomic_exchange(__place, value, result, __order, ...)                                          \
    ((void)(*(result) = __cdp_exchange<__order, __CDP_SCOPE(__VA_ARGS__)>(__place, *(value))))
// The stronger of the two orders, as nvcc has it.
#define __nv_atomic_compare_exchange_n(__place, __expected, __desired, __weak, success, failure, ...)       \
    (__cdp_compare_exchange<((success) < (failure) ? (failure) : (success)), __CDP_SCOPE(__VA_ARGS__)>(     \
        __place, __expected, __desired))
#define __nv_atomic_compare_exchange(__place, __expected, __desired, __weak, success, failure, ...)         \
    __nv_atomic_compare_exchange_n(__place, __expected, *(__desired), __weak, success, failure, __VA_ARGS__)
#define __nv_atomic_thread_fence(__order, ...) (__cdp_fence<__order, __CDP_SCOPE(__VA_ARGS__)>())

#define __nv_atomic_fetch_add(__place, value, __order, ...)                                                 \
    (__cdp_fetch_add<__order, __CDP_SCOPE(__VA_ARGS__)>(__place, value))
#define __nv_atomic_fetch_sub(__place, value, __order, ...)                                                 \
    (__cdp_fetch_sub<__order, __CDP_SCOPE(__VA_ARGS__)>(__place, value))
#define __nv_atomic_fetch_and(__place, value, __order, ...)                                                 \
    (__cdp_fetch_and<__order, __CDP_SCOPE(__VA_ARGS__)>(__place, value))
#define __nv_atomic_fetch_or(__place, value, __order, ...)                                                  \
    (__cdp_fetch_or<__order, __CDP_SCOPE(__VA_ARGS__)>(__place, value))
#define __nv_atomic_fetch_xor(__place, value, __order, ...)                                                 \
    (__cdp_fetch_xor<__order, __CDP_SCOPE(__VA_ARGS__)>(__place, value))
#define __nv_atomic_fetch_min(__place, value, __order, ...)                                                 \
    (__cdp_fetch_min<__order, __CDP_SCOPE(__VA_ARGS__)>(__place, value))
#define __nv_atomic_fetch_max(__place, value, __order, ...)                                                 \
    (__cdp_fetch_max<__order, __CDP_SCOPE(__VA_ARGS__)>(__place, value))

#define __nv_atomic_add(...) ((void)__nv_atomic_fetch_add(__VA_ARGS__))
#define __nv_atomic_sub(...) ((void)__nv_atomic_fetch_sub(__VA_ARGS__))
#define __nv_atomic_and(...) ((void)__nv_atomic_fetch_and(__VA_ARGS__))
#define __nv_atomic_or(...) ((void)__nv_atomic_fetch_or(__VA_ARGS__))
#define __nv_atomic_xor(...) ((void)__nv_atomic_fetch_xor(__VA_ARGS__))
#define __nv_atomic_min(...) ((void)__nv_atomic_fetch_min(__VA_ARGS__))
#define __nv_atomic_max(...) ((void)__nv_atomic_fetch_max(__VA_ARGS__))
