//! Arithmetic of a whole warp: for every operation a function that computes all lanes in one tight
//! loop which the compiler turns into vector code.
//!
//! An operation is a zero-sized type with a function on single values ([`LaneOp`]); [`select`]
//! makes it into a pointer to a loop over 32 lanes, compiled once for the base instruction set and
//! once for AVX2 and FMA. Which PTX instruction needs which operation is decided in `decode`.

pub mod bits;
pub mod compare;
pub mod convert;
pub mod float;
pub mod half;
pub mod int;
pub mod tiny;
pub mod video;

use crate::code::{Alu, Inst, Name, Shape};

/// A width of register row.
pub trait Word: Copy {
    /// The value of one lane.
    type T: Copy + Default + PartialEq;
    /// What it is in the frame.
    const SHAPE: Shape;
    /// Reads eight lanes from lane `8 * chunk`.
    ///
    /// # Safety
    /// `row` points to a row of this width.
    unsafe fn read8(row: *const u32, chunk: usize) -> [Self::T; 8];
    /// Writes eight lanes from lane `8 * chunk`.
    ///
    /// # Safety
    /// `row` points to a row of this width.
    unsafe fn write8(row: *mut u32, chunk: usize, values: [Self::T; 8]);
    /// Reads one lane.
    ///
    /// # Safety
    /// `row` points to a row of this width; `lane < 32`.
    unsafe fn read1(row: *const u32, lane: usize) -> Self::T;
    /// Writes one lane.
    ///
    /// # Safety
    /// `row` points to a row of this width; `lane < 32`.
    unsafe fn write1(row: *mut u32, lane: usize, value: Self::T);
}

/// Rows of 32-bit (and narrower) registers.
#[derive(Clone, Copy)]
pub struct W32;
/// Rows of 64-bit registers.
#[derive(Clone, Copy)]
pub struct W64;
/// No operand.
#[derive(Clone, Copy)]
pub struct W0;

macro_rules! word {
    ($name:ident, $ty:ty, $shape:ident) => {
        impl Word for $name {
            type T = $ty;
            const SHAPE: Shape = Shape::$shape;
            #[inline(always)]
            unsafe fn read8(row: *const u32, chunk: usize) -> [$ty; 8] {
                // SAFETY: rows hold 32 values; they are 4-byte aligned, hence unaligned reads.
                unsafe { row.cast::<$ty>().add(chunk * 8).cast::<[$ty; 8]>().read_unaligned() }
            }
            #[inline(always)]
            unsafe fn write8(row: *mut u32, chunk: usize, values: [$ty; 8]) {
                // SAFETY: as in `read8`.
                unsafe {
                    row.cast::<$ty>().add(chunk * 8).cast::<[$ty; 8]>().write_unaligned(values)
                }
            }
            #[inline(always)]
            unsafe fn read1(row: *const u32, lane: usize) -> $ty {
                // SAFETY: as in `read8`.
                unsafe { row.cast::<$ty>().add(lane).read_unaligned() }
            }
            #[inline(always)]
            unsafe fn write1(row: *mut u32, lane: usize, value: $ty) {
                // SAFETY: as in `read8`.
                unsafe { row.cast::<$ty>().add(lane).write_unaligned(value) }
            }
        }
    };
}
word!(W32, u32, Narrow);
word!(W64, u64, Wide);

impl Word for W0 {
    type T = ();
    const SHAPE: Shape = Shape::Unused;
    #[inline(always)]
    unsafe fn read8(_: *const u32, _: usize) -> [(); 8] {
        [(); 8]
    }
    #[inline(always)]
    unsafe fn write8(_: *mut u32, _: usize, _: [(); 8]) {}
    #[inline(always)]
    unsafe fn read1(_: *const u32, _: usize) {}
    #[inline(always)]
    unsafe fn write1(_: *mut u32, _: usize, _: ()) {}
}

