//! CUDA's functions that statements call: what each takes, and what it gives.

use crate::random::Random;

/// The type of an argument or result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ArgType {
    Int,
    Unsigned,
    Long,
    UnsignedLong,
    Float,
    Double,
}

use ArgType::{Double, Float, Int, Long, Unsigned, UnsignedLong};

/// Integer functions with names of their own; those of lanes of a word are [`lanes`].
const INTEGER: &[(&str, &[ArgType])] = &[
    ("__popc", &[Unsigned]),
    ("__popcll", &[UnsignedLong]),
    ("__clz", &[Int]),
    ("__clzll", &[Long]),
    ("__ffs", &[Int]),
    ("__ffsll", &[Long]),
    ("__brev", &[Unsigned]),
    ("__brevll", &[UnsignedLong]),
    ("__mulhi", &[Int, Int]),
    ("__umulhi", &[Unsigned, Unsigned]),
    ("__mul64hi", &[Long, Long]),
    ("__umul64hi", &[UnsignedLong, UnsignedLong]),
    ("__mul24", &[Int, Int]),
    ("__umul24", &[Unsigned, Unsigned]),
    ("__sad", &[Int, Int, Unsigned]),
    ("__usad", &[Unsigned, Unsigned, Unsigned]),
    ("__hadd", &[Int, Int]),
    ("__rhadd", &[Int, Int]),
    ("__uhadd", &[Unsigned, Unsigned]),
    ("__urhadd", &[Unsigned, Unsigned]),
    ("__byte_perm", &[Unsigned, Unsigned, Unsigned]),
    ("__funnelshift_l", &[Unsigned, Unsigned, Unsigned]),
    ("__funnelshift_r", &[Unsigned, Unsigned, Unsigned]),
    ("__funnelshift_lc", &[Unsigned, Unsigned, Unsigned]),
    ("__funnelshift_rc", &[Unsigned, Unsigned, Unsigned]),
    ("__dp4a", &[Int, Int, Int]),
    ("__dp4a", &[Unsigned, Unsigned, Unsigned]),
    ("__dp2a_lo", &[Int, Int, Int]),
    ("__dp2a_hi", &[Unsigned, Unsigned, Unsigned]),
    ("min", &[Int, Int]),
    ("max", &[Unsigned, Unsigned]),
    ("max", &[Long, Long]),
    ("min", &[UnsignedLong, UnsignedLong]),
    ("__vimax3_s32", &[Int, Int, Int]),
    ("__vimin3_u32", &[Unsigned, Unsigned, Unsigned]),
    ("__vimax3_s16x2", &[Unsigned, Unsigned, Unsigned]),
    ("__viaddmax_u16x2", &[Unsigned, Unsigned, Unsigned]),
    ("__viaddmin_s16x2", &[Unsigned, Unsigned, Unsigned]),
    ("__vimax_s32_relu", &[Int, Int]),
    ("__vimin3_s16x2_relu", &[Unsigned, Unsigned, Unsigned]),
    ("__float2int_rn", &[Float]),
    ("__float2int_ru", &[Float]),
    ("__float2uint_rd", &[Float]),
    ("__float2uint_rz", &[Float]),
    ("__float2ll_rn", &[Float]),
    ("__float2ull_ru", &[Float]),
    ("__double2int_rd", &[Double]),
    ("__double2uint_rn", &[Double]),
    ("__double2ll_rz", &[Double]),
    ("__double2ull_rn", &[Double]),
];

/// Functions of one word with two lanes or four, of one argument and of two.
const LANES_ONE: [&str; 4] = ["neg", "negss", "abs", "absss"];
const LANES_TWO: [&str; 37] = [
    "add", "sub", "addus", "subus", "addss", "subss", "absdiffu", "absdiffs", "avgu", "haddu",
    "avgs", "maxu", "maxs", "minu", "mins", "sadu", "sads", "cmpeq", "cmpne", "cmpltu", "cmplts",
    "cmpgtu", "cmpgts", "cmpleu", "cmples", "cmpgeu", "cmpges", "seteq", "setne", "setltu",
    "setlts", "setgtu", "setgts", "setleu", "setles", "setgeu", "setges",
];

/// Floating functions of single precision that round as named; `__f` and `__d` begin the names.
const ROUNDED: [(&str, usize); 5] = [("add", 2), ("mul", 2), ("sub", 2), ("div", 2), ("sqrt", 1)];

/// A function that gives an integer.
pub(super) fn integer(random: &mut Random) -> (String, Vec<ArgType>) {
    match random.below(3) {
        0 => {
            let lanes = *random.of(&["2", "4"]);
            if random.below(12) == 0 {
                return (format!("__v{}{lanes}", random.of(&LANES_ONE)), vec![Unsigned]);
            }
            (format!("__v{}{lanes}", random.of(&LANES_TWO)), vec![Unsigned, Unsigned])
        }
        _ => {
            let (name, arguments) = random.of(INTEGER);
            ((*name).to_owned(), arguments.to_vec())
        }
    }
}

/// A function that gives a floating value of double precision or single.
///
/// Where the order of zeros or NaNs is open (`fmin`), zero is added, which makes both zeros one.
pub(super) fn floating(random: &mut Random, double: bool) -> (String, Vec<ArgType>) {
    let own = if double { Double } else { Float };
    let (letter, suffix) = if double { ("d", "") } else { ("f", "f") };
    let mode = *random.of(&["rn", "rz", "ru", "rd"]);
    match random.below(8) {
        0..=2 => {
            let (name, count) = *random.of(&ROUNDED);
            (format!("__{letter}{name}_{mode}"), vec![own; count])
        }
        3 => (format!("__fma{}_{mode}", if double { "" } else { "f" }), vec![own; 3]),
        4 if double => (format!("__ll2double_{mode}"), vec![Long]),
        4 => {
            let (name, argument) = *random.of(&[
                ("__int2float", Int),
                ("__uint2float", Unsigned),
                ("__ll2float", Long),
                ("__ull2float", UnsignedLong),
                ("__double2float", Double),
            ]);
            (format!("{name}_{mode}"), vec![argument])
        }
        5 => (format!("0.0{suffix} + f{}{suffix}", random.of(&["min", "max"])), vec![own; 2]),
        _ => host(random, double),
    }
}

/// A function that the host's compiler has too, exactly rounded.
pub(super) fn host(random: &mut Random, double: bool) -> (String, Vec<ArgType>) {
    let own = if double { Double } else { Float };
    let suffix = if double { "" } else { "f" };
    let name = *random.of(&["fabs", "floor", "ceil", "trunc", "rint", "sqrt", "fma"]);
    (format!("{name}{suffix}"), vec![own; if name == "fma" { 3 } else { 1 }])
}
