//! The mathematical functions: `sin(double)`, `sinf(float)`, and C++'s overload `sin(float)`.
//!
//! Transcendental functions are libdevice's; what the machine does in one instruction is an
//! intrinsic. `-use_fast_math` replaces the single-precision functions that have a `__` form
//! (CUDA guide, "Intrinsic functions"; checked against nvcc's PTX).

use cdp_ir::CastKind;
use cdp_ir::Intrinsic::{self, Libdevice};

use super::{BuiltinFn, Lower, device, ptx, row};

/// The C library has it under the same name.
macro_rules! host_c {
    ($name:expr) => {
        Lower::Extern($name)
    };
}

/// Three rows a function of libdevice: `name(double)`, `namef(float)`, `name(float)`. Kinds: `std`
/// (a C++ function: in `std`, promoting), `posix` (the host's C library has it), `cuda` (device
/// only). `=> "body"` is what the single-precision forms are under `-use_fast_math`.
macro_rules! libdevice {
    ($d:literal, $f:literal; $($kind:ident $name:literal $(=> $fast:literal)?, $summary:literal;)*) => {
        &[$(
            libdevice!(@ $kind row($name, $d, Lower::Intrinsic(Libdevice($name)),
                libdevice!(@host $kind $name), $summary)),
            row(concat!($name, "f"), $f, libdevice!(@float $name $(=> $fast)?),
                libdevice!(@host $kind concat!($name, "f")), $summary),
            libdevice!(@overload $kind row($name, $f, libdevice!(@float $name $(=> $fast)?),
                libdevice!(@host $kind concat!($name, "f")), $summary)),
        )*]
    };
    (@ std $row:expr) => { $row.in_std().promoting() };
    (@ everywhere $row:expr) => { $row.in_std().promoting_everywhere() };
    (@ posix $row:expr) => { $row };
    (@ cuda $row:expr) => { $row };
    (@overload std $row:expr) => { $row.in_std() };
    (@overload everywhere $row:expr) => { $row.in_std() };
    (@overload posix $row:expr) => { $row };
    (@overload cuda $row:expr) => { $row };
    (@host std $name:expr) => { host_c!($name) };
    (@host everywhere $name:expr) => { host_c!($name) };
    (@host posix $name:expr) => { host_c!($name) };
    (@host cuda $name:expr) => { Lower::Refuse("the host's C library does not have it") };
    (@float $name:literal => $fast:literal) => {
        Lower::IfFast(
            &Lower::Inline($fast),
            &Lower::Intrinsic(Libdevice(concat!($name, "f"))),
        )
    };
    (@float $name:literal) => { Lower::Intrinsic(Libdevice(concat!($name, "f"))) };
}

/// Functions of one argument.
pub(super) const UNARY: &[BuiltinFn] = libdevice! { "double(double x)", "float(float x)";
    std "acos", "Arc cosine.";
    std "acosh", "Inverse hyperbolic cosine.";
    std "asin", "Arc sine.";
    std "asinh", "Inverse hyperbolic sine.";
    std "atan", "Arc tangent.";
    std "atanh", "Inverse hyperbolic tangent.";
    std "cbrt", "Cube root.";
    std "cos" => "{ return __cosf(x); }", "Cosine.";
    std "cosh", "Hyperbolic cosine.";
    cuda "cospi", "Cosine of pi times x.";
    cuda "cyl_bessel_i0", "Modified Bessel function of order 0.";
    cuda "cyl_bessel_i1", "Modified Bessel function of order 1.";
    std "erf", "Error function.";
    std "erfc", "Complementary error function.";
    cuda "erfcinv", "Inverse complementary error function.";
    cuda "erfcx", "Scaled complementary error function.";
    cuda "erfinv", "Inverse error function.";
    std "exp" => "{ return __expf(x); }", "e to the power of x.";
    posix "exp10" => "{ return __exp10f(x); }", "10 to the power of x.";
    std "expm1", "e to the power of x, minus 1.";
    posix "j0", "Bessel function of the first kind, order 0.";
    posix "j1", "Bessel function of the first kind, order 1.";
    std "lgamma", "Logarithm of the absolute value of the gamma function.";
    std "log" => "{ return __logf(x); }", "Natural logarithm.";
    std "log10" => "{ return __log10f(x); }", "Decimal logarithm.";
    std "log1p", "Natural logarithm of 1 + x.";
    std "log2" => "{ return __log2f(x); }", "Binary logarithm.";
    std "logb", "The exponent of x as a floating value.";
    cuda "normcdf", "Standard normal cumulative distribution.";
    cuda "normcdfinv", "Inverse standard normal cumulative distribution.";
    cuda "rcbrt", "Reciprocal of the cube root.";
    std "round", "The nearest integral value, halves away from zero.";
    std "sin" => "{ return __sinf(x); }", "Sine.";
    std "sinh", "Hyperbolic sine.";
    cuda "sinpi", "Sine of pi times x.";
    std "tan" => "{ return __tanf(x); }", "Tangent.";
    std "tanh" => "{ return __tanhf(x); }", "Hyperbolic tangent.";
    std "tgamma", "Gamma function.";
    posix "y0", "Bessel function of the second kind, order 0.";
    posix "y1", "Bessel function of the second kind, order 1.";
};

