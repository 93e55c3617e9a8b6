//! Exact binary floating point in integers, for every format and rounding of PTX.
//!
//! A finite number is a sign, a 128-bit integer and a power of two; operations compute it exactly
//! up to a sticky bit and round once. Slow and simple: the common cases (nearest even in `.f32` and
//! `.f64`) use the host's own instructions and do not come here.
//! NaN results are the canonical NaN of PTX (`0x7fffffff`, `0x7fff` for the half formats). In `.f64`
//! a NaN operand is handed on, and a new NaN is negative, which is the host's habit too (H200).

use std::cmp::Ordering;

use cdp_ptx::Rounding;

/// A rounding direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// To nearest, ties to even.
    NearestEven,
    /// To nearest, ties away from zero.
    NearestAway,
    /// Toward zero.
    Zero,
    /// Toward minus infinity.
    Down,
    /// Toward plus infinity.
    Up,
}

impl Mode {
    /// All, in the order of their numbers.
    pub const ALL: [Mode; 5] =
        [Mode::NearestEven, Mode::NearestAway, Mode::Zero, Mode::Down, Mode::Up];

    /// That of a modifier, without which values are rounded to nearest.
    pub fn of(rounding: Option<Rounding>) -> Mode {
        match rounding {
            None | Some(Rounding::Rn) => Mode::NearestEven,
            Some(Rounding::Rz) => Mode::Zero,
            Some(Rounding::Rm) => Mode::Down,
            Some(Rounding::Rp) => Mode::Up,
        }
    }
}

/// A binary interchange format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// Bits of the exponent.
    pub exp_bits: u32,
    /// Stored bits of the significand.
    pub man_bits: u32,
    /// The NaN that operations produce.
    pub nan: u64,
}

/// `.f16`
pub const F16: Format = Format { exp_bits: 5, man_bits: 10, nan: 0x7fff };
/// `.bf16`
pub const BF16: Format = Format { exp_bits: 8, man_bits: 7, nan: 0x7fff };
/// `.tf32`, in the upper 19 bits of a register
pub const TF32: Format = Format { exp_bits: 8, man_bits: 10, nan: 0x3_ffff };
/// `.f32`
pub const F32: Format = Format { exp_bits: 8, man_bits: 23, nan: 0x7fff_ffff };
/// `.f64`
pub const F64: Format = Format { exp_bits: 11, man_bits: 52, nan: 0xfff8_0000_0000_0000 };

impl Format {
    const fn bias(self) -> i32 {
        (1 << (self.exp_bits - 1)) - 1
    }
    const fn max_exp(self) -> u64 {
        (1 << self.exp_bits) - 1
    }
    const fn sign_bit(self) -> u64 {
        1 << (self.exp_bits + self.man_bits)
    }
    /// Positive infinity.
    pub const fn infinity(self) -> u64 {
        self.max_exp() << self.man_bits
    }
    /// Exponent of the last place of a subnormal.
    const fn min_scale(self) -> i32 {
        1 - self.bias() - self.man_bits as i32
    }
    fn signed(self, sign: bool, magnitude: u64) -> u64 {
        magnitude | if sign { self.sign_bit() } else { 0 }
    }
}

/// A number taken apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// Not a number.
    Nan,
    /// Infinity with its sign (true: negative).
    Infinite(bool),
    /// `(-1)^sign * mantissa * 2^scale`; the mantissa may be zero.
    Finite {
        /// True: negative.
        sign: bool,
        /// Magnitude.
        mantissa: u128,
        /// Power of two.
        scale: i32,
    },
}

/// Takes apart the bits of a number.
pub fn unpack(format: Format, bits: u64) -> Value {
    let sign = bits & format.sign_bit() != 0;
    let exponent = bits >> format.man_bits & format.max_exp();
    let fraction = bits & ((1 << format.man_bits) - 1);
    match exponent {
        e if e == format.max_exp() && fraction != 0 => Value::Nan,
        e if e == format.max_exp() => Value::Infinite(sign),
        0 => Value::Finite { sign, mantissa: u128::from(fraction), scale: format.min_scale() },
        e => Value::Finite {
            sign,
            mantissa: u128::from(fraction | 1 << format.man_bits),
            scale: format.min_scale() + e as i32 - 1,
        },
    }
}

/// Shifts right, keeping in the lowest bit whether anything was lost.
fn shift_right_jam(value: u128, by: u32) -> u128 {
    match by {
        0 => value,
        1..=127 => value >> by | u128::from(value << (128 - by) != 0),
        _ => u128::from(value != 0),
    }
}

