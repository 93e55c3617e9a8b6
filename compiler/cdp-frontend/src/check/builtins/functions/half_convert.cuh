// Conversions to, from and within the 16-bit floating formats, and what moves them: shuffles,
// hinted loads and stores, atomics.

[fp16] {
    /// To nearest even.
    [both] __half __float2half(float a) = cast FloatToFloat;
    [both] __half __float2half_rn(float a) = cast FloatToFloat;
    [both] __half __double2half(double a) = cast FloatToFloat;
    /// Exact.
    [both] float __half2float(__half a) = cast FloatToFloat;
    // Nearest, then one step toward the wanted side when that was the wrong one. The bits of one sign
    // are in order, so a step is one up or down; past zero is the smallest value of the other sign.
    /// Rounded as named: down, up, or toward zero.
    __half __float2half_rz(float a) = ptx "cvt.rz.f16.f32";
    __half __float2half_rd(float a) {
        __half h = __float2half_rn(a); unsigned short u = __half_as_ushort(h);
        if (__half2float(h) > a) u = u == 0 ? (unsigned short)0x8001 : (unsigned short)((u & 0x8000u) ? u + 1u : u - 1u);
        return __ushort_as_half(u);
    }
    __half __float2half_ru(float a) {
        __half h = __float2half_rn(a); unsigned short u = __half_as_ushort(h);
        if (__half2float(h) < a) u = u == 0x8000u ? (unsigned short)0x0001 : (unsigned short)((u & 0x8000u) ? u - 1u : u + 1u);
        return __ushort_as_half(u);
    }
    /// The same bits as another type.
    [both] short __half_as_short(__half a) = cast Bitcast;
    [both] unsigned short __half_as_ushort(__half a) = cast Bitcast;
    [both] __half __short_as_half(short a) = cast Bitcast;
    [both] __half __ushort_as_half(unsigned short a) = cast Bitcast;
}

[bf16] {
    // In host code by integer arithmetic, for hosts whose libraries lack the conversion.
    /// To nearest even.
    each $NAME {
        __float2bfloat16
        __float2bfloat16_rn
    } {
        __nv_bfloat16 $NAME(float a) = cast FloatToFloat host {
            unsigned u = *(unsigned*)&a;
            unsigned short s = (u & 0x7fffffffu) > 0x7f800000u ? (unsigned short)0x7fff : (unsigned short)((u + 0x7fffu + ((u >> 16) & 1u)) >> 16);
            return *(__nv_bfloat16*)&s;
        }
    }
    __nv_bfloat16 __double2bfloat16(double a) = cast FloatToFloat;
    /// Exact.
    float __bfloat162float(__nv_bfloat16 a) = cast FloatToFloat
        host { unsigned u = (unsigned)*(unsigned short*)&a << 16; return *(float*)&u; }
    // The high half of the bits is the value toward zero; away from it is one more.
    /// Rounded as named: down, up, or toward zero.
    __nv_bfloat16 __float2bfloat16_rz(float a) {
        unsigned u = __float_as_uint(a); if (isnan(a)) u = 0x7fff0000u;
        return __ushort_as_bfloat16((unsigned short)(u >> 16));
    }
    __nv_bfloat16 __float2bfloat16_rd(float a) {
        unsigned u = __float_as_uint(a); if (isnan(a)) u = 0x7fff0000u; else if (u >> 31) u += 0xffffu;
        return __ushort_as_bfloat16((unsigned short)(u >> 16));
    }
    __nv_bfloat16 __float2bfloat16_ru(float a) {
        unsigned u = __float_as_uint(a); if (isnan(a)) u = 0x7fff0000u; else if (!(u >> 31)) u += 0xffffu;
        return __ushort_as_bfloat16((unsigned short)(u >> 16));
    }
    /// The same bits as another type.
    [both] short __bfloat16_as_short(__nv_bfloat16 a) = cast Bitcast;
    [both] unsigned short __bfloat16_as_ushort(__nv_bfloat16 a) = cast Bitcast;
    [both] __nv_bfloat16 __short_as_bfloat16(short a) = cast Bitcast;
    [both] __nv_bfloat16 __ushort_as_bfloat16(unsigned short a) = cast Bitcast;
}

