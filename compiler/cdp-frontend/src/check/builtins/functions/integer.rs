//! Integer functions: minimum and maximum, bit counting, high products, byte permutation.

use cdp_ir::Intrinsic;

use super::{BuiltinFn, Lower, device, intrinsic, ptx, row};

const MIN: Lower = Lower::Inline("{ return a < b ? a : b; }");
const MAX: Lower = Lower::Inline("{ return a > b ? a : b; }");
const SMALLER: &str = "The smaller value.";
const LARGER: &str = "The larger value.";

/// `min` and `max` of one type: `$type`, and the intrinsics.
macro_rules! extremes {
    ($($type:literal, $min:ident, $max:ident;)*) => {
        &[$(
            row("min", concat!($type, "(", $type, " a,", $type, " b)"),
                Lower::Intrinsic(Intrinsic::$min), MIN, SMALLER),
            row("max", concat!($type, "(", $type, " a,", $type, " b)"),
                Lower::Intrinsic(Intrinsic::$max), MAX, LARGER),
        )*]
    };
}

pub(super) const EXTREMES: &[BuiltinFn] = extremes! {
    "int", MinInt, MaxInt;
    "unsigned", MinInt, MaxInt;
    "long", MinInt, MaxInt;
    "unsigned long", MinInt, MaxInt;
    "long long", MinInt, MaxInt;
    "unsigned long long", MinInt, MaxInt;
    "float", MinFloat, MaxFloat;
    "double", MinFloat, MaxFloat;
};

/// `min` and `max` of two types, computed in the result's.
macro_rules! mixed {
    ($($result:literal, $a:literal, $b:literal;)*) => {
        &[$(
            row("min", concat!($result, "(", $a, " a,", $b, " b)"),
                Lower::Inline(concat!("{ return min((", $result, ")a, (", $result, ")b); }")),
                Lower::Inline(concat!("{ return min((", $result, ")a, (", $result, ")b); }")),
                SMALLER),
            row("max", concat!($result, "(", $a, " a,", $b, " b)"),
                Lower::Inline(concat!("{ return max((", $result, ")a, (", $result, ")b); }")),
                Lower::Inline(concat!("{ return max((", $result, ")a, (", $result, ")b); }")),
                LARGER),
        )*]
    };
}

pub(super) const MIXED_EXTREMES: &[BuiltinFn] = mixed! {
    "unsigned", "int", "unsigned";
    "unsigned", "unsigned", "int";
    "unsigned long", "long", "unsigned long";
    "unsigned long", "unsigned long", "long";
    "unsigned long long", "long long", "unsigned long long";
    "unsigned long long", "unsigned long long", "long long";
    "double", "float", "double";
    "double", "double", "float";
};

const fn extreme(
    name: &'static str,
    signature: &'static str,
    op: Intrinsic,
    host: Lower,
    summary: &'static str,
) -> BuiltinFn {
    row(name, signature, Lower::Intrinsic(op), host, summary)
}

const fn inline(
    name: &'static str,
    signature: &'static str,
    body: &'static str,
    summary: &'static str,
) -> BuiltinFn {
    device(name, signature, Lower::Inline(body), summary)
}

const fn abs(
    name: &'static str,
    signature: &'static str,
    op: Intrinsic,
    symbol: &'static str,
) -> BuiltinFn {
    row(name, signature, Lower::Intrinsic(op), Lower::Extern(symbol), "Absolute value.").in_std()
}

const LL: &str = "long long(long long a,long long b)";
const ULL: &str = "unsigned long long(unsigned long long a,unsigned long long b)";

