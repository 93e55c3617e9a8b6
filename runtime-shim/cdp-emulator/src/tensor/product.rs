//! One element of a product: `c` plus the sum of `a[i] * b[i]`, as the tensor cores of an H200 do it.
//!
//! Floating products are exact. A group of them (16 halves, 8 `.tf32`) and the addend are aligned to
//! the largest exponent among them, cut off two bits below the last bit of a `.f32` with that exponent,
//! added exactly, and the sum is cut off to `.f32`, or rounded to nearest for `.f16`. Products of 8-bit
//! floating types are those of halves, in two groups, and the addend is added afterwards; a warp group
//! (`wgmma`) adds them and the addend up at once, but cuts them off 13 bits below the largest exponent, and the
//! sum to 13 bits behind the first. `.f64` is a chain of fused multiply-adds, each
//! rounded as the instruction says; integers are exact.

use cdp_ptx::matrix::{BitProduct, MatrixType};

use crate::float::soft::{self, Mode};

/// Bits kept below those of a `.f32` when numbers are aligned.
const EXTRA_BITS: i32 = 2;
/// Bits kept below the largest exponent in short sums.
const SHORT_BITS: i32 = 13;

/// How the elements of a product are added up.
#[derive(Clone, Copy, Debug)]
pub struct Summation {
    /// Type of A.
    pub a: MatrixType,
    /// Type of B.
    pub b: MatrixType,
    /// Type of C.
    pub c: MatrixType,
    /// Type of D.
    pub d: MatrixType,
    /// How `.f64` is rounded.
    pub rounding: Mode,
    /// Clamp integers.
    pub satfinite: bool,
    /// For `.b1`.
    pub bits: Option<BitProduct>,
    /// Elements that are added up at once.
    pub group: usize,
    /// 8-bit floating types: the bit of an element's number that says in which half it is added up.
    pub half_bit: usize,
    /// Products of the first tensor cores, which are made of plain instructions.
    pub quad: bool,
    /// 8-bit floating types: the short sums of a warp group.
    pub short: bool,
}

/// A number taken apart.
#[derive(Clone, Copy, Debug)]
enum Number {
    Nan,
    Infinite(bool),
    /// Sign, significand, exponent of its last bit, exponent for aligning.
    Finite(bool, u64, i32, i32),
}

fn parts(ty: MatrixType, bits: u64) -> Number {
    let (exp_bits, man_bits) = match ty {
        MatrixType::F16 => (5, 10),
        MatrixType::BF16 => (8, 7),
        // The last 13 bits of a `.tf32` count for nothing.
        MatrixType::TF32 => return parts_of(8, 10, bits >> 13),
        // Its largest exponent is one like others, but for a single number.
        MatrixType::E4M3 if bits & 0x7f == 0x7f => return Number::Nan,
        MatrixType::E4M3 => {
            let (exponent, fraction) = ((bits >> 3 & 15) as i32, bits & 7);
            let significand = if exponent == 0 { fraction } else { fraction | 8 };
            let place = exponent.max(1) - 7;
            return Number::Finite(bits & 0x80 != 0, significand, place - 3, place);
        }
        MatrixType::E5M2 => (5, 2),
        _ => (8, 23),
    };
    parts_of(exp_bits, man_bits, bits)
}

fn parts_of(exp_bits: u32, man_bits: u32, bits: u64) -> Number {
    let negative = bits >> (exp_bits + man_bits) & 1 != 0;
    let top = (1u64 << exp_bits) - 1;
    let (exponent, fraction) = (bits >> man_bits & top, bits & ((1 << man_bits) - 1));
    if exponent == top {
        return if fraction != 0 { Number::Nan } else { Number::Infinite(negative) };
    }
    let significand = if exponent == 0 { fraction } else { fraction | 1 << man_bits };
    let place = exponent.max(1) as i32 - (top >> 1) as i32;
    Number::Finite(negative, significand, place - man_bits as i32, place)
}

/// The half with the value of an 8-bit floating number: every such number is one.
pub fn half_of_byte(ty: MatrixType, byte: u32) -> u32 {
    let (sign, rest) = (byte >> 7 & 1, byte & 0x7f);
    if ty == MatrixType::E5M2 {
        let nan = rest > 0x7c;
        return sign << 15 | if nan { 0x7fff } else { rest << 8 };
    }
    let (exponent, fraction) = (rest >> 3, rest & 7);
    let magnitude = match (exponent, fraction) {
        (15, 7) => 0x7fff,
        (0, 0) => 0,
        (0, fraction) => {
            // The highest bit becomes the hidden one.
            let high = 31 - fraction.leading_zeros();
            (high + 6) << 10 | (fraction << (10 - high) & 0x3ff)
        }
        _ => (exponent + 8) << 10 | fraction << 7,
    };
    sign << 15 | magnitude
}