each $C | $N | $T {
    short | short | s16
    unsigned short | ushort | u16
    int | int | s32
    unsigned | uint | u32
    long long | ll | s64
    unsigned long long | ull | u64
} {
    [fp16] {
        /// To integer.
        $C __half2$N_rn(__half a) = ptx "cvt.rni.$T.f16";
        /// To integer, toward zero.
        [both] $C __half2$N_rz(__half a) = cast FloatToInt;
        /// To integer.
        $C __half2$N_rd(__half a) = ptx "cvt.rmi.$T.f16";
        $C __half2$N_ru(__half a) = ptx "cvt.rpi.$T.f16";
        /// From integer, to nearest even.
        [both] __half __$N2half_rn($C a) = cast IntToFloat;
        /// From integer.
        __half __$N2half_rz($C a) = ptx "cvt.rz.f16.$T";
        __half __$N2half_rd($C a) = ptx "cvt.rm.f16.$T";
        __half __$N2half_ru($C a) = ptx "cvt.rp.f16.$T";
    }
}

// bfloat16 through single precision, which holds every bfloat16; short integers, which every format in
// question reaches exactly or by saturation.
[bf16] {
    each $MODE {
        _rn
        _rz
        _rd
        _ru
    } {
        each $C | $N {
            int | int
            unsigned | uint
            long long | ll
            unsigned long long | ull
        } {
            /// To integer, rounded as named.
            $C __bfloat162$N$MODE(__nv_bfloat16 a) { return __float2$N$MODE(__bfloat162float(a)); }
        }
        each $C | $N | $LOW | $HIGH {
            short | short | -32768 | 32767
            unsigned short | ushort | 0 | 65535
        } {
            /// To integer, rounded as named.
            $C __bfloat162$N$MODE(__nv_bfloat16 a)
                { int i = __float2int$MODE(__bfloat162float(a)); return ($C)min(max(i, $LOW), $HIGH); }
            /// From integer, rounded as named.
            __nv_bfloat16 __$N2bfloat16$MODE($C a) { return __float2bfloat16$MODE((float)a); }
        }
    }
    each $C | $N {
        int | int
        unsigned | uint
        long long | ll
        unsigned long long | ull
    } {
        // Toward zero with a sticky last bit, then to nearest: rounded once.
        /// From integer, to nearest even.
        __nv_bfloat16 __$N2bfloat16_rn($C a) {
            float f = __$N2float_rz(a); unsigned u = __float_as_uint(f) | (($C)f != a ? 1u : 0u);
            return __float2bfloat16_rn(__uint_as_float(u));
        }
        /// From integer, rounded as named.
        __nv_bfloat16 __$N2bfloat16_rz($C a) { return __float2bfloat16_rz(__$N2float_rz(a)); }
        __nv_bfloat16 __$N2bfloat16_rd($C a) { return __float2bfloat16_rd(__$N2float_rd(a)); }
        __nv_bfloat16 __$N2bfloat16_ru($C a) { return __float2bfloat16_ru(__$N2float_ru(a)); }
    }
}

/// To integer, toward zero.
[fp16, both] signed char __half2char_rz(__half a)
    { int i = (int)__half2float(a); return (signed char)(i < -128 ? -128 : i > 127 ? 127 : i); }
[fp16, both] unsigned char __half2uchar_rz(__half a)
    { int i = (int)__half2float(a); return (unsigned char)(i < 0 ? 0 : i > 255 ? 255 : i); }
[bf16] signed char __bfloat162char_rz(__nv_bfloat16 a)
    { return (signed char)min(max(__float2int_rz(__bfloat162float(a)), -128), 127); }
[bf16] unsigned char __bfloat162uchar_rz(__nv_bfloat16 a)
    { return (unsigned char)min(max(__float2int_rz(__bfloat162float(a)), 0), 255); }