/// Functions of two arguments of one type.
pub(super) const BINARY: &[BuiltinFn] = libdevice! {
    "double(double x,double y)", "float(float x,float y)";
    std "atan2", "Arc tangent of x / y in the quadrant of the signs.";
    std "fdim", "x - y, or 0 when negative.";
    std "fmod", "Remainder of x / y rounded toward zero.";
    std "hypot", "Square root of x * x + y * y, without overflow on the way.";
    std "nextafter", "The next value after x toward y.";
    std "remainder", "Remainder of x / y rounded to nearest even.";
};

/// `pow`, whose overloads for integer and mixed arguments are for device code too.
pub(super) const POW: &[BuiltinFn] = libdevice! {
    "double(double x,double y)", "float(float x,float y)";
    everywhere "pow" => "{ return __powf(x, y); }", "x to the power of y.";
};

/// Functions with an integer argument.
pub(super) const WITH_INT: &[BuiltinFn] = libdevice! {
    "double(double x,int exponent)", "float(float x,int exponent)";
    std "ldexp", "x times 2 to the power of an integer.";
    std "scalbn", "x times 2 to the power of an integer.";
};

/// Functions of an order and an argument.
pub(super) const BESSEL: &[BuiltinFn] = libdevice! {
    "double(int order,double x)", "float(int order,float x)";
    posix "jn", "Bessel function of the first kind.";
    posix "yn", "Bessel function of the second kind.";
};

/// Functions with a second result through a pointer.
pub(super) const WITH_POINTER: &[BuiltinFn] = libdevice! {
    "double(double x,int* exponent)", "float(float x,int* exponent)";
    std "frexp", "The fraction of x in [0.5, 1), and its exponent.";
};

/// As [`WITH_POINTER`], with three arguments.
pub(super) const REMQUO: &[BuiltinFn] = libdevice! {
    "double(double x,double y,int* quotient)", "float(float x,float y,int* quotient)";
    std "remquo", "Remainder as `remainder` has it, and the low bits of the quotient.";
};

/// Three rows a function that is an intrinsic.
macro_rules! intrinsics {
    ($d:literal, $f:literal; $($name:literal $op:ident, $summary:literal;)*) => {
        &[$(
            row($name, $d, Lower::Intrinsic(Intrinsic::$op), host_c!($name), $summary)
                .in_std().promoting(),
            row(concat!($name, "f"), $f, Lower::Intrinsic(Intrinsic::$op),
                host_c!(concat!($name, "f")), $summary),
            row($name, $f, Lower::Intrinsic(Intrinsic::$op), host_c!(concat!($name, "f")), $summary)
                .in_std(),
        )*]
    };
}

/// Functions of one argument that the machine has.
pub(super) const UNARY_MACHINE: &[BuiltinFn] = intrinsics! { "double(double x)", "float(float x)";
    "ceil" Ceil, "The smallest integral value not below x.";
    "fabs" AbsFloat, "Absolute value.";
    "floor" Floor, "The largest integral value not above x.";
    "nearbyint" RoundEven, "The nearest integral value, halves to even.";
    "rint" RoundEven, "The nearest integral value, halves to even.";
    "sqrt" Sqrt, "Square root.";
    "trunc" Trunc, "The integral value toward zero.";
};

