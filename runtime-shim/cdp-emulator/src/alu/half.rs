//! `.f16`, `.bf16` and their packed forms, mixed-precision arithmetic, and packed `.f32x2`.
//! Definitions: PTX ISA, "Half Precision Floating Point Instructions".
//!
//! Operations are exact and rounded once. The flags in `imm` are those of
//! [`HalfFlags`]; one loop serves both formats and both packings.

use super::heavy_op;
use crate::float::{approx, soft};

/// What a half-precision operation needs to know, packed into `imm`.
#[derive(Clone, Copy, Debug, Default)]
pub struct HalfFlags {
    /// `.bf16` and not `.f16`.
    pub bf16: bool,
    /// Two values a register.
    pub packed: bool,
    /// `.ftz`
    pub ftz: bool,
    /// `.sat`
    pub sat: bool,
    /// `.relu`
    pub relu: bool,
    /// `.NaN`
    pub nan: bool,
    /// `.xorsign.abs`
    pub xorsign_abs: bool,
    /// Rounding, as in [`super::float::soft_flags`].
    pub rounding: u32,
}

impl HalfFlags {
    /// As an `imm`.
    pub fn imm(self) -> u32 {
        u32::from(self.bf16)
            | u32::from(self.packed) << 1
            | u32::from(self.ftz) << 2
            | u32::from(self.sat) << 3
            | u32::from(self.relu) << 4
            | u32::from(self.nan) << 5
            | u32::from(self.xorsign_abs) << 6
            | self.rounding << 8
    }
    fn from_imm(imm: u32) -> HalfFlags {
        HalfFlags {
            bf16: imm & 1 != 0,
            packed: imm & 2 != 0,
            ftz: imm & 4 != 0,
            sat: imm & 8 != 0,
            relu: imm & 16 != 0,
            nan: imm & 32 != 0,
            xorsign_abs: imm & 64 != 0,
            rounding: imm >> 8,
        }
    }
    fn format(self) -> soft::Format {
        if self.bf16 { soft::BF16 } else { soft::F16 }
    }
    fn mode(self) -> soft::Mode {
        super::float::soft_mode(self.rounding)
    }
    fn flush(self, bits: u64) -> u64 {
        let subnormal = bits & 0x7fff < 1 << self.format().man_bits;
        if self.ftz && subnormal { bits & 0x8000 } else { bits }
    }
    /// The result of a sign operation; NaN becomes canonical.
    fn sign(self, operand: u64, result: u64) -> u64 {
        if operand & 0x7fff > self.format().infinity() { self.format().nan } else { result }
    }
    fn finish(self, bits: u64) -> u64 {
        let bits = self.flush(bits);
        let nan = bits & 0x7fff > self.format().infinity();
        let one = soft::from_int(self.format(), soft::Mode::NearestEven, 1);
        if self.sat {
            return if nan || bits & 0x8000 != 0 { 0 } else { bits.min(one) };
        }
        if self.relu && !nan && bits & 0x8000 != 0 {
            return 0;
        }
        bits
    }
}

/// Applies a one-value function to both halves of a packed operand, or to the only one.
fn each(imm: u32, a: u32, b: u32, c: u32, f: impl Fn(HalfFlags, u64, u64, u64) -> u64) -> u32 {
    let flags = HalfFlags::from_imm(imm);
    let run = |shift: u32| {
        let part = |v: u32| flags.flush(u64::from(v >> shift & 0xffff));
        flags.finish(f(flags, part(a), part(b), part(c))) as u32
    };
    if flags.packed { run(0) | run(16) << 16 } else { run(0) }
}

/// A function on `.f32` applied to a half.
fn through_f32(flags: HalfFlags, a: u64, f: impl Fn(u32) -> u32) -> u64 {
    let wide = soft::convert(flags.format(), soft::F32, soft::Mode::NearestEven, a) as u32;
    soft::convert(soft::F32, flags.format(), soft::Mode::NearestEven, u64::from(f(wide)))
}

fn min_max(flags: HalfFlags, a: u64, b: u64, max: bool) -> u64 {
    let format = flags.format();
    let sign = if flags.xorsign_abs { (a ^ b) & 0x8000 } else { 0 };
    let (a, b) = if flags.xorsign_abs { (a & 0x7fff, b & 0x7fff) } else { (a, b) };
    let is_nan = |v: u64| v & 0x7fff > format.infinity();
    let result = match (is_nan(a), is_nan(b)) {
        (true, true) => return format.nan,
        (true, false) | (false, true) if flags.nan => return format.nan,
        (true, false) => b,
        (false, true) => a,
        (false, false) => {
            let key = |v: u64| if v & 0x8000 != 0 { -((v & 0x7fff) as i64) - 1 } else { v as i64 };
            if (key(a) < key(b)) != max { a } else { b }
        }
    };
    result | sign
}

