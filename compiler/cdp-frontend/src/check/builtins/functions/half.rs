//! `__half`, `__half2`, `__nv_bfloat16` and `__nv_bfloat162`: arithmetic, comparison and
//! mathematics, one set of rows for both formats. Conversions are in `half_convert`.
//!
//! Scalars are machine operations wherever one exists, so that the optimiser sees through them, and
//! so that architectures without them get the single-precision detour from the back end. Pairs are
//! packed instructions where the architecture has them, and two scalars elsewhere. The rounded
//! (`_rn`) forms are instructions of their own: they must not fuse into a multiply-add.

use cdp_ir::{BinaryOp, CompareOp, Intrinsic, UnaryOp};

use super::{BuiltinFn, Header, Lower, device, ptx, row};

/// A pair as the word that holds it, and back.
macro_rules! packed {
    ($v:literal, $op:literal, 1) => {
        concat!("{ unsigned r = ", $op, "(*(unsigned*)&a); return *(", $v, "*)&r; }")
    };
    ($v:literal, $op:literal, 2) => {
        concat!(
            "{ unsigned r = ",
            $op,
            "(*(unsigned*)&a, *(unsigned*)&b); return *(",
            $v,
            "*)&r; }"
        )
    };
    ($v:literal, $op:literal, 3) => {
        concat!(
            "{ unsigned r = ",
            $op,
            "(*(unsigned*)&a, *(unsigned*)&b, *(unsigned*)&c); return *(",
            $v,
            "*)&r; }"
        )
    };
}

/// Each lane of a pair by the scalar function.
macro_rules! lanes {
    ($v:literal, $f:literal, 1) => {
        concat!("{ ", $v, " r; r.x = ", $f, "(a.x); r.y = ", $f, "(a.y); return r; }")
    };
    ($v:literal, $f:literal, 2) => {
        concat!("{ ", $v, " r; r.x = ", $f, "(a.x, b.x); r.y = ", $f, "(a.y, b.y); return r; }")
    };
    ($v:literal, $f:literal, 3) => {
        concat!(
            "{ ",
            $v,
            " r; r.x = ",
            $f,
            "(a.x, b.x, c.x); r.y = ",
            $f,
            "(a.y, b.y, c.y); return r; }"
        )
    };
}

/// The signature of a function of so many arguments of one type.
macro_rules! sig {
    ($t:literal, 1) => {
        concat!($t, "(", $t, " a)")
    };
    ($t:literal, 2) => {
        concat!($t, "(", $t, " a,", $t, " b)")
    };
    ($t:literal, 3) => {
        concat!($t, "(", $t, " a,", $t, " b,", $t, " c)")
    };
    ($r:literal <- $t:literal, 1) => {
        concat!($r, "(", $t, " a)")
    };
    ($r:literal <- $t:literal, 2) => {
        concat!($r, "(", $t, " a,", $t, " b)")
    };
}

/// A packed operation: its internal row, and the public function that falls back to lanes.
macro_rules! pair_op {
    ($v:literal, $header:ident, $name:literal, $scalar:literal, $internal:literal, $text:literal,
        $since:literal, 1, $summary:literal) => {
        [
            device($internal, "unsigned(unsigned a)",
                ptx!(pure concat!($text, " $0, $1;"), "r", "r"), "The packed operation."),
            device($name, sig!($v, 1),
                Lower::IfSm($since, &Lower::Inline(packed!($v, $internal, 1)),
                    &Lower::Inline(lanes!($v, $scalar, 1))), $summary)
                .in_header(Header::$header),
        ]
    };
    ($v:literal, $header:ident, $name:literal, $scalar:literal, $internal:literal, $text:literal,
        $since:literal, 2, $summary:literal) => {
        [
            device($internal, "unsigned(unsigned a,unsigned b)",
                ptx!(pure concat!($text, " $0, $1, $2;"), "r", "rr"), "The packed operation."),
            device($name, sig!($v, 2),
                Lower::IfSm($since, &Lower::Inline(packed!($v, $internal, 2)),
                    &Lower::Inline(lanes!($v, $scalar, 2))), $summary)
                .in_header(Header::$header),
        ]
    };
    ($v:literal, $header:ident, $name:literal, $scalar:literal, $internal:literal, $text:literal,
        $since:literal, 3, $summary:literal) => {
        [
            device($internal, "unsigned(unsigned a,unsigned b,unsigned c)",
                ptx!(pure concat!($text, " $0, $1, $2, $3;"), "r", "rrr"), "The packed operation."),
            fused(device($name, sig!($v, 3),
                Lower::IfSm($since, &Lower::Inline(packed!($v, $internal, 3)),
                    &Lower::Inline(lanes!($v, $scalar, 3))), $summary)
                .in_header(Header::$header)),
        ]
    };
}

