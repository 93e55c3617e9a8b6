// Memory: cache-hinted loads and stores, address spaces, and what the C library does with bytes.

// What a hinted access can move: CUDA declares no `char3` and its like.
types HINTED = char, signed char, short, int, long, long long, unsigned char, unsigned short,
    unsigned int, unsigned long, unsigned long long, float, double, char2, char4, short2, short4, int2,
    int4, longlong2, uchar2, uchar4, ushort2, ushort4, uint2, uint4, ulonglong2, float2, float4, double2;

[for HINTED] {
    /// Reads memory that nothing writes during the grid.
    T __ldg(const T* address) = CacheLoad(CacheOp::NonCoherent);
    /// Reads, and keeps the line in every cache.
    T __ldca(const T* address) = CacheLoad(CacheOp::All);
    /// Reads, and keeps the line in the L2 cache only.
    T __ldcg(const T* address) = CacheLoad(CacheOp::Global);
    /// Reads data that will likely be read once.
    T __ldcs(const T* address) = CacheLoad(CacheOp::Streaming);
    /// Reads data that will not be read again.
    T __ldlu(const T* address) = CacheLoad(CacheOp::LastUse);
    /// Reads past the caches.
    T __ldcv(const T* address) = CacheLoad(CacheOp::Volatile);
    /// Writes, and keeps the line in every cache.
    void __stwb(T* address, T value) = CacheStore(CacheOp::WriteBack);
    /// Writes, and keeps the line in the L2 cache only.
    void __stcg(T* address, T value) = CacheStore(CacheOp::Global);
    /// Writes data that will likely be read once.
    void __stcs(T* address, T value) = CacheStore(CacheOp::Streaming);
    /// Writes through the L2 cache to system memory.
    void __stwt(T* address, T value) = CacheStore(CacheOp::WriteThrough);
}

/// `isspacep`.
bool __cdp_is_global(const void* address) = IsSpace(Some(AddressSpace::Global));
bool __cdp_is_shared(const void* address) = IsSpace(Some(AddressSpace::Shared));
bool __cdp_is_constant(const void* address) = IsSpace(Some(AddressSpace::Constant));
bool __cdp_is_local(const void* address) = IsSpace(None);
// CUDA answers with an `unsigned`.
/// Whether in global memory.
unsigned __isGlobal(const void* address) { return __cdp_is_global(address); }
/// Whether in shared memory.
unsigned __isShared(const void* address) { return __cdp_is_shared(address); }
/// Whether in constant memory.
unsigned __isConstant(const void* address) { return __cdp_is_constant(address); }
/// Whether in local memory.
unsigned __isLocal(const void* address) { return __cdp_is_local(address); }
/// Whether in a `__grid_constant__` parameter.
[sm_70] unsigned __isGridConstant(const void* address) {
    int found;
    asm("{ .reg .pred p; isspacep.param p, %1; selp.s32 %0, 1, 0, p; }"
    : "=r"(found) : "l"((unsigned long long)address));
    return (unsigned)found;
}

/// The address within its space.
size_t __cvta_generic_to_global(const void* address) = GenericToSpace(Some(AddressSpace::Global));
size_t __cvta_generic_to_shared(const void* address) = GenericToSpace(Some(AddressSpace::Shared));
size_t __cvta_generic_to_constant(const void* address) = GenericToSpace(Some(AddressSpace::Constant));
size_t __cvta_generic_to_local(const void* address) = GenericToSpace(None);
/// A generic address from an address within a space.
void* __cvta_global_to_generic(size_t address) = SpaceToGeneric(Some(AddressSpace::Global));
void* __cvta_shared_to_generic(size_t address) = SpaceToGeneric(Some(AddressSpace::Shared));
void* __cvta_constant_to_generic(size_t address) = SpaceToGeneric(Some(AddressSpace::Constant));
void* __cvta_local_to_generic(size_t address) = SpaceToGeneric(None);
/// The address within the parameter space.
[sm_70] size_t __cvta_generic_to_grid_constant(const void* address) {
    unsigned long long inside;
    asm("cvta.to.param.u64 %0, %1;" : "=l"(inside) : "l"((unsigned long long)address));
    return inside;
}
/// A generic address from an address within the parameter space.
[sm_70] void* __cvta_grid_constant_to_generic(size_t address) {
    unsigned long long generic;
    asm("cvta.param.u64 %0, %1;" : "=l"(generic) : "l"((unsigned long long)address));
    return (void*)generic;
}

// What device code shares with the host's C library.
[c, std] {
    /// Prints to the host's standard output; on the device when the grid ends or the host waits.
    int printf(const char* format, ...) = printf;
    /// Allocates; on the device from the device heap (`cudaLimitMallocHeapSize`).
    void* malloc(size_t size) = extern;
    /// Frees what `malloc` gave.
    void free(void* address) = extern;
    /// Copies bytes between areas that do not overlap.
    void* memcpy(void* destination, const void* source, size_t size)
        { __cdp_memcpy(destination, source, size); return destination; }
    /// Sets bytes.
    void* memset(void* destination, int value, size_t size)
        { __cdp_memset(destination, value, size); return destination; }
    /// Copies bytes between areas that may overlap.
    void* memmove(void* destination, const void* source, size_t size)
        = refuse "device code has `memcpy` only: copy through a temporary, or in a loop";
}
/// The copy itself.
void __cdp_memcpy(void* destination, const void* source, size_t size) = MemCopy { overlap: false };
/// The filling itself.
void __cdp_memset(void* destination, int value, size_t size) = MemSet;
/// Allocates from the device heap with an alignment in bytes.
void* __nv_aligned_device_malloc(size_t size, size_t align) = extern __cuda_syscall_aligned_malloc;
