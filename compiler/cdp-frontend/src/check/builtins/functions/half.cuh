// `__half`, `__half2`, `__nv_bfloat16` and `__nv_bfloat162`: arithmetic and mathematics.
//
// Scalars are machine operations wherever one exists, so that the optimiser sees through them, and
// so that architectures without them get the single-precision detour from the back end. Pairs are
// packed instructions where the architecture has them, and two scalars elsewhere. The rounded
// (`_rn`) forms are instructions of their own: they must not fuse into a multiply-add. CUDA has fused
// bfloat16 from sm_80 on only.

// What is the same for both formats. Host code has no 16-bit arithmetic: it does the same in single
// precision, which is exact or rounded to more than twice the bits, so that rounding again changes nothing.
each $S | $V | $HEADER | $TO | $FROM | $SM {
    __half | __half2 | fp16 | __half2float | __float2half_rn | sm_0
    __nv_bfloat16 | __nv_bfloat162 | bf16 | __bfloat162float | __float2bfloat16_rn | sm_80
} {
    [$HEADER] {
        each $NAME | $WORD | $OP | $IR {
            __hadd | operator+ | + | Add
            __hsub | operator- | - | Sub
            __hmul | operator* | * | Mul
            __hdiv | operator/ | / | Div
        } {
            /// a $OP b.
            $S $NAME($S a, $S b) = binary $IR host { return $FROM($TO(a) $OP $TO(b)); }
            $S $WORD($S a, $S b) = binary $IR host { return $FROM($TO(a) $OP $TO(b)); }
            /// Changes a.
            [both] $S& $WORD=($S& a, $S b) { a = $NAME(a, b); return a; }
        }
        /// -a.
        $S __hneg($S a) = unary Neg host { return $FROM(-($TO(a))); }
        $S operator-($S a) = unary Neg host { return $FROM(-($TO(a))); }
        /// a.
        [both] $S operator+($S a) { return a; }
        /// Absolute value.
        $S __habs($S a) = AbsFloat host { return $FROM(fabsf($TO(a))); }
        /// a * b + c, rounded once.
        [$SM] $S __hfma($S a, $S b, $S c) = Fma;
        /// The larger value; a NaN loses.
        $S __hmax($S a, $S b) = MaxFloat host { return $FROM(fmaxf($TO(a), $TO(b))); }
        /// The smaller value; a NaN loses.
        $S __hmin($S a, $S b) = MinFloat host { return $FROM(fminf($TO(a), $TO(b))); }
        /// Whether a NaN.
        bool __hisnan($S a) = IsNan host { return isnan($TO(a)); }
        /// 1 for infinity, -1 for minus infinity, else 0.
        [both] int __hisinf($S a)
            { float f = $TO(a); return isinf(f) ? (f < 0.0f ? -1 : 1) : 0; }

        each $NAME | $IR | $SUMMARY {
            ceil | Ceil | The smallest integral value not below
            floor | Floor | The largest integral value not above
            trunc | Trunc | The integral value toward zero
            rint | RoundEven | The nearest integral value, halves to even
        } {
            /// $SUMMARY.
            $S h$NAME($S a) = $IR;
            /// $SUMMARY, of each half.
            $V h2$NAME($V a) { $V r; r.x = h$NAME(a.x); r.y = h$NAME(a.y); return r; }
        }
        each $OP | $IR | $SUMMARY {
            == | Eq | equal
            != | Ne | different
            < | Lt | less
            <= | Le | less or equal
            > | Gt | greater
            >= | Ge | greater or equal
        } {
            /// Whether $SUMMARY.
            bool operator$OP($S a, $S b) = compare $IR host { return $TO(a) $OP $TO(b); }
        }
        /// Changes a.
        [both] {
            $S& operator++($S& a) { a = __hadd(a, $FROM(1.0f)); return a; }
            $S& operator--($S& a) { a = __hsub(a, $FROM(1.0f)); return a; }
            $S operator++($S& a, int) { $S old = a; a = __hadd(a, $FROM(1.0f)); return old; }
            $S operator--($S& a, int) { $S old = a; a = __hsub(a, $FROM(1.0f)); return old; }
        }

        /// a / b of each half.
        [both] $V __h2div($V a, $V b)
            { $V r; r.x = __hdiv(a.x, b.x); r.y = __hdiv(a.y, b.y); return r; }
        /// -a of each half.
        [both] $V __hneg2($V a) { unsigned r = *(unsigned*)&a ^ 0x80008000u; return *($V*)&r; }
        /// Absolute value of each half.
        [both] $V __habs2($V a) { unsigned r = *(unsigned*)&a & 0x7fff7fffu; return *($V*)&r; }
        /// 1.0 for each half that is a NaN, else 0.0.
        [both] $V __hisnan2($V a) {
            $V r; r.x = $FROM(__hisnan(a.x) ? 1.0f : 0.0f); r.y = $FROM(__hisnan(a.y) ? 1.0f : 0.0f);
            return r;
        }
        /// The complex product a * b, plus c.
        [$SM] $V __hcmadd($V a, $V b, $V c) {
            $V r; r.x = __hfma(__hneg(a.y), b.y, __hfma(a.x, b.x, c.x));
            r.y = __hfma(a.y, b.x, __hfma(a.x, b.y, c.y)); return r;
        }
        // Operators of pairs, which call what device code alone has.
        /// Of each half.
        each $OP | $NAME {
            + | __hadd2
            - | __hsub2
            * | __hmul2
            / | __h2div
        } {
            $V operator$OP($V a, $V b) { return $NAME(a, b); }
            $V& operator$OP=($V& a, $V b) { a = $NAME(a, b); return a; }
        }
        $V operator+($V a) { return a; }
        $V operator-($V a) { return __hneg2(a); }
        each $OP | $NAME {
            ++ | __hadd2
            -- | __hsub2
        } {
            $V& operator$OP($V& a)
                { $V one; one.x = $FROM(1.0f); one.y = one.x; a = $NAME(a, one); return a; }
            $V operator$OP($V& a, int) {
                $V one, old = a; one.x = $FROM(1.0f); one.y = one.x; a = $NAME(a, one); return old;
            }
        }
        each $OP | $NAME {
            == | __hbeq2
            != | __hbneu2
            < | __hblt2
            <= | __hble2
            > | __hbgt2
            >= | __hbge2
        } {
            bool operator$OP($V a, $V b) { return $NAME(a, b); }
        }
    }
}