/// Adds up one group of products, of numbers of two types, and an addend.
fn group_sum(
    (a_ty, b_ty): (MatrixType, MatrixType),
    pairs: &[(u64, u64)],
    c_ty: MatrixType,
    c: u64,
    d: MatrixType,
    short: bool,
) -> u64 {
    let (mut nan, mut infinite) = (false, [false; 2]);
    let mut terms = [(false, 0u64, 0i32); 65];
    let mut count = 0;
    let mut highest = i32::MIN;
    let mut add = |negative: bool, significand: u64, last: i32, place: i32| {
        if significand != 0 {
            highest = highest.max(place);
            terms[count] = (negative, significand, last);
            count += 1;
        }
    };
    match parts(c_ty, c) {
        Number::Nan => nan = true,
        Number::Infinite(negative) => infinite[usize::from(negative)] = true,
        Number::Finite(negative, significand, last, place) => {
            add(negative, significand, last, place)
        }
    }
    for &(a, b) in pairs {
        match (parts(a_ty, a), parts(b_ty, b)) {
            (Number::Nan, _) | (_, Number::Nan) => nan = true,
            (Number::Infinite(x), Number::Infinite(y)) => infinite[usize::from(x != y)] = true,
            (Number::Infinite(x), Number::Finite(y, significand, ..))
            | (Number::Finite(y, significand, ..), Number::Infinite(x)) => {
                nan |= significand == 0;
                infinite[usize::from(x != y)] = true;
            }
            (Number::Finite(x, m, last, place), Number::Finite(y, n, last2, place2)) => {
                add(x != y, m * n, last + last2, place + place2);
            }
        }
    }
    let (exp_bits, man_bits) = if d == MatrixType::F16 { (5, 10) } else { (8, 23) };
    let infinity = ((1u64 << exp_bits) - 1) << man_bits;
    let sign = 1u64 << (exp_bits + man_bits);
    if nan || infinite == [true; 2] {
        return sign - 1;
    }
    if infinite != [false; 2] {
        return infinity | if infinite[1] { sign } else { 0 };
    }
    if count == 0 {
        return 0;
    }
    let last = highest - if short { SHORT_BITS } else { 23 + EXTRA_BITS };
    let mut sum = 0i64;
    for &(negative, significand, at) in &terms[..count] {
        let up = at - last;
        let aligned = if up >= 0 {
            significand << up.min(40)
        } else {
            significand.checked_shr(up.unsigned_abs()).unwrap_or(0)
        };
        sum += if negative { -(aligned as i64) } else { aligned as i64 };
    }
    let magnitude = sum.unsigned_abs();
    let encoded = match (short, d) {
        (true, MatrixType::F32) => {
            encode(magnitude, last, exp_bits, SHORT_BITS as u32, false) << (23 - SHORT_BITS)
        }
        _ => encode(magnitude, last, exp_bits, man_bits, d == MatrixType::F16),
    };
    encoded | if sum < 0 { sign } else { 0 }
}

/// The bits of `value * 2^last`, cut off or rounded to nearest even.
fn encode(value: u64, last: i32, exp_bits: u32, man_bits: u32, nearest: bool) -> u64 {
    if value == 0 {
        return 0;
    }
    let bias = (1i32 << (exp_bits - 1)) - 1;
    let highest = 63 - value.leading_zeros() as i32 + last;
    let mut ulp = (highest - man_bits as i32).max(1 - bias - man_bits as i32);
    let shift = ulp - last;
    let mut kept = if shift <= 0 {
        value << shift.unsigned_abs().min(63)
    } else {
        let lost = if shift < 64 { value & ((1 << shift) - 1) } else { value };
        let kept = value.checked_shr(shift as u32).unwrap_or(0);
        let half = if shift < 64 { 1u64 << (shift - 1) } else { u64::MAX };
        kept + u64::from(nearest && (lost > half || lost == half && kept & 1 != 0))
    };
    if kept >= 2 << man_bits {
        kept >>= 1;
        ulp += 1;
    }
    if kept < 1 << man_bits {
        return kept;
    }
    let exponent = ulp + man_bits as i32 + bias;
    let top = (1i32 << exp_bits) - 1;
    if exponent >= top {
        return (top as u64) << man_bits;
    }
    (exponent as u64) << man_bits | (kept & ((1 << man_bits) - 1))
}

fn quiet(value: f32) -> u64 {
    u64::from(if value.is_nan() { 0x7fff_ffff } else { value.to_bits() })
}

fn single(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}

/// A half as `.f32`.
fn widen(half: u64) -> f32 {
    single(soft::convert(soft::F16, soft::F32, soft::Mode::NearestEven, half))
}

