//! The approximate functions (`sin.approx`, `ex2.approx`, ...): computed in double precision and
//! rounded once, which is closer to the true value than any hardware and the same everywhere.
//! Special values follow the tables of the PTX ISA manual. Subnormal handling (`.ftz`) is the
//! caller's.

/// The canonical `.f32` NaN.
pub const NAN32: u32 = 0x7fff_ffff;

/// Rounds to `.f32` with the canonical NaN.
#[inline]
fn to32(value: f64) -> u32 {
    if value.is_nan() { NAN32 } else { (value as f32).to_bits() }
}

#[inline]
fn wide(bits: u32) -> f64 {
    f64::from(f32::from_bits(bits))
}

/// `sin.approx`
pub fn sin(a: u32) -> u32 {
    to32(wide(a).sin())
}

/// `cos.approx`
pub fn cos(a: u32) -> u32 {
    to32(wide(a).cos())
}

/// `lg2.approx`
pub fn lg2(a: u32) -> u32 {
    to32(wide(a).log2())
}

/// `ex2.approx`
pub fn ex2(a: u32) -> u32 {
    to32(wide(a).exp2())
}

/// `tanh.approx`
pub fn tanh(a: u32) -> u32 {
    to32(wide(a).tanh())
}

/// `rsqrt.approx.f32`
pub fn rsqrt(a: u32) -> u32 {
    let value = wide(a);
    if value == 0.0 {
        return if value.is_sign_negative() { 0xff80_0000 } else { 0x7f80_0000 };
    }
    to32(1.0 / value.sqrt())
}

/// `rsqrt.approx.f64`
pub fn rsqrt64(a: u64) -> u64 {
    let value = f64::from_bits(a);
    let result = if value == 0.0 { f64::INFINITY.copysign(value) } else { 1.0 / value.sqrt() };
    if result.is_nan() { 0x7fff_ffff_ffff_ffff } else { result.to_bits() }
}

/// `div.full.f32` and `div.approx.f32`. The latter gives 0 for divisors above 2^126.
pub fn div(a: u32, b: u32, full: bool) -> u32 {
    let (x, y) = (wide(a), wide(b));
    if !full && y.abs() > 2f64.powi(126) && y.is_finite() && x.is_finite() {
        return if x.is_sign_negative() != y.is_sign_negative() { 0x8000_0000 } else { 0 };
    }
    to32(x / y)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_values() {
        let inf = f32::INFINITY.to_bits();
        assert_eq!(sin(inf), NAN32);
        assert_eq!(sin(0x8000_0000), 0x8000_0000);
        assert_eq!(ex2(f32::NEG_INFINITY.to_bits()), 0);
        assert_eq!(ex2(3f32.to_bits()), 8f32.to_bits());
        assert_eq!(lg2(0), f32::NEG_INFINITY.to_bits());
        assert_eq!(lg2((-1f32).to_bits()), NAN32);
        assert_eq!(rsqrt(4f32.to_bits()), 0.5f32.to_bits());
        assert_eq!(rsqrt(0x8000_0000), 0xff80_0000);
        assert_eq!(div(6f32.to_bits(), 3f32.to_bits(), false), 2f32.to_bits());
        assert_eq!(div(1f32.to_bits(), 1.5e38f32.to_bits(), false), 0);
        assert_eq!(div(inf, inf, true), NAN32);
    }
}