/// An operation on the values of one lane. Must be defined for all inputs, since lanes that are
/// not active are computed too.
pub trait LaneOp {
    /// Width of the first source.
    type A: Word;
    /// Width of the second source.
    type B: Word;
    /// Width of the third source.
    type C: Word;
    /// Width of the destination.
    type D: Word;
    /// Costs far more than a few machine instructions: active lanes are computed one by one.
    const HEAVY: bool = false;
    /// What others know it by ([`crate::native`]).
    const NAME: Name = Name::NONE;
    /// The operation. `imm` is [`Inst::imm`].
    fn f(
        a: <Self::A as Word>::T,
        b: <Self::B as Word>::T,
        c: <Self::C as Word>::T,
        imm: u32,
    ) -> <Self::D as Word>::T;
}

/// The loop over a warp.
///
/// # Safety
/// `regs` is the frame that `inst` was decoded for.
#[inline(always)]
unsafe fn lanes<O: LaneOp>(regs: *mut u32, inst: &Inst, mask: u32) {
    // SAFETY: decoded offsets lie in the frame and have rows of the operation's widths.
    unsafe {
        let (d, a) = (regs.add(inst.d as usize), regs.add(inst.a as usize));
        let (b, c) = (regs.add(inst.b as usize), regs.add(inst.c as usize));
        let imm = inst.imm;
        if O::HEAVY {
            let mut rest = mask;
            while rest != 0 {
                let lane = rest.trailing_zeros() as usize;
                rest &= rest - 1;
                let value =
                    O::f(O::A::read1(a, lane), O::B::read1(b, lane), O::C::read1(c, lane), imm);
                O::D::write1(d, lane, value);
            }
            return;
        }
        for chunk in 0..4 {
            let (va, vb) = (O::A::read8(a, chunk), O::B::read8(b, chunk));
            let vc = O::C::read8(c, chunk);
            let mut out: [<O::D as Word>::T; 8] = Default::default();
            for i in 0..8 {
                out[i] = O::f(va[i], vb[i], vc[i], imm);
            }
            if mask != u32::MAX {
                let old = O::D::read8(d, chunk);
                for i in 0..8 {
                    if mask >> (chunk * 8 + i) & 1 == 0 {
                        out[i] = old[i];
                    }
                }
            }
            O::D::write8(d, chunk, out);
        }
    }
}

unsafe fn lanes_base<O: LaneOp>(regs: *mut u32, inst: &Inst, mask: u32) {
    // SAFETY: forwarded.
    unsafe { lanes::<O>(regs, inst, mask) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn lanes_avx2<O: LaneOp>(regs: *mut u32, inst: &Inst, mask: u32) {
    // SAFETY: forwarded.
    unsafe { lanes::<O>(regs, inst, mask) }
}

/// True if the processor has what the AVX2 versions need.
pub fn has_avx2() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("fma")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("popcnt")
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        false
    }
}

/// The warp-wide form of an operation for this processor.
pub fn select<O: LaneOp>() -> Alu {
    let shapes = [O::D::SHAPE, O::A::SHAPE, O::B::SHAPE, O::C::SHAPE];
    #[cfg(target_arch = "x86_64")]
    if has_avx2() {
        return Alu { run: lanes_avx2::<O>, shapes, name: O::NAME };
    }
    Alu { run: lanes_base::<O>, shapes, name: O::NAME }
}

/// A comparison of the values of one lane.
pub trait LaneCmp {
    /// Width of the sources.
    type A: Word;
    /// As [`LaneOp::NAME`].
    const NAME: Name = Name::NONE;
    /// The comparison. `imm` is [`Inst::imm`].
    fn f(a: <Self::A as Word>::T, b: <Self::A as Word>::T, imm: u32) -> bool;
}

/// A bit for each of eight words that is not zero; they are zeros and words of ones.
///
/// # Safety
/// If `AVX2`, the processor has it.
#[inline(always)]
unsafe fn bits_of<const AVX2: bool>(words: [u32; 8]) -> u32 {
    #[cfg(target_arch = "x86_64")]
    if AVX2 {
        use std::arch::x86_64::{__m256, _mm256_movemask_ps};
        // SAFETY: the processor has the instruction, and both are eight words.
        return unsafe {
            _mm256_movemask_ps(std::mem::transmute::<[u32; 8], __m256>(words)) as u32
        };
    }
    let mut bits = 0;
    for (lane, word) in words.iter().enumerate() {
        bits |= (word & 1) << lane;
    }
    bits
}