/// Functions of two arguments that the machine has.
pub(super) const BINARY_MACHINE: &[BuiltinFn] = intrinsics! {
    "double(double x,double y)", "float(float x,float y)";
    "copysign" CopySign, "The magnitude of x with the sign of y.";
    "fmax" MaxFloat, "The larger value; a NaN loses.";
    "fmin" MinFloat, "The smaller value; a NaN loses.";
};

/// Fused multiply-add.
pub(super) const FMA: &[BuiltinFn] = intrinsics! {
    "double(double x,double y,double z)", "float(float x,float y,float z)";
    "fma" Fma, "x * y + z, rounded once.";
};

/// Three rows a function of libdevice whose names or types are not regular: names of the double and
/// float functions in libdevice, signatures, and in which host library they are.
macro_rules! named {
    ($($kind:ident $name:literal $dn:literal $fn:literal, $d:literal, $f:literal, $summary:literal;)*) => {
        &[$(
            libdevice!(@ $kind row($name, $d, Lower::Intrinsic(Libdevice($dn)),
                libdevice!(@host $kind $name), $summary)),
            row(concat!($name, "f"), $f, Lower::Intrinsic(Libdevice($fn)),
                libdevice!(@host $kind concat!($name, "f")), $summary),
            libdevice!(@overload $kind row($name, $f, Lower::Intrinsic(Libdevice($fn)),
                libdevice!(@host $kind concat!($name, "f")), $summary)),
        )*]
    };
}

/// Functions with irregular signatures.
pub(super) const NAMED: &[BuiltinFn] = named! {
    std "ilogb" "ilogb" "ilogbf", "int(double x)", "int(float x)", "The exponent of x.";
    std "llrint" "llrint" "llrintf", "long long(double x)", "long long(float x)",
        "The nearest integer, halves to even.";
    std "llround" "llround" "llroundf", "long long(double x)", "long long(float x)",
        "The nearest integer, halves away from zero.";
    std "modf" "modf" "modff", "double(double x,double* whole)", "float(float x,float* whole)",
        "The fraction of x, and its integral part.";
    cuda "sincospi" "sincospi" "sincospif", "void(double x,double* sine,double* cosine)",
        "void(float x,float* sine,float* cosine)", "Sine and cosine of pi times x.";
};

/// Two rows a function without a C++ overload.
macro_rules! pairs {
    ($($name:literal $dn:literal, $fname:literal $fn:literal, $d:literal, $f:literal, $summary:literal;)*) => {
        &[$(
            device($name, $d, Lower::Intrinsic(Libdevice($dn)), $summary),
            device($fname, $f, Lower::Intrinsic(Libdevice($fn)), $summary),
        )*]
    };
}

/// Norms.
pub(super) const NORMS: &[BuiltinFn] = pairs! {
    "rhypot" "rhypot", "rhypotf" "rhypotf", "double(double x,double y)", "float(float x,float y)",
        "Reciprocal of `hypot`.";
    "norm3d" "norm3d", "norm3df" "norm3df", "double(double x,double y,double z)",
        "float(float x,float y,float z)", "Length of a vector of three.";
    "rnorm3d" "rnorm3d", "rnorm3df" "rnorm3df", "double(double x,double y,double z)",
        "float(float x,float y,float z)", "Reciprocal of the length of a vector of three.";
    "norm4d" "norm4d", "norm4df" "norm4df", "double(double x,double y,double z,double w)",
        "float(float x,float y,float z,float w)", "Length of a vector of four.";
    "rnorm4d" "rnorm4d", "rnorm4df" "rnorm4df", "double(double x,double y,double z,double w)",
        "float(float x,float y,float z,float w)", "Reciprocal of the length of a vector of four.";
    "norm" "norm", "normf" "normf", "double(int count,const double* values)",
        "float(int count,const float* values)", "Length of a vector.";
    "rnorm" "rnorm", "rnormf" "rnormf", "double(int count,const double* values)",
        "float(int count,const float* values)", "Reciprocal of the length of a vector.";
};

const fn inline(
    name: &'static str,
    signature: &'static str,
    body: &'static str,
    summary: &'static str,
) -> BuiltinFn {
    row(name, signature, Lower::Inline(body), Lower::Inline(body), summary)
}

