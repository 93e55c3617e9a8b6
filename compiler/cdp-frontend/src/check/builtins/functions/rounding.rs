//! Arithmetic with a chosen rounding, never contracted: `__fadd_rn` and its like.
//!
//! The suffixes are `_rn` (nearest even), `_rz` (toward zero), `_rd` (down), `_ru` (up).

use super::{BuiltinFn, Lower, device, ptx};

/// Four rows a single-precision operation, which flushes denormals when asked.
macro_rules! single {
    ($($name:literal $op:literal, $sig:literal, $operands:literal, $args:literal, $summary:literal;)*) => {
        &[$(
            single!(@ $name, "rn", $op, $sig, $operands, $args, $summary),
            single!(@ $name, "rz", $op, $sig, $operands, $args, $summary),
            single!(@ $name, "rd", $op, $sig, $operands, $args, $summary, "rm"),
            single!(@ $name, "ru", $op, $sig, $operands, $args, $summary, "rp"),
        )*]
    };
    (@ $name:literal, $mode:literal, $op:literal, $sig:literal, $operands:literal, $args:literal,
        $summary:literal) => {
        single!(@ $name, $mode, $op, $sig, $operands, $args, $summary, $mode)
    };
    (@ $name:literal, $mode:literal, $op:literal, $sig:literal, $operands:literal, $args:literal,
        $summary:literal, $ptx:literal) => {
        device(
            concat!($name, $mode),
            $sig,
            Lower::IfFtz(
                &ptx!(pure concat!($op, ".", $ptx, ".ftz.f32 ", $operands), "f", $args),
                &ptx!(pure concat!($op, ".", $ptx, ".f32 ", $operands), "f", $args),
            ),
            $summary,
        )
    };
}

/// Four rows an operation that looks at no flags.
macro_rules! exact {
    ($($name:literal $op:literal, $sig:literal, $type:literal, $operands:literal, $result:literal,
        $args:literal, $summary:literal;)*) => {
        &[$(
            device(concat!($name, "rn"), $sig,
                ptx!(pure concat!($op, ".rn", $type, $operands), $result, $args), $summary),
            device(concat!($name, "rz"), $sig,
                ptx!(pure concat!($op, ".rz", $type, $operands), $result, $args), $summary),
            device(concat!($name, "rd"), $sig,
                ptx!(pure concat!($op, ".rm", $type, $operands), $result, $args), $summary),
            device(concat!($name, "ru"), $sig,
                ptx!(pure concat!($op, ".rp", $type, $operands), $result, $args), $summary),
        )*]
    };
}

/// Single precision.
pub(super) const SINGLE: &[BuiltinFn] = single! {
    "__fadd_" "add", "float(float x,float y)", "$0, $1, $2;", "ff", "x + y, rounded as named.";
    "__fsub_" "sub", "float(float x,float y)", "$0, $1, $2;", "ff", "x - y, rounded as named.";
    "__fmul_" "mul", "float(float x,float y)", "$0, $1, $2;", "ff", "x * y, rounded as named.";
    "__fdiv_" "div", "float(float x,float y)", "$0, $1, $2;", "ff", "x / y, rounded as named.";
    "__frcp_" "rcp", "float(float x)", "$0, $1;", "f", "1 / x, rounded as named.";
    "__fsqrt_" "sqrt", "float(float x)", "$0, $1;", "f", "Square root, rounded as named.";
    "__fmaf_" "fma", "float(float x,float y,float z)", "$0, $1, $2, $3;", "fff",
        "x * y + z, rounded once as named.";
};

/// Double precision, and the single-precision form that never flushes denormals.
pub(super) const DOUBLE: &[BuiltinFn] = exact! {
    "__dadd_" "add", "double(double x,double y)", ".f64", " $0, $1, $2;", "d", "dd",
        "x + y, rounded as named.";
    "__dsub_" "sub", "double(double x,double y)", ".f64", " $0, $1, $2;", "d", "dd",
        "x - y, rounded as named.";
    "__dmul_" "mul", "double(double x,double y)", ".f64", " $0, $1, $2;", "d", "dd",
        "x * y, rounded as named.";
    "__ddiv_" "div", "double(double x,double y)", ".f64", " $0, $1, $2;", "d", "dd",
        "x / y, rounded as named.";
    "__drcp_" "rcp", "double(double x)", ".f64", " $0, $1;", "d", "d", "1 / x, rounded as named.";
    "__dsqrt_" "sqrt", "double(double x)", ".f64", " $0, $1;", "d", "d",
        "Square root, rounded as named.";
    "__fma_" "fma", "double(double x,double y,double z)", ".f64", " $0, $1, $2, $3;", "d", "ddd",
        "x * y + z, rounded once as named.";
    "__fmaf_ieee_" "fma", "float(float x,float y,float z)", ".f32", " $0, $1, $2, $3;", "f", "fff",
        "x * y + z, rounded once as named; denormals are kept.";
};
