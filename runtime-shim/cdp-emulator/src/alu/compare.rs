//! Comparisons that write predicates, and selection. Definitions: PTX ISA, "Comparison and
//! Selection Instructions".

use cdp_ptx::{CmpOp, ScalarType, TypeClass};

use super::float::ftz;
use super::{LaneCmp, W32, W64, select_cmp};
use crate::code::{Alu, Inst, Name, Shape};
use crate::float::soft;

macro_rules! integer {
    ($name:ident, $width:ident, $raw:ty, $view:expr) => {
        struct $name<const OP: u8>;
        impl<const OP: u8> LaneCmp for $name<OP> {
            type A = $width;
            const NAME: Name = Name::with(concat!("Cmp", stringify!($name)), OP as u32);
            #[inline(always)]
            fn f(a: $raw, b: $raw, _: u32) -> bool {
                let (a, b) = ($view(a), $view(b));
                match OP {
                    EQ => a == b,
                    NE => a != b,
                    LT => a < b,
                    LE => a <= b,
                    GT => a > b,
                    _ => a >= b,
                }
            }
        }
    };
}
const EQ: u8 = 0;
const NE: u8 = 1;
const LT: u8 = 2;
const LE: u8 = 3;
const GT: u8 = 4;
const GE: u8 = 5;
const EQU: u8 = 6;
const NEU: u8 = 7;
const LTU: u8 = 8;
const LEU: u8 = 9;
const GTU: u8 = 10;
const GEU: u8 = 11;
const NUM: u8 = 12;
const ANAN: u8 = 13;

integer!(U16, W32, u32, |v: u32| v & 0xffff);
integer!(S16, W32, u32, |v: u32| v as u16 as i16);
integer!(U32, W32, u32, |v: u32| v);
integer!(S32, W32, u32, |v: u32| v as i32);
integer!(U64, W64, u64, |v: u64| v);
integer!(S64, W64, u64, |v: u64| v as i64);

#[inline(always)]
fn float_cmp<const OP: u8, F: PartialOrd + Copy>(a: F, b: F) -> bool {
    let ordered = a.partial_cmp(&b).is_some();
    match OP {
        EQ => a == b,
        NE => ordered && a != b,
        LT => a < b,
        LE => a <= b,
        GT => a > b,
        GE => a >= b,
        EQU => !ordered || a == b,
        NEU => a != b,
        LTU => !ordered || a < b,
        LEU => !ordered || a <= b,
        GTU => !ordered || a > b,
        GEU => !ordered || a >= b,
        NUM => ordered,
        _ => !ordered,
    }
}

struct F32<const OP: u8, const FTZ: bool>;
impl<const OP: u8, const FTZ: bool> LaneCmp for F32<OP, FTZ> {
    type A = W32;
    const NAME: Name = Name::with("CmpF32", OP as u32 | (FTZ as u32) << 8);
    #[inline(always)]
    fn f(a: u32, b: u32, _: u32) -> bool {
        float_cmp::<OP, f32>(f32::from_bits(ftz::<FTZ>(a)), f32::from_bits(ftz::<FTZ>(b)))
    }
}
struct F64<const OP: u8>;
impl<const OP: u8> LaneCmp for F64<OP> {
    type A = W64;
    const NAME: Name = Name::with("CmpF64", OP as u32);
    #[inline(always)]
    fn f(a: u64, b: u64, _: u32) -> bool {
        float_cmp::<OP, f64>(f64::from_bits(a), f64::from_bits(b))
    }
}
/// Half formats; `imm` bit 0: bf16, bit 1: the upper half, bit 2: ftz.
struct Half<const OP: u8>;
impl<const OP: u8> LaneCmp for Half<OP> {
    type A = W32;
    #[inline(always)]
    fn f(a: u32, b: u32, imm: u32) -> bool {
        float_cmp::<OP, f32>(widen(a, imm), widen(b, imm))
    }
}

/// A half as `.f32`; flags as for [`Half`].
fn widen(bits: u32, imm: u32) -> f32 {
    let half = if imm & 2 != 0 { bits >> 16 } else { bits & 0xffff };
    let format = if imm & 1 != 0 { soft::BF16 } else { soft::F16 };
    let magnitude = half & 0x7fff;
    let flushed = if imm & 4 != 0 && u64::from(magnitude) < 1 << format.man_bits {
        half & 0x8000
    } else {
        half
    };
    let wide = soft::convert(format, soft::F32, soft::Mode::NearestEven, u64::from(flushed));
    f32::from_bits(wide as u32)
}

