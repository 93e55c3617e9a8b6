//! The faults of ptxas 13.0 that were found, by what stands in an expression. `compiler/docs/facts.md` tells of each.
//!
//! A description is wide: an expression in which something else is wrong as well goes by it. What is new comes up alone soon.

/// A fault: what it is called, and pairs of texts of which the first stands in an instruction and the second in a later one. An empty
/// second text asks for the first alone.
type Fault = (&'static str, &'static [(&'static str, &'static str)]);

const FAULTS: [Fault; 12] = [
    ("packed operations of which one half is read", &[("16x2", "")]),
    (
        "parts with a sign as numbers without one",
        &[
            ("bfe.s32", "cvt.rn."),
            ("abs.s32", "cvt."),
            ("abs.s32", "setp"),
            ("abs.s32", "rem.s"),
            ("abs.s32", "div.s"),
            ("abs.s32", "slct"),
        ],
    ),
    (
        "counts by what does not fit",
        &[
            ("bfe.s32", "shl.b16"),
            ("bfe.s32", "shr."),
            ("cvt.rzi.", "shr.s16"),
            ("cvt.rzi.", "shr.u16"),
            ("cvt.rzi.", "shl.b16"),
            ("bfe.s32", "bfe"),
            ("bfe.s32", "bfi"),
        ],
    ),
    (
        "the upper half of what was 16 bits",
        &[
            ("cvt.u32.u16", "mov.b32 {t,"),
            ("cvt.u32.u8", "mov.b32 {t,"),
            ("cvt.u64.u16", "mov.b32 {t,"),
            ("mul.wide.u16", "mov.b32 {t,"),
            ("mul.hi.u16", ""),
            ("cvt.u32.u16", "bfe.s32"),
        ],
    ),
    (
        "a half of a minimum that is asked",
        &[("min.s16", "setp"), ("max.s16", "setp"), ("min.u16", "setp"), ("max.u16", "setp")],
    ),
    ("a negated number of 16 bits", &[("sub.s16", ""), ("mad.lo.s16", "")]),
    ("a carry behind a product's upper half", &[("sub.cc", "")]),
    ("a choice that is 0 or a number, as a saturated one", &[("min.f", "max.f")]),
    ("a magnitude that is known", &[("selp.f32", "abs.f32"), ("abs.f32", "setp")]),
    (
        "a negated magnitude of 64 bits",
        &[("abs.s64", "min."), ("abs.s64", "max."), ("abs.s64", "setp")],
    ),
    ("a difference from a product's upper half", &[("mul.hi.u32", "sub.s64")]),
    (
        "a product with a number added to itself",
        &[("add.s64", "mad.lo.s64"), ("mul.lo.s64", "mad.lo.s64")],
    ),
];

/// Which known fault may be what is wrong with an expression.
pub fn kind(lines: &[String]) -> Option<&'static str> {
    let has = |(first, second): &(&str, &str)| {
        let Some(begin) = lines.iter().position(|line| line.contains(first)) else { return false };
        second.is_empty() || lines[begin + 1..].iter().any(|line| line.contains(second))
    };
    FAULTS.iter().find(|(_, pairs)| pairs.iter().any(has)).map(|(name, _)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_known_by_what_follows_them() {
        let kind = |text: &str| kind(&text.split("; ").map(str::to_owned).collect::<Vec<String>>());
        assert!(kind("abs.s32 %rx0,%ra; cvt.rn.f32.u32 %fx0,%rx0").is_some());
        assert!(kind("cvt.rn.f32.u32 %fx0,%ra; abs.s32 %rx0,%ra").is_none());
        assert!(kind("add.s32 %rx0,%ra,%rb; mul.lo.s32 %rx1,%rx0,%rx0").is_none());
    }
}