// Packed operations: pair, scalar form, instruction, architecture that has it for `__half2`.
each $S | $V | $HEADER | $N | $SM | $FUSED | $LATE {
    __half | __half2 | fp16 | f16x2 | sm_53 | sm_0 | sm_75
    __nv_bfloat16 | __nv_bfloat162 | bf16 | bf16x2 | sm_90 | sm_80 | sm_90
} {
    each $NAME | $SCALAR | $OP | $INSTRUCTION | $SINCE | $SUMMARY {
        __hadd2 | __hadd | add | add | $SM | Sum of each half.
        __hsub2 | __hsub | sub | sub | $SM | Difference of each half.
        __hmul2 | __hmul | mul | mul | $SM | Product of each half.
        __hadd2_rn | __hadd_rn | add_rn | add.rn | $SM | Sum of each half, never fused.
        __hsub2_rn | __hsub_rn | sub_rn | sub.rn | $SM | Difference of each half, never fused.
        __hmul2_rn | __hmul_rn | mul_rn | mul.rn | $SM | Product of each half, never fused.
        __hmax2 | __hmax | max | max | sm_80 | The larger value of each half.
        __hmin2 | __hmin | min | min | sm_80 | The smaller value of each half.
        __hmax2_nan | __hmax_nan | max_nan | max.NaN | sm_80 | The larger value of each half; a NaN wins.
        __hmin2_nan | __hmin_nan | min_nan | min.NaN | sm_80 | The smaller value of each half; a NaN wins.
    } {
        /// The packed operation.
        unsigned __cdp_$OP_$N(unsigned a, unsigned b) = ptx "$INSTRUCTION.$N";
        /// $SUMMARY
        [$HEADER] $V $NAME($V a, $V b)
            = $SINCE ? { unsigned r = __cdp_$OP_$N(*(unsigned*)&a, *(unsigned*)&b); return *($V*)&r; }
            : { $V r; r.x = $SCALAR(a.x, b.x); r.y = $SCALAR(a.y, b.y); return r; }
    }
    /// The packed operation.
    unsigned __cdp_fma_$N(unsigned a, unsigned b, unsigned c) = ptx "fma.rn.$N";
    unsigned __cdp_fma_relu_$N(unsigned a, unsigned b, unsigned c) = ptx "fma.rn.relu.$N";
    unsigned __cdp_tanh_$N(unsigned a) = ptx "tanh.approx.$N";
    /// Fast hyperbolic tangent of each half.
    [$HEADER] $V h2tanh_approx($V a)
        = $LATE ? { unsigned r = __cdp_tanh_$N(*(unsigned*)&a); return *($V*)&r; }
        : { $V r; r.x = htanh_approx(a.x); r.y = htanh_approx(a.y); return r; }
}
each $V | $HEADER | $N | $NAME | $SCALAR | $OP | $SINCE | $SM | $SUMMARY {
    __half2 | fp16 | f16x2 | __hfma2 | __hfma | fma | sm_53 | sm_0 | a * b + c of each half, rounded once.
    __half2 | fp16 | f16x2 | __hfma2_sat | __hfma_sat | fma_sat | sm_53 | sm_0 \
        | a * b + c of each half, clamped to 0 and 1.
    __half2 | fp16 | f16x2 | __hfma2_relu | __hfma_relu | fma_relu | sm_80 | sm_0 \
        | a * b + c of each half, negative results become 0.
    __nv_bfloat162 | bf16 | bf16x2 | __hfma2 | __hfma | fma | sm_80 | sm_80 \
        | a * b + c of each half, rounded once.
    __nv_bfloat162 | bf16 | bf16x2 | __hfma2_relu | __hfma_relu | fma_relu | sm_80 | sm_80 \
        | a * b + c of each half, negative results become 0.
} {
    /// $SUMMARY
    [$HEADER, $SM] $V $NAME($V a, $V b, $V c)
        = $SINCE ? { unsigned r = __cdp_$OP_$N(*(unsigned*)&a, *(unsigned*)&b, *(unsigned*)&c); return *($V*)&r; }
        : { $V r; r.x = $SCALAR(a.x, b.x, c.x); r.y = $SCALAR(a.y, b.y, c.y); return r; }
}

