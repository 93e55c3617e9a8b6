//! Comparisons of 16-bit floating values: ordered ones answer no for a NaN, unordered ones (`u`)
//! answer yes. Five forms each: a scalar, a pair of 1.0 or 0.0, a mask, and whether both hold.

use cdp_ir::CompareOp;

use super::{BuiltinFn, Header, Lower, device};

/// The forms of one comparison: its name, the scalar lowering, and what it asks.
macro_rules! comparisons {
    ($s:literal, $v:literal, $header:ident, $from:literal;
        $($name:literal $scalar:expr, $summary:literal;)*) => {{
        const FORMS: &[[BuiltinFn; 4]] = &[$([
            device(concat!("__h", $name), concat!("bool(", $s, " a,", $s, " b)"),
                $scalar,
                concat!("Whether ", $summary, ".")).in_header(Header::$header),
            device(concat!("__h", $name, "2"), concat!($v, "(", $v, " a,", $v, " b)"),
                Lower::Inline(concat!("{ ", $v, " r;",
                    " r.x = ", $from, "(__h", $name, "(a.x, b.x) ? 1.0f : 0.0f);",
                    " r.y = ", $from, "(__h", $name, "(a.y, b.y) ? 1.0f : 0.0f); return r; }")),
                concat!("1.0 for each half where ", $summary, ", else 0.0."))
                .in_header(Header::$header),
            device(concat!("__h", $name, "2_mask"), concat!("unsigned(", $v, " a,", $v, " b)"),
                Lower::Inline(concat!("{ return (__h", $name, "(a.x, b.x) ? 0xffffu : 0u)",
                    " | (__h", $name, "(a.y, b.y) ? 0xffff0000u : 0u); }")),
                concat!("All bits of each half where ", $summary, ".")).in_header(Header::$header),
            device(concat!("__hb", $name, "2"), concat!("bool(", $v, " a,", $v, " b)"),
                Lower::Inline(concat!("{ return __h", $name, "(a.x, b.x) && __h", $name,
                    "(a.y, b.y); }")),
                concat!("Whether in both halves ", $summary, ".")).in_header(Header::$header),
        ],)*];
        FORMS.as_flattened()
    }};
}

macro_rules! all {
    ($s:literal, $v:literal, $header:ident, $from:literal) => {
        comparisons! { $s, $v, $header, $from;
            "eq" Lower::Compare(CompareOp::Eq), "a equals b";
            "ne" Lower::Inline("{ return __hlt(a, b) || __hgt(a, b); }"),
                "a and b are ordered and differ";
            "lt" Lower::Compare(CompareOp::Lt), "a is less than b";
            "le" Lower::Compare(CompareOp::Le), "a is less than or equal to b";
            "gt" Lower::Compare(CompareOp::Gt), "a is greater than b";
            "ge" Lower::Compare(CompareOp::Ge), "a is greater than or equal to b";
            "equ" Lower::Inline("{ return !__hne(a, b); }"), "a equals b, or one is a NaN";
            "neu" Lower::Compare(CompareOp::Ne), "a differs from b, or one is a NaN";
            "ltu" Lower::Inline("{ return !__hge(a, b); }"), "a is less than b, or one is a NaN";
            "leu" Lower::Inline("{ return !__hgt(a, b); }"),
                "a is less than or equal to b, or one is a NaN";
            "gtu" Lower::Inline("{ return !__hle(a, b); }"), "a is greater than b, or one is a NaN";
            "geu" Lower::Inline("{ return !__hlt(a, b); }"),
                "a is greater than or equal to b, or one is a NaN";
        }
    };
}

pub(super) const HALF: &[BuiltinFn] = all!("__half", "__half2", Fp16, "__float2half_rn");
pub(super) const BF16: &[BuiltinFn] =
    all!("__nv_bfloat16", "__nv_bfloat162", Bf16, "__float2bfloat16_rn");