/// Packed operations of one format: name, scalar form, internal name, PTX, architecture, arity.
macro_rules! pair_ops {
    ($v:literal, $header:ident; $($name:literal $scalar:literal $internal:literal $text:literal
        $since:literal $arity:tt $summary:literal;)*) => {{
        const PAIRS: &[[BuiltinFn; 2]] = &[
            $(pair_op!($v, $header, $name, $scalar, $internal, $text, $since, $arity, $summary),)*
        ];
        PAIRS.as_flattened()
    }};
}

pub(super) const HALF_PAIR_OPS: &[BuiltinFn] = pair_ops! { "__half2", Fp16;
    "__hadd2" "__hadd" "__cdp_add_f16x2" "add.f16x2" 53 2 "Sum of each half.";
    "__hsub2" "__hsub" "__cdp_sub_f16x2" "sub.f16x2" 53 2 "Difference of each half.";
    "__hmul2" "__hmul" "__cdp_mul_f16x2" "mul.f16x2" 53 2 "Product of each half.";
    "__hadd2_rn" "__hadd_rn" "__cdp_add_rn_f16x2" "add.rn.f16x2" 53 2 "Sum of each half, never fused.";
    "__hsub2_rn" "__hsub_rn" "__cdp_sub_rn_f16x2" "sub.rn.f16x2" 53 2
        "Difference of each half, never fused.";
    "__hmul2_rn" "__hmul_rn" "__cdp_mul_rn_f16x2" "mul.rn.f16x2" 53 2
        "Product of each half, never fused.";
    "__hadd2_sat" "__hadd_sat" "__cdp_add_sat_f16x2" "add.sat.f16x2" 53 2
        "Sum of each half, clamped to 0 and 1.";
    "__hsub2_sat" "__hsub_sat" "__cdp_sub_sat_f16x2" "sub.sat.f16x2" 53 2
        "Difference of each half, clamped to 0 and 1.";
    "__hmul2_sat" "__hmul_sat" "__cdp_mul_sat_f16x2" "mul.sat.f16x2" 53 2
        "Product of each half, clamped to 0 and 1.";
    "__hfma2" "__hfma" "__cdp_fma_f16x2" "fma.rn.f16x2" 53 3 "a * b + c of each half, rounded once.";
    "__hfma2_sat" "__hfma_sat" "__cdp_fma_sat_f16x2" "fma.rn.sat.f16x2" 53 3
        "a * b + c of each half, clamped to 0 and 1.";
    "__hfma2_relu" "__hfma_relu" "__cdp_fma_relu_f16x2" "fma.rn.relu.f16x2" 80 3
        "a * b + c of each half, negative results become 0.";
    "__hmax2" "__hmax" "__cdp_max_f16x2" "max.f16x2" 80 2 "The larger value of each half.";
    "__hmin2" "__hmin" "__cdp_min_f16x2" "min.f16x2" 80 2 "The smaller value of each half.";
    "__hmax2_nan" "__hmax_nan" "__cdp_max_nan_f16x2" "max.NaN.f16x2" 80 2
        "The larger value of each half; a NaN wins.";
    "__hmin2_nan" "__hmin_nan" "__cdp_min_nan_f16x2" "min.NaN.f16x2" 80 2
        "The smaller value of each half; a NaN wins.";
    "h2tanh_approx" "htanh_approx" "__cdp_tanh_f16x2" "tanh.approx.f16x2" 75 1
        "Fast hyperbolic tangent of each half.";
};