// Clamped to 0 and 1: bfloat16 has no such instructions.
each $NAME | $SIGN | $WHAT {
    add | + | Sum
    sub | - | Difference
    mul | * | Product
} {
    /// The packed operation.
    unsigned __cdp_$NAME_sat_f16x2(unsigned a, unsigned b) = ptx "$NAME.sat.f16x2";
    /// $WHAT of each half, clamped to 0 and 1.
    [fp16] __half2 __h$NAME2_sat(__half2 a, __half2 b)
        = sm_53 ? { unsigned r = __cdp_$NAME_sat_f16x2(*(unsigned*)&a, *(unsigned*)&b); return *(__half2*)&r; }
        : { __half2 r; r.x = __h$NAME_sat(a.x, b.x); r.y = __h$NAME_sat(a.y, b.y); return r; }
    /// a $SIGN b, clamped to 0 and 1.
    [fp16] __half __h$NAME_sat(__half a, __half b) = sm_53 ? ptx "$NAME.sat.f16"
        : { return __float2half_rn(__saturatef(__half2float(__h$NAME(a, b)))); }
    /// The result clamped to 0 and 1.
    [bf16] __nv_bfloat16 __h$NAME_sat(__nv_bfloat16 a, __nv_bfloat16 b)
        { return __cdp_clamp01(__h$NAME(a, b)); }
    /// Each half clamped to 0 and 1.
    [bf16] __nv_bfloat162 __h$NAME2_sat(__nv_bfloat162 a, __nv_bfloat162 b)
        { __nv_bfloat162 r; r.x = __h$NAME_sat(a.x, b.x); r.y = __h$NAME_sat(a.y, b.y); return r; }
}
/// The packed operation.
unsigned __cdp_fma_sat_f16x2(unsigned a, unsigned b, unsigned c) = ptx "fma.rn.sat.f16x2";
/// a * b + c, clamped to 0 and 1.
[fp16] __half __hfma_sat(__half a, __half b, __half c) = sm_53 ? ptx "fma.rn.sat.f16"
    : { return __float2half_rn(__saturatef(__half2float(__hfma(a, b, c)))); }
[bf16, sm_80] __nv_bfloat16 __hfma_sat(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c)
    { return __cdp_clamp01(__hfma(a, b, c)); }
/// a * b + c of each half, clamped to 0 and 1.
[bf16, sm_80] __nv_bfloat162 __hfma2_sat(__nv_bfloat162 a, __nv_bfloat162 b, __nv_bfloat162 c) {
    __nv_bfloat162 r; r.x = __hfma_sat(a.x, b.x, c.x); r.y = __hfma_sat(a.y, b.y, c.y); return r;
}
/// The value clamped to 0 and 1; a NaN becomes 0.
__nv_bfloat16 __cdp_clamp01(__nv_bfloat16 a) {
    float f = __bfloat162float(a);
    return __float2bfloat16_rn(f > 0.0f ? (f < 1.0f ? f : 1.0f) : 0.0f);
}

