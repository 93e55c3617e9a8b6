//! `cvt` between pairs of floats of 8 bits and fewer and `.f32`, `.f16x2`, `.bf16x2`. Definition: PTX ISA,
//! "cvt" and "Alternate Floating Point Data Formats". Those of 8 bits are compared with an H200; those of 4
//! and 6 bits and the exponents (`.ue8m0`) need a later device, and follow the text and the reference
//! conversions of CUDA's headers.

use cdp_ptx::{CvtRounding, ScalarType, TinyPair};

use super::heavy_op;
use crate::float::soft::{self, Format, Mode};

/// A format of 8 bits and fewer.
#[derive(Clone, Copy, Debug)]
struct Tiny {
    exp_bits: u32,
    man_bits: u32,
    bias: i32,
    /// The largest number.
    most: u32,
    /// What a NaN becomes, and is; formats without one give the largest number.
    nan: Option<u32>,
    /// Infinity, if there is one.
    infinity: Option<u32>,
    /// Bits from one element of a pair to the other.
    step: u32,
}

const E4M3: Tiny = Tiny {
    exp_bits: 4,
    man_bits: 3,
    bias: 7,
    most: 0x7e,
    nan: Some(0x7f),
    infinity: None,
    step: 8,
};
const E5M2: Tiny = Tiny {
    exp_bits: 5,
    man_bits: 2,
    bias: 15,
    most: 0x7b,
    nan: Some(0x7f),
    infinity: Some(0x7c),
    step: 8,
};
const E2M3: Tiny =
    Tiny { exp_bits: 2, man_bits: 3, bias: 1, most: 0x1f, nan: None, infinity: None, step: 8 };
const E3M2: Tiny =
    Tiny { exp_bits: 3, man_bits: 2, bias: 3, most: 0x1f, nan: None, infinity: None, step: 8 };
const E2M1: Tiny =
    Tiny { exp_bits: 2, man_bits: 1, bias: 1, most: 7, nan: None, infinity: None, step: 4 };

impl Tiny {
    fn sign_bit(self) -> u32 {
        1 << (self.exp_bits + self.man_bits)
    }

    /// The nearest number, ties to even; what is larger than all becomes the largest.
    fn encode(self, x: f64, relu: bool) -> u32 {
        if x.is_nan() {
            return self.nan.unwrap_or(self.most);
        }
        if relu && x.is_sign_negative() {
            return 0;
        }
        let sign = if x.is_sign_negative() { self.sign_bit() } else { 0 };
        let magnitude = x.abs();
        if magnitude.is_infinite() {
            return sign | self.most;
        }
        // The exponent of the last place: that of the number, or of the subnormals.
        let exponent = (magnitude.to_bits() >> 52) as i32 - 1023;
        let exponent = exponent.max(1 - self.bias);
        let scaled = magnitude * power_of_two(self.man_bits as i32 - exponent);
        let rounded = scaled.round_ties_even().min(1024.0) as u32;
        // A hidden bit counts as one exponent more, as does a carry out of the significand.
        let code = (((exponent + self.bias - 1) as u32).min(512) << self.man_bits) + rounded;
        sign | code.min(self.most)
    }

    fn decode(self, code: u32) -> f64 {
        let magnitude = code & (self.sign_bit() - 1);
        let sign = if code & self.sign_bit() != 0 { -1.0 } else { 1.0 };
        match self.infinity {
            Some(infinity) if magnitude == infinity => return sign * f64::INFINITY,
            Some(infinity) if magnitude > infinity => return f64::NAN,
            _ if self.nan == Some(magnitude) => return f64::NAN,
            _ => {}
        }
        let fraction = magnitude & ((1 << self.man_bits) - 1);
        let (exponent, hidden) = match magnitude >> self.man_bits {
            0 => (1, 0),
            exponent => (exponent as i32, 1 << self.man_bits),
        };
        let scale = power_of_two(exponent - self.bias - self.man_bits as i32);
        sign * f64::from(fraction | hidden) * scale
    }
}

fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

/// The exponent of a magnitude, downwards or upwards; its sign is lost.
fn encode_exponent(x: f64, up: bool, satfinite: bool) -> u32 {
    const NAN: u32 = 0xff;
    const MOST: u32 = 0xfe;
    if x.is_nan() {
        return NAN;
    }
    let magnitude = x.abs();
    if magnitude.is_infinite() {
        return if satfinite { MOST } else { NAN };
    }
    if magnitude < power_of_two(-127) {
        return 0;
    }
    let exponent = (magnitude.to_bits() >> 52) as i32 - 1023;
    let exact = magnitude.to_bits() & ((1 << 52) - 1) == 0;
    let code = (exponent + 127) as u32 + u32::from(up && !exact);
    match code {
        0..=MOST => code,
        _ if satfinite => MOST,
        _ => NAN,
    }
}