pub(super) const BF16_PAIR_OPS: &[BuiltinFn] = pair_ops! { "__nv_bfloat162", Bf16;
    "__hadd2" "__hadd" "__cdp_add_bf16x2" "add.bf16x2" 90 2 "Sum of each half.";
    "__hsub2" "__hsub" "__cdp_sub_bf16x2" "sub.bf16x2" 90 2 "Difference of each half.";
    "__hmul2" "__hmul" "__cdp_mul_bf16x2" "mul.bf16x2" 90 2 "Product of each half.";
    "__hadd2_rn" "__hadd_rn" "__cdp_add_rn_bf16x2" "add.rn.bf16x2" 90 2
        "Sum of each half, never fused.";
    "__hsub2_rn" "__hsub_rn" "__cdp_sub_rn_bf16x2" "sub.rn.bf16x2" 90 2
        "Difference of each half, never fused.";
    "__hmul2_rn" "__hmul_rn" "__cdp_mul_rn_bf16x2" "mul.rn.bf16x2" 90 2
        "Product of each half, never fused.";
    "__hfma2" "__hfma" "__cdp_fma_bf16x2" "fma.rn.bf16x2" 80 3
        "a * b + c of each half, rounded once.";
    "__hfma2_relu" "__hfma_relu" "__cdp_fma_relu_bf16x2" "fma.rn.relu.bf16x2" 80 3
        "a * b + c of each half, negative results become 0.";
    "__hmax2" "__hmax" "__cdp_max_bf16x2" "max.bf16x2" 80 2 "The larger value of each half.";
    "__hmin2" "__hmin" "__cdp_min_bf16x2" "min.bf16x2" 80 2 "The smaller value of each half.";
    "__hmax2_nan" "__hmax_nan" "__cdp_max_nan_bf16x2" "max.NaN.bf16x2" 80 2
        "The larger value of each half; a NaN wins.";
    "__hmin2_nan" "__hmin_nan" "__cdp_min_nan_bf16x2" "min.NaN.bf16x2" 80 2
        "The smaller value of each half; a NaN wins.";
    "h2tanh_approx" "htanh_approx" "__cdp_tanh_bf16x2" "tanh.approx.bf16x2" 90 1
        "Fast hyperbolic tangent of each half.";
};

/// The saturated forms of bfloat16, which has no such instructions.
pub(super) const BF16_SATURATED: &[BuiltinFn] = &[
    saturated("__hadd_sat", "{ return __cdp_clamp01(__hadd(a, b)); }"),
    saturated("__hsub_sat", "{ return __cdp_clamp01(__hsub(a, b)); }"),
    saturated("__hmul_sat", "{ return __cdp_clamp01(__hmul(a, b)); }"),
    fma(
        "__hfma_sat",
        "__nv_bfloat16(__nv_bfloat16 a,__nv_bfloat16 b,__nv_bfloat16 c)",
        Lower::Inline("{ return __cdp_clamp01(__hfma(a, b, c)); }"),
        Header::Bf16,
        "a * b + c, clamped to 0 and 1.",
    ),
    device(
        "__cdp_clamp01",
        "__nv_bfloat16(__nv_bfloat16 a)",
        Lower::Inline(
            "{ float f = __bfloat162float(a);\
             return __float2bfloat16_rn(f > 0.0f ? (f < 1.0f ? f : 1.0f) : 0.0f); }",
        ),
        "The value clamped to 0 and 1; a NaN becomes 0.",
    ),
    saturated2("__hadd2_sat", lanes!("__nv_bfloat162", "__hadd_sat", 2)),
    saturated2("__hsub2_sat", lanes!("__nv_bfloat162", "__hsub_sat", 2)),
    saturated2("__hmul2_sat", lanes!("__nv_bfloat162", "__hmul_sat", 2)),
    device(
        "__hfma2_sat",
        sig!("__nv_bfloat162", 3),
        Lower::Inline(lanes!("__nv_bfloat162", "__hfma_sat", 3)),
        "a * b + c of each half, clamped to 0 and 1.",
    )
    .in_header(Header::Bf16)
    .since(80),
];

const fn saturated(name: &'static str, body: &'static str) -> BuiltinFn {
    device(name, sig!("__nv_bfloat16", 2), Lower::Inline(body), "The result clamped to 0 and 1.")
        .in_header(Header::Bf16)
}

const fn saturated2(name: &'static str, body: &'static str) -> BuiltinFn {
    device(name, sig!("__nv_bfloat162", 2), Lower::Inline(body), "Each half clamped to 0 and 1.")
        .in_header(Header::Bf16)
}

/// Scalar instructions: name, PTX for `__half` and from which architecture, and what to do before.
macro_rules! scalar_ptx {
    ($s:literal, $header:ident; $($name:literal $text:literal $since:literal $arity:tt $before:literal
        $summary:literal;)*) => {
        &[$(
            scalar_ptx!(@since $arity device($name, sig!($s, $arity),
                Lower::IfSm($since, &scalar_ptx!(@ $text, $arity), &Lower::Inline($before)),
                $summary).in_header(Header::$header)),
        )*]
    };
    (@since 3 $row:expr) => { fused($row) };
    (@since $arity:tt $row:expr) => { $row };
    (@ $text:literal, 1) => { ptx!(pure concat!($text, " $0, $1;"), "h", "h") };
    (@ $text:literal, 2) => { ptx!(pure concat!($text, " $0, $1, $2;"), "h", "hh") };
    (@ $text:literal, 3) => { ptx!(pure concat!($text, " $0, $1, $2, $3;"), "h", "hhh") };
}

