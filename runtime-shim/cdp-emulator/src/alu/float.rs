//! `.f32` and `.f64` arithmetic: nearest even with the host's instructions, other roundings in
//! integers. Definitions: PTX ISA, "Floating Point Instructions".
//!
//! `.f32` results that are NaN are the canonical NaN; `.ftz` flushes subnormal inputs and results
//! to zeros of the same sign; `.sat` clamps to 0.0 .. 1.0 and turns NaN into +0.0.

use super::{LaneOp, W0, W32, heavy_op, op};
use crate::code::Name;
use crate::float::{approx, soft};

/// Canonical NaN of `.f32`.
const NAN: u32 = 0x7fff_ffff;

/// Flushes a subnormal to zero of its sign, if `FTZ`.
#[inline(always)]
pub fn ftz<const FTZ: bool>(bits: u32) -> u32 {
    if FTZ && bits & 0x7f80_0000 == 0 { bits & 0x8000_0000 } else { bits }
}

/// Finishes an `.f32` result: canonical NaN, flush, saturation.
#[inline(always)]
pub fn finish<const FTZ: bool, const SAT: bool>(value: f32) -> u32 {
    if SAT {
        // NaN fails both comparisons and gives +0.0, and so does -0.0.
        let low = if value > 0.0 { value } else { 0.0 };
        return ftz::<FTZ>((if low < 1.0 { low } else { 1.0 }).to_bits());
    }
    ftz::<FTZ>(if value.is_nan() { NAN } else { value.to_bits() })
}

#[inline(always)]
fn f(bits: u32) -> f32 {
    f32::from_bits(bits)
}
#[inline(always)]
fn d(bits: u64) -> f64 {
    f64::from_bits(bits)
}

/// An `.f64` result, unless this later operand is NaN: then that one, made quiet.
#[inline(always)]
fn last_nan(operand: u64, result: u64) -> u64 {
    if d(operand).is_nan() { operand | 1 << 51 } else { result }
}

macro_rules! binary32 {
    ($($name:ident = |$a:ident, $b:ident| $body:expr;)*) => {$(
        /// Nearest even.
        pub struct $name<const FTZ: bool, const SAT: bool>;
        impl<const FTZ: bool, const SAT: bool> LaneOp for $name<FTZ, SAT> {
            type A = W32;
            type B = W32;
            type C = W0;
            type D = W32;
            const NAME: Name = Name::with(stringify!($name), FTZ as u32 | (SAT as u32) << 1);
            #[inline(always)]
            fn f(a: u32, b: u32, _: (), _: u32) -> u32 {
                let ($a, $b) = (f(ftz::<FTZ>(a)), f(ftz::<FTZ>(b)));
                finish::<FTZ, SAT>($body)
            }
        }
    )*};
}
binary32! {
    AddF32 = |a, b| a + b;
    SubF32 = |a, b| a - b;
    MulF32 = |a, b| a * b;
    DivF32 = |a, b| a / b;
}

/// `fma.rn.f32`
pub struct FmaF32<const FTZ: bool, const SAT: bool>;
impl<const FTZ: bool, const SAT: bool> LaneOp for FmaF32<FTZ, SAT> {
    type A = W32;
    type B = W32;
    type C = W32;
    type D = W32;
    const NAME: Name = Name::with("FmaF32", FTZ as u32 | (SAT as u32) << 1);
    #[inline(always)]
    fn f(a: u32, b: u32, c: u32, _: u32) -> u32 {
        let (a, b, c) = (f(ftz::<FTZ>(a)), f(ftz::<FTZ>(b)), f(ftz::<FTZ>(c)));
        finish::<FTZ, SAT>(a.mul_add(b, c))
    }
}