// Scalar instructions, and what to do before an architecture has them.
each $S | $HEADER | $N | $TO | $FROM | $SM | $FUSED | $LATE {
    __half | fp16 | f16 | __half2float | __float2half_rn | sm_53 | sm_0 | sm_75
    __nv_bfloat16 | bf16 | bf16 | __bfloat162float | __float2bfloat16_rn | sm_90 | sm_80 | sm_90
} {
    [$HEADER] {
        /// a + b, never fused.
        $S __hadd_rn($S a, $S b) = $SM ? ptx "add.rn.$N" : { return $FROM(__fadd_rn($TO(a), $TO(b))); }
        /// a - b, never fused.
        $S __hsub_rn($S a, $S b) = $SM ? ptx "sub.rn.$N" : { return $FROM(__fsub_rn($TO(a), $TO(b))); }
        /// a * b, never fused.
        $S __hmul_rn($S a, $S b) = $SM ? ptx "mul.rn.$N" : { return $FROM(__fmul_rn($TO(a), $TO(b))); }
        /// a * b + c; a negative result becomes 0.
        [$FUSED] $S __hfma_relu($S a, $S b, $S c) = sm_80 ? ptx "fma.rn.relu.$N"
            : { $S r = __hfma(a, b, c); return $TO(r) <= 0.0f ? $FROM(0.0f) : r; }
        /// The larger value; a NaN wins.
        $S __hmax_nan($S a, $S b) = sm_80 ? ptx "max.NaN.$N"
            : { return __hisnan(a) ? a : __hisnan(b) ? b : __hmax(a, b); }
        /// The smaller value; a NaN wins.
        $S __hmin_nan($S a, $S b) = sm_80 ? ptx "min.NaN.$N"
            : { return __hisnan(a) ? a : __hisnan(b) ? b : __hmin(a, b); }
        /// Fast hyperbolic tangent.
        $S htanh_approx($S a) = $LATE ? ptx "tanh.approx.$N" : { return $FROM(__tanhf($TO(a))); }
    }
}

// Mathematics in single precision: the function, applied between the conversions. The text before
// it settles the few arguments whose single-precision result lies so close to the middle of two
// 16-bit values that it rounds to the wrong one (found by trying all arguments against nvcc's
// functions, which are rounded correctly).
each $NAME | $F | $HALF | $BF | $SUMMARY {
    cos | __cdp_cosf | unsigned short u = __half_as_ushort(a); \
        if (u == 0x2b7c) return __ushort_as_half(0x3bfd); \
        if (u == 0xab7c) return __ushort_as_half(0x3bfd); | | Cosine.
    sin | __cdp_sinf | unsigned short u = __half_as_ushort(a); \
        if (u == 0x32b3) return __ushort_as_half(0x32a7); \
        if (u == 0xb2b3) return __ushort_as_half(0xb2a7); \
        if (u == 0x5cb0) return __ushort_as_half(0xbbff); \
        if (u == 0xdcb0) return __ushort_as_half(0x3bff); | | Sine.
    exp | __cdp_expf | unsigned short u = __half_as_ushort(a); \
        if (u == 0x25cf) return __ushort_as_half(0x3c17); \
        if (u == 0x1f79) return __ushort_as_half(0x3c07); | | Power of e.
    exp2 | exp2f | unsigned short u = __half_as_ushort(a); \
        if (u == 0xa86d) return __ushort_as_half(0x3bd0); \
        if (u == 0x9bf2) return __ushort_as_half(0x3bfb); | | Power of 2.
    exp10 | __cdp_exp10f | unsigned short u = __half_as_ushort(a); \
        if (u == 0x9766) return __ushort_as_half(0x3bf7); \
        if (u == 0x9972) return __ushort_as_half(0x3bf4); \
        | if (__bfloat16_as_ushort(a) == 0xbc95) return __ushort_as_bfloat16(0x3f75); | Power of 10.
    log | __cdp_logf | unsigned short u = __half_as_ushort(a); \
        if (u == 0x1935) return __ushort_as_half(0xc5f9); \
        if (u == 0x1d78) return __ushort_as_half(0xc53b); | | Natural logarithm.
    log2 | __cdp_log2f | | | Binary logarithm.
    log10 | __cdp_log10f | unsigned short u = __half_as_ushort(a); \
        if (u == 0x57e1) return __ushort_as_half(0x4033); \
        if (u == 0x338f) return __ushort_as_half(0xb903); \
        if (u == 0x33f8) return __ushort_as_half(0xb8d5); \
        if (u == 0x719d) return __ushort_as_half(0x440f); | | Decimal logarithm.
    rcp | __frcp_rn | | | Reciprocal.
    rsqrt | rsqrtf | | | Reciprocal of the square root.
    sqrt | __fsqrt_rn | | | Square root.
    tanh | __cdp_tanhf | | | Hyperbolic tangent.
} {
    /// $SUMMARY
    [fp16] __half h$NAME(__half a) { $HALF return __float2half_rn($F(__half2float(a))); }
    [bf16] __nv_bfloat16 h$NAME(__nv_bfloat16 a) { $BF return __float2bfloat16_rn($F(__bfloat162float(a))); }
    [fp16] __half2 h2$NAME(__half2 a) { __half2 r; r.x = h$NAME(a.x); r.y = h$NAME(a.y); return r; }
    [bf16] __nv_bfloat162 h2$NAME(__nv_bfloat162 a)
        { __nv_bfloat162 r; r.x = h$NAME(a.x); r.y = h$NAME(a.y); return r; }
}