pub(super) const HALF_SCALAR_PTX: &[BuiltinFn] = scalar_ptx! { "__half", Fp16;
    "__hadd_rn" "add.rn.f16" 53 2
        "{ return __float2half_rn(__fadd_rn(__half2float(a), __half2float(b))); }"
        "a + b, never fused.";
    "__hsub_rn" "sub.rn.f16" 53 2
        "{ return __float2half_rn(__fsub_rn(__half2float(a), __half2float(b))); }"
        "a - b, never fused.";
    "__hmul_rn" "mul.rn.f16" 53 2
        "{ return __float2half_rn(__fmul_rn(__half2float(a), __half2float(b))); }"
        "a * b, never fused.";
    "__hadd_sat" "add.sat.f16" 53 2
        "{ return __float2half_rn(__saturatef(__half2float(__hadd(a, b)))); }"
        "a + b, clamped to 0 and 1.";
    "__hsub_sat" "sub.sat.f16" 53 2
        "{ return __float2half_rn(__saturatef(__half2float(__hsub(a, b)))); }"
        "a - b, clamped to 0 and 1.";
    "__hmul_sat" "mul.sat.f16" 53 2
        "{ return __float2half_rn(__saturatef(__half2float(__hmul(a, b)))); }"
        "a * b, clamped to 0 and 1.";
    "__hfma_sat" "fma.rn.sat.f16" 53 3
        "{ return __float2half_rn(__saturatef(__half2float(__hfma(a, b, c)))); }"
        "a * b + c, clamped to 0 and 1.";
    "__hfma_relu" "fma.rn.relu.f16" 80 3
        "{ __half r = __hfma(a, b, c); return __half2float(r) <= 0.0f ? __float2half_rn(0.0f) : r; }"
        "a * b + c; a negative result becomes 0.";
    "__hmax_nan" "max.NaN.f16" 80 2
        "{ return __hisnan(a) ? a : __hisnan(b) ? b : __hmax(a, b); }"
        "The larger value; a NaN wins.";
    "__hmin_nan" "min.NaN.f16" 80 2
        "{ return __hisnan(a) ? a : __hisnan(b) ? b : __hmin(a, b); }"
        "The smaller value; a NaN wins.";
    "htanh_approx" "tanh.approx.f16" 75 1
        "{ return __float2half_rn(__tanhf(__half2float(a))); }"
        "Fast hyperbolic tangent.";
};

pub(super) const BF16_SCALAR_PTX: &[BuiltinFn] = scalar_ptx! { "__nv_bfloat16", Bf16;
    "__hadd_rn" "add.rn.bf16" 90 2
        "{ return __float2bfloat16_rn(__fadd_rn(__bfloat162float(a), __bfloat162float(b))); }"
        "a + b, never fused.";
    "__hsub_rn" "sub.rn.bf16" 90 2
        "{ return __float2bfloat16_rn(__fsub_rn(__bfloat162float(a), __bfloat162float(b))); }"
        "a - b, never fused.";
    "__hmul_rn" "mul.rn.bf16" 90 2
        "{ return __float2bfloat16_rn(__fmul_rn(__bfloat162float(a), __bfloat162float(b))); }"
        "a * b, never fused.";
    "__hfma_relu" "fma.rn.relu.bf16" 80 3
        "{ __nv_bfloat16 r = __hfma(a, b, c);\
         return __bfloat162float(r) <= 0.0f ? __float2bfloat16_rn(0.0f) : r; }"
        "a * b + c; a negative result becomes 0.";
    "__hmax_nan" "max.NaN.bf16" 80 2
        "{ return __hisnan(a) ? a : __hisnan(b) ? b : __hmax(a, b); }"
        "The larger value; a NaN wins.";
    "__hmin_nan" "min.NaN.bf16" 80 2
        "{ return __hisnan(a) ? a : __hisnan(b) ? b : __hmin(a, b); }"
        "The smaller value; a NaN wins.";
    "htanh_approx" "tanh.approx.bf16" 90 1
        "{ return __float2bfloat16_rn(__tanhf(__bfloat162float(a))); }"
        "Fast hyperbolic tangent.";
};

