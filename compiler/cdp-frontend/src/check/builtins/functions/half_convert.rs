//! Conversions to, from and within the 16-bit floating formats, and what moves them: shuffles,
//! hinted loads and stores, atomics.

use cdp_ir::{Atomic, AtomicOp, CacheOp, CastKind, Intrinsic, Scope, ShuffleMode};

use super::{BuiltinFn, Header, Lower, device, ptx, row};

const fn half(
    name: &'static str,
    signature: &'static str,
    lower: Lower,
    summary: &'static str,
) -> BuiltinFn {
    device(name, signature, lower, summary).in_header(Header::Fp16)
}

const fn bf16(
    name: &'static str,
    signature: &'static str,
    lower: Lower,
    summary: &'static str,
) -> BuiltinFn {
    device(name, signature, lower, summary).in_header(Header::Bf16)
}

/// The same code on both sides.
const fn half_both(
    name: &'static str,
    signature: &'static str,
    lower: Lower,
    summary: &'static str,
) -> BuiltinFn {
    row(name, signature, lower, lower, summary).in_header(Header::Fp16)
}

const fn bf16_both(
    name: &'static str,
    signature: &'static str,
    lower: Lower,
    summary: &'static str,
) -> BuiltinFn {
    row(name, signature, lower, lower, summary).in_header(Header::Bf16)
}

const NEAREST: &str = "To nearest even.";
const ROUNDED: &str = "Rounded as named: down, up, or toward zero.";
const FLOAT: Lower = Lower::Cast(CastKind::FloatToFloat);
const BITS: Lower = Lower::Cast(CastKind::Bitcast);
const SAME_BITS: &str = "The same bits as another type.";

/// To nearest even in integer arithmetic, for hosts whose libraries lack the conversion.
const BF16_FROM_FLOAT: Lower = Lower::Inline(
    "{ unsigned u = *(unsigned*)&a; unsigned short s = (u & 0x7fffffffu) > 0x7f800000u\
     ? (unsigned short)0x7fff : (unsigned short)((u + 0x7fffu + ((u >> 16) & 1u)) >> 16);\
     return *(__nv_bfloat16*)&s; }",
);
const BF16_TO_FLOAT: Lower =
    Lower::Inline("{ unsigned u = (unsigned)*(unsigned short*)&a << 16; return *(float*)&u; }");

pub(super) const SCALARS: &[BuiltinFn] = &[
    half_both("__float2half", "__half(float a)", FLOAT, NEAREST),
    half_both("__float2half_rn", "__half(float a)", FLOAT, NEAREST),
    half_both("__double2half", "__half(double a)", FLOAT, NEAREST),
    half_both("__half2float", "float(__half a)", FLOAT, "Exact."),
    half(
        "__float2half_rz",
        "__half(float a)",
        ptx!(pure "cvt.rz.f16.f32 $0, $1;", "h", "f"),
        ROUNDED,
    ),
    half("__float2half_rd", "__half(float a)", Lower::Inline(HALF_DOWN), ROUNDED),
    half("__float2half_ru", "__half(float a)", Lower::Inline(HALF_UP), ROUNDED),
    half_both("__half_as_short", "short(__half a)", BITS, SAME_BITS),
    half_both("__half_as_ushort", "unsigned short(__half a)", BITS, SAME_BITS),
    half_both("__short_as_half", "__half(short a)", BITS, SAME_BITS),
    half_both("__ushort_as_half", "__half(unsigned short a)", BITS, SAME_BITS),
    bf16("__float2bfloat16", "__nv_bfloat16(float a)", FLOAT, NEAREST).hosted(BF16_FROM_FLOAT),
    bf16("__float2bfloat16_rn", "__nv_bfloat16(float a)", FLOAT, NEAREST).hosted(BF16_FROM_FLOAT),
    bf16("__double2bfloat16", "__nv_bfloat16(double a)", FLOAT, NEAREST),
    bf16("__bfloat162float", "float(__nv_bfloat16 a)", FLOAT, "Exact.").hosted(BF16_TO_FLOAT),
    bf16("__float2bfloat16_rz", "__nv_bfloat16(float a)", Lower::Inline(BF16_ZERO), ROUNDED),
    bf16("__float2bfloat16_rd", "__nv_bfloat16(float a)", Lower::Inline(BF16_DOWN), ROUNDED),
    bf16("__float2bfloat16_ru", "__nv_bfloat16(float a)", Lower::Inline(BF16_UP), ROUNDED),
    bf16_both("__bfloat16_as_short", "short(__nv_bfloat16 a)", BITS, SAME_BITS),
    bf16_both("__bfloat16_as_ushort", "unsigned short(__nv_bfloat16 a)", BITS, SAME_BITS),
    bf16_both("__short_as_bfloat16", "__nv_bfloat16(short a)", BITS, SAME_BITS),
    bf16_both("__ushort_as_bfloat16", "__nv_bfloat16(unsigned short a)", BITS, SAME_BITS),
];

