//! SIMD within a word: two half-words or four bytes in an `unsigned`, and the DPX functions.
//!
//! No current machine has the byte forms, and only sm_90 has some half-word ones, so these are
//! written over whole words: H is the top bit of each lane, L the lowest, M all but the top. Sums
//! are made without the top bits, which are then put right by exclusive or, so that nothing carries
//! from lane to lane; comparisons leave their answer in the top bits, from where `prmt` spreads it.

use super::{BuiltinFn, Lower, device, ptx};

const UNARY: &str = "unsigned(unsigned a)";
const BINARY: &str = "unsigned(unsigned a,unsigned b)";

const fn inline(name: &'static str, signature: &'static str, body: &'static str) -> BuiltinFn {
    device(name, signature, Lower::Inline(body), summary(name))
}

/// What a SIMD function does, from its name.
const fn summary(name: &'static str) -> &'static str {
    match name.as_bytes() {
        [_, _, b'v', b'c', b'm', b'p', ..] => "Compares lane by lane; all bits of a lane answer.",
        [_, _, b'v', b's', b'e', b't', ..] => "Compares lane by lane; 1 or 0 answers.",
        [_, _, b'v', b'a', b'b', b's', b'd', ..] => "Absolute difference of each lane.",
        [_, _, b'v', b'a', b'b', b's', b's', ..] => "Absolute value of each lane, saturated.",
        [_, _, b'v', b'a', b'b', b's', ..] => "Absolute value of each lane.",
        [_, _, b'v', b'a', b'd', b'd', b's', b's', ..] => "Signed saturated sum of each lane.",
        [_, _, b'v', b'a', b'd', b'd', b'u', ..] => "Unsigned saturated sum of each lane.",
        [_, _, b'v', b'a', b'd', b'd', ..] => "Sum of each lane.",
        [_, _, b'v', b'a', b'v', b'g', ..] => "Average of each lane, rounded up.",
        [_, _, b'v', b'h', ..] => "Average of each lane, rounded down.",
        [_, _, b'v', b'i', b'a', ..] => "The sum of a and b, then the extreme with c.",
        [_, _, b'v', b'i', b'b', ..] => "The extreme of a and b, and whether it is a.",
        [_, _, b'v', b'i', ..] => "The extreme of the arguments; `_relu` takes 0 in too.",
        [_, _, b'v', b'm', b'a', ..] => "The larger value of each lane.",
        [_, _, b'v', b'm', ..] => "The smaller value of each lane.",
        [_, _, b'v', b'n', b'e', b'g', b's', ..] => "Negation of each lane, saturated.",
        [_, _, b'v', b'n', ..] => "Negation of each lane.",
        [_, _, b'v', b's', b'a', ..] => "The sum of the absolute differences of all lanes.",
        [_, _, b'v', b's', b'u', b'b', b's', b's', ..] => {
            "Signed saturated difference of each lane."
        }
        [_, _, b'v', b's', b'u', b'b', b'u', ..] => "Unsigned saturated difference of each lane.",
        [_, _, b'v', b's', b'u', b'b', ..] => "Difference of each lane.",
        _ => "A step of the SIMD functions.",
    }
}

/// The functions of one lane width: suffix, H, M, L, shift from H to L.
macro_rules! lanes {
    ($n:literal, $h:literal, $m:literal, $l:literal, $s:literal, $spread:literal, $add:expr,
        [$($extreme:expr),*]) => {
        &[
            device(concat!("__cdp_spread", $n), UNARY,
                ptx!(pure concat!("prmt.b32 $0, $1, 0, ", $spread, ";"), "r", "r"),
                "The top bit of each lane in all its bits."),
            // The top bits say where a is less than b.
            inline(concat!("__cdp_ltu", $n), BINARY, concat!(
                "{ return (~a & b) | (~(a ^ b) & ~((a | ", $h, ") - (b & ", $m, "))); }")),
            inline(concat!("__cdp_lts", $n), BINARY, concat!(
                "{ return (a & ~b) | (~(a ^ b) & ~((a | ", $h, ") - (b & ", $m, "))); }")),
            // The top bits say where a and b differ.
            inline(concat!("__cdp_ne", $n), BINARY, concat!(
                "{ unsigned x = a ^ b; return ((x & ", $m, ") + ", $m, ") | x; }")),

            device(concat!("__vadd", $n), BINARY, $add, "Sum of each lane."),
            inline(concat!("__cdp_add", $n), BINARY, concat!(
                "{ return ((a & ", $m, ") + (b & ", $m, ")) ^ ((a ^ b) & ", $h, "); }")),
            inline(concat!("__vsub", $n), BINARY, concat!(
                "{ return ((a | ", $h, ") - (b & ", $m, ")) ^ ((a ^ ~b) & ", $h, "); }")),
            inline(concat!("__vaddus", $n), BINARY, concat!(
                "{ unsigned r = __vadd", $n, "(a, b);",
                " return r | __cdp_spread", $n, "((a & b) | ((a | b) & ~r)); }")),
            inline(concat!("__vsubus", $n), BINARY, concat!(
                "{ return __vsub", $n, "(a, b) & ~__vcmpltu", $n, "(a, b); }")),
            // Overflow when both operands have one sign and the sum the other; then the limit on
            // the side of a.
            inline(concat!("__vaddss", $n), BINARY, concat!(
                "{ unsigned r = __vadd", $n, "(a, b);",
                " unsigned o = __cdp_spread", $n, "((r ^ a) & (r ^ b));",
                " return (r & ~o) | ((__cdp_spread", $n, "(a) ^ ", $m, ") & o); }")),
            inline(concat!("__vsubss", $n), BINARY, concat!(
                "{ unsigned r = __vsub", $n, "(a, b);",
                " unsigned o = __cdp_spread", $n, "((a ^ b) & (r ^ a));",
                " return (r & ~o) | ((__cdp_spread", $n, "(a) ^ ", $m, ") & o); }")),
            inline(concat!("__vneg", $n), UNARY, concat!(
                "{ return (", $h, " - (a & ", $m, ")) ^ (~a & ", $h, "); }")),
            inline(concat!("__vnegss", $n), UNARY, concat!(
                "{ unsigned r = __vneg", $n, "(a); return r - ((r & a & ", $h, ") >> ", $s, "); }")),
            inline(concat!("__vabs", $n), UNARY, concat!(
                "{ unsigned m = __cdp_spread", $n, "(a); return (a ^ m) + (m & ", $l, "); }")),
            inline(concat!("__vabsss", $n), UNARY, concat!(
                "{ unsigned r = __vabs", $n, "(a); return r - ((r & ", $h, ") >> ", $s, "); }")),
            inline(concat!("__vabsdiffu", $n), BINARY, concat!(
                "{ unsigned m = __vcmpltu", $n, "(a, b);",
                " return (__vsub", $n, "(a, b) ^ m) + (m & ", $l, "); }")),
            inline(concat!("__vabsdiffs", $n), BINARY, concat!(
                "{ unsigned m = __vcmplts", $n, "(a, b);",
                " return (__vsub", $n, "(a, b) ^ m) + (m & ", $l, "); }")),
            inline(concat!("__vavgu", $n), BINARY, concat!(
                "{ return (a | b) - (((a ^ b) & ~", $l, ") >> 1); }")),
            inline(concat!("__vhaddu", $n), BINARY, concat!(
                "{ return (a & b) + (((a ^ b) & ~", $l, ") >> 1); }")),
            // Rounded down over values biased to unsigned; then up where the result is not
            // negative and a bit was lost.
            inline(concat!("__vavgs", $n), BINARY, concat!(
                "{ unsigned x = a ^ b;",
                " unsigned r = (((a ^ ", $h, ") & (b ^ ", $h, ")) + ((x & ~", $l, ") >> 1)) ^ ", $h,
                "; return r + (x & ", $l, " & ~(r >> ", $s, ")); }")),
            $($extreme,)*

            inline(concat!("__vcmpeq", $n), BINARY, concat!(
                "{ return ~__cdp_spread", $n, "(__cdp_ne", $n, "(a, b)); }")),
            inline(concat!("__vcmpne", $n), BINARY, concat!(
                "{ return __cdp_spread", $n, "(__cdp_ne", $n, "(a, b)); }")),
            inline(concat!("__vcmpltu", $n), BINARY, concat!(
                "{ return __cdp_spread", $n, "(__cdp_ltu", $n, "(a, b)); }")),
            inline(concat!("__vcmplts", $n), BINARY, concat!(
                "{ return __cdp_spread", $n, "(__cdp_lts", $n, "(a, b)); }")),
            inline(concat!("__vcmpgtu", $n), BINARY, concat!(
                "{ return __cdp_spread", $n, "(__cdp_ltu", $n, "(b, a)); }")),
            inline(concat!("__vcmpgts", $n), BINARY, concat!(
                "{ return __cdp_spread", $n, "(__cdp_lts", $n, "(b, a)); }")),
            inline(concat!("__vcmpleu", $n), BINARY, concat!(
                "{ return __cdp_spread", $n, "(~__cdp_ltu", $n, "(b, a)); }")),
            inline(concat!("__vcmples", $n), BINARY, concat!(
                "{ return __cdp_spread", $n, "(~__cdp_lts", $n, "(b, a)); }")),
            inline(concat!("__vcmpgeu", $n), BINARY, concat!(
                "{ return __cdp_spread", $n, "(~__cdp_ltu", $n, "(a, b)); }")),
            inline(concat!("__vcmpges", $n), BINARY, concat!(
                "{ return __cdp_spread", $n, "(~__cdp_lts", $n, "(a, b)); }")),

            inline(concat!("__vseteq", $n), BINARY, concat!(
                "{ return (~__cdp_ne", $n, "(a, b) & ", $h, ") >> ", $s, "; }")),
            inline(concat!("__vsetne", $n), BINARY, concat!(
                "{ return (__cdp_ne", $n, "(a, b) & ", $h, ") >> ", $s, "; }")),
            inline(concat!("__vsetltu", $n), BINARY, concat!(
                "{ return (__cdp_ltu", $n, "(a, b) & ", $h, ") >> ", $s, "; }")),
            inline(concat!("__vsetlts", $n), BINARY, concat!(
                "{ return (__cdp_lts", $n, "(a, b) & ", $h, ") >> ", $s, "; }")),
            inline(concat!("__vsetgtu", $n), BINARY, concat!(
                "{ return (__cdp_ltu", $n, "(b, a) & ", $h, ") >> ", $s, "; }")),
            inline(concat!("__vsetgts", $n), BINARY, concat!(
                "{ return (__cdp_lts", $n, "(b, a) & ", $h, ") >> ", $s, "; }")),
            inline(concat!("__vsetleu", $n), BINARY, concat!(
                "{ return (~__cdp_ltu", $n, "(b, a) & ", $h, ") >> ", $s, "; }")),
            inline(concat!("__vsetles", $n), BINARY, concat!(
                "{ return (~__cdp_lts", $n, "(b, a) & ", $h, ") >> ", $s, "; }")),
            inline(concat!("__vsetgeu", $n), BINARY, concat!(
                "{ return (~__cdp_ltu", $n, "(a, b) & ", $h, ") >> ", $s, "; }")),
            inline(concat!("__vsetges", $n), BINARY, concat!(
                "{ return (~__cdp_lts", $n, "(a, b) & ", $h, ") >> ", $s, "; }")),
        ]
    };
}

/// The extreme where the comparison `$lt` chooses b over a (`max`) or a over b (`min`).
macro_rules! extreme {
    ($name:literal, max, $lt:literal) => {
        inline($name, BINARY, concat!("{ unsigned m = ", $lt, "(a, b); return (b & m) | (a & ~m); }"))
    };
    ($name:literal, min, $lt:literal) => {
        inline($name, BINARY, concat!("{ unsigned m = ", $lt, "(a, b); return (a & m) | (b & ~m); }"))
    };
    ($name:literal, $which:ident, $lt:literal, $machine:literal) => {
        device(
            $name,
            BINARY,
            Lower::IfSm(
                90,
                &ptx!(pure concat!($machine, " $0, $1, $2;"), "r", "rr"),
                &extreme!($name, $which, $lt).device,
            ),
            summary($name),
        )
    };
}

/// Two half-words.
pub(super) const HALVES: &[BuiltinFn] = lanes!(
    "2",
    "0x80008000u",
    "0x7fff7fffu",
    "0x00010001u",
    "15",
    "0xbb99",
    Lower::IfSm(
        90,
        &ptx!(pure "add.u16x2 $0, $1, $2;", "r", "rr"),
        &Lower::Inline("{ return __cdp_add2(a, b); }")
    ),
    [
        extreme!("__vmaxu2", max, "__vcmpltu2", "max.u16x2"),
        extreme!("__vmaxs2", max, "__vcmplts2", "max.s16x2"),
        extreme!("__vminu2", min, "__vcmpltu2", "min.u16x2"),
        extreme!("__vmins2", min, "__vcmplts2", "min.s16x2"),
        inline(
            "__vsadu2",
            BINARY,
            "{ unsigned r = __vabsdiffu2(a, b); return (r & 0xffffu) + (r >> 16); }"
        ),
        inline(
            "__vsads2",
            BINARY,
            "{ unsigned r = __vabsdiffs2(a, b); return (r & 0xffffu) + (r >> 16); }"
        )
    ]
);

/// Four bytes.
pub(super) const BYTES: &[BuiltinFn] = lanes!(
    "4",
    "0x80808080u",
    "0x7f7f7f7fu",
    "0x01010101u",
    "7",
    "0xba98",
    Lower::Inline("{ return __cdp_add4(a, b); }"),
    [
        extreme!("__vmaxu4", max, "__vcmpltu4"),
        extreme!("__vmaxs4", max, "__vcmplts4"),
        extreme!("__vminu4", min, "__vcmpltu4"),
        extreme!("__vmins4", min, "__vcmplts4"),
        inline(
            "__cdp_sum4",
            UNARY,
            "{ unsigned t = (a & 0x00ff00ffu) + ((a >> 8) & 0x00ff00ffu);\
             return (t & 0xffffu) + (t >> 16); }"
        ),
        inline("__vsadu4", BINARY, "{ return __cdp_sum4(__vabsdiffu4(a, b)); }"),
        inline("__vsads4", BINARY, "{ return __cdp_sum4(__vabsdiffs4(a, b)); }")
    ]
);

/// The DPX functions of one type: name suffix, type, `max`, `min` and sum.
macro_rules! dpx {
    ($t:literal, $suffix:literal, $max:literal, $min:literal, $sum:literal) => {
        &[
            inline(concat!("__vimax3_", $suffix), dpx!(@three $t),
                concat!("{ return ", $max, "(", $max, "(a, b), c); }")),
            inline(concat!("__vimin3_", $suffix), dpx!(@three $t),
                concat!("{ return ", $min, "(", $min, "(a, b), c); }")),
            inline(concat!("__viaddmax_", $suffix), dpx!(@three $t),
                concat!("{ return ", $max, "(", $sum, ", c); }")),
            inline(concat!("__viaddmin_", $suffix), dpx!(@three $t),
                concat!("{ return ", $min, "(", $sum, ", c); }")),
        ]
    };
    (relu $t:literal, $suffix:literal, $max:literal, $min:literal, $sum:literal) => {
        &[
            inline(concat!("__vimax_", $suffix, "_relu"), dpx!(@two $t),
                concat!("{ return ", $max, "(", $max, "(a, b), (", $t, ")0); }")),
            inline(concat!("__vimin_", $suffix, "_relu"), dpx!(@two $t),
                concat!("{ return ", $max, "(", $min, "(a, b), (", $t, ")0); }")),
            inline(concat!("__vimax3_", $suffix, "_relu"), dpx!(@three $t),
                concat!("{ return ", $max, "(", $max, "(", $max, "(a, b), c), (", $t, ")0); }")),
            inline(concat!("__vimin3_", $suffix, "_relu"), dpx!(@three $t),
                concat!("{ return ", $max, "(", $min, "(", $min, "(a, b), c), (", $t, ")0); }")),
            inline(concat!("__viaddmax_", $suffix, "_relu"), dpx!(@three $t),
                concat!("{ return ", $max, "(", $max, "(", $sum, ", c), (", $t, ")0); }")),
            inline(concat!("__viaddmin_", $suffix, "_relu"), dpx!(@three $t),
                concat!("{ return ", $max, "(", $min, "(", $sum, ", c), (", $t, ")0); }")),
        ]
    };
    (@two $t:literal) => { concat!($t, "(", $t, " a,", $t, " b)") };
    (@three $t:literal) => { concat!($t, "(", $t, " a,", $t, " b,", $t, " c)") };
}

pub(super) const DPX_S32: &[BuiltinFn] =
    dpx!("int", "s32", "max", "min", "(int)((unsigned)a + (unsigned)b)");
pub(super) const DPX_U32: &[BuiltinFn] = dpx!("unsigned", "u32", "max", "min", "a + b");
pub(super) const DPX_S16: &[BuiltinFn] =
    dpx!("unsigned", "s16x2", "__vmaxs2", "__vmins2", "__vadd2(a, b)");
pub(super) const DPX_U16: &[BuiltinFn] =
    dpx!("unsigned", "u16x2", "__vmaxu2", "__vminu2", "__vadd2(a, b)");
pub(super) const DPX_RELU_S32: &[BuiltinFn] =
    dpx!(relu "int", "s32", "max", "min", "(int)((unsigned)a + (unsigned)b)");
pub(super) const DPX_RELU_S16: &[BuiltinFn] =
    dpx!(relu "unsigned", "s16x2", "__vmaxs2", "__vmins2", "__vadd2(a, b)");

/// The extreme of two half-words, and for each whether it is that of a.
macro_rules! choice_pair {
    ($name:literal, $extreme:literal) => {
        inline(
            $name,
            "unsigned(unsigned a,unsigned b,bool* chose_high,bool* chose_low)",
            concat!(
                "{ unsigned r = ",
                $extreme,
                "(a, b); *chose_high = ((r ^ a) & 0xffff0000u) == 0u;",
                " *chose_low = ((r ^ a) & 0xffffu) == 0u; return r; }"
            ),
        )
    };
}

/// The DPX functions that also say which argument they took.
pub(super) const DPX_CHOICE: &[BuiltinFn] = &[
    inline(
        "__vibmax_s32",
        "int(int a,int b,bool* chose_a)",
        "{ *chose_a = a >= b; return a >= b ? a : b; }",
    ),
    inline(
        "__vibmin_s32",
        "int(int a,int b,bool* chose_a)",
        "{ *chose_a = a <= b; return a <= b ? a : b; }",
    ),
    inline(
        "__vibmax_u32",
        "unsigned(unsigned a,unsigned b,bool* chose_a)",
        "{ *chose_a = a >= b; return a >= b ? a : b; }",
    ),
    inline(
        "__vibmin_u32",
        "unsigned(unsigned a,unsigned b,bool* chose_a)",
        "{ *chose_a = a <= b; return a <= b ? a : b; }",
    ),
    choice_pair!("__vibmax_s16x2", "__vmaxs2"),
    choice_pair!("__vibmin_s16x2", "__vmins2"),
    choice_pair!("__vibmax_u16x2", "__vmaxu2"),
    choice_pair!("__vibmin_u16x2", "__vminu2"),
];