op! {
    AddF64: (W64, W64, W0) -> W64 = |a, b, _, _| last_nan(b, (d(a) + d(b)).to_bits());
    SubF64: (W64, W64, W0) -> W64 = |a, b, _, _| last_nan(b, (d(a) - d(b)).to_bits());
    MulF64: (W64, W64, W0) -> W64 = |a, b, _, _| last_nan(b, (d(a) * d(b)).to_bits());
    DivF64: (W64, W64, W0) -> W64 = |a, b, _, _| (d(a) / d(b)).to_bits();
    FmaF64: (W64, W64, W64) -> W64 = |a, b, c, _| last_nan(b, last_nan(c, d(a).mul_add(d(b), d(c)).to_bits()));
    SqrtF64: (W64, W0, W0) -> W64 = |a, _, _, _| d(a).sqrt().to_bits();
    RcpF64: (W64, W0, W0) -> W64 = |a, _, _, _| (1.0 / d(a)).to_bits();
    AbsF64: (W64, W0, W0) -> W64 = |a, _, _, _| if d(a).is_nan() { a } else { a & !(1 << 63) };
    NegF64: (W64, W0, W0) -> W64 = |a, _, _, _| if d(a).is_nan() { a } else { a ^ (1 << 63) };
    MinF64: (W64, W64, W0) -> W64 = |a, b, _, _| min64(a, b);
    MaxF64: (W64, W64, W0) -> W64 = |a, b, _, _| max64(a, b);
    CopysignF32: (W32, W32, W0) -> W32 = |a, b, _, _| (a & 0x8000_0000) | (b & 0x7fff_ffff);
    CopysignF64: (W64, W64, W0) -> W64 = |a, b, _, _| (a & 1 << 63) | (b & !(1 << 63));
    /// `imm` 1 flushes.
    AbsF32: (W32, W0, W0) -> W32 = |a, _, _, imm| unary_sign(a, imm, a & 0x7fff_ffff);
    NegF32: (W32, W0, W0) -> W32 = |a, _, _, imm| unary_sign(a, imm, a ^ 0x8000_0000);
    SqrtF32: (W32, W0, W0) -> W32 = |a, _, _, _| finish::<false, false>(f(a).sqrt());
    SqrtF32Ftz: (W32, W0, W0) -> W32 = |a, _, _, _| finish::<true, false>(f(ftz::<true>(a)).sqrt());
    RcpF32: (W32, W0, W0) -> W32 = |a, _, _, _| finish::<false, false>(1.0 / f(a));
    RcpF32Ftz: (W32, W0, W0) -> W32 = |a, _, _, _| finish::<true, false>(1.0 / f(ftz::<true>(a)));
    /// `imm`: see [`min_max_flags`].
    MinF32: (W32, W32, W0) -> W32 = |a, b, _, imm| min_max(a, b, imm, false);
    MaxF32: (W32, W32, W0) -> W32 = |a, b, _, imm| min_max(a, b, imm, true);
}

/// NaN stays NaN (canonical); subnormals are flushed if `imm` is 1.
#[inline(always)]
fn unary_sign(a: u32, imm: u32, result: u32) -> u32 {
    if a & 0x7fff_ffff > 0x7f80_0000 {
        return NAN;
    }
    if imm != 0 { ftz::<true>(result) } else { result }
}

/// The `imm` of [`MinF32`] and [`MaxF32`].
pub fn min_max_flags(ftz: bool, nan: bool, xorsign_abs: bool) -> u32 {
    u32::from(ftz) | u32::from(nan) << 1 | u32::from(xorsign_abs) << 2
}

/// Minimum or maximum with -0.0 below +0.0; NaN gives the other operand unless flag bit 1 is set.
#[inline(always)]
pub fn min_max(a: u32, b: u32, flags: u32, max: bool) -> u32 {
    let flush = flags & 1 != 0;
    let (mut a, mut b) = if flush { (ftz::<true>(a), ftz::<true>(b)) } else { (a, b) };
    let sign = if flags & 4 != 0 { (a ^ b) & 0x8000_0000 } else { 0 };
    if flags & 4 != 0 {
        a &= 0x7fff_ffff;
        b &= 0x7fff_ffff;
    }
    let (na, nb) = (a & 0x7fff_ffff > 0x7f80_0000, b & 0x7fff_ffff > 0x7f80_0000);
    let result = match (na, nb) {
        (true, true) => return NAN,
        (true, false) | (false, true) if flags & 2 != 0 => return NAN,
        (true, false) => b,
        (false, true) => a,
        (false, false) => {
            // Order of sign-magnitude numbers as integers.
            let key = |v: u32| (v ^ ((v as i32 >> 31) as u32 >> 1)) as i32;
            if (key(a) < key(b)) != max { a } else { b }
        }
    };
    result | sign
}