/// # Safety
/// `regs` is the frame that `inst` was decoded for; if `AVX2`, the processor has it.
#[inline(always)]
unsafe fn compare_lanes<O: LaneCmp, const AVX2: bool>(regs: *mut u32, inst: &Inst, mask: u32) {
    // SAFETY: decoded offsets lie in the frame and have rows of the operation's width.
    unsafe {
        let (a, b) = (regs.add(inst.a as usize), regs.add(inst.b as usize));
        let mut bits = 0u32;
        for chunk in 0..4 {
            let (va, vb) = (O::A::read8(a, chunk), O::A::read8(b, chunk));
            let mut found = [0; 8];
            for i in 0..8 {
                found[i] = if O::f(va[i], vb[i], inst.imm) { u32::MAX } else { 0 };
            }
            bits |= bits_of::<AVX2>(found) << (chunk * 8);
        }
        let d = regs.add(inst.d as usize);
        *d = (*d & !mask) | (bits & mask);
    }
}

unsafe fn compare_base<O: LaneCmp>(regs: *mut u32, inst: &Inst, mask: u32) {
    // SAFETY: forwarded.
    unsafe { compare_lanes::<O, false>(regs, inst, mask) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn compare_avx2<O: LaneCmp>(regs: *mut u32, inst: &Inst, mask: u32) {
    // SAFETY: forwarded.
    unsafe { compare_lanes::<O, true>(regs, inst, mask) }
}

/// The warp-wide form of a comparison: writes a predicate.
pub fn select_cmp<O: LaneCmp>() -> Alu {
    let shapes = [Shape::Pred, O::A::SHAPE, O::A::SHAPE, Shape::Unused];
    #[cfg(target_arch = "x86_64")]
    if has_avx2() {
        return Alu { run: compare_avx2::<O>, shapes, name: O::NAME };
    }
    Alu { run: compare_base::<O>, shapes, name: O::NAME }
}

/// Declares operations: `op!(Name: (A, B, C) -> D = |a, b, c, imm| expr);`
macro_rules! op {
    ($($(#[$meta:meta])* $name:ident: ($a:ident, $b:ident, $c:ident) -> $d:ident = |$pa:pat_param, $pb:pat_param, $pc:pat_param, $pi:pat_param| $body:expr;)*) => {
        $(
            $(#[$meta])*
            pub struct $name;
            impl $crate::alu::LaneOp for $name {
                type A = $crate::alu::$a;
                type B = $crate::alu::$b;
                type C = $crate::alu::$c;
                type D = $crate::alu::$d;
                const NAME: $crate::code::Name = $crate::code::Name::plain(stringify!($name));
                #[inline(always)]
                fn f(
                    $pa: <$crate::alu::$a as $crate::alu::Word>::T,
                    $pb: <$crate::alu::$b as $crate::alu::Word>::T,
                    $pc: <$crate::alu::$c as $crate::alu::Word>::T,
                    $pi: u32,
                ) -> <$crate::alu::$d as $crate::alu::Word>::T {
                    $body
                }
            }
        )*
    };
}
/// As `op!`, for operations that are computed lane by lane.
macro_rules! heavy_op {
    ($($(#[$meta:meta])* $name:ident: ($a:ident, $b:ident, $c:ident) -> $d:ident = |$pa:pat_param, $pb:pat_param, $pc:pat_param, $pi:pat_param| $body:expr;)*) => {
        $(
            $(#[$meta])*
            pub struct $name;
            impl $crate::alu::LaneOp for $name {
                type A = $crate::alu::$a;
                type B = $crate::alu::$b;
                type C = $crate::alu::$c;
                type D = $crate::alu::$d;
                const HEAVY: bool = true;
                #[inline]
                fn f(
                    $pa: <$crate::alu::$a as $crate::alu::Word>::T,
                    $pb: <$crate::alu::$b as $crate::alu::Word>::T,
                    $pc: <$crate::alu::$c as $crate::alu::Word>::T,
                    $pi: u32,
                ) -> <$crate::alu::$d as $crate::alu::Word>::T {
                    $body
                }
            }
        )*
    };
}
pub(crate) use {heavy_op, op};
