// The mathematical functions: `sin(double)`, `sinf(float)`, and C++'s overload `sin(float)`.
//
// Transcendental functions are libdevice's; what the machine does in one instruction is an
// intrinsic. `-use_fast_math` replaces the single-precision functions that have a `__` form
// (CUDA guide, "Intrinsic functions"; checked against nvcc's PTX).

// Functions of C++, which the C library has.
each $NAME | $D | $F | $SUMMARY {
    acos | double x | float x | Arc cosine.
    acosh | double x | float x | Inverse hyperbolic cosine.
    asin | double x | float x | Arc sine.
    asinh | double x | float x | Inverse hyperbolic sine.
    atan | double x | float x | Arc tangent.
    atanh | double x | float x | Inverse hyperbolic tangent.
    cbrt | double x | float x | Cube root.
    cosh | double x | float x | Hyperbolic cosine.
    erf | double x | float x | Error function.
    erfc | double x | float x | Complementary error function.
    expm1 | double x | float x | e to the power of x, minus 1.
    lgamma | double x | float x | Logarithm of the absolute value of the gamma function.
    log1p | double x | float x | Natural logarithm of 1 + x.
    logb | double x | float x | The exponent of x as a floating value.
    round | double x | float x | The nearest integral value, halves away from zero.
    sinh | double x | float x | Hyperbolic sine.
    tgamma | double x | float x | Gamma function.
    atan2 | double x, double y | float x, float y | Arc tangent of x / y in the quadrant of the signs.
    fdim | double x, double y | float x, float y | x - y, or 0 when negative.
    fmod | double x, double y | float x, float y | Remainder of x / y rounded toward zero.
    hypot | double x, double y | float x, float y | Square root of x * x + y * y, without overflow on the way.
    nextafter | double x, double y | float x, float y | The next value after x toward y.
    remainder | double x, double y | float x, float y | Remainder of x / y rounded to nearest even.
    ldexp | double x, int exponent | float x, int exponent | x times 2 to the power of an integer.
    scalbn | double x, int exponent | float x, int exponent | x times 2 to the power of an integer.
    frexp | double x, int* exponent | float x, int* exponent | The fraction of x in [0.5, 1), and its exponent.
    remquo | double x, double y, int* quotient | float x, float y, int* quotient \
        | Remainder as `remainder` has it, and the low bits of the quotient.
    modf | double x, double* whole | float x, float* whole | The fraction of x, and its integral part.
} {
    /// $SUMMARY
    [c, std, promoting] double $NAME($D) = libdevice;
    [c] float $NAMEf($F) = libdevice;
    [std] float $NAME($F) = libdevice $NAMEf host extern $NAMEf;
}

// Those with a fast form.
each $NAME | $SUMMARY {
    cos | Cosine.
    exp | e to the power of x.
    log | Natural logarithm.
    log10 | Decimal logarithm.
    log2 | Binary logarithm.
    sin | Sine.
    tan | Tangent.
    tanh | Hyperbolic tangent.
} {
    /// $SUMMARY
    [c, std, promoting] double $NAME(double x) = libdevice;
    [c] float $NAMEf(float x) = fast ? { return __$NAMEf(x); } : libdevice;
    [std] float $NAME(float x) = fast ? { return __$NAMEf(x); } : libdevice $NAMEf host extern $NAMEf;
}

// Its overloads for integer and mixed arguments are for device code too.
/// x to the power of y.
[c, std, promoting_everywhere] double pow(double x, double y) = libdevice;
[c] float powf(float x, float y) = fast ? { return __powf(x, y); } : libdevice;
[std] float pow(float x, float y) = fast ? { return __powf(x, y); } : libdevice powf host extern powf;

// Functions of the C library that C++ does not have.
each $NAME | $D | $F | $SUMMARY {
    j0 | double x | float x | Bessel function of the first kind, order 0.
    j1 | double x | float x | Bessel function of the first kind, order 1.
    y0 | double x | float x | Bessel function of the second kind, order 0.
    y1 | double x | float x | Bessel function of the second kind, order 1.
    jn | int order, double x | int order, float x | Bessel function of the first kind.
    yn | int order, double x | int order, float x | Bessel function of the second kind.
} {
    /// $SUMMARY
    [c] double $NAME($D) = libdevice;
    [c] float $NAMEf($F) = libdevice;
    float $NAME($F) = libdevice $NAMEf host extern $NAMEf;
}

