//! Conversions with a chosen rounding, and reinterpretation of bits.

use cdp_ir::CastKind;

use super::{BuiltinFn, Lower, device, ptx};

/// Four rows a conversion from a floating type to an integer: `_rn`, `_rz`, `_rd`, `_ru`. Out of
/// range saturates. Single precision flushes denormals when asked.
macro_rules! to_int {
    ($($name:literal $from:literal $source:tt $letter:literal => $to:literal $target:literal
        $result:literal;)*) => {
        &[$(
            to_int!(@ $name, "rn", "rni", $from, $source, $letter, $to, $target, $result),
            device(concat!($name, "rz"), concat!($to, "(", $from, " x)"),
                Lower::Cast(CastKind::FloatToInt), "To integer, toward zero."),
            to_int!(@ $name, "rd", "rmi", $from, $source, $letter, $to, $target, $result),
            to_int!(@ $name, "ru", "rpi", $from, $source, $letter, $to, $target, $result),
        )*]
    };
    (@ $name:literal, $mode:literal, $ptx:literal, $from:literal, "f32", $letter:literal, $to:literal,
        $target:literal, $result:literal) => {
        device(concat!($name, $mode), concat!($to, "(", $from, " x)"),
            Lower::IfFtz(
                &ptx!(pure concat!("cvt.", $ptx, ".ftz.", $target, ".f32 $0, $1;"), $result, $letter),
                &ptx!(pure concat!("cvt.", $ptx, ".", $target, ".f32 $0, $1;"), $result, $letter),
            ),
            "To integer, rounded as named.")
    };
    (@ $name:literal, $mode:literal, $ptx:literal, $from:literal, "f64", $letter:literal, $to:literal,
        $target:literal, $result:literal) => {
        device(concat!($name, $mode), concat!($to, "(", $from, " x)"),
            ptx!(pure concat!("cvt.", $ptx, ".", $target, ".f64 $0, $1;"), $result, $letter),
            "To integer, rounded as named.")
    };
}

pub(super) const TO_INT: &[BuiltinFn] = to_int! {
    "__float2int_" "float" "f32" "f" => "int" "s32" "r";
    "__float2uint_" "float" "f32" "f" => "unsigned" "u32" "r";
    "__float2ll_" "float" "f32" "f" => "long long" "s64" "l";
    "__float2ull_" "float" "f32" "f" => "unsigned long long" "u64" "l";
    "__double2int_" "double" "f64" "d" => "int" "s32" "r";
    "__double2uint_" "double" "f64" "d" => "unsigned" "u32" "r";
    "__double2ll_" "double" "f64" "d" => "long long" "s64" "l";
    "__double2ull_" "double" "f64" "d" => "unsigned long long" "u64" "l";
};

/// Four rows a conversion from an integer.
macro_rules! from_int {
    ($($name:literal $from:literal $source:literal $letter:literal => $to:literal $target:literal
        $result:literal;)*) => {
        &[$(
            device(concat!($name, "rn"), concat!($to, "(", $from, " x)"),
                Lower::Cast(CastKind::IntToFloat), "From integer, to nearest even."),
            device(concat!($name, "rz"), concat!($to, "(", $from, " x)"),
                ptx!(pure concat!("cvt.rz.", $target, ".", $source, " $0, $1;"), $result, $letter),
                "From integer, toward zero."),
            device(concat!($name, "rd"), concat!($to, "(", $from, " x)"),
                ptx!(pure concat!("cvt.rm.", $target, ".", $source, " $0, $1;"), $result, $letter),
                "From integer, down."),
            device(concat!($name, "ru"), concat!($to, "(", $from, " x)"),
                ptx!(pure concat!("cvt.rp.", $target, ".", $source, " $0, $1;"), $result, $letter),
                "From integer, up."),
        )*]
    };
}

pub(super) const FROM_INT: &[BuiltinFn] = from_int! {
    "__int2float_" "int" "s32" "r" => "float" "f32" "f";
    "__uint2float_" "unsigned" "u32" "r" => "float" "f32" "f";
    "__ll2float_" "long long" "s64" "l" => "float" "f32" "f";
    "__ull2float_" "unsigned long long" "u64" "l" => "float" "f32" "f";
    "__ll2double_" "long long" "s64" "l" => "double" "f64" "d";
    "__ull2double_" "unsigned long long" "u64" "l" => "double" "f64" "d";
};

/// A narrowing with a rounding of its own.
macro_rules! narrow {
    ($($name:literal $mode:literal;)*) => {
        &[$(
            device($name, "float(double x)",
                Lower::IfFtz(
                    &ptx!(pure concat!("cvt.", $mode, ".ftz.f32.f64 $0, $1;"), "f", "d"),
                    &ptx!(pure concat!("cvt.", $mode, ".f32.f64 $0, $1;"), "f", "d"),
                ),
                "To single precision, rounded as named."),
        )*]
    };
}

pub(super) const NARROW: &[BuiltinFn] = narrow! {
    "__double2float_rn" "rn";
    "__double2float_rz" "rz";
    "__double2float_rd" "rm";
    "__double2float_ru" "rp";
};

const fn bits(name: &'static str, signature: &'static str) -> BuiltinFn {
    device(name, signature, Lower::Cast(CastKind::Bitcast), "The same bits as another type.")
}

pub(super) const BITS: &[BuiltinFn] = &[
    device(
        "__int2double_rn",
        "double(int x)",
        Lower::Cast(CastKind::IntToFloat),
        "From integer; always exact.",
    ),
    device(
        "__uint2double_rn",
        "double(unsigned x)",
        Lower::Cast(CastKind::IntToFloat),
        "From integer; always exact.",
    ),
    bits("__float_as_int", "int(float x)"),
    bits("__float_as_uint", "unsigned(float x)"),
    bits("__int_as_float", "float(int x)"),
    bits("__uint_as_float", "float(unsigned x)"),
    bits("__double_as_longlong", "long long(double x)"),
    bits("__longlong_as_double", "double(long long x)"),
    device(
        "__double2hiint",
        "int(double x)",
        Lower::Inline("{ return (int)(__double_as_longlong(x) >> 32); }"),
        "The high 32 bits.",
    ),
    device(
        "__double2loint",
        "int(double x)",
        Lower::Inline("{ return (int)__double_as_longlong(x); }"),
        "The low 32 bits.",
    ),
    device(
        "__hiloint2double",
        "double(int high,int low)",
        Lower::Inline(
            "{ return __longlong_as_double((long long)high << 32 | (long long)(unsigned)low); }",
        ),
        "A value from its high and low bits.",
    ),
];