/// Nearest, then one step toward the wanted side when that was the wrong one. The bits of one sign
/// are in order, so a step is one up or down; past zero is the smallest value of the other sign.
const HALF_DOWN: &str = "{ __half h = __float2half_rn(a); unsigned short u = __half_as_ushort(h);\
    if (__half2float(h) > a) u = u == 0 ? (unsigned short)0x8001\
    : (unsigned short)((u & 0x8000u) ? u + 1u : u - 1u); return __ushort_as_half(u); }";
const HALF_UP: &str = "{ __half h = __float2half_rn(a); unsigned short u = __half_as_ushort(h);\
    if (__half2float(h) < a) u = u == 0x8000u ? (unsigned short)0x0001\
    : (unsigned short)((u & 0x8000u) ? u - 1u : u + 1u); return __ushort_as_half(u); }";
/// The high half of the bits is the value toward zero; away from it is one more.
const BF16_ZERO: &str = "{ unsigned u = __float_as_uint(a); if (isnan(a)) u = 0x7fff0000u;\
    return __ushort_as_bfloat16((unsigned short)(u >> 16)); }";
const BF16_DOWN: &str = "{ unsigned u = __float_as_uint(a); if (isnan(a)) u = 0x7fff0000u;\
    else if (u >> 31) u += 0xffffu; return __ushort_as_bfloat16((unsigned short)(u >> 16)); }";
const BF16_UP: &str = "{ unsigned u = __float_as_uint(a); if (isnan(a)) u = 0x7fff0000u;\
    else if (!(u >> 31)) u += 0xffffu; return __ushort_as_bfloat16((unsigned short)(u >> 16)); }";

/// `__half2int_rn` and its like: C type, name in functions, PTX type and letter.
macro_rules! half_ints {
    ($($c:literal $name:literal $t:literal $letter:literal;)*) => {{
        const GROUPS: &[[BuiltinFn; 8]] = &[$([
            half(concat!("__half2", $name, "_rn"), concat!($c, "(__half a)"),
                ptx!(pure concat!("cvt.rni.", $t, ".f16 $0, $1;"), $letter, "h"), "To integer."),
            half_both(concat!("__half2", $name, "_rz"), concat!($c, "(__half a)"),
                Lower::Cast(CastKind::FloatToInt), "To integer, toward zero."),
            half(concat!("__half2", $name, "_rd"), concat!($c, "(__half a)"),
                ptx!(pure concat!("cvt.rmi.", $t, ".f16 $0, $1;"), $letter, "h"), "To integer."),
            half(concat!("__half2", $name, "_ru"), concat!($c, "(__half a)"),
                ptx!(pure concat!("cvt.rpi.", $t, ".f16 $0, $1;"), $letter, "h"), "To integer."),
            half_both(concat!("__", $name, "2half_rn"), concat!("__half(", $c, " a)"),
                Lower::Cast(CastKind::IntToFloat), "From integer, to nearest even."),
            half(concat!("__", $name, "2half_rz"), concat!("__half(", $c, " a)"),
                ptx!(pure concat!("cvt.rz.f16.", $t, " $0, $1;"), "h", $letter), "From integer."),
            half(concat!("__", $name, "2half_rd"), concat!("__half(", $c, " a)"),
                ptx!(pure concat!("cvt.rm.f16.", $t, " $0, $1;"), "h", $letter), "From integer."),
            half(concat!("__", $name, "2half_ru"), concat!("__half(", $c, " a)"),
                ptx!(pure concat!("cvt.rp.f16.", $t, " $0, $1;"), "h", $letter), "From integer."),
        ],)*];
        GROUPS.as_flattened()
    }};
}