/// 10 to the power of x.
[c] double exp10(double x) = libdevice;
[c] float exp10f(float x) = fast ? { return __exp10f(x); } : libdevice;
float exp10(float x) = fast ? { return __exp10f(x); } : libdevice exp10f host extern exp10f;

// Functions that only CUDA has.
each $NAME | $SUMMARY {
    cospi | Cosine of pi times x.
    cyl_bessel_i0 | Modified Bessel function of order 0.
    cyl_bessel_i1 | Modified Bessel function of order 1.
    erfcinv | Inverse complementary error function.
    erfcx | Scaled complementary error function.
    erfinv | Inverse error function.
    normcdf | Standard normal cumulative distribution.
    normcdfinv | Inverse standard normal cumulative distribution.
    rcbrt | Reciprocal of the cube root.
    sinpi | Sine of pi times x.
} {
    /// $SUMMARY
    double $NAME(double x) = libdevice host refuse "the host's C library does not have it";
    float $NAMEf(float x) = libdevice host refuse "the host's C library does not have it";
    float $NAME(float x) = libdevice $NAMEf host refuse "the host's C library does not have it";
}

/// Sine and cosine of pi times x.
void sincospi(double x, double* sine, double* cosine)
    = libdevice host refuse "the host's C library does not have it";
void sincospif(float x, float* sine, float* cosine)
    = libdevice host refuse "the host's C library does not have it";
void sincospi(float x, float* sine, float* cosine)
    = libdevice sincospif host refuse "the host's C library does not have it";

// Functions that the machine has.
each $NAME | $OP | $D | $F | $SUMMARY {
    ceil | Ceil | double x | float x | The smallest integral value not below x.
    fabs | AbsFloat | double x | float x | Absolute value.
    floor | Floor | double x | float x | The largest integral value not above x.
    nearbyint | RoundEven | double x | float x | The nearest integral value, halves to even.
    rint | RoundEven | double x | float x | The nearest integral value, halves to even.
    sqrt | Sqrt | double x | float x | Square root.
    trunc | Trunc | double x | float x | The integral value toward zero.
    copysign | CopySign | double x, double y | float x, float y | The magnitude of x with the sign of y.
    fmax | MaxFloat | double x, double y | float x, float y | The larger value; a NaN loses.
    fmin | MinFloat | double x, double y | float x, float y | The smaller value; a NaN loses.
    fma | Fma | double x, double y, double z | float x, float y, float z | x * y + z, rounded once.
} {
    /// $SUMMARY
    [c, std, promoting] double $NAME($D) = $OP;
    [c] float $NAMEf($F) = $OP;
    [std] float $NAME($F) = $OP host extern $NAMEf;
}

// Functions that yield integers.
each $NAME | $R | $SUMMARY {
    ilogb | int | The exponent of x.
    llrint | long long | The nearest integer, halves to even.
    llround | long long | The nearest integer, halves away from zero.
} {
    /// $SUMMARY
    [c, std, promoting] $R $NAME(double x) = libdevice;
    [c] $R $NAMEf(float x) = libdevice;
    [std] $R $NAME(float x) = libdevice $NAMEf host extern $NAMEf;
}
each $NAME | $SUMMARY {
    rint | The nearest integer, halves to even.
    round | The nearest integer, halves away from zero.
} {
    /// $SUMMARY
    [c, std, promoting] long l$NAME(double x) { return (long)ll$NAME(x); }
    [c] long l$NAMEf(float x) { return (long)ll$NAMEf(x); }
    [std] long l$NAME(float x) { return (long)ll$NAMEf(x); } host extern l$NAMEf;
}