heavy_op! {
    Add: (W32, W32, W0) -> W32 = |a, b, _, i| each(i, a, b, 0, |h, a, b, _| soft::add(h.format(), h.mode(), a, b));
    Sub: (W32, W32, W0) -> W32 = |a, b, _, i| each(i, a, b, 0, |h, a, b, _| soft::sub(h.format(), h.mode(), a, b));
    Mul: (W32, W32, W0) -> W32 = |a, b, _, i| each(i, a, b, 0, |h, a, b, _| soft::mul(h.format(), h.mode(), a, b));
    Fma: (W32, W32, W32) -> W32 = |a, b, c, i| each(i, a, b, c, |h, a, b, c| soft::fma(h.format(), h.mode(), a, b, c));
    Min: (W32, W32, W0) -> W32 = |a, b, _, i| each(i, a, b, 0, |h, a, b, _| min_max(h, a, b, false));
    Max: (W32, W32, W0) -> W32 = |a, b, _, i| each(i, a, b, 0, |h, a, b, _| min_max(h, a, b, true));
    Abs: (W32, W0, W0) -> W32 = |a, _, _, i| each(i, a, 0, 0, |h, a, _, _| h.sign(a, a & 0x7fff));
    Neg: (W32, W0, W0) -> W32 = |a, _, _, i| each(i, a, 0, 0, |h, a, _, _| h.sign(a, a ^ 0x8000));
    Ex2: (W32, W0, W0) -> W32 = |a, _, _, i| each(i, a, 0, 0, |h, a, _, _| through_f32(h, a, approx::ex2));
    Tanh: (W32, W0, W0) -> W32 = |a, _, _, i| each(i, a, 0, 0, |h, a, _, _| through_f32(h, a, approx::tanh));

    /// Mixed precision: `imm` bit 0: bf16; from bit 8 the flags of `.f32` arithmetic.
    AddMixed: (W32, W32, W0) -> W32 = |a, b, _, i| mixed(i, a, 0x3f80_0000, b, false);
    SubMixed: (W32, W32, W0) -> W32 = |a, b, _, i| mixed(i, a, 0x3f80_0000, b, true);
    FmaMixed: (W32, W32, W32) -> W32 = |a, b, c, i| {
        let b = widen(i, b);
        mixed(i, a, b, c, false)
    };

    // Packed single precision; `imm` as for the soft operations.
    AddF32x2: (W64, W64, W0) -> W64 = |a, b, _, i| pair(a, b, 0, |a, b, _| super::float::AddF32Soft::f(a, b, (), i));
    SubF32x2: (W64, W64, W0) -> W64 = |a, b, _, i| pair(a, b, 0, |a, b, _| super::float::SubF32Soft::f(a, b, (), i));
    MulF32x2: (W64, W64, W0) -> W64 = |a, b, _, i| pair(a, b, 0, |a, b, _| super::float::MulF32Soft::f(a, b, (), i));
    FmaF32x2: (W64, W64, W64) -> W64 = |a, b, c, i| pair(a, b, c, |a, b, c| super::float::FmaF32Soft::f(a, b, c, i));
}

use super::LaneOp;

fn pair(a: u64, b: u64, c: u64, f: impl Fn(u32, u32, u32) -> u32) -> u64 {
    let low = f(a as u32, b as u32, c as u32);
    let high = f((a >> 32) as u32, (b >> 32) as u32, (c >> 32) as u32);
    u64::from(high) << 32 | u64::from(low)
}

fn widen(imm: u32, bits: u32) -> u32 {
    let format = if imm & 1 != 0 { soft::BF16 } else { soft::F16 };
    soft::convert(format, soft::F32, soft::Mode::NearestEven, u64::from(bits & 0xffff)) as u32
}

/// `widen(a) * b + c` with `b` and `c` in `.f32`; `c` negated if `subtract`.
fn mixed(imm: u32, a: u32, b: u32, c: u32, subtract: bool) -> u32 {
    let c = if subtract { c ^ 0x8000_0000 } else { c };
    super::float::FmaF32Soft::f(widen(imm, a), b, c, imm >> 8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_halves() {
        let imm = HalfFlags { packed: true, ..HalfFlags::default() }.imm();
        assert_eq!(Add::f(0x3c00_4000, 0x3c00_3c00, (), imm), 0x4000_4200);
        let relu = HalfFlags { packed: true, relu: true, ..HalfFlags::default() }.imm();
        assert_eq!(Fma::f(0xbc00_3c00, 0x3c00_3c00, 0, relu), 0x0000_3c00);
        let sat = HalfFlags { sat: true, ..HalfFlags::default() }.imm();
        assert_eq!(Add::f(0x3c00, 0x3c00, (), sat), 0x3c00);
        let bf = HalfFlags { bf16: true, ..HalfFlags::default() }.imm();
        assert_eq!(Mul::f(0x4000, 0x4040, (), bf), 0x40c0);
        assert_eq!(Min::f(0x7fff, 0x3c00, (), HalfFlags::default().imm()), 0x3c00);
    }
}