pub(super) const HALF_INTS: &[BuiltinFn] = half_ints! {
    "short" "short" "s16" "h";
    "unsigned short" "ushort" "u16" "h";
    "int" "int" "s32" "r";
    "unsigned" "uint" "u32" "r";
    "long long" "ll" "s64" "l";
    "unsigned long long" "ull" "u64" "l";
};

/// As [`half_ints`] for bfloat16, through single precision, which holds every bfloat16.
macro_rules! bf16_ints {
    ($($c:literal $name:literal $via:literal;)*) => {{
        const GROUPS: &[[BuiltinFn; 8]] = &[$([
            bf16_ints!(@to $c, $name, $via, "_rn"),
            bf16_ints!(@to $c, $name, $via, "_rz"),
            bf16_ints!(@to $c, $name, $via, "_rd"),
            bf16_ints!(@to $c, $name, $via, "_ru"),
            bf16(concat!("__", $name, "2bfloat16_rn"), concat!("__nv_bfloat16(", $c, " a)"),
                // Toward zero with a sticky last bit, then to nearest: rounded once.
                Lower::Inline(concat!("{ float f = __", $via, "2float_rz(a);",
                    " unsigned u = __float_as_uint(f) | ((", $c, ")f != a ? 1u : 0u);",
                    " return __float2bfloat16_rn(__uint_as_float(u)); }")),
                "From integer, to nearest even."),
            bf16_ints!(@from $c, $name, $via, "_rz"),
            bf16_ints!(@from $c, $name, $via, "_rd"),
            bf16_ints!(@from $c, $name, $via, "_ru"),
        ],)*];
        GROUPS.as_flattened()
    }};
    (@to $c:literal, $name:literal, $via:literal, $mode:literal) => {
        bf16(concat!("__bfloat162", $name, $mode), concat!($c, "(__nv_bfloat16 a)"),
            Lower::Inline(concat!("{ return __float2", $via, $mode, "(__bfloat162float(a)); }")),
            "To integer, rounded as named.")
    };
    (@from $c:literal, $name:literal, $via:literal, $mode:literal) => {
        bf16(concat!("__", $name, "2bfloat16", $mode), concat!("__nv_bfloat16(", $c, " a)"),
            Lower::Inline(concat!("{ return __float2bfloat16", $mode, "(__", $via, "2float", $mode,
                "(a)); }")),
            "From integer, rounded as named.")
    };
}

pub(super) const BF16_INTS: &[BuiltinFn] = bf16_ints! {
    "int" "int" "int";
    "unsigned" "uint" "uint";
    "long long" "ll" "ll";
    "unsigned long long" "ull" "ull";
};

/// Short integers, which every format in question reaches exactly or by saturation.
macro_rules! bf16_shorts {
    ($($c:literal $name:literal $wide:literal $low:literal $high:literal;)*) => {{
        const GROUPS: &[[BuiltinFn; 8]] = &[$([
            bf16_shorts!(@to $c, $name, $wide, $low, $high, "_rn"),
            bf16_shorts!(@to $c, $name, $wide, $low, $high, "_rz"),
            bf16_shorts!(@to $c, $name, $wide, $low, $high, "_rd"),
            bf16_shorts!(@to $c, $name, $wide, $low, $high, "_ru"),
            bf16_shorts!(@from $c, $name, "_rn"),
            bf16_shorts!(@from $c, $name, "_rz"),
            bf16_shorts!(@from $c, $name, "_rd"),
            bf16_shorts!(@from $c, $name, "_ru"),
        ],)*];
        GROUPS.as_flattened()
    }};
    (@to $c:literal, $name:literal, $wide:literal, $low:literal, $high:literal, $mode:literal) => {
        bf16(concat!("__bfloat162", $name, $mode), concat!($c, "(__nv_bfloat16 a)"),
            Lower::Inline(concat!("{ int i = __float2int", $mode, "(__bfloat162float(a));",
                " return (", $c, ")min(max(i, ", $low, "), ", $high, "); }")),
            "To integer, rounded as named.")
    };
    (@from $c:literal, $name:literal, $mode:literal) => {
        bf16(concat!("__", $name, "2bfloat16", $mode), concat!("__nv_bfloat16(", $c, " a)"),
            Lower::Inline(concat!("{ return __float2bfloat16", $mode, "((float)a); }")),
            "From integer, rounded as named.")
    };
}