// Norms.
each $NAME | $D | $F | $SUMMARY {
    rhypot | double x, double y | float x, float y | Reciprocal of `hypot`.
    norm3d | double x, double y, double z | float x, float y, float z | Length of a vector of three.
    rnorm3d | double x, double y, double z | float x, float y, float z \
        | Reciprocal of the length of a vector of three.
    norm4d | double x, double y, double z, double w | float x, float y, float z, float w | Length of a vector of four.
    rnorm4d | double x, double y, double z, double w | float x, float y, float z, float w \
        | Reciprocal of the length of a vector of four.
    norm | int count, const double* values | int count, const float* values | Length of a vector.
    rnorm | int count, const double* values | int count, const float* values \
        | Reciprocal of the length of a vector.
} {
    /// $SUMMARY
    double $NAME($D) = libdevice;
    float $NAMEf($F) = libdevice;
}

/// 2 to the power of x.
[c, std, promoting] double exp2(double x) = libdevice;
[c] float exp2f(float x) = ptx "ex2.approx[.ftz].f32";
[std] float exp2(float x) = ptx "ex2.approx[.ftz].f32" host extern exp2f;
/// Reciprocal of the square root.
double rsqrt(double x) = libdevice host { return 1.0 / sqrt(x); }
float rsqrtf(float x) = ptx "rsqrt.approx[.ftz].f32" host { return 1.0f / sqrtf(x); }
float rsqrt(float x) = ptx "rsqrt.approx[.ftz].f32" host { return 1.0f / sqrtf(x); }
// Exponents past every finite result are as good as their limits.
/// x times 2 to the power of an integer.
[c, std, promoting] double scalbln(double x, long exponent)
    { return scalbn(x, (int)(exponent > 9999 ? 9999 : exponent < -9999 ? -9999 : exponent)); }
[c] float scalblnf(float x, long exponent)
    { return scalbnf(x, (int)(exponent > 9999 ? 9999 : exponent < -9999 ? -9999 : exponent)); }
[std] float scalbln(float x, long exponent)
    { return scalbnf(x, (int)(exponent > 9999 ? 9999 : exponent < -9999 ? -9999 : exponent)); }
    host extern scalblnf;
/// x / y.
double fdivide(double x, double y) { return x / y; }
/// x / y, approximate under `-use_fast_math`.
float fdividef(float x, float y) = fast ? { return __fdividef(x, y); } : { return x / y; }
/// A NaN.
[c, std] double nan(const char* tag) = libdevice;
[c, std] float nanf(const char* tag) = libdevice;
/// Sine and cosine.
[c] void sincos(double x, double* sine, double* cosine) = libdevice;
[c] void sincosf(float x, float* sine, float* cosine)
    = fast ? { __sincosf(x, sine, cosine); } : libdevice;
void sincos(float x, float* sine, float* cosine)
    = fast ? { __sincosf(x, sine, cosine); } : libdevice sincosf host extern sincosf;

// Constants: the bits are the last parameter's default, so that the checker folds the cast.
[both] {
    /// Infinity.
    float __builtin_inff(unsigned bits = 0x7f800000) = cast Bitcast;
    double __builtin_inf(unsigned long long bits = 0x7ff0000000000000) = cast Bitcast;
    float __builtin_huge_valf(unsigned bits = 0x7f800000) = cast Bitcast;
    double __builtin_huge_val(unsigned long long bits = 0x7ff0000000000000) = cast Bitcast;
    /// A NaN.
    float __builtin_nanf(const char* tag, unsigned bits = 0x7fc00000) = cast Bitcast;
    double __builtin_nan(const char* tag, unsigned long long bits = 0x7ff8000000000000) = cast Bitcast;
    // The mixed forms that CUDA declares for itself.
    /// The magnitude of x with the sign of y.
    double copysign(double x, float y) { return copysign(x, (double)y); }
    double copysign(float x, double y) { return copysign((double)x, y); }
    /// Whether x is a NaN.
    [std, promoting] bool isnan(double x) = IsNan;
    [std] bool isnan(float x) = IsNan;
    int __isnan(double x) { return isnan(x); }
    int __isnanf(float x) { return isnan(x); }
    /// Whether x is infinite.
    [std, promoting] bool isinf(double x) = IsInf;
    [std] bool isinf(float x) = IsInf;
    int __isinf(double x) { return isinf(x); }
    int __isinff(float x) { return isinf(x); }
    /// Whether x is a number.
    [std, promoting] bool isfinite(double x) = IsFinite;
    [std] bool isfinite(float x) = IsFinite;
    int __finite(double x) { return isfinite(x); }
    int __finitef(float x) { return isfinite(x); }
    /// Whether the sign bit is set.
    [std, promoting] bool signbit(double x) = SignBit;
    [std] bool signbit(float x) = SignBit;
    int __signbit(double x) { return signbit(x); }
    int __signbitf(float x) { return signbit(x); }
}