/// Mathematics in single precision: the function, applied between the conversions. The text before
/// it settles the few arguments whose single-precision result lies so close to the middle of two
/// 16-bit values that it rounds to the wrong one (found by trying all arguments against nvcc's
/// functions, which are rounded correctly).
macro_rules! through_float {
    ($s:literal, $v:literal, $header:ident, $to:literal, $from:literal;
        $($name:literal $pair:literal $f:literal $exceptions:expr, $summary:literal;)*) => {{
        const PAIRS: &[[BuiltinFn; 2]] = &[$([
            device($name, sig!($s, 1),
                Lower::Inline(concat!("{ ", $exceptions, "return ", $from, "(", $f, "(", $to,
                    "(a))); }")),
                $summary).in_header(Header::$header),
            device($pair, sig!($v, 1), Lower::Inline(lanes!($v, $name, 1)), $summary)
                .in_header(Header::$header),
        ],)*];
        PAIRS.as_flattened()
    }};
}

/// `if` statements for single arguments of a `__half` function: argument and result as bits.
macro_rules! exceptions {
    ($($argument:literal => $result:literal),*) => {
        concat!("unsigned short u = __half_as_ushort(a); ",
            $("if (u == ", $argument, ") return __ushort_as_half(", $result, "); ",)*)
    };
}

/// What host code does, which has no 16-bit arithmetic: the same in single precision. That is exact
/// or rounded to more than twice the bits, so rounding again changes nothing.
macro_rules! host {
    (1 $to:literal $op:literal $from:literal) => {
        Lower::Inline(concat!("{ return ", $from, "(", $op, "(", $to, "(a))); }"))
    };
    (2 $to:literal $op:literal $from:literal) => {
        Lower::Inline(concat!("{ return ", $from, "(", $to, "(a) ", $op, " ", $to, "(b)); }"))
    };
    (f $to:literal $op:literal $from:literal) => {
        Lower::Inline(concat!("{ return ", $from, "(", $op, "(", $to, "(a), ", $to, "(b))); }"))
    };
    (is $to:literal $op:literal) => {
        Lower::Inline(concat!("{ return ", $op, "(", $to, "(a)); }"))
    };
    (? $to:literal $op:literal) => {
        Lower::Inline(concat!("{ return ", $to, "(a) ", $op, " ", $to, "(b); }"))
    };
}