/// True if a magnitude with these discarded bits is rounded up.
fn rounds_up(mode: Mode, sign: bool, odd: bool, half: Ordering, exact: bool) -> bool {
    match mode {
        Mode::NearestEven => half == Ordering::Greater || (half == Ordering::Equal && odd),
        Mode::NearestAway => half != Ordering::Less,
        Mode::Zero => false,
        Mode::Down => sign && !exact,
        Mode::Up => !sign && !exact,
    }
}

/// Rounds `mantissa >> by`, where the lowest bit of `mantissa` may be sticky.
fn round_shift(mode: Mode, sign: bool, mantissa: u128, by: u32) -> u128 {
    if by == 0 {
        return mantissa;
    }
    let (kept, rest, half) = if by > 127 {
        // Everything is discarded, and it is less than half of the last place.
        (0, u128::from(mantissa != 0), 2)
    } else {
        (mantissa >> by, mantissa & ((1 << by) - 1), 1u128 << (by - 1))
    };
    let up = rounds_up(mode, sign, kept & 1 == 1, rest.cmp(&half), rest == 0);
    kept + u128::from(up)
}

/// Rounds an exact (or sticky) finite number into a format.
pub fn pack(format: Format, mode: Mode, sign: bool, mantissa: u128, scale: i32) -> u64 {
    if mantissa == 0 {
        return format.signed(sign, 0);
    }
    let width = 128 - mantissa.leading_zeros() as i32;
    // Exponent of the last place that the result can have.
    let target = (scale + width - 1 - format.man_bits as i32).max(format.min_scale());
    let mut rounded = if target >= scale {
        round_shift(mode, sign, mantissa, (target - scale) as u32)
    } else {
        mantissa << (scale - target)
    };
    let mut target = target;
    if rounded >> (format.man_bits + 1) != 0 {
        rounded >>= 1;
        target += 1;
    }
    if rounded >> format.man_bits == 0 {
        return format.signed(sign, rounded as u64);
    }
    let exponent = (target - format.min_scale() + 1) as u64;
    if exponent >= format.max_exp() {
        let to_infinity = match mode {
            Mode::NearestEven | Mode::NearestAway => true,
            Mode::Zero => false,
            Mode::Down => sign,
            Mode::Up => !sign,
        };
        let largest = format.infinity() - 1;
        return format.signed(sign, if to_infinity { format.infinity() } else { largest });
    }
    let fraction = rounded as u64 & ((1 << format.man_bits) - 1);
    format.signed(sign, exponent << format.man_bits | fraction)
}

/// Puts a value into a format.
pub fn pack_value(format: Format, mode: Mode, value: Value) -> u64 {
    match value {
        Value::Nan => format.nan,
        Value::Infinite(sign) => format.signed(sign, format.infinity()),
        Value::Finite { sign, mantissa, scale } => pack(format, mode, sign, mantissa, scale),
    }
}

/// The sum of two values, exact but for a sticky bit.
fn add_values(mode: Mode, a: Value, b: Value) -> Value {
    let (
        Value::Finite { sign: sa, mantissa: ma, scale: ea },
        Value::Finite { sign: sb, mantissa: mb, scale: eb },
    ) = (a, b)
    else {
        return match (a, b) {
            (Value::Nan, _) | (_, Value::Nan) => Value::Nan,
            (Value::Infinite(x), Value::Infinite(y)) if x != y => Value::Nan,
            (Value::Infinite(x), _) | (_, Value::Infinite(x)) => Value::Infinite(x),
            (finite, _) => finite,
        };
    };
    let zero_sign = if sa == sb { sa } else { mode == Mode::Down };
    match (ma, mb) {
        (0, 0) => return Value::Finite { sign: zero_sign, mantissa: 0, scale: 0 },
        (0, _) => return b,
        (_, 0) => return a,
        _ => {}
    }
    // The highest bits go to bit 125, so that a carry fits and 19 or more guard bits remain.
    let (la, lb) = (ma.leading_zeros() as i32 - 2, mb.leading_zeros() as i32 - 2);
    let (mut ma, ea) = (ma << la, ea - la);
    let (mut mb, eb) = (mb << lb, eb - lb);
    let scale = ea.max(eb);
    ma = shift_right_jam(ma, (scale - ea) as u32);
    mb = shift_right_jam(mb, (scale - eb) as u32);
    if sa == sb {
        return Value::Finite { sign: sa, mantissa: ma + mb, scale };
    }
    match ma.cmp(&mb) {
        Ordering::Equal => Value::Finite { sign: zero_sign, mantissa: 0, scale: 0 },
        Ordering::Greater => Value::Finite { sign: sa, mantissa: ma - mb, scale },
        Ordering::Less => Value::Finite { sign: sb, mantissa: mb - ma, scale },
    }
}