macro_rules! by_op {
    ($op:expr, $($head:ident)::+ $(, $tail:tt)*) => {
        match $op {
            CmpOp::Eq => select_cmp::<$($head)::+<EQ $(, $tail)*>>(),
            CmpOp::Ne => select_cmp::<$($head)::+<NE $(, $tail)*>>(),
            CmpOp::Lt => select_cmp::<$($head)::+<LT $(, $tail)*>>(),
            CmpOp::Le => select_cmp::<$($head)::+<LE $(, $tail)*>>(),
            CmpOp::Gt => select_cmp::<$($head)::+<GT $(, $tail)*>>(),
            CmpOp::Ge => select_cmp::<$($head)::+<GE $(, $tail)*>>(),
            CmpOp::Equ => select_cmp::<$($head)::+<EQU $(, $tail)*>>(),
            CmpOp::Neu => select_cmp::<$($head)::+<NEU $(, $tail)*>>(),
            CmpOp::Ltu => select_cmp::<$($head)::+<LTU $(, $tail)*>>(),
            CmpOp::Leu => select_cmp::<$($head)::+<LEU $(, $tail)*>>(),
            CmpOp::Gtu => select_cmp::<$($head)::+<GTU $(, $tail)*>>(),
            CmpOp::Geu => select_cmp::<$($head)::+<GEU $(, $tail)*>>(),
            CmpOp::Num => select_cmp::<$($head)::+<NUM $(, $tail)*>>(),
            CmpOp::Nan => select_cmp::<$($head)::+<ANAN $(, $tail)*>>(),
        }
    };
}
macro_rules! by_int_op {
    ($op:expr, $head:ident) => {
        match $op {
            CmpOp::Eq => select_cmp::<$head<EQ>>(),
            CmpOp::Ne => select_cmp::<$head<NE>>(),
            CmpOp::Lt => select_cmp::<$head<LT>>(),
            CmpOp::Le => select_cmp::<$head<LE>>(),
            CmpOp::Gt => select_cmp::<$head<GT>>(),
            CmpOp::Ge => select_cmp::<$head<GE>>(),
            CmpOp::Equ
            | CmpOp::Neu
            | CmpOp::Ltu
            | CmpOp::Leu
            | CmpOp::Gtu
            | CmpOp::Geu
            | CmpOp::Num
            | CmpOp::Nan => return None,
        }
    };
}

/// The comparison of two operands of a type, and its `imm`. `None` if the operator is not one of
/// the type. `high` asks for the upper halves of a packed type.
pub fn compare(op: CmpOp, ty: ScalarType, flush: bool, high: bool) -> Option<(Alu, u32)> {
    use ScalarType as T;
    let half = |bf: bool| u32::from(bf) | u32::from(high) << 1 | u32::from(flush) << 2;
    let function = match ty {
        T::U16 | T::B16 => by_int_op!(op, U16),
        T::S16 => by_int_op!(op, S16),
        T::U32 | T::B32 => by_int_op!(op, U32),
        T::S32 => by_int_op!(op, S32),
        T::U64 | T::B64 => by_int_op!(op, U64),
        T::S64 => by_int_op!(op, S64),
        T::F32 if flush => by_op!(op, F32, true),
        T::F32 => by_op!(op, F32, false),
        T::F64 => by_op!(op, F64),
        T::F16 | T::F16x2 => return Some((by_op!(op, Half), half(false))),
        T::BF16 | T::BF16x2 => return Some((by_op!(op, Half), half(true))),
        T::B8 | T::U8 | T::S8 | T::B128 | T::F32x2 | T::U16x2 | T::S16x2 | T::TF32 | T::Pred => {
            return None;
        }
    };
    debug_assert!(!matches!(ty.class(), TypeClass::Predicate));
    Some((function, 0))
}

macro_rules! testp {
    ($name:ident, $width:ident, $raw:ty, $man:expr, $inf:expr) => {
        /// `testp`; `imm` is the index of the property in `TestpOp::ALL`.
        pub struct $name;
        impl LaneCmp for $name {
            type A = $width;
            #[inline(always)]
            fn f(a: $raw, _: $raw, property: u32) -> bool {
                let magnitude = a & (<$raw>::MAX >> 1);
                match property {
                    0 => magnitude < $inf,
                    1 => magnitude == $inf,
                    2 => magnitude <= $inf,
                    3 => magnitude > $inf,
                    // Zeros count as normal.
                    4 => magnitude < $inf && (magnitude == 0 || magnitude >= 1 << $man),
                    _ => magnitude != 0 && magnitude < 1 << $man,
                }
            }
        }
    };
}
testp!(Testp32, W32, u32, 23, 0x7f80_0000);
testp!(Testp64, W64, u64, 52, 0x7ff0_0000_0000_0000);

macro_rules! selp {
    ($name:ident, $title:ident, $run:ident, $width:ident) => {
        /// `selp`: `c` is the offset of a predicate, `imm` is all ones if it is negated.
        pub fn $name() -> Alu {
            let row = <super::$width as super::Word>::SHAPE;
            let name = Name::plain(stringify!($title));
            Alu { run: $run, shapes: [row, row, row, Shape::Pred], name }
        }

        /// # Safety
        /// `regs` is the frame that `inst` was decoded for.
        unsafe fn $run(regs: *mut u32, inst: &Inst, mask: u32) {
            use super::Word;
            // SAFETY: decoded offsets lie in the frame and have rows of this width.
            unsafe {
                let pick = *regs.add(inst.c as usize) ^ inst.imm;
                let (a, b) = (regs.add(inst.a as usize), regs.add(inst.b as usize));
                let d = regs.add(inst.d as usize);
                for chunk in 0..4 {
                    let (va, vb, old) =
                        ($width::read8(a, chunk), $width::read8(b, chunk), $width::read8(d, chunk));
                    let mut out = old;
                    for i in 0..8 {
                        let bit = 1u32 << (chunk * 8 + i);
                        let value = if pick & bit != 0 { va[i] } else { vb[i] };
                        out[i] = if mask & bit != 0 { value } else { old[i] };
                    }
                    $width::write8(d, chunk, out);
                }
            }
        }
    };
}
selp!(selp32, Selp32, run_selp32, W32);
selp!(selp64, Selp64, run_selp64, W64);