pub(super) const BF16_SHORTS: &[BuiltinFn] = bf16_shorts! {
    "short" "short" "int" "-32768" "32767";
    "unsigned short" "ushort" "int" "0" "65535";
};

pub(super) const CHARS: &[BuiltinFn] = &[
    half_both(
        "__half2char_rz",
        "signed char(__half a)",
        Lower::Inline(
            "{ int i = (int)__half2float(a); return (signed char)(i < -128 ? -128 : i > 127 ? 127 : i); }",
        ),
        "To integer, toward zero.",
    ),
    half_both(
        "__half2uchar_rz",
        "unsigned char(__half a)",
        Lower::Inline(
            "{ int i = (int)__half2float(a); return (unsigned char)(i < 0 ? 0 : i > 255 ? 255 : i); }",
        ),
        "To integer, toward zero.",
    ),
    bf16(
        "__bfloat162char_rz",
        "signed char(__nv_bfloat16 a)",
        Lower::Inline(
            "{ return (signed char)min(max(__float2int_rz(__bfloat162float(a)), -128), 127); }",
        ),
        "To integer, toward zero.",
    ),
    bf16(
        "__bfloat162uchar_rz",
        "unsigned char(__nv_bfloat16 a)",
        Lower::Inline(
            "{ return (unsigned char)min(max(__float2int_rz(__bfloat162float(a)), 0), 255); }",
        ),
        "To integer, toward zero.",
    ),
];

/// Making and taking apart pairs: scalar, pair, the names' middles, conversions from and to float.
macro_rules! pairs {
    ($f:ident, $both:ident; $s:literal $v:literal $one:literal $two:literal $make:literal
        $from:literal $to:literal $swap:literal) => {
        &[
            $both(
                $make,
                concat!($v, "(", $s, " x,", $s, " y)"),
                Lower::Inline(concat!("{ ", $v, " r; r.x = x; r.y = y; return r; }")),
                "A pair from its halves.",
            ),
            $both(
                concat!("__halves2", $two),
                concat!($v, "(", $s, " x,", $s, " y)"),
                Lower::Inline(concat!("{ ", $v, " r; r.x = x; r.y = y; return r; }")),
                "A pair from its halves.",
            ),
            $both(
                concat!("__", $one, "2", $two),
                concat!($v, "(", $s, " x)"),
                Lower::Inline(concat!("{ ", $v, " r; r.x = x; r.y = x; return r; }")),
                "A pair of one value.",
            ),
            $both(
                concat!("__low2", $one),
                concat!($s, "(", $v, " a)"),
                Lower::Inline("{ return a.x; }"),
                "The low half.",
            ),
            $both(
                concat!("__high2", $one),
                concat!($s, "(", $v, " a)"),
                Lower::Inline("{ return a.y; }"),
                "The high half.",
            ),
            $both(
                "__low2float",
                concat!("float(", $v, " a)"),
                Lower::Inline(concat!("{ return ", $to, "(a.x); }")),
                "The low half.",
            ),
            $both(
                "__high2float",
                concat!("float(", $v, " a)"),
                Lower::Inline(concat!("{ return ", $to, "(a.y); }")),
                "The high half.",
            ),
            $f(
                concat!("__low2", $two),
                concat!($v, "(", $v, " a)"),
                Lower::Inline(concat!("{ ", $v, " r; r.x = a.x; r.y = a.x; return r; }")),
                "A pair of the low half.",
            ),
            $f(
                concat!("__high2", $two),
                concat!($v, "(", $v, " a)"),
                Lower::Inline(concat!("{ ", $v, " r; r.x = a.y; r.y = a.y; return r; }")),
                "A pair of the high half.",
            ),
            $f(
                concat!("__lows2", $two),
                concat!($v, "(", $v, " a,", $v, " b)"),
                Lower::Inline(concat!("{ ", $v, " r; r.x = a.x; r.y = b.x; return r; }")),
                "A pair of the low halves.",
            ),
            $f(
                concat!("__highs2", $two),
                concat!($v, "(", $v, " a,", $v, " b)"),
                Lower::Inline(concat!("{ ", $v, " r; r.x = a.y; r.y = b.y; return r; }")),
                "A pair of the high halves.",
            ),
            $f(
                $swap,
                concat!($v, "(", $v, " a)"),
                Lower::Inline(concat!("{ ", $v, " r; r.x = a.y; r.y = a.x; return r; }")),
                "The halves swapped.",
            ),
            $both(
                concat!("__float2", $two, "_rn"),
                concat!($v, "(float a)"),
                Lower::Inline(concat!(
                    "{ ",
                    $v,
                    " r; r.x = ",
                    $from,
                    "(a); r.y = r.x; return r; }"
                )),
                "A pair of one value, to nearest even.",
            ),
            $both(
                concat!("__floats2", $two, "_rn"),
                concat!($v, "(float a,float b)"),
                Lower::Inline(concat!(
                    "{ ",
                    $v,
                    " r; r.x = ",
                    $from,
                    "(a); r.y = ",
                    $from,
                    "(b); return r; }"
                )),
                "A pair from its halves, to nearest even.",
            ),
            $both(
                concat!("__float22", $two, "_rn"),
                concat!($v, "(float2 a)"),
                Lower::Inline(concat!(
                    "{ ",
                    $v,
                    " r; r.x = ",
                    $from,
                    "(a.x); r.y = ",
                    $from,
                    "(a.y); return r; }"
                )),
                "A pair from its halves, to nearest even.",
            ),
            $both(
                concat!("__", $two, "2float2"),
                concat!("float2(", $v, " a)"),
                Lower::Inline(concat!(
                    "{ float2 r; r.x = ",
                    $to,
                    "(a.x); r.y = ",
                    $to,
                    "(a.y); return r; }"
                )),
                "Both halves in single precision.",
            ),
        ]
    };
}