fn negate(value: Value) -> Value {
    match value {
        Value::Nan => Value::Nan,
        Value::Infinite(sign) => Value::Infinite(!sign),
        Value::Finite { sign, mantissa, scale } => Value::Finite { sign: !sign, mantissa, scale },
    }
}

/// The exact product. The factors have at most 64 significant bits.
fn mul_values(a: Value, b: Value) -> Value {
    match (a, b) {
        (Value::Nan, _) | (_, Value::Nan) => Value::Nan,
        (Value::Infinite(x), Value::Infinite(y)) => Value::Infinite(x != y),
        (Value::Infinite(x), Value::Finite { sign, mantissa, .. })
        | (Value::Finite { sign, mantissa, .. }, Value::Infinite(x)) => {
            if mantissa == 0 {
                Value::Nan
            } else {
                Value::Infinite(x != sign)
            }
        }
        (
            Value::Finite { sign: sa, mantissa: ma, scale: ea },
            Value::Finite { sign: sb, mantissa: mb, scale: eb },
        ) => Value::Finite { sign: sa != sb, mantissa: ma * mb, scale: ea + eb },
    }
}

/// `a + b`
pub fn add(format: Format, mode: Mode, a: u64, b: u64) -> u64 {
    pack_value(format, mode, add_values(mode, unpack(format, a), unpack(format, b)))
}

/// `a - b`
pub fn sub(format: Format, mode: Mode, a: u64, b: u64) -> u64 {
    pack_value(format, mode, add_values(mode, unpack(format, a), negate(unpack(format, b))))
}

/// `a * b`
pub fn mul(format: Format, mode: Mode, a: u64, b: u64) -> u64 {
    pack_value(format, mode, mul_values(unpack(format, a), unpack(format, b)))
}

/// `a * b + c`, rounded once.
pub fn fma(format: Format, mode: Mode, a: u64, b: u64, c: u64) -> u64 {
    let product = mul_values(unpack(format, a), unpack(format, b));
    pack_value(format, mode, add_values(mode, product, unpack(format, c)))
}

/// `a / b`
pub fn div(format: Format, mode: Mode, a: u64, b: u64) -> u64 {
    let value = match (unpack(format, a), unpack(format, b)) {
        (Value::Nan, _) | (_, Value::Nan) => Value::Nan,
        (Value::Infinite(_), Value::Infinite(_)) => Value::Nan,
        (Value::Infinite(x), Value::Finite { sign, .. }) => Value::Infinite(x != sign),
        (Value::Finite { sign, .. }, Value::Infinite(y)) => {
            Value::Finite { sign: sign != y, mantissa: 0, scale: 0 }
        }
        (
            Value::Finite { sign: sa, mantissa: ma, scale: ea },
            Value::Finite { sign: sb, mantissa: mb, scale: eb },
        ) => match (ma, mb) {
            (0, 0) => Value::Nan,
            (_, 0) => Value::Infinite(sa != sb),
            (0, _) => Value::Finite { sign: sa != sb, mantissa: 0, scale: 0 },
            _ => {
                let shift = ma.leading_zeros();
                let numerator = ma << shift;
                let quotient = (numerator / mb) << 1 | u128::from(!numerator.is_multiple_of(mb));
                // The quotient has at least 128 - 53 bits; shifting it once more cannot overflow
                // unless the divisor is 1, whose quotient is exact.
                if mb == 1 {
                    Value::Finite { sign: sa != sb, mantissa: ma, scale: ea - eb }
                } else {
                    Value::Finite {
                        sign: sa != sb,
                        mantissa: quotient,
                        scale: ea - eb - shift as i32 - 1,
                    }
                }
            }
        },
    };
    pack_value(format, mode, value)
}

/// The square root.
pub fn sqrt(format: Format, mode: Mode, a: u64) -> u64 {
    let value = match unpack(format, a) {
        Value::Nan | Value::Infinite(true) => Value::Nan,
        Value::Infinite(false) => Value::Infinite(false),
        Value::Finite { sign, mantissa: 0, .. } => Value::Finite { sign, mantissa: 0, scale: 0 },
        Value::Finite { sign: true, .. } => Value::Nan,
        Value::Finite { sign: false, mantissa, scale } => {
            let mut shift = mantissa.leading_zeros() as i32 - 1;
            if (scale - shift) % 2 != 0 {
                shift -= 1;
            }
            let radicand = mantissa << shift;
            let root = radicand.isqrt();
            let inexact = root * root != radicand;
            Value::Finite {
                sign: false,
                mantissa: root << 1 | u128::from(inexact),
                scale: (scale - shift) / 2 - 1,
            }
        }
    };
    pack_value(format, mode, value)
}