// Making and taking apart pairs, and moving them.
each $S | $V | $ONE | $TWO | $HEADER | $FROM | $TO {
    __half | __half2 | half | half2 | fp16 | __float2half_rn | __half2float
    __nv_bfloat16 | __nv_bfloat162 | bfloat16 | bfloat162 | bf16 | __float2bfloat16_rn | __bfloat162float
} {
    [$HEADER] {
        [both] {
            /// A pair from its halves.
            $V make_$TWO($S x, $S y) { $V r; r.x = x; r.y = y; return r; }
            $V __halves2$TWO($S x, $S y) { $V r; r.x = x; r.y = y; return r; }
            /// A pair of one value.
            $V __$ONE2$TWO($S x) { $V r; r.x = x; r.y = x; return r; }
            /// The low half.
            $S __low2$ONE($V a) { return a.x; }
            float __low2float($V a) { return $TO(a.x); }
            /// The high half.
            $S __high2$ONE($V a) { return a.y; }
            float __high2float($V a) { return $TO(a.y); }
        }
        /// A pair of the low half.
        $V __low2$TWO($V a) { $V r; r.x = a.x; r.y = a.x; return r; }
        /// A pair of the high half.
        $V __high2$TWO($V a) { $V r; r.x = a.y; r.y = a.y; return r; }
        /// A pair of the low halves.
        $V __lows2$TWO($V a, $V b) { $V r; r.x = a.x; r.y = b.x; return r; }
        /// A pair of the high halves.
        $V __highs2$TWO($V a, $V b) { $V r; r.x = a.y; r.y = b.y; return r; }
        /// The halves swapped.
        $V __lowhigh2highlow($V a) { $V r; r.x = a.y; r.y = a.x; return r; }
        [both] {
            /// A pair of one value, to nearest even.
            $V __float2$TWO_rn(float a) { $V r; r.x = $FROM(a); r.y = r.x; return r; }
            /// A pair from its halves, to nearest even.
            $V __floats2$TWO_rn(float a, float b) { $V r; r.x = $FROM(a); r.y = $FROM(b); return r; }
            $V __float22$TWO_rn(float2 a) { $V r; r.x = $FROM(a.x); r.y = $FROM(a.y); return r; }
            /// Both halves in single precision.
            float2 __$TWO2float2($V a) { float2 r; r.x = $TO(a.x); r.y = $TO(a.y); return r; }
        }

        // A pair travels as the word that holds it.
        /// The value of another lane.
        each $NAME | $MODE | $LANE {
            __shfl_sync | Index | int lane
            __shfl_up_sync | Up | unsigned lane
            __shfl_down_sync | Down | unsigned lane
            __shfl_xor_sync | Xor | int lane
        } {
            $S $NAME(unsigned mask, $S value, $LANE, int width = 32) = Shuffle(ShuffleMode::$MODE);
            $V $NAME(unsigned mask, $V value, $LANE, int width = 32)
                { unsigned r = $NAME(mask, *(unsigned*)&value, lane, width); return *($V*)&r; }
        }
        /// Reads with a cache hint.
        each $NAME | $HINT {
            __ldg | NonCoherent
            __ldca | All
            __ldcg | Global
            __ldcs | Streaming
            __ldlu | LastUse
            __ldcv | Volatile
        } {
            $S $NAME(const $S* address) = CacheLoad(CacheOp::$HINT);
            $V $NAME(const $V* address)
                { unsigned r = $NAME((const unsigned*)address); return *($V*)&r; }
        }
        /// Writes with a cache hint.
        each $NAME | $HINT {
            __stwb | WriteBack
            __stcg | Global
            __stcs | Streaming
            __stwt | WriteThrough
        } {
            void $NAME($S* address, $S value) = CacheStore(CacheOp::$HINT);
            void $NAME($V* address, $V value) { $NAME((unsigned*)address, *(unsigned*)&value); }
        }
    }
}

/// Adds; yields the old value. Atomic in the device, each half for itself.
[fp16, sm_70] __half atomicAdd(__half* address, __half value)
    = Atomic(atomic(AtomicOp::Add, Scope::Device));
[bf16, sm_80] __nv_bfloat16 atomicAdd(__nv_bfloat16* address, __nv_bfloat16 value)
    = Atomic(atomic(AtomicOp::Add, Scope::Device));
[fp16, sm_60] __half2 atomicAdd(__half2* address, __half2 value) {
    if constexpr (sizeof(void*) == 8) {
        unsigned r; asm volatile("atom.add.noftz.f16x2 %0, [%1], %2;" : "=r"(r)
        : "l"((unsigned long long)address), "r"(*(unsigned*)&value) : "memory");
        return *(__half2*)&r;
    } else {
        unsigned* word = (unsigned*)address; unsigned old = *word, seen;
        do { seen = old; __half2 sum = __hadd2(*(__half2*)&seen, value);
        old = atomicCAS(word, seen, *(unsigned*)&sum); } while (old != seen);
        return *(__half2*)&old;
    }
}
[bf16, sm_80] __nv_bfloat162 atomicAdd(__nv_bfloat162* address, __nv_bfloat162 value) = sm_90 ? {
    unsigned r; asm volatile("atom.add.noftz.bf16x2 %0, [%1], %2;" : "=r"(r)
    : "l"((unsigned long long)address), "r"(*(unsigned*)&value) : "memory");
    return *(__nv_bfloat162*)&r;
} : {
    unsigned* word = (unsigned*)address; unsigned old = *word, seen;
    do { seen = old; __nv_bfloat162 sum = __hadd2(*(__nv_bfloat162*)&seen, value);
    old = atomicCAS(word, seen, *(unsigned*)&sum); } while (old != seen);
    return *(__nv_bfloat162*)&old;
}