/// The rows that are the same for both formats.
macro_rules! format {
    ($s:literal, $v:literal, $header:ident, $to:literal, $from:literal) => {
        &[
            op("__hadd", sig!($s, 2), Lower::Binary(BinaryOp::Add), host!(2 $to "+" $from), Header::$header, "a + b."),
            op("__hsub", sig!($s, 2), Lower::Binary(BinaryOp::Sub), host!(2 $to "-" $from), Header::$header, "a - b."),
            op("__hmul", sig!($s, 2), Lower::Binary(BinaryOp::Mul), host!(2 $to "*" $from), Header::$header, "a * b."),
            op("__hdiv", sig!($s, 2), Lower::Binary(BinaryOp::Div), host!(2 $to "/" $from), Header::$header, "a / b."),
            op("__hneg", sig!($s, 1), Lower::Unary(UnaryOp::Neg), host!(1 $to "-" $from), Header::$header, "-a."),
            op("__habs", sig!($s, 1), Lower::Intrinsic(Intrinsic::AbsFloat), host!(1 $to "fabsf" $from), Header::$header,
                "Absolute value."),
            fma("__hfma", sig!($s, 3), Lower::Intrinsic(Intrinsic::Fma), Header::$header,
                "a * b + c, rounded once."),
            op("__hmax", sig!($s, 2), Lower::Intrinsic(Intrinsic::MaxFloat), host!(f $to "fmaxf" $from), Header::$header,
                "The larger value; a NaN loses."),
            op("__hmin", sig!($s, 2), Lower::Intrinsic(Intrinsic::MinFloat), host!(f $to "fminf" $from), Header::$header,
                "The smaller value; a NaN loses."),
            op("__hisnan", sig!("bool" <- $s, 1), Lower::Intrinsic(Intrinsic::IsNan),
                host!(is $to "isnan"), Header::$header, "Whether a NaN."),
            both("__hisinf", sig!("int" <- $s, 1), Lower::Inline(concat!(
                "{ float f = ", $to, "(a); return isinf(f) ? (f < 0.0f ? -1 : 1) : 0; }")),
                Header::$header, "1 for infinity, -1 for minus infinity, else 0."),
            dev("hceil", sig!($s, 1), Lower::Intrinsic(Intrinsic::Ceil), Header::$header,
                "The smallest integral value not below."),
            dev("hfloor", sig!($s, 1), Lower::Intrinsic(Intrinsic::Floor), Header::$header,
                "The largest integral value not above."),
            dev("htrunc", sig!($s, 1), Lower::Intrinsic(Intrinsic::Trunc), Header::$header,
                "The integral value toward zero."),
            dev("hrint", sig!($s, 1), Lower::Intrinsic(Intrinsic::RoundEven), Header::$header,
                "The nearest integral value, halves to even."),
            dev("h2ceil", sig!($v, 1), Lower::Inline(lanes!($v, "hceil", 1)), Header::$header,
                "The smallest integral value not below, of each half."),
            dev("h2floor", sig!($v, 1), Lower::Inline(lanes!($v, "hfloor", 1)), Header::$header,
                "The largest integral value not above, of each half."),
            dev("h2trunc", sig!($v, 1), Lower::Inline(lanes!($v, "htrunc", 1)), Header::$header,
                "The integral value toward zero, of each half."),
            dev("h2rint", sig!($v, 1), Lower::Inline(lanes!($v, "hrint", 1)), Header::$header,
                "The nearest integral value, halves to even, of each half."),
            both("__h2div", sig!($v, 2), Lower::Inline(lanes!($v, "__hdiv", 2)), Header::$header,
                "a / b of each half."),
            both("__hneg2", sig!($v, 1), Lower::Inline(concat!(
                "{ unsigned r = *(unsigned*)&a ^ 0x80008000u; return *(", $v, "*)&r; }")),
                Header::$header, "-a of each half."),
            both("__habs2", sig!($v, 1), Lower::Inline(concat!(
                "{ unsigned r = *(unsigned*)&a & 0x7fff7fffu; return *(", $v, "*)&r; }")),
                Header::$header, "Absolute value of each half."),
            both("__hisnan2", sig!($v, 1), Lower::Inline(concat!(
                "{ ", $v, " r; r.x = ", $from, "(__hisnan(a.x) ? 1.0f : 0.0f);",
                " r.y = ", $from, "(__hisnan(a.y) ? 1.0f : 0.0f); return r; }")),
                Header::$header, "1.0 for each half that is a NaN, else 0.0."),
            fma("__hcmadd", sig!($v, 3), Lower::Inline(concat!(
                "{ ", $v, " r; r.x = __hfma(__hneg(a.y), b.y, __hfma(a.x, b.x, c.x));",
                " r.y = __hfma(a.y, b.x, __hfma(a.x, b.y, c.y)); return r; }")),
                Header::$header, "The complex product a * b, plus c."),

            op("operator+", sig!($s, 2), Lower::Binary(BinaryOp::Add), host!(2 $to "+" $from), Header::$header, "a + b."),
            op("operator-", sig!($s, 2), Lower::Binary(BinaryOp::Sub), host!(2 $to "-" $from), Header::$header, "a - b."),
            op("operator*", sig!($s, 2), Lower::Binary(BinaryOp::Mul), host!(2 $to "*" $from), Header::$header, "a * b."),
            op("operator/", sig!($s, 2), Lower::Binary(BinaryOp::Div), host!(2 $to "/" $from), Header::$header, "a / b."),
            op("operator-", sig!($s, 1), Lower::Unary(UnaryOp::Neg), host!(1 $to "-" $from), Header::$header, "-a."),
            both("operator+", sig!($s, 1), Lower::Inline("{ return a; }"), Header::$header, "a."),
            op("operator==", sig!("bool" <- $s, 2), Lower::Compare(CompareOp::Eq), host!(? $to "=="), Header::$header,
                "Whether equal."),
            op("operator!=", sig!("bool" <- $s, 2), Lower::Compare(CompareOp::Ne), host!(? $to "!="), Header::$header,
                "Whether different."),
            op("operator<", sig!("bool" <- $s, 2), Lower::Compare(CompareOp::Lt), host!(? $to "<"), Header::$header,
                "Whether less."),
            op("operator<=", sig!("bool" <- $s, 2), Lower::Compare(CompareOp::Le), host!(? $to "<="), Header::$header,
                "Whether less or equal."),
            op("operator>", sig!("bool" <- $s, 2), Lower::Compare(CompareOp::Gt), host!(? $to ">"), Header::$header,
                "Whether greater."),
            op("operator>=", sig!("bool" <- $s, 2), Lower::Compare(CompareOp::Ge), host!(? $to ">="), Header::$header,
                "Whether greater or equal."),
            assign("operator+=", concat!($s, "&(", $s, "& a,", $s, " b)"),
                "{ a = __hadd(a, b); return a; }", Header::$header),
            assign("operator-=", concat!($s, "&(", $s, "& a,", $s, " b)"),
                "{ a = __hsub(a, b); return a; }", Header::$header),
            assign("operator*=", concat!($s, "&(", $s, "& a,", $s, " b)"),
                "{ a = __hmul(a, b); return a; }", Header::$header),
            assign("operator/=", concat!($s, "&(", $s, "& a,", $s, " b)"),
                "{ a = __hdiv(a, b); return a; }", Header::$header),
            assign("operator++", concat!($s, "&(", $s, "& a)"),
                concat!("{ a = __hadd(a, ", $from, "(1.0f)); return a; }"), Header::$header),
            assign("operator--", concat!($s, "&(", $s, "& a)"),
                concat!("{ a = __hsub(a, ", $from, "(1.0f)); return a; }"), Header::$header),
            assign("operator++", concat!($s, "(", $s, "& a,int)"),
                concat!("{ ", $s, " old = a; a = __hadd(a, ", $from, "(1.0f)); return old; }"),
                Header::$header),
            assign("operator--", concat!($s, "(", $s, "& a,int)"),
                concat!("{ ", $s, " old = a; a = __hsub(a, ", $from, "(1.0f)); return old; }"),
                Header::$header),
            pair("operator+", sig!($v, 2), "{ return __hadd2(a, b); }", Header::$header),
            pair("operator-", sig!($v, 2), "{ return __hsub2(a, b); }", Header::$header),
            pair("operator*", sig!($v, 2), "{ return __hmul2(a, b); }", Header::$header),
            pair("operator/", sig!($v, 2), "{ return __h2div(a, b); }", Header::$header),
            pair("operator+", sig!($v, 1), "{ return a; }", Header::$header),
            pair("operator-", sig!($v, 1), "{ return __hneg2(a); }", Header::$header),
            pair("operator+=", concat!($v, "&(", $v, "& a,", $v, " b)"),
                "{ a = __hadd2(a, b); return a; }", Header::$header),
            pair("operator-=", concat!($v, "&(", $v, "& a,", $v, " b)"),
                "{ a = __hsub2(a, b); return a; }", Header::$header),
            pair("operator*=", concat!($v, "&(", $v, "& a,", $v, " b)"),
                "{ a = __hmul2(a, b); return a; }", Header::$header),
            pair("operator/=", concat!($v, "&(", $v, "& a,", $v, " b)"),
                "{ a = __h2div(a, b); return a; }", Header::$header),
            pair("operator++", concat!($v, "&(", $v, "& a)"), concat!(
                "{ ", $v, " one; one.x = ", $from, "(1.0f); one.y = one.x;",
                " a = __hadd2(a, one); return a; }"), Header::$header),
            pair("operator--", concat!($v, "&(", $v, "& a)"), concat!(
                "{ ", $v, " one; one.x = ", $from, "(1.0f); one.y = one.x;",
                " a = __hsub2(a, one); return a; }"), Header::$header),
            pair("operator++", concat!($v, "(", $v, "& a,int)"), concat!(
                "{ ", $v, " one, old = a; one.x = ", $from, "(1.0f); one.y = one.x;",
                " a = __hadd2(a, one); return old; }"), Header::$header),
            pair("operator--", concat!($v, "(", $v, "& a,int)"), concat!(
                "{ ", $v, " one, old = a; one.x = ", $from, "(1.0f); one.y = one.x;",
                " a = __hsub2(a, one); return old; }"), Header::$header),
            pair("operator==", sig!("bool" <- $v, 2), "{ return __hbeq2(a, b); }", Header::$header),
            pair("operator!=", sig!("bool" <- $v, 2), "{ return __hbneu2(a, b); }", Header::$header),
            pair("operator<", sig!("bool" <- $v, 2), "{ return __hblt2(a, b); }", Header::$header),
            pair("operator<=", sig!("bool" <- $v, 2), "{ return __hble2(a, b); }", Header::$header),
            pair("operator>", sig!("bool" <- $v, 2), "{ return __hbgt2(a, b); }", Header::$header),
            pair("operator>=", sig!("bool" <- $v, 2), "{ return __hbge2(a, b); }", Header::$header),
        ]
    };
}