pub(super) const HALF_PAIRS: &[BuiltinFn] = pairs! { half, half_both;
"__half" "__half2" "half" "half2" "make_half2" "__float2half_rn" "__half2float"
"__lowhigh2highlow" };
pub(super) const BF16_PAIRS: &[BuiltinFn] = pairs! { bf16, bf16_both;
"__nv_bfloat16" "__nv_bfloat162" "bfloat16" "bfloat162" "make_bfloat162" "__float2bfloat16_rn"
"__bfloat162float" "__lowhigh2highlow" };

const fn shuffle(mode: ShuffleMode) -> Lower {
    Lower::Intrinsic(Intrinsic::Shuffle(mode))
}

const fn load(op: CacheOp) -> Lower {
    Lower::Intrinsic(Intrinsic::CacheLoad(op))
}

const fn store(op: CacheOp) -> Lower {
    Lower::Intrinsic(Intrinsic::CacheStore(op))
}

/// A pair travels as the word that holds it.
macro_rules! moves {
    ($f:ident; $s:literal $v:literal) => {
        &[
            moves!(@shuffle $f "__shfl_sync" $s Index "int lane" ),
            moves!(@shuffle $f "__shfl_up_sync" $s Up "unsigned lane"),
            moves!(@shuffle $f "__shfl_down_sync" $s Down "unsigned lane"),
            moves!(@shuffle $f "__shfl_xor_sync" $s Xor "int lane"),
            moves!(@word $f "__shfl_sync" $v "int lane"),
            moves!(@word $f "__shfl_up_sync" $v "unsigned lane"),
            moves!(@word $f "__shfl_down_sync" $v "unsigned lane"),
            moves!(@word $f "__shfl_xor_sync" $v "int lane"),
            moves!(@load $f "__ldg" $s $v NonCoherent)[0], moves!(@load $f "__ldg" $s $v NonCoherent)[1],
            moves!(@load $f "__ldca" $s $v All)[0], moves!(@load $f "__ldca" $s $v All)[1],
            moves!(@load $f "__ldcg" $s $v Global)[0], moves!(@load $f "__ldcg" $s $v Global)[1],
            moves!(@load $f "__ldcs" $s $v Streaming)[0], moves!(@load $f "__ldcs" $s $v Streaming)[1],
            moves!(@load $f "__ldlu" $s $v LastUse)[0], moves!(@load $f "__ldlu" $s $v LastUse)[1],
            moves!(@load $f "__ldcv" $s $v Volatile)[0], moves!(@load $f "__ldcv" $s $v Volatile)[1],
            moves!(@store $f "__stwb" $s $v WriteBack)[0], moves!(@store $f "__stwb" $s $v WriteBack)[1],
            moves!(@store $f "__stcg" $s $v Global)[0], moves!(@store $f "__stcg" $s $v Global)[1],
            moves!(@store $f "__stcs" $s $v Streaming)[0], moves!(@store $f "__stcs" $s $v Streaming)[1],
            moves!(@store $f "__stwt" $s $v WriteThrough)[0],
            moves!(@store $f "__stwt" $s $v WriteThrough)[1],
        ]
    };
    (@shuffle $f:ident $name:literal $s:literal $mode:ident $lane:literal) => {
        $f($name, concat!($s, "(unsigned mask,", $s, " value,", $lane, ",int width=32)"),
            shuffle(ShuffleMode::$mode), "The value of another lane.")
    };
    (@word $f:ident $name:literal $v:literal $lane:literal) => {
        $f($name, concat!($v, "(unsigned mask,", $v, " value,", $lane, ",int width=32)"),
            Lower::Inline(concat!("{ unsigned r = ", $name,
                "(mask, *(unsigned*)&value, lane, width); return *(", $v, "*)&r; }")),
            "The value of another lane.")
    };
    (@load $f:ident $name:literal $s:literal $v:literal $op:ident) => {
        [
            $f($name, concat!($s, "(const ", $s, "* address)"), load(CacheOp::$op),
                "Reads with a cache hint."),
            $f($name, concat!($v, "(const ", $v, "* address)"),
                Lower::Inline(concat!("{ unsigned r = ", $name,
                    "((const unsigned*)address); return *(", $v, "*)&r; }")),
                "Reads with a cache hint."),
        ]
    };
    (@store $f:ident $name:literal $s:literal $v:literal $op:ident) => {
        [
            $f($name, concat!("void(", $s, "* address,", $s, " value)"), store(CacheOp::$op),
                "Writes with a cache hint."),
            $f($name, concat!("void(", $v, "* address,", $v, " value)"),
                Lower::Inline(concat!("{ ", $name,
                    "((unsigned*)address, *(unsigned*)&value); }")),
                "Writes with a cache hint."),
        ]
    };
}