/// A `.f32` as half.
fn narrow(value: u64) -> u64 {
    let half = soft::convert(soft::F32, soft::F16, soft::Mode::NearestEven, value);
    if half & 0x7fff > 0x7c00 { 0x7fff } else { half }
}

/// The sum of two halves.
fn add_halves(a: u64, b: u64) -> u64 {
    narrow(quiet(widen(a) + widen(b)))
}

impl Summation {
    /// One element of D. `a` and `b` hold as many elements.
    pub fn element(&self, a: &[u64], b: &[u64], c: u64) -> u64 {
        use MatrixType as T;
        match self.a {
            T::S8 | T::U8 | T::S4 | T::U4 | T::B1 => self.integer(a, b, c),
            T::F64 => a.iter().zip(b).fold(c, |sum, (x, y)| self.multiply_add(*x, *y, sum)),
            T::E4M3 | T::E5M2 => self.bytes(a, b, c),
            _ if self.quad => self.quad(a, b, c),
            _ => {
                let mut pairs = [(0, 0); 64];
                for (pair, (x, y)) in pairs.iter_mut().zip(a.iter().zip(b)) {
                    *pair = (*x, *y);
                }
                let pairs = &pairs[..a.len().min(64)];
                // The sum is a `.f32` unless both ends are halves.
                let sum_ty = if self.c == T::F16 && self.d == T::F16 { T::F16 } else { T::F32 };
                let mut sum = c;
                let mut ty = self.c;
                for group in pairs.chunks(self.group.max(1)) {
                    sum = group_sum((self.a, self.a), group, ty, sum, sum_ty, false);
                    ty = sum_ty;
                }
                if self.d == T::F16 && sum_ty == T::F32 { narrow(sum) } else { sum }
            }
        }
    }

    /// `x * y + sum` in `.f64`. Which NaN comes out does not depend on the rounding.
    fn multiply_add(&self, x: u64, y: u64, sum: u64) -> u64 {
        let nearest = f64::from_bits(x).mul_add(f64::from_bits(y), f64::from_bits(sum));
        if self.rounding == Mode::NearestEven || nearest.is_nan() {
            return nearest.to_bits();
        }
        soft::fma(soft::F64, self.rounding, x, y, sum)
    }

    fn integer(&self, a: &[u64], b: &[u64], c: u64) -> u64 {
        use MatrixType as T;
        let value = |ty: T, bits: u64| match ty {
            T::S8 => i64::from(bits as u8 as i8),
            T::S4 => (bits << 60) as i64 >> 60,
            _ => bits as i64,
        };
        let mut sum = i64::from(c as u32 as i32);
        for (&x, &y) in a.iter().zip(b) {
            sum += match self.bits {
                Some(BitProduct::Xor) => (x ^ y) as i64,
                Some(BitProduct::And) => (x & y) as i64,
                None => value(self.a, x) * value(self.b, y),
            };
        }
        if self.satfinite {
            sum = sum.clamp(i64::from(i32::MIN), i64::from(i32::MAX));
        }
        u64::from(sum as u32)
    }

    /// 8-bit floating types: as halves, those in the lower parts of registers first.
    fn bytes(&self, a: &[u64], b: &[u64], c: u64) -> u64 {
        if self.short {
            let pairs: Vec<(u64, u64)> = a.iter().copied().zip(b.iter().copied()).collect();
            return group_sum(
                (self.a, self.b),
                &pairs[..pairs.len().min(64)],
                self.c,
                c,
                self.d,
                true,
            );
        }
        let half = |ty, bits: u64| u64::from(half_of_byte(ty, bits as u32));
        let mut sum = 0;
        for upper in [0, self.half_bit] {
            let mut pairs = [(0, 0); 64];
            let mut count = 0;
            for (at, (&x, &y)) in a.iter().zip(b).enumerate() {
                if at & self.half_bit == upper && count < pairs.len() {
                    pairs[count] = (half(self.a, x), half(self.b, y));
                    count += 1;
                }
            }
            let halves = (MatrixType::F16, MatrixType::F16);
            sum = group_sum(halves, &pairs[..count], self.d, sum, self.d, false);
        }
        if self.d == MatrixType::F16 { add_halves(sum, c) } else { quiet(single(sum) + single(c)) }
    }

    /// `m8n8k4` of halves: a chain of fused multiply-adds from zero, then the addend.
    fn quad(&self, a: &[u64], b: &[u64], c: u64) -> u64 {
        let chain = a.iter().zip(b).fold(0f32, |sum, (x, y)| widen(*x).mul_add(widen(*y), sum));
        let c = if self.c == MatrixType::F16 { widen(c) } else { single(c) };
        let sum = quiet(chain + c);
        if self.d == MatrixType::F16 { narrow(sum) } else { sum }
    }
}