#[inline(always)]
fn key64(v: u64) -> i64 {
    (v ^ ((v as i64 >> 63) as u64 >> 1)) as i64
}
#[inline(always)]
fn min64(a: u64, b: u64) -> u64 {
    match (d(a).is_nan(), d(b).is_nan()) {
        (true, _) => b,
        (_, true) => a,
        _ => {
            if key64(a) < key64(b) {
                a
            } else {
                b
            }
        }
    }
}
#[inline(always)]
fn max64(a: u64, b: u64) -> u64 {
    match (d(a).is_nan(), d(b).is_nan()) {
        (true, _) => b,
        (_, true) => a,
        _ => {
            if key64(a) > key64(b) {
                a
            } else {
                b
            }
        }
    }
}

/// The `imm` of the soft operations: rounding in bits 0..3, ftz in bit 3, sat in bit 4.
pub fn soft_flags(mode: soft::Mode, ftz: bool, sat: bool) -> u32 {
    mode as u32 | u32::from(ftz) << 3 | u32::from(sat) << 4
}

/// The rounding in the `imm` of a soft operation.
pub fn soft_mode(imm: u32) -> soft::Mode {
    soft::Mode::ALL[(imm & 7) as usize % soft::Mode::ALL.len()]
}

/// An `.f64` result, unless an operand is NaN: then the first of them, made quiet.
fn pass_nan(operands: [u64; 2], result: u64) -> u64 {
    let nan = operands.into_iter().find(|&v| d(v).is_nan());
    nan.map_or(result, |v| v | 1 << 51)
}

fn soft_in(bits: u32, imm: u32) -> u64 {
    u64::from(if imm & 8 != 0 { ftz::<true>(bits) } else { bits })
}
fn soft_out(bits: u64, imm: u32) -> u32 {
    let bits = bits as u32;
    match imm >> 3 & 3 {
        0 => bits,
        1 => ftz::<true>(bits),
        2 => finish::<false, true>(f(bits)),
        _ => finish::<true, true>(f(bits)),
    }
}