pub(super) const ROWS: &[BuiltinFn] = &[
    extreme("umin", "unsigned(unsigned a,unsigned b)", Intrinsic::MinInt, MIN, SMALLER),
    extreme("umax", "unsigned(unsigned a,unsigned b)", Intrinsic::MaxInt, MAX, LARGER),
    extreme("llmin", LL, Intrinsic::MinInt, MIN, SMALLER),
    extreme("llmax", LL, Intrinsic::MaxInt, MAX, LARGER),
    extreme("ullmin", ULL, Intrinsic::MinInt, MIN, SMALLER),
    extreme("ullmax", ULL, Intrinsic::MaxInt, MAX, LARGER),
    abs("abs", "int(int x)", Intrinsic::AbsInt, "abs"),
    abs("abs", "long(long x)", Intrinsic::AbsInt, "labs"),
    abs("abs", "long long(long long x)", Intrinsic::AbsInt, "llabs"),
    abs("abs", "float(float x)", Intrinsic::AbsFloat, "fabsf"),
    abs("abs", "double(double x)", Intrinsic::AbsFloat, "fabs"),
    abs("labs", "long(long x)", Intrinsic::AbsInt, "labs"),
    abs("llabs", "long long(long long x)", Intrinsic::AbsInt, "llabs"),
    intrinsic("__popc", "int(unsigned x)", Intrinsic::PopCount, "The number of set bits."),
    intrinsic(
        "__popcll",
        "int(unsigned long long x)",
        Intrinsic::PopCount,
        "The number of set bits.",
    ),
    intrinsic("__clz", "int(int x)", Intrinsic::LeadingZeros, "Leading zero bits; 32 for zero."),
    intrinsic(
        "__clzll",
        "int(long long x)",
        Intrinsic::LeadingZeros,
        "Leading zero bits; 64 for zero.",
    ),
    intrinsic(
        "__ffs",
        "int(int x)",
        Intrinsic::FindFirstSet,
        "The lowest set bit, counted from 1; 0 for zero.",
    ),
    intrinsic(
        "__ffsll",
        "int(long long x)",
        Intrinsic::FindFirstSet,
        "The lowest set bit, counted from 1; 0 for zero.",
    ),
    intrinsic(
        "__brev",
        "unsigned(unsigned x)",
        Intrinsic::ReverseBits,
        "The bits in reverse order.",
    ),
    intrinsic(
        "__brevll",
        "unsigned long long(unsigned long long x)",
        Intrinsic::ReverseBits,
        "The bits in reverse order.",
    ),
    intrinsic(
        "__builtin_popcount",
        "int(unsigned x)",
        Intrinsic::PopCount,
        "The number of set bits.",
    )
    .on_both_sides(),
    intrinsic(
        "__builtin_popcountll",
        "int(unsigned long long x)",
        Intrinsic::PopCount,
        "The number of set bits.",
    )
    .on_both_sides(),
    row(
        "__builtin_popcountl",
        "int(unsigned long x)",
        Lower::Refuse("use `__popcll`, which device code has"),
        Lower::Intrinsic(Intrinsic::PopCount),
        "The number of set bits.",
    ),
    intrinsic("__builtin_clz", "int(unsigned x)", Intrinsic::LeadingZeros, "Leading zero bits.")
        .on_both_sides(),
    intrinsic(
        "__builtin_clzll",
        "int(unsigned long long x)",
        Intrinsic::LeadingZeros,
        "Leading zero bits.",
    )
    .on_both_sides(),
    intrinsic(
        "__builtin_ffs",
        "int(int x)",
        Intrinsic::FindFirstSet,
        "The lowest set bit, counted from 1; 0 for zero.",
    )
    .on_both_sides(),
    intrinsic(
        "__builtin_ffsll",
        "int(long long x)",
        Intrinsic::FindFirstSet,
        "The lowest set bit, counted from 1; 0 for zero.",
    )
    .on_both_sides(),
    row(
        "__builtin_ctz",
        "int(unsigned x)",
        DEVICE_CTZ,
        Lower::Inline("{ return __builtin_ffs((int)x) - 1; }"),
        "Trailing zero bits.",
    ),
    row(
        "__builtin_ctzll",
        "int(unsigned long long x)",
        DEVICE_CTZ,
        Lower::Inline("{ return __builtin_ffsll((long long)x) - 1; }"),
        "Trailing zero bits.",
    ),
    intrinsic("__mulhi", "int(int a,int b)", Intrinsic::MulHigh, "The high half of a * b."),
    intrinsic(
        "__umulhi",
        "unsigned(unsigned a,unsigned b)",
        Intrinsic::MulHigh,
        "The high half of a * b.",
    ),
    intrinsic("__mul64hi", LL, Intrinsic::MulHigh, "The high half of a * b."),
    intrinsic("__umul64hi", ULL, Intrinsic::MulHigh, "The high half of a * b."),
    inline(
        "__mul24",
        "int(int a,int b)",
        "{ return (int)((unsigned)(a << 8 >> 8) * (unsigned)(b << 8 >> 8)); }",
        "The low 32 bits of the product of the low 24 bits.",
    ),
    inline(
        "__umul24",
        "unsigned(unsigned a,unsigned b)",
        "{ return (a & 0xffffffu) * (b & 0xffffffu); }",
        "The low 32 bits of the product of the low 24 bits.",
    ),
    inline(
        "__sad",
        "unsigned(int a,int b,unsigned c)",
        "{ return (a > b ? (unsigned)a - (unsigned)b : (unsigned)b - (unsigned)a) + c; }",
        "The absolute difference of a and b, plus c.",
    ),
    inline(
        "__usad",
        "unsigned(unsigned a,unsigned b,unsigned c)",
        "{ return (a > b ? a - b : b - a) + c; }",
        "The absolute difference of a and b, plus c.",
    ),
    inline(
        "__hadd",
        "int(int a,int b)",
        "{ return (a & b) + ((a ^ b) >> 1); }",
        "The average, rounded down, without overflow.",
    ),
    inline(
        "__rhadd",
        "int(int a,int b)",
        "{ return (a | b) - ((a ^ b) >> 1); }",
        "The average, rounded up, without overflow.",
    ),
    inline(
        "__uhadd",
        "unsigned(unsigned a,unsigned b)",
        "{ return (a & b) + ((a ^ b) >> 1); }",
        "The average, rounded down, without overflow.",
    ),
    inline(
        "__urhadd",
        "unsigned(unsigned a,unsigned b)",
        "{ return (a | b) - ((a ^ b) >> 1); }",
        "The average, rounded up, without overflow.",
    ),
    intrinsic(
        "__byte_perm",
        "unsigned(unsigned a,unsigned b,unsigned selector)",
        Intrinsic::BytePermute,
        "Four bytes chosen from the eight of a and b.",
    ),
    intrinsic(
        "__funnelshift_l",
        "unsigned(unsigned low,unsigned high,unsigned shift)",
        Intrinsic::FunnelShiftLeft,
        "The high word of high:low shifted left by shift mod 32.",
    ),
    intrinsic(
        "__funnelshift_r",
        "unsigned(unsigned low,unsigned high,unsigned shift)",
        Intrinsic::FunnelShiftRight,
        "The low word of high:low shifted right by shift mod 32.",
    ),
    device(
        "__funnelshift_lc",
        "unsigned(unsigned low,unsigned high,unsigned shift)",
        ptx!(pure "shf.l.clamp.b32 $0, $1, $2, $3;", "r", "rrr"),
        "The high word of high:low shifted left by shift, at most 32.",
    ),
    device(
        "__funnelshift_rc",
        "unsigned(unsigned low,unsigned high,unsigned shift)",
        ptx!(pure "shf.r.clamp.b32 $0, $1, $2, $3;", "r", "rrr"),
        "The low word of high:low shifted right by shift, at most 32.",
    ),
    device(
        "__fns",
        "unsigned(unsigned mask,unsigned base,int offset)",
        ptx!(pure "fns.b32 $0, $1, $2, $3;", "r", "rrr"),
        "The position of the n-th set bit from a base position.",
    ),
    inline(
        "__nv_bswap16",
        "unsigned short(unsigned short x)",
        "{ return (unsigned short)__byte_perm(x, 0u, 0x4401u); }",
        "The bytes in reverse order.",
    ),
    inline(
        "__nv_bswap32",
        "unsigned(unsigned x)",
        "{ return __byte_perm(x, 0u, 0x0123u); }",
        "The bytes in reverse order.",
    ),
    inline(
        "__nv_bswap64",
        "unsigned long long(unsigned long long x)",
        "{ unsigned low = (unsigned)x, high = (unsigned)(x >> 32);\
         return (unsigned long long)__byte_perm(low, 0u, 0x0123u) << 32\
         | __byte_perm(high, 0u, 0x0123u); }",
        "The bytes in reverse order.",
    ),
];