// For bodies that must not change under `-use_fast_math`.
/// The exact function.
float __cdp_cosf(float x) = libdevice cosf;
float __cdp_sinf(float x) = libdevice sinf;
float __cdp_expf(float x) = libdevice expf;
float __cdp_exp10f(float x) = libdevice exp10f;
float __cdp_logf(float x) = libdevice logf;
float __cdp_log2f(float x) = libdevice log2f;
float __cdp_log10f(float x) = libdevice log10f;
float __cdp_tanhf(float x) = libdevice tanhf;

// The single-precision functions that trade exactness for speed.
/// Fast sine.
float __sinf(float x) = ptx "sin.approx[.ftz].f32";
/// Fast cosine.
float __cosf(float x) = ptx "cos.approx[.ftz].f32";
/// Fast tangent.
float __tanf(float x) { return __fdividef(__sinf(x), __cosf(x)); }
/// Fast hyperbolic tangent.
float __tanhf(float x) = sm_75 ? ptx "tanh.approx.f32" : libdevice fast_tanhf;
/// Fast sine and cosine.
void __sincosf(float x, float* sine, float* cosine) { *sine = __sinf(x); *cosine = __cosf(x); }
/// Fast binary logarithm.
float __log2f(float x) = ptx "lg2.approx[.ftz].f32";
/// Fast natural logarithm.
float __logf(float x) { return __log2f(x) * 0.693147182f; }
/// Fast decimal logarithm.
float __log10f(float x) { return __log2f(x) * 0.301030010f; }
/// `ex2.approx`.
float __cdp_ex2(float x) = ptx "ex2.approx[.ftz].f32";
/// Fast power of e.
float __expf(float x) { return __cdp_ex2(x * 1.44269502f); }
/// Fast power of 10.
float __exp10f(float x) { return __cdp_ex2(x * 3.32192802f); }
/// Fast power.
float __powf(float x, float y) { return __cdp_ex2(y * __log2f(x)); }
/// Fast division; 0 for a divisor past 2 to the power of 126.
float __fdividef(float x, float y) = ptx "div.approx[.ftz].f32";
/// x clamped to 0 and 1; a NaN becomes 0.
float __saturatef(float x) = ptx "cvt[.ftz].sat.f32.f32";
/// Reciprocal of the square root, rounded to nearest even.
float __frsqrt_rn(float x) = libdevice frsqrt_rn;

// What the C library has macros for, and C++ functions. All are quiet about NaN.
each $NAME | $BODY | $SUMMARY {
    isgreater | x > y | Whether x is greater.
    isgreaterequal | x >= y | Whether x is not less.
    isless | x < y | Whether x is less.
    islessequal | x <= y | Whether x is not greater.
    islessgreater | x < y or x > y | Whether they differ and none is a NaN.
    isunordered | x != x or y != y | Whether one of them is a NaN.
} {
    /// $SUMMARY
    [std, promoting] bool $NAME(double x, double y) = refuse "compare with operators" host { return $BODY; }
    [std] bool $NAME(float x, float y) = refuse "compare with operators" host { return $BODY; }
}
each $NAME | $BODY | $RESULT | $SUMMARY {
    isnormal | fabs(x) >= $MIN and isfinite(x) | bool | Whether x is finite, not zero and not subnormal.
    fpclassify | isnan(x) ? 0 : isinf(x) ? 1 : x == 0 ? 2 : fabs(x) >= $MIN ? 4 : 3 | int | One of FP_NAN and its like.
} {
    /// $SUMMARY
    each $T | $MIN | $MORE {
        double | 2.2250738585072014e-308 | , promoting
        float | 1.17549435e-38F |
    } {
        [std$MORE] $RESULT $NAME($T x) = refuse "ask isnan, isinf or compare" host { return $BODY; }
    }
}