const fn op(
    name: &'static str,
    signature: &'static str,
    device: Lower,
    host: Lower,
    header: Header,
    summary: &'static str,
) -> BuiltinFn {
    row(name, signature, device, host, summary).in_header(header)
}

const fn both(
    name: &'static str,
    signature: &'static str,
    lower: Lower,
    header: Header,
    summary: &'static str,
) -> BuiltinFn {
    row(name, signature, lower, lower, summary).in_header(header)
}

const fn dev(
    name: &'static str,
    signature: &'static str,
    lower: Lower,
    header: Header,
    summary: &'static str,
) -> BuiltinFn {
    device(name, signature, lower, summary).in_header(header)
}

/// CUDA has fused bfloat16 from sm_80 on only.
const fn fma(
    name: &'static str,
    signature: &'static str,
    lower: Lower,
    header: Header,
    summary: &'static str,
) -> BuiltinFn {
    fused(dev(name, signature, lower, header, summary))
}

/// As [`fma`], for a row.
const fn fused(row: BuiltinFn) -> BuiltinFn {
    if matches!(row.header, Header::Bf16) { row.since(80) } else { row }
}

const fn assign(
    name: &'static str,
    signature: &'static str,
    body: &'static str,
    header: Header,
) -> BuiltinFn {
    both(name, signature, Lower::Inline(body), header, "Changes a.")
}

