// With the headers of CUDA 12: calls that have kept their names in CUDA 13 and take other arguments there. A program calls
// functions of this header by them, which make the call as the runtime that the program is linked with has it: ours is of
// CUDA 13, and an object may be linked with NVIDIA's of CUDA 12.
#pragma once

#define __CDP_TEXT(x) #x
#define __CDP_SYMBOL(x) __CDP_TEXT(x)

// The call `name`, with the parameters of CUDA 12 and what is given for them, and the same of CUDA 13.
#define __CDP_CHANGED(name, __parameters, __given, __parameters_13, __given_13)                                     \
    extern "C" cudaError_t __cdp_12_##name __parameters __asm__(__CDP_SYMBOL(name));                                \
    extern "C" cudaError_t __cdp_13_##name __parameters_13 __asm__(__CDP_SYMBOL(name));                             \
    extern "C" cudaError_t name __parameters __asm__("__cdp_changed_" __CDP_SYMBOL(name));                          \
    extern "C" inline cudaError_t name __parameters                                                                 \
    {                                                                                                               \
        return __cdp_runtime_is_13() ? __cdp_13_##name __given_13 : __cdp_12_##name __given;                        \
    }

static __inline__ bool __cdp_runtime_is_13()
{
    int __version = 0;
    return cudaRuntimeGetVersion(&__version) == cudaSuccess && __version >= 13000;
}

// Devices are places since.
static __inline__ cudaMemLocation __cdp_place(int __device)
{
    cudaMemLocation __place;
    __place.type = static_cast<cudaMemLocationType>(__device == cudaCpuDeviceId ? 2 : 1);
    __place.id = __device == cudaCpuDeviceId ? 0 : __device;
    return __place;
}

__CDP_CHANGED(
    cudaMemAdvise, (const void *__at, size_t __bytes, cudaMemoryAdvise __advice, int __device),
    (__at, __bytes, __advice, __device), (const void *, size_t, cudaMemoryAdvise, cudaMemLocation),
    (__at, __bytes, __advice, __cdp_place(__device)))
__CDP_CHANGED(
    cudaMemPrefetchAsync, (const void *__at, size_t __bytes, int __device, cudaStream_t __in),
    (__at, __bytes, __device, __in), (const void *, size_t, cudaMemLocation, unsigned int, cudaStream_t),
    (__at, __bytes, __cdp_place(__device), 0, __in))

// Edges have data since.
__CDP_CHANGED(
    cudaGraphAddDependencies,
    (cudaGraph_t __graph, const cudaGraphNode_t *__from, const cudaGraphNode_t *__to, size_t __n),
    (__graph, __from, __to, __n),
    (cudaGraph_t, const cudaGraphNode_t *, const cudaGraphNode_t *, const void *, size_t),
    (__graph, __from, __to, nullptr, __n))
__CDP_CHANGED(
    cudaGraphRemoveDependencies,
    (cudaGraph_t __graph, const cudaGraphNode_t *__from, const cudaGraphNode_t *__to, size_t __n),
    (__graph, __from, __to, __n),
    (cudaGraph_t, const cudaGraphNode_t *, const cudaGraphNode_t *, const void *, size_t),
    (__graph, __from, __to, nullptr, __n))
__CDP_CHANGED(
    cudaGraphGetEdges, (cudaGraph_t __graph, cudaGraphNode_t *__from, cudaGraphNode_t *__to, size_t *__n),
    (__graph, __from, __to, __n), (cudaGraph_t, cudaGraphNode_t *, cudaGraphNode_t *, void *, size_t *),
    (__graph, __from, __to, nullptr, __n))
__CDP_CHANGED(
    cudaGraphNodeGetDependencies, (cudaGraphNode_t __node, cudaGraphNode_t *__nodes, size_t *__n),
    (__node, __nodes, __n), (cudaGraphNode_t, cudaGraphNode_t *, void *, size_t *), (__node, __nodes, nullptr, __n))
__CDP_CHANGED(
    cudaGraphNodeGetDependentNodes, (cudaGraphNode_t __node, cudaGraphNode_t *__nodes, size_t *__n),
    (__node, __nodes, __n), (cudaGraphNode_t, cudaGraphNode_t *, void *, size_t *), (__node, __nodes, nullptr, __n))
__CDP_CHANGED(
    cudaStreamUpdateCaptureDependencies,
    (cudaStream_t __in, cudaGraphNode_t *__nodes, size_t __n, unsigned int __flags), (__in, __nodes, __n, __flags),
    (cudaStream_t, cudaGraphNode_t *, const void *, size_t, unsigned int), (__in, __nodes, nullptr, __n, __flags))
#if CUDART_VERSION >= 12020
__CDP_CHANGED(
    cudaGraphAddNode,
    (cudaGraphNode_t * __node, cudaGraph_t __graph, const cudaGraphNode_t *__after, size_t __n,
     cudaGraphNodeParams *__of),
    (__node, __graph, __after, __n, __of),
    (cudaGraphNode_t *, cudaGraph_t, const cudaGraphNode_t *, const void *, size_t, cudaGraphNodeParams *),
    (__node, __graph, __after, nullptr, __n, __of))
#endif
#if CUDART_VERSION >= 12080
__CDP_CHANGED(
    cudaMemcpyBatchAsync,
    (void **__to, void **__from, size_t *__bytes, size_t __count, cudaMemcpyAttributes *__how, size_t *__which,
     size_t __n, size_t *__failed, cudaStream_t __in),
    (__to, __from, __bytes, __count, __how, __which, __n, __failed, __in),
    (void *const *, const void *const *, const size_t *, size_t, cudaMemcpyAttributes *, size_t *, size_t, cudaStream_t),
    (__to, __from, __bytes, __count, __how, __which, __n, __in))
#endif
#undef __CDP_CHANGED
#undef __CDP_SYMBOL
#undef __CDP_TEXT