/// The numbers of pairs and of the modifiers in `imm`.
pub fn imm(
    pair: TinyPair,
    other: ScalarType,
    rounding: CvtRounding,
    relu: bool,
    satfinite: bool,
) -> u32 {
    let at = TinyPair::ALL.iter().position(|known| *known == pair).unwrap_or(0) as u32;
    at | u32::from(other == ScalarType::BF16x2) << 4
        | u32::from(rounding == CvtRounding::Rp) << 5
        | u32::from(relu) << 6
        | u32::from(satfinite) << 7
}

fn tiny(imm: u32) -> Option<Tiny> {
    Some(match TinyPair::ALL[imm as usize & 15] {
        TinyPair::E4m3x2 => E4M3,
        TinyPair::E5m2x2 => E5M2,
        TinyPair::E2m3x2 => E2M3,
        TinyPair::E3m2x2 => E3M2,
        TinyPair::E2m1x2 => E2M1,
        TinyPair::Ue8m0x2 => return None,
    })
}

/// The format of a half.
fn half(imm: u32) -> Format {
    if imm & 16 != 0 { soft::BF16 } else { soft::F16 }
}

fn pair(high: f64, low: f64, imm: u32) -> u32 {
    let (relu, satfinite) = (imm & 64 != 0, imm & 128 != 0);
    match tiny(imm) {
        Some(tiny) => tiny.encode(high, relu) << tiny.step | tiny.encode(low, relu),
        None => {
            let one = |x| encode_exponent(x, imm & 32 != 0, satfinite);
            one(high) << 8 | one(low)
        }
    }
}

fn halves(format: Format, bits: u32) -> (f64, f64) {
    let wide = |bits: u32| {
        let bits = soft::convert(format, soft::F64, Mode::NearestEven, u64::from(bits));
        f64::from_bits(bits)
    };
    (wide(bits >> 16), wide(bits & 0xffff))
}

fn unpair(code: u32, imm: u32) -> u32 {
    let format = half(imm);
    let (step, decode): (u32, &dyn Fn(u32) -> f64) = match tiny(imm) {
        Some(tiny) => (tiny.step, &move |code| tiny.decode(code)),
        None => (8, &|code| match code {
            0xff => f64::NAN,
            code => power_of_two(code as i32 - 127),
        }),
    };
    let one = |code: u32| {
        let value = decode(code & ((1 << step) - 1));
        let relu = imm & 64 != 0;
        match () {
            () if value.is_nan() => format.nan as u32,
            () if relu && value.is_sign_negative() => 0,
            () => soft::convert(soft::F64, format, Mode::NearestEven, value.to_bits()) as u32,
        }
    };
    one(code >> step) << 16 | one(code)
}

heavy_op! {
    /// Two `.f32`: the first becomes the upper element.
    PairOfFloats: (W32, W32, W0) -> W32 = |a, b, _, i| {
        pair(f64::from(f32::from_bits(a)), f64::from(f32::from_bits(b)), i)
    };
    /// `.f16x2`, `.bf16x2`
    PairOfHalves: (W32, W0, W0) -> W32 = |a, _, _, i| {
        let (high, low) = halves(half(i), a);
        pair(high, low, i)
    };
    /// To `.f16x2`, `.bf16x2`.
    HalvesOfPair: (W32, W0, W0) -> W32 = |a, _, _, i| unpair(a, i);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_its_own_nearest() {
        for tiny in [E4M3, E5M2, E2M3, E3M2, E2M1] {
            for code in 0..2 * tiny.sign_bit() {
                let value = tiny.decode(code);
                if value.is_finite() {
                    assert_eq!(tiny.encode(value, false), code, "{tiny:?} {code:#x}");
                }
            }
        }
        // PTX ISA: the largest numbers.
        let most = |tiny: Tiny| tiny.decode(tiny.most);
        assert_eq!([E4M3, E5M2, E2M3, E3M2, E2M1].map(most), [448.0, 57344.0, 7.5, 28.0, 6.0]);
    }

    #[test]
    fn roundings() {
        assert_eq!(E4M3.encode(1e9, false), 0x7e);
        assert_eq!(E4M3.encode(f64::NEG_INFINITY, false), 0xfe);
        assert_eq!(E4M3.encode(f64::NAN, true), 0x7f);
        assert_eq!(E2M1.encode(f64::NAN, false), 7);
        assert_eq!(E4M3.encode(-3.0, true), 0);
        // Ties: 1.0625 between 1 and 1.125, 0.25 of e2m1 between 0 and 0.5.
        assert_eq!(E4M3.encode(1.0625, false), 0x38);
        assert_eq!(E2M1.encode(0.25, false), 0);
        assert_eq!(E2M1.encode(0.26, false), 1);
        assert_eq!(E2M1.encode(-0.1, false), 8);
        assert_eq!(encode_exponent(3.0, false, false), 128);
        assert_eq!(encode_exponent(3.0, true, false), 129);
        assert_eq!(encode_exponent(-4.0, true, false), 129);
        assert_eq!(encode_exponent(f64::INFINITY, true, true), 0xfe);
    }
}