pub(super) const HALF_MOVES: &[BuiltinFn] = moves! { half; "__half" "__half2" };
pub(super) const BF16_MOVES: &[BuiltinFn] = moves! { bf16; "__nv_bfloat16" "__nv_bfloat162" };

/// A sum of pairs where no instruction makes it.
macro_rules! add_by_exchange {
    ($v:literal) => {
        concat!(
            "{ unsigned* word = (unsigned*)address; unsigned old = *word, seen; do { seen = old; ",
            $v,
            " sum = __hadd2(*(",
            $v,
            "*)&seen, value);",
            " old = atomicCAS(word, seen, *(unsigned*)&sum); } while (old != seen); return *(",
            $v,
            "*)&old; }"
        )
    };
}

const ADD: Lower =
    Lower::Intrinsic(Intrinsic::Atomic(Atomic { op: AtomicOp::Add, scope: Scope::Device }));
const ADDS: &str = "Adds; yields the old value. Atomic in the device, each half for itself.";

pub(super) const ATOMICS: &[BuiltinFn] = &[
    half("atomicAdd", "__half(__half* address,__half value)", ADD, ADDS).since(70),
    bf16("atomicAdd", "__nv_bfloat16(__nv_bfloat16* address,__nv_bfloat16 value)", ADD, ADDS)
        .since(80),
    half(
        "atomicAdd",
        "__half2(__half2* address,__half2 value)",
        Lower::Inline(concat!(
            "{ if constexpr (sizeof(void*) == 8) { unsigned r;",
            " asm volatile(\"atom.add.noftz.f16x2 %0, [%1], %2;\" : \"=r\"(r)",
            " : \"l\"((unsigned long long)address), \"r\"(*(unsigned*)&value) : \"memory\");",
            " return *(__half2*)&r; } else ",
            add_by_exchange!("__half2"),
            " }"
        )),
        ADDS,
    )
    .since(60),
    bf16(
        "atomicAdd",
        "__nv_bfloat162(__nv_bfloat162* address,__nv_bfloat162 value)",
        Lower::IfSm(
            90,
            &Lower::Inline(
                "{ unsigned r; asm volatile(\"atom.add.noftz.bf16x2 %0, [%1], %2;\" : \"=r\"(r)\
                 : \"l\"((unsigned long long)address), \"r\"(*(unsigned*)&value) : \"memory\");\
                 return *(__nv_bfloat162*)&r; }",
            ),
            &Lower::Inline(add_by_exchange!("__nv_bfloat162")),
        ),
        ADDS,
    )
    .since(80),
];