/// A constant: the bits are the last parameter's default, so that the checker folds the cast.
const fn constant(name: &'static str, signature: &'static str, summary: &'static str) -> BuiltinFn {
    row(name, signature, BITS, BITS, summary)
}

const BITS: Lower = Lower::Cast(CastKind::Bitcast);

const fn predicate(
    name: &'static str,
    signature: &'static str,
    op: Intrinsic,
    summary: &'static str,
) -> BuiltinFn {
    row(name, signature, Lower::Intrinsic(op), Lower::Intrinsic(op), summary).in_std()
}

const RSQRT: &str = "Reciprocal of the square root.";
const EXP2: &str = "2 to the power of x.";
const NEAREST: &str = "The nearest integer, halves to even.";
const AWAY: &str = "The nearest integer, halves away from zero.";

/// `name{.ftz}` in single precision.
macro_rules! ftz {
    ($op:literal, $rest:literal, $args:literal) => {
        Lower::IfFtz(
            &ptx!(pure concat!($op, ".ftz", $rest), "f", $args),
            &ptx!(pure concat!($op, $rest), "f", $args),
        )
    };
}

/// What fits no table.
pub(super) const SINGLES: &[BuiltinFn] = &[
    row("exp2", "double(double x)", Lower::Intrinsic(Libdevice("exp2")), host_c!("exp2"), EXP2)
        .in_std()
        .promoting(),
    row("exp2f", "float(float x)", ftz!("ex2.approx", ".f32 $0, $1;", "f"), host_c!("exp2f"), EXP2),
    row("exp2", "float(float x)", ftz!("ex2.approx", ".f32 $0, $1;", "f"), host_c!("exp2f"), EXP2)
        .in_std(),
    row(
        "rsqrt",
        "double(double x)",
        Lower::Intrinsic(Libdevice("rsqrt")),
        Lower::Inline("{ return 1.0 / sqrt(x); }"),
        RSQRT,
    ),
    row(
        "rsqrtf",
        "float(float x)",
        ftz!("rsqrt.approx", ".f32 $0, $1;", "f"),
        Lower::Inline("{ return 1.0f / sqrtf(x); }"),
        RSQRT,
    ),
    row(
        "rsqrt",
        "float(float x)",
        ftz!("rsqrt.approx", ".f32 $0, $1;", "f"),
        Lower::Inline("{ return 1.0f / sqrtf(x); }"),
        RSQRT,
    ),
    row(
        "lrint",
        "long(double x)",
        Lower::Inline("{ return (long)llrint(x); }"),
        host_c!("lrint"),
        NEAREST,
    )
    .in_std()
    .promoting(),
    row(
        "lrintf",
        "long(float x)",
        Lower::Inline("{ return (long)llrintf(x); }"),
        host_c!("lrintf"),
        NEAREST,
    ),
    row(
        "lrint",
        "long(float x)",
        Lower::Inline("{ return (long)llrintf(x); }"),
        host_c!("lrintf"),
        NEAREST,
    )
    .in_std(),
    row(
        "lround",
        "long(double x)",
        Lower::Inline("{ return (long)llround(x); }"),
        host_c!("lround"),
        AWAY,
    )
    .in_std()
    .promoting(),
    row(
        "lroundf",
        "long(float x)",
        Lower::Inline("{ return (long)llroundf(x); }"),
        host_c!("lroundf"),
        AWAY,
    ),
    row(
        "lround",
        "long(float x)",
        Lower::Inline("{ return (long)llroundf(x); }"),
        host_c!("lroundf"),
        AWAY,
    )
    .in_std(),
    row(
        "scalbln",
        "double(double x,long exponent)",
        Lower::Inline(SCALBLN),
        host_c!("scalbln"),
        SCALB,
    )
    .in_std()
    .promoting(),
    row(
        "scalblnf",
        "float(float x,long exponent)",
        Lower::Inline(SCALBLNF),
        host_c!("scalblnf"),
        SCALB,
    ),
    row(
        "scalbln",
        "float(float x,long exponent)",
        Lower::Inline(SCALBLNF),
        host_c!("scalblnf"),
        SCALB,
    )
    .in_std(),
    device("fdivide", "double(double x,double y)", Lower::Inline("{ return x / y; }"), "x / y."),
    device(
        "fdividef",
        "float(float x,float y)",
        Lower::IfFast(
            &Lower::Inline("{ return __fdividef(x, y); }"),
            &Lower::Inline("{ return x / y; }"),
        ),
        "x / y, approximate under `-use_fast_math`.",
    ),
    row(
        "nan",
        "double(const char* tag)",
        Lower::Intrinsic(Libdevice("nan")),
        host_c!("nan"),
        "A NaN.",
    )
    .in_std(),
    row(
        "nanf",
        "float(const char* tag)",
        Lower::Intrinsic(Libdevice("nanf")),
        host_c!("nanf"),
        "A NaN.",
    )
    .in_std(),
    row(
        "sincos",
        "void(double x,double* sine,double* cosine)",
        Lower::Intrinsic(Libdevice("sincos")),
        host_c!("sincos"),
        SINCOS,
    ),
    row("sincosf", SINCOSF, SINCOSF_DEVICE, host_c!("sincosf"), SINCOS),
    row("sincos", SINCOSF, SINCOSF_DEVICE, host_c!("sincosf"), SINCOS),
    constant("__builtin_inff", "float(unsigned bits=0x7f800000)", "Infinity."),
    constant("__builtin_inf", "double(unsigned long long bits=0x7ff0000000000000)", "Infinity."),
    constant("__builtin_huge_valf", "float(unsigned bits=0x7f800000)", "Infinity."),
    constant(
        "__builtin_huge_val",
        "double(unsigned long long bits=0x7ff0000000000000)",
        "Infinity.",
    ),
    constant("__builtin_nanf", "float(const char* tag,unsigned bits=0x7fc00000)", "A NaN."),
    constant(
        "__builtin_nan",
        "double(const char* tag,unsigned long long bits=0x7ff8000000000000)",
        "A NaN.",
    ),
    // The mixed forms that CUDA declares for itself.
    inline(
        "copysign",
        "double(double x,float y)",
        "{ return copysign(x, (double)y); }",
        "The magnitude of x with the sign of y.",
    ),
    inline(
        "copysign",
        "double(float x,double y)",
        "{ return copysign((double)x, y); }",
        "The magnitude of x with the sign of y.",
    ),
    predicate("isnan", "bool(double x)", Intrinsic::IsNan, "Whether x is a NaN.").promoting(),
    predicate("isnan", "bool(float x)", Intrinsic::IsNan, "Whether x is a NaN."),
    predicate("isinf", "bool(double x)", Intrinsic::IsInf, "Whether x is infinite.").promoting(),
    predicate("isinf", "bool(float x)", Intrinsic::IsInf, "Whether x is infinite."),
    predicate("isfinite", "bool(double x)", Intrinsic::IsFinite, "Whether x is a number.")
        .promoting(),
    predicate("isfinite", "bool(float x)", Intrinsic::IsFinite, "Whether x is a number."),
    predicate("signbit", "bool(double x)", Intrinsic::SignBit, "Whether the sign bit is set.")
        .promoting(),
    predicate("signbit", "bool(float x)", Intrinsic::SignBit, "Whether the sign bit is set."),
    inline("__isnan", "int(double x)", "{ return isnan(x); }", "Whether x is a NaN."),
    inline("__isnanf", "int(float x)", "{ return isnan(x); }", "Whether x is a NaN."),
    inline("__isinf", "int(double x)", "{ return isinf(x); }", "Whether x is infinite."),
    inline("__isinff", "int(float x)", "{ return isinf(x); }", "Whether x is infinite."),
    inline("__finite", "int(double x)", "{ return isfinite(x); }", "Whether x is a number."),
    inline("__finitef", "int(float x)", "{ return isfinite(x); }", "Whether x is a number."),
    inline("__signbit", "int(double x)", "{ return signbit(x); }", "Whether the sign bit is set."),
    inline("__signbitf", "int(float x)", "{ return signbit(x); }", "Whether the sign bit is set."),
];