/// Converts between formats.
pub fn convert(from: Format, to: Format, mode: Mode, bits: u64) -> u64 {
    pack_value(to, mode, unpack(from, bits))
}

/// Converts an integer.
pub fn from_int(to: Format, mode: Mode, value: i128) -> u64 {
    pack(to, mode, value < 0, value.unsigned_abs(), 0)
}

/// Rounds to an integer; saturated to the range of `i128` far beyond every PTX type. `None` for
/// NaN.
pub fn to_int(from: Format, mode: Mode, bits: u64) -> Option<i128> {
    match unpack(from, bits) {
        Value::Nan => None,
        Value::Infinite(sign) => Some(if sign { i128::MIN } else { i128::MAX }),
        Value::Finite { sign, mantissa, scale } => {
            let magnitude = if scale >= 0 {
                if mantissa != 0 && scale as u32 + 1 >= mantissa.leading_zeros() {
                    return Some(if sign { i128::MIN } else { i128::MAX });
                }
                mantissa << scale.min(127)
            } else {
                round_shift(mode, sign, mantissa, scale.unsigned_abs())
            } as i128;
            Some(if sign { -magnitude } else { magnitude })
        }
    }
}

/// Rounds to an integral value of the same format.
pub fn to_integral(format: Format, mode: Mode, bits: u64) -> u64 {
    match unpack(format, bits) {
        Value::Finite { sign, mantissa, scale } if scale < 0 => {
            pack(format, mode, sign, round_shift(mode, sign, mantissa, scale.unsigned_abs()), 0)
        }
        Value::Nan => format.nan,
        _ => bits,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A small generator, so that the cases are the same in every run.
    fn words(seed: u64) -> impl Iterator<Item = u64> {
        let mut state = seed;
        std::iter::from_fn(move || {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = state;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            Some(z ^ (z >> 31))
        })
    }

    fn same32(ours: u64, host: f32) -> bool {
        (host.is_nan() && ours == F32.nan) || ours == u64::from(host.to_bits())
    }
    fn same64(ours: u64, host: f64) -> bool {
        (host.is_nan() && ours == F64.nan) || ours == host.to_bits()
    }

    #[test]
    fn nearest_even_agrees_with_the_host() {
        let n = Mode::NearestEven;
        let mut source = words(1);
        for i in 0..200_000 {
            let (x, y, z) =
                (source.next().unwrap(), source.next().unwrap(), source.next().unwrap());
            // Every other round has exponents near each other, where cancellation happens.
            let near = |v: u64| if i % 2 == 0 { v } else { v & 0x83ff_ffff | 0x3e00_0000 };
            let (a, b, c) = (near(x) as u32, near(y) as u32, near(z) as u32);
            let (fa, fb, fc) = (f32::from_bits(a), f32::from_bits(b), f32::from_bits(c));
            let (a, b, c) = (u64::from(a), u64::from(b), u64::from(c));
            assert!(same32(add(F32, n, a, b), fa + fb), "{fa:e} + {fb:e}");
            assert!(same32(sub(F32, n, a, b), fa - fb), "{fa:e} - {fb:e}");
            assert!(same32(mul(F32, n, a, b), fa * fb), "{fa:e} * {fb:e}");
            assert!(same32(div(F32, n, a, b), fa / fb), "{fa:e} / {fb:e}");
            assert!(same32(fma(F32, n, a, b, c), fa.mul_add(fb, fc)), "{fa:e} * {fb:e} + {fc:e}");
            assert!(same32(sqrt(F32, n, a), fa.sqrt()), "sqrt {fa:e}");
            let near = |v: u64| {
                if i % 2 == 0 { v } else { v & 0x800f_ffff_ffff_ffff | 0x3fe0_0000_0000_0000 }
            };
            let (a, b, c) = (near(x), near(y), near(z));
            let (fa, fb, fc) = (f64::from_bits(a), f64::from_bits(b), f64::from_bits(c));
            assert!(same64(add(F64, n, a, b), fa + fb));
            assert!(same64(mul(F64, n, a, b), fa * fb));
            assert!(same64(div(F64, n, a, b), fa / fb));
            assert!(same64(fma(F64, n, a, b, c), fa.mul_add(fb, fc)), "{fa:e} * {fb:e} + {fc:e}");
            assert!(same64(sqrt(F64, n, a), fa.sqrt()));
            assert!(same32(convert(F64, F32, n, a), fa as f32));
            assert!(same64(from_int(F64, n, x as i64 as i128), x as i64 as f64));
            assert!(same32(from_int(F32, n, x as i128), x as f32));
            assert!(same64(to_integral(F64, n, a), fa.round_ties_even()) || fa == 0.0);
        }
    }

    #[test]
    fn directed_roundings_bracket_the_result() {
        let mut source = words(2);
        for _ in 0..50_000 {
            let (a, b) = (source.next().unwrap() as u32, source.next().unwrap() as u32);
            let (x, y) = (f64::from(f32::from_bits(a)), f64::from(f32::from_bits(b)));
            if x.is_nan() || y.is_nan() {
                continue;
            }
            let exact = x * y; // 48 bits: exact in f64 unless it underflows
            let run = |mode| f64::from(f32::from_bits(mul(F32, mode, a.into(), b.into()) as u32));
            if exact.is_nan() || exact.abs() < 1e-200 {
                continue;
            }
            assert!(run(Mode::Down) <= exact && run(Mode::Up) >= exact);
            assert!(run(Mode::Zero).abs() <= exact.abs());
            if exact == f64::from(exact as f32) {
                assert_eq!(run(Mode::Down), run(Mode::Up));
            }
        }
        let one = u64::from(1.0f32.to_bits());
        let tiny = u64::from(f32::from_bits(1).to_bits());
        assert_eq!(add(F32, Mode::Up, one, tiny), one + 1);
        assert_eq!(add(F32, Mode::Zero, one, tiny), one);
        assert_eq!(sub(F32, Mode::Zero, one, tiny), one - 1);
        assert_eq!(sub(F32, Mode::Down, one, one), 0x8000_0000, "x - x is -0 when rounding down");
        assert_eq!(mul(F32, Mode::Zero, 0x7f7f_ffff, 0x7f7f_ffff), 0x7f7f_ffff);
        assert_eq!(mul(F32, Mode::Up, 0x7f7f_ffff, 0x7f7f_ffff), 0x7f80_0000);
    }

    #[test]
    fn half_formats() {
        assert_eq!(convert(F32, F16, Mode::NearestEven, u64::from(1.0f32.to_bits())), 0x3c00);
        assert_eq!(convert(F32, F16, Mode::NearestEven, u64::from(65520.0f32.to_bits())), 0x7c00);
        assert_eq!(convert(F32, F16, Mode::Zero, u64::from(65520.0f32.to_bits())), 0x7bff);
        assert_eq!(convert(F32, F16, Mode::NearestEven, u64::from(6e-8f32.to_bits())), 1);
        assert_eq!(convert(F32, BF16, Mode::NearestEven, 0x3f80_8000), 0x3f80);
        assert_eq!(convert(F32, BF16, Mode::NearestEven, 0x3f81_8000), 0x3f82);
        assert_eq!(convert(F16, F32, Mode::NearestEven, 1), u64::from(2f32.powi(-24).to_bits()));
        assert_eq!(add(F16, Mode::NearestEven, 0x3c00, 0x3c00), 0x4000);
        assert_eq!(fma(F16, Mode::NearestEven, 0x7bff, 0x4000, 0xfbff), 0x7bff);
    }

    #[test]
    fn integers() {
        let half = 2.5f64.to_bits();
        assert_eq!(to_int(F64, Mode::NearestEven, half), Some(2));
        assert_eq!(to_int(F64, Mode::Up, half), Some(3));
        assert_eq!(to_int(F64, Mode::Zero, (-2.9f64).to_bits()), Some(-2));
        assert_eq!(to_int(F64, Mode::Down, (-2.1f64).to_bits()), Some(-3));
        assert_eq!(to_int(F64, Mode::NearestEven, f64::NAN.to_bits()), None);
        assert_eq!(to_int(F64, Mode::NearestEven, 1e300f64.to_bits()), Some(i128::MAX));
        assert_eq!(to_int(F64, Mode::NearestEven, 1e-300f64.to_bits()), Some(0));
        assert_eq!(to_int(F64, Mode::Up, 1e-300f64.to_bits()), Some(1));
        assert_eq!(
            to_integral(F32, Mode::Up, u64::from(0.1f32.to_bits())),
            u64::from(1f32.to_bits())
        );
    }
}