heavy_op! {
    AddF32Soft: (W32, W32, W0) -> W32 = |a, b, _, i| soft_out(soft::add(soft::F32, soft_mode(i), soft_in(a, i), soft_in(b, i)), i);
    SubF32Soft: (W32, W32, W0) -> W32 = |a, b, _, i| soft_out(soft::sub(soft::F32, soft_mode(i), soft_in(a, i), soft_in(b, i)), i);
    MulF32Soft: (W32, W32, W0) -> W32 = |a, b, _, i| soft_out(soft::mul(soft::F32, soft_mode(i), soft_in(a, i), soft_in(b, i)), i);
    DivF32Soft: (W32, W32, W0) -> W32 = |a, b, _, i| soft_out(soft::div(soft::F32, soft_mode(i), soft_in(a, i), soft_in(b, i)), i);
    SqrtF32Soft: (W32, W0, W0) -> W32 = |a, _, _, i| soft_out(soft::sqrt(soft::F32, soft_mode(i), soft_in(a, i)), i);
    RcpF32Soft: (W32, W0, W0) -> W32 = |a, _, _, i| soft_out(soft::div(soft::F32, soft_mode(i), 0x3f80_0000, soft_in(a, i)), i);
    FmaF32Soft: (W32, W32, W32) -> W32 = |a, b, c, i| {
        soft_out(soft::fma(soft::F32, soft_mode(i), soft_in(a, i), soft_in(b, i), soft_in(c, i)), i)
    };
    AddF64Soft: (W64, W64, W0) -> W64 = |a, b, _, i| pass_nan([b, a], soft::add(soft::F64, soft_mode(i), a, b));
    SubF64Soft: (W64, W64, W0) -> W64 = |a, b, _, i| pass_nan([b, a], soft::sub(soft::F64, soft_mode(i), a, b));
    MulF64Soft: (W64, W64, W0) -> W64 = |a, b, _, i| pass_nan([b, a], soft::mul(soft::F64, soft_mode(i), a, b));
    DivF64Soft: (W64, W64, W0) -> W64 = |a, b, _, i| pass_nan([a, b], soft::div(soft::F64, soft_mode(i), a, b));
    SqrtF64Soft: (W64, W0, W0) -> W64 = |a, _, _, i| pass_nan([a, a], soft::sqrt(soft::F64, soft_mode(i), a));
    RcpF64Soft: (W64, W0, W0) -> W64 = |a, _, _, i| pass_nan([a, a], soft::div(soft::F64, soft_mode(i), 1f64.to_bits(), a));
    FmaF64Soft: (W64, W64, W64) -> W64 = |a, b, c, i| last_nan(b, pass_nan([c, a], soft::fma(soft::F64, soft_mode(i), a, b, c)));

    // Approximations; `imm` as for the soft operations (only ftz is used).
    Sin: (W32, W0, W0) -> W32 = |a, _, _, i| soft_out(u64::from(approx::sin(soft_in(a, i) as u32)), i);
    Cos: (W32, W0, W0) -> W32 = |a, _, _, i| soft_out(u64::from(approx::cos(soft_in(a, i) as u32)), i);
    Lg2: (W32, W0, W0) -> W32 = |a, _, _, i| soft_out(u64::from(approx::lg2(soft_in(a, i) as u32)), i);
    Ex2: (W32, W0, W0) -> W32 = |a, _, _, i| soft_out(u64::from(approx::ex2(soft_in(a, i) as u32)), i);
    Tanh: (W32, W0, W0) -> W32 = |a, _, _, i| soft_out(u64::from(approx::tanh(soft_in(a, i) as u32)), i);
    Rsqrt: (W32, W0, W0) -> W32 = |a, _, _, i| soft_out(u64::from(approx::rsqrt(soft_in(a, i) as u32)), i);
    DivFull: (W32, W32, W0) -> W32 = |a, b, _, i| soft_out(u64::from(approx::div(soft_in(a, i) as u32, soft_in(b, i) as u32, true)), i);
    DivApprox: (W32, W32, W0) -> W32 = |a, b, _, i| soft_out(u64::from(approx::div(soft_in(a, i) as u32, soft_in(b, i) as u32, false)), i);
    RsqrtF64: (W64, W0, W0) -> W64 = |a, _, _, _| approx::rsqrt64(a);
    /// `rcp.approx.ftz.f64`: only the upper word of operand and result count.
    RcpApproxF64: (W64, W0, W0) -> W64 = |a, _, _, _| {
        let value = d(a & !0xffff_ffff);
        let result = 1.0 / if value.is_subnormal() { 0f64.copysign(value) } else { value };
        let result = if result.is_subnormal() { 0f64.copysign(result) } else { result };
        if result.is_nan() { 0x7fff_ffff_0000_0000 } else { result.to_bits() & !0xffff_ffff }
    };
    /// `rsqrt.approx.ftz.f64`: only the upper word of operand and result count.
    RsqrtApproxFtzF64: (W64, W0, W0) -> W64 = |a, _, _, _| {
        let value = d(a & !0xffff_ffff);
        let value = if value.is_subnormal() { 0f64.copysign(value) } else { value };
        let result = approx::rsqrt64(value.to_bits());
        if d(result).is_nan() { 0x7fff_ffff_0000_0000 } else { result & !0xffff_ffff }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add<const FTZ: bool, const SAT: bool>(a: f32, b: f32) -> u32 {
        AddF32::<FTZ, SAT>::f(a.to_bits(), b.to_bits(), (), 0)
    }

    #[test]
    fn flush_and_saturation() {
        let tiny = f32::from_bits(1);
        assert_eq!(add::<false, false>(tiny, 0.0), 1);
        assert_eq!(add::<true, false>(-tiny, -0.0), 0x8000_0000);
        assert_eq!(
            add::<true, false>(f32::MIN_POSITIVE, -f32::MIN_POSITIVE * 0.5),
            f32::MIN_POSITIVE.to_bits()
        );
        assert_eq!(add::<false, true>(0.75, 0.75), 1f32.to_bits());
        assert_eq!(add::<false, true>(-0.75, 0.25), 0);
        assert_eq!(add::<false, true>(f32::NAN, 0.25), 0);
        assert_eq!(add::<false, false>(f32::INFINITY, f32::NEG_INFINITY), NAN);
    }

    #[test]
    fn minimum_and_maximum() {
        let (nan, one, neg) = (f32::NAN.to_bits(), 1f32.to_bits(), 0x8000_0000);
        assert_eq!(min_max(nan, one, 0, false), one);
        assert_eq!(min_max(nan, one, 2, false), NAN);
        assert_eq!(min_max(neg, 0, 0, false), neg);
        assert_eq!(min_max(neg, 0, 0, true), 0);
        assert_eq!(min_max((-3f32).to_bits(), one, 4, true), (-3f32).to_bits());
        assert_eq!(min_max((-3f32).to_bits(), (-1f32).to_bits(), 0, true), (-1f32).to_bits());
        assert_eq!(min64((-0.0f64).to_bits(), 0), 1 << 63);
    }
}