const DEVICE_CTZ: Lower = Lower::Refuse("use `__ffs(x) - 1`, which device code has");

/// Dot products of bytes and half-words, from sm_61 on.
macro_rules! dots {
    ($($name:literal, $signature:literal, $op:literal, $summary:literal;)*) => {
        &[$(
            device($name, $signature,
                ptx!(pure concat!($op, " $0, $1, $2, $3;"), "r", "rrr"), $summary).since(61),
        )*]
    };
}

/// With packed words.
pub(super) const DOTS: &[BuiltinFn] = dots! {
    "__dp4a", "int(int a,int b,int c)", "dp4a.s32.s32", "Four signed byte products added to c.";
    "__dp4a", "unsigned(unsigned a,unsigned b,unsigned c)", "dp4a.u32.u32",
        "Four unsigned byte products added to c.";
    "__dp2a_lo", "int(int a,int b,int c)", "dp2a.lo.s32.s32",
        "Two products of half-words and the low bytes, added to c.";
    "__dp2a_lo", "unsigned(unsigned a,unsigned b,unsigned c)", "dp2a.lo.u32.u32",
        "Two products of half-words and the low bytes, added to c.";
    "__dp2a_hi", "int(int a,int b,int c)", "dp2a.hi.s32.s32",
        "Two products of half-words and the high bytes, added to c.";
    "__dp2a_hi", "unsigned(unsigned a,unsigned b,unsigned c)", "dp2a.hi.u32.u32",
        "Two products of half-words and the high bytes, added to c.";
};

/// The same with vector operands.
macro_rules! vector_dots {
    ($($name:literal, $signature:literal, $word:literal, $summary:literal;)*) => {
        &[$(
            device($name, $signature,
                Lower::Inline(concat!("{ return ", $name, "(*(", $word, "*)&a, *(", $word,
                    "*)&b, c); }")),
                $summary).since(61),
        )*]
    };
}

pub(super) const VECTOR_DOTS: &[BuiltinFn] = vector_dots! {
    "__dp4a", "int(char4 a,char4 b,int c)", "int", "Four signed byte products added to c.";
    "__dp4a", "unsigned(uchar4 a,uchar4 b,unsigned c)", "unsigned",
        "Four unsigned byte products added to c.";
    "__dp2a_lo", "int(short2 a,char4 b,int c)", "int",
        "Two products of half-words and the low bytes, added to c.";
    "__dp2a_lo", "unsigned(ushort2 a,uchar4 b,unsigned c)", "unsigned",
        "Two products of half-words and the low bytes, added to c.";
    "__dp2a_hi", "int(short2 a,char4 b,int c)", "int",
        "Two products of half-words and the high bytes, added to c.";
    "__dp2a_hi", "unsigned(ushort2 a,uchar4 b,unsigned c)", "unsigned",
        "Two products of half-words and the high bytes, added to c.";
};