/// An operator of pairs, which calls what device code alone has.
const fn pair(
    name: &'static str,
    signature: &'static str,
    body: &'static str,
    header: Header,
) -> BuiltinFn {
    device(name, signature, Lower::Inline(body), "Of each half.").in_header(header)
}

pub(super) const HALF: &[BuiltinFn] =
    format!("__half", "__half2", Fp16, "__half2float", "__float2half_rn");
pub(super) const BF16: &[BuiltinFn] =
    format!("__nv_bfloat16", "__nv_bfloat162", Bf16, "__bfloat162float", "__float2bfloat16_rn");

pub(super) const HALF_MATH: &[BuiltinFn] = through_float! {
    "__half", "__half2", Fp16, "__half2float", "__float2half_rn";
    "hcos" "h2cos" "__cdp_cosf" exceptions!("0x2b7c" => "0x3bfd", "0xab7c" => "0x3bfd"), "Cosine.";
    "hsin" "h2sin" "__cdp_sinf" exceptions!("0x32b3" => "0x32a7", "0xb2b3" => "0xb2a7",
        "0x5cb0" => "0xbbff", "0xdcb0" => "0x3bff"), "Sine.";
    "hexp" "h2exp" "__cdp_expf" exceptions!("0x25cf" => "0x3c17", "0x1f79" => "0x3c07"),
        "Power of e.";
    "hexp2" "h2exp2" "exp2f" exceptions!("0xa86d" => "0x3bd0", "0x9bf2" => "0x3bfb"), "Power of 2.";
    "hexp10" "h2exp10" "__cdp_exp10f" exceptions!("0x9766" => "0x3bf7", "0x9972" => "0x3bf4"),
        "Power of 10.";
    "hlog" "h2log" "__cdp_logf" exceptions!("0x1935" => "0xc5f9", "0x1d78" => "0xc53b"),
        "Natural logarithm.";
    "hlog2" "h2log2" "__cdp_log2f" "", "Binary logarithm.";
    "hlog10" "h2log10" "__cdp_log10f" exceptions!("0x57e1" => "0x4033", "0x338f" => "0xb903",
        "0x33f8" => "0xb8d5", "0x719d" => "0x440f"), "Decimal logarithm.";
    "hrcp" "h2rcp" "__frcp_rn" "", "Reciprocal.";
    "hrsqrt" "h2rsqrt" "rsqrtf" "", "Reciprocal of the square root.";
    "hsqrt" "h2sqrt" "__fsqrt_rn" "", "Square root.";
    "htanh" "h2tanh" "__cdp_tanhf" "", "Hyperbolic tangent.";
};

pub(super) const BF16_MATH: &[BuiltinFn] = through_float! {
    "__nv_bfloat16", "__nv_bfloat162", Bf16, "__bfloat162float", "__float2bfloat16_rn";
    "hcos" "h2cos" "__cdp_cosf" "", "Cosine.";
    "hsin" "h2sin" "__cdp_sinf" "", "Sine.";
    "hexp" "h2exp" "__cdp_expf" "", "Power of e.";
    "hexp2" "h2exp2" "exp2f" "", "Power of 2.";
    "hexp10" "h2exp10" "__cdp_exp10f" "if (__bfloat16_as_ushort(a) == 0xbc95) \
        return __ushort_as_bfloat16(0x3f75); ", "Power of 10.";
    "hlog" "h2log" "__cdp_logf" "", "Natural logarithm.";
    "hlog2" "h2log2" "__cdp_log2f" "", "Binary logarithm.";
    "hlog10" "h2log10" "__cdp_log10f" "", "Decimal logarithm.";
    "hrcp" "h2rcp" "__frcp_rn" "", "Reciprocal.";
    "hrsqrt" "h2rsqrt" "rsqrtf" "", "Reciprocal of the square root.";
    "hsqrt" "h2sqrt" "__fsqrt_rn" "", "Square root.";
    "htanh" "h2tanh" "__cdp_tanhf" "", "Hyperbolic tangent.";
};
