//! The two 16-bit floating formats, for constants and for the arguments of kernels.
//!
//! By ourselves, because crate `half` (2.7) rounds an `f64` to `f32` first where the processor has F16C, and elsewhere drops
//! its lower 32 bits: a value just above the middle between two halves becomes the wrong one of them.

/// The value of an IEEE binary16 number.
pub fn half_to_f64(bits: u16) -> f64 {
    let sign = if bits & 0x8000 != 0 { -1.0 } else { 1.0 };
    let exponent = i32::from(bits >> 10 & 0x1f);
    let fraction = f64::from(bits & 0x3ff);
    match exponent {
        0 => sign * fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => sign * f64::INFINITY,
        31 => f64::NAN,
        _ => sign * (1024.0 + fraction) * 2f64.powi(exponent - 25),
    }
}

/// The nearest binary16 number, ties to even.
pub fn f64_to_half(value: f64) -> u16 {
    round(value, 10, 15, 0x7e00)
}

/// The nearest bfloat16 number, ties to even.
pub fn f64_to_bfloat16(value: f64) -> u16 {
    round(value, 7, 127, 0x7fc0)
}

/// Rounds to a format of `fraction_bits` and an exponent bias.
fn round(value: f64, fraction_bits: i32, bias: i32, nan: u16) -> u16 {
    let sign = if value.is_sign_negative() { 0x8000 } else { 0 };
    if value.is_nan() {
        return sign | nan;
    }
    let magnitude = value.abs();
    let infinity = ((2 * bias + 1) as u16) << fraction_bits;
    if magnitude.is_infinite() {
        return sign | infinity;
    }
    if magnitude == 0.0 {
        return sign;
    }
    let exponent = ((magnitude.to_bits() >> 52) as i32 - 1023).max(1 - bias);
    // Scaled so that one unit is the format's last place; exact, being a power of two.
    let scaled = magnitude * 2f64.powi(fraction_bits - exponent);
    let rounded = scaled.round_ties_even() as u32;
    // A carry out of the fraction goes into the exponent by itself.
    let biased = (exponent + bias - 1) as u32;
    let bits = (biased << fraction_bits) + rounded;
    let bits = if bits >= u32::from(infinity) { u32::from(infinity) } else { bits };
    sign | bits as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_halves_survive_a_round_trip() {
        for bits in 0..=u16::MAX {
            let value = half_to_f64(bits);
            if !value.is_nan() {
                assert_eq!(f64_to_half(value), bits, "{bits:#x} is {value}");
            }
        }
    }

    #[test]
    fn ties_go_to_even_and_large_values_to_infinity() {
        assert_eq!(f64_to_half(1.0 + 1.0 / 2048.0), 0x3c00);
        assert_eq!(f64_to_half(1.0 + 3.0 / 2048.0), 0x3c02);
        assert_eq!(f64_to_half(65520.0), 0x7c00);
        assert_eq!(f64_to_half(65519.0), 0x7bff);
        assert_eq!(f64_to_half(1.0 + 2f64.powi(-11) + 2f64.powi(-50)), 0x3c01);
        assert_eq!(f64_to_half(2f64.powi(-25)), 0);
        assert_eq!(f64_to_half(2f64.powi(-25) * 1.0001), 1);
        assert_eq!(f64_to_bfloat16(1.0), 0x3f80);
        assert_eq!(f64_to_bfloat16(-2.5), 0xc020);
    }
}