const SINCOS: &str = "Sine and cosine.";
const SINCOSF: &str = "void(float x,float* sine,float* cosine)";
const SINCOSF_DEVICE: Lower = Lower::IfFast(
    &Lower::Inline("{ __sincosf(x, sine, cosine); }"),
    &Lower::Intrinsic(Libdevice("sincosf")),
);
const SCALB: &str = "x times 2 to the power of an integer.";
/// Exponents past every finite result are as good as their limits.
const SCALBLN: &str =
    "{ return scalbn(x, (int)(exponent > 9999 ? 9999 : exponent < -9999 ? -9999 : exponent)); }";
const SCALBLNF: &str =
    "{ return scalbnf(x, (int)(exponent > 9999 ? 9999 : exponent < -9999 ? -9999 : exponent)); }";

/// The exact functions for bodies that must not change under `-use_fast_math`.
macro_rules! exact {
    ($($name:literal $libdevice:literal;)*) => {
        &[$(
            device($name, "float(float x)", Lower::Intrinsic(Libdevice($libdevice)),
                "The exact function."),
        )*]
    };
}

pub(super) const EXACT: &[BuiltinFn] = exact! {
    "__cdp_cosf" "cosf";
    "__cdp_sinf" "sinf";
    "__cdp_expf" "expf";
    "__cdp_exp10f" "exp10f";
    "__cdp_logf" "logf";
    "__cdp_log2f" "log2f";
    "__cdp_log10f" "log10f";
    "__cdp_tanhf" "tanhf";
};

