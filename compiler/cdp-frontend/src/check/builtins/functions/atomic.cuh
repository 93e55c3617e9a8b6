// Atomic read-modify-write functions: relaxed, at device scope, with `_block` and `_system` forms.

types INT = int, unsigned int;
types INTS = int, unsigned int, long long, unsigned long long;
types ADDED = int, unsigned int, unsigned long long, float;
types COMPARED = int, unsigned int, unsigned long long;

each $SUFFIX | $SCOPE | $WHERE {
           | Device | the device
    _block | Block  | the block
    _system | System | the system
} {
    /// Adds; yields the old value. Atomic in $WHERE.
    [for ADDED] T atomicAdd$SUFFIX(T* address, T value) = Atomic(atomic(AtomicOp::Add, Scope::$SCOPE));
    [sm_60] double atomicAdd$SUFFIX(double* address, double value)
        = Atomic(atomic(AtomicOp::Add, Scope::$SCOPE));
    /// Subtracts; yields the old value. Atomic in $WHERE.
    [for INT] T atomicSub$SUFFIX(T* address, T value)
        { return atomicAdd$SUFFIX(address, (T)(0u - (unsigned)value)); }
    /// Stores; yields the old value. Atomic in $WHERE.
    [for ADDED] T atomicExch$SUFFIX(T* address, T value)
        = Atomic(atomic(AtomicOp::Exchange, Scope::$SCOPE));
    /// Keeps the smaller value; yields the old one. Atomic in $WHERE.
    [for INTS] T atomicMin$SUFFIX(T* address, T value) = Atomic(atomic(AtomicOp::Min, Scope::$SCOPE));
    /// Keeps the larger value; yields the old one. Atomic in $WHERE.
    [for INTS] T atomicMax$SUFFIX(T* address, T value) = Atomic(atomic(AtomicOp::Max, Scope::$SCOPE));
    /// Adds 1, or wraps to 0 past the value; yields the old. Atomic in $WHERE.
    unsigned atomicInc$SUFFIX(unsigned* address, unsigned value)
        = Atomic(atomic(AtomicOp::Inc, Scope::$SCOPE));
    /// Subtracts 1, or wraps to the value; yields the old. Atomic in $WHERE.
    unsigned atomicDec$SUFFIX(unsigned* address, unsigned value)
        = Atomic(atomic(AtomicOp::Dec, Scope::$SCOPE));
    /// Bitwise and; yields the old value. Atomic in $WHERE.
    [for INTS] T atomicAnd$SUFFIX(T* address, T value) = Atomic(atomic(AtomicOp::And, Scope::$SCOPE));
    /// Bitwise or; yields the old value. Atomic in $WHERE.
    [for INTS] T atomicOr$SUFFIX(T* address, T value) = Atomic(atomic(AtomicOp::Or, Scope::$SCOPE));
    /// Bitwise exclusive or; yields the old value. Atomic in $WHERE.
    [for INTS] T atomicXor$SUFFIX(T* address, T value) = Atomic(atomic(AtomicOp::Xor, Scope::$SCOPE));
    /// Stores if the old value equals `compare`; yields it. Atomic in $WHERE.
    [for COMPARED] T atomicCAS$SUFFIX(T* address, T compare, T value)
        = Atomic(atomic(AtomicOp::CompareExchange, Scope::$SCOPE));
}

// What has no `_block` and `_system` form.
/// Stores if the old value equals `compare`; yields it. Atomic in the device.
[sm_70] unsigned short atomicCAS(unsigned short* address, unsigned short compare, unsigned short value)
    = Atomic(atomic(AtomicOp::CompareExchange, Scope::Device));

// Sixteen bytes at once.
types WIDE = __int128, unsigned __int128, int4, uint4, float4, long2, ulong2, longlong2, ulonglong2, double2;

// What only sm_90 has: compare-and-swap and exchange of 16 bytes, and sums of float vectors (each
// element for itself, in global memory).
each $SUFFIX | $SCOPE | $WHERE {
           |      | the device
    _block | .cta | the block
    _system | .sys | the system
} {
    [sm_90] {
        /// Stores if the old value equals `compare`; yields it. Atomic in $WHERE.
        [for WIDE] T atomicCAS$SUFFIX(T* address, T compare, T value) {
            ulonglong2 c = *(ulonglong2*)&compare, v = *(ulonglong2*)&value, old;
            asm volatile("{ .reg .b128 c, v, old; mov.b128 c, {%3, %4}; mov.b128 v, {%5, %6}; atom$SCOPE.cas.b128 old, [%2], c, v; mov.b128 {%0, %1}, old; }"
            : "=l"(old.x), "=l"(old.y) : "l"((unsigned long long)address),
            "l"(c.x), "l"(c.y), "l"(v.x), "l"(v.y) : "memory");
            return *(T*)&old;
        }
        /// Stores; yields the old value. Atomic in $WHERE.
        [for WIDE] T atomicExch$SUFFIX(T* address, T value) {
            ulonglong2 v = *(ulonglong2*)&value, old;
            asm volatile("{ .reg .b128 v, old; mov.b128 v, {%3, %4}; atom$SCOPE.exch.b128 old, [%2], v; mov.b128 {%0, %1}, old; }"
            : "=l"(old.x), "=l"(old.y) : "l"((unsigned long long)address), "l"(v.x), "l"(v.y) : "memory");
            return *(T*)&old;
        }
        /// Adds each element; yields the old values. Atomic in $WHERE.
        float2 atomicAdd$SUFFIX(float2* address, float2 value) {
            float2 old;
            asm volatile("atom.global$SCOPE.add.v2.f32 {%0, %1}, [%2], {%3, %4};"
            : "=f"(old.x), "=f"(old.y) : "l"((unsigned long long)__cvta_generic_to_global(address)),
            "f"(value.x), "f"(value.y) : "memory");
            return old;
        }
        float4 atomicAdd$SUFFIX(float4* address, float4 value) {
            float4 old;
            asm volatile("atom.global$SCOPE.add.v4.f32 {%0, %1, %2, %3}, [%4], {%5, %6, %7, %8};"
            : "=f"(old.x), "=f"(old.y), "=f"(old.z), "=f"(old.w)
            : "l"((unsigned long long)__cvta_generic_to_global(address)),
            "f"(value.x), "f"(value.y), "f"(value.z), "f"(value.w) : "memory");
            return old;
        }
    }
}