/// The single-precision functions that trade exactness for speed.
pub(super) const FAST: &[BuiltinFn] = &[
    device("__sinf", "float(float x)", ftz!("sin.approx", ".f32 $0, $1;", "f"), "Fast sine."),
    device("__cosf", "float(float x)", ftz!("cos.approx", ".f32 $0, $1;", "f"), "Fast cosine."),
    device(
        "__tanf",
        "float(float x)",
        Lower::Inline("{ return __fdividef(__sinf(x), __cosf(x)); }"),
        "Fast tangent.",
    ),
    device(
        "__tanhf",
        "float(float x)",
        Lower::IfSm(
            75,
            &ptx!(pure "tanh.approx.f32 $0, $1;", "f", "f"),
            &Lower::Intrinsic(Libdevice("fast_tanhf")),
        ),
        "Fast hyperbolic tangent.",
    ),
    device(
        "__sincosf",
        "void(float x,float* sine,float* cosine)",
        Lower::Inline("{ *sine = __sinf(x); *cosine = __cosf(x); }"),
        "Fast sine and cosine.",
    ),
    device(
        "__log2f",
        "float(float x)",
        ftz!("lg2.approx", ".f32 $0, $1;", "f"),
        "Fast binary logarithm.",
    ),
    device(
        "__logf",
        "float(float x)",
        Lower::Inline("{ return __log2f(x) * 0.693147182f; }"),
        "Fast natural logarithm.",
    ),
    device(
        "__log10f",
        "float(float x)",
        Lower::Inline("{ return __log2f(x) * 0.301030010f; }"),
        "Fast decimal logarithm.",
    ),
    device("__cdp_ex2", "float(float x)", ftz!("ex2.approx", ".f32 $0, $1;", "f"), "`ex2.approx`."),
    device(
        "__expf",
        "float(float x)",
        Lower::Inline("{ return __cdp_ex2(x * 1.44269502f); }"),
        "Fast power of e.",
    ),
    device(
        "__exp10f",
        "float(float x)",
        Lower::Inline("{ return __cdp_ex2(x * 3.32192802f); }"),
        "Fast power of 10.",
    ),
    device(
        "__powf",
        "float(float x,float y)",
        Lower::Inline("{ return __cdp_ex2(y * __log2f(x)); }"),
        "Fast power.",
    ),
    device(
        "__fdividef",
        "float(float x,float y)",
        ftz!("div.approx", ".f32 $0, $1, $2;", "ff"),
        "Fast division; 0 for a divisor past 2 to the power of 126.",
    ),
    device(
        "__saturatef",
        "float(float x)",
        Lower::IfFtz(
            &ptx!(pure "cvt.ftz.sat.f32.f32 $0, $1;", "f", "f"),
            &ptx!(pure "cvt.sat.f32.f32 $0, $1;", "f", "f"),
        ),
        "x clamped to 0 and 1; a NaN becomes 0.",
    ),
    device(
        "__frsqrt_rn",
        "float(float x)",
        Lower::Intrinsic(Libdevice("frsqrt_rn")),
        "Reciprocal of the square root, rounded to nearest even.",
    ),
];
