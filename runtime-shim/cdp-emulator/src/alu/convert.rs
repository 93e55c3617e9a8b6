//! `cvt` between all pairs of types. Definition: PTX ISA, "cvt".
//!
//! The common conversions have operations of their own; every other one goes through [`Cvt32To32`] or its kin, a
//! single exact routine that is told the types and modifiers in `imm`.

use cdp_ptx::ScalarType;

use super::float::ftz;
use super::{heavy_op, op, select};
use crate::code::Alu;
use crate::float::soft::{self, Format, Mode};

/// A conversion, as decoded.
#[derive(Clone, Copy, Debug)]
pub struct Conversion {
    /// Destination type.
    pub dst: ScalarType,
    /// Source type.
    pub src: ScalarType,
    /// Rounding.
    pub mode: Mode,
    /// Round to an integral value (`.rni` and the like between floating types).
    pub integral: bool,
    /// `.ftz`
    pub ftz: bool,
    /// `.sat`
    pub sat: bool,
    /// `.relu`
    pub relu: bool,
    /// `.satfinite`
    pub satfinite: bool,
    /// The destination register has 64 bits.
    pub dst_wide: bool,
    /// The destination register has 16 bits.
    pub dst_half: bool,
    /// The source register has 64 bits.
    pub src_wide: bool,
}

/// Types in the order of their number in `imm`.
const TYPES: [ScalarType; 17] = [
    ScalarType::U8,
    ScalarType::S8,
    ScalarType::U16,
    ScalarType::S16,
    ScalarType::U32,
    ScalarType::S32,
    ScalarType::U64,
    ScalarType::S64,
    ScalarType::F16,
    ScalarType::BF16,
    ScalarType::F32,
    ScalarType::F64,
    ScalarType::TF32,
    ScalarType::B8,
    ScalarType::B16,
    ScalarType::B32,
    ScalarType::B64,
];

fn format_of(ty: ScalarType) -> Option<Format> {
    match ty {
        ScalarType::F16 => Some(soft::F16),
        ScalarType::BF16 => Some(soft::BF16),
        ScalarType::F32 => Some(soft::F32),
        ScalarType::F64 => Some(soft::F64),
        ScalarType::TF32 => Some(soft::TF32),
        _ => None,
    }
}

impl Conversion {
    fn imm(&self) -> Option<u32> {
        let index = |ty| TYPES.iter().position(|&t| t == ty).map(|i| i as u32);
        let mode = super::float::soft_flags(self.mode, self.ftz, self.sat);
        Some(
            mode | u32::from(self.integral) << 5
                | u32::from(self.relu) << 6
                | u32::from(self.satfinite) << 7
                | u32::from(self.dst_wide) << 8
                | index(self.src)? << 9
                | index(self.dst)? << 14
                | u32::from(self.dst_half) << 19,
        )
    }

    fn from_imm(imm: u32) -> Conversion {
        Conversion {
            dst: TYPES[(imm >> 14 & 31) as usize % TYPES.len()],
            src: TYPES[(imm >> 9 & 31) as usize % TYPES.len()],
            mode: super::float::soft_mode(imm),
            integral: imm & 32 != 0,
            ftz: imm & 8 != 0,
            sat: imm & 16 != 0,
            relu: imm & 64 != 0,
            satfinite: imm & 128 != 0,
            dst_wide: imm & 256 != 0,
            dst_half: imm & 1 << 19 != 0,
            src_wide: false,
        }
    }

    /// The warp-wide operation and its `imm`; `None` for types that `cvt` does not take.
    pub fn select(&self) -> Option<(Alu, u32)> {
        use ScalarType as T;
        let plain = !self.sat && !self.relu && !self.satfinite;
        let nearest = self.mode == Mode::NearestEven;
        let chop = self.mode == Mode::Zero;
        let fast = match (self.src, self.dst) {
            (T::U32, T::U64 | T::S64) if plain && self.dst_wide && !self.src_wide => {
                Some(select::<U32To64>())
            }
            (T::S32, T::U64 | T::S64) if plain && self.dst_wide && !self.src_wide => {
                Some(select::<S32To64>())
            }
            (T::U64 | T::S64, T::U32 | T::S32) if plain && !self.dst_wide => {
                Some(select::<super::bits::Lo64>())
            }
            (T::S32, T::F32) if plain && nearest && !self.src_wide => Some(select::<S32ToF32>()),
            (T::U32, T::F32) if plain && nearest && !self.src_wide => Some(select::<U32ToF32>()),
            (T::S32, T::F64) if plain && !self.src_wide => Some(select::<S32ToF64>()),
            (T::U32, T::F64) if plain && !self.src_wide => Some(select::<U32ToF64>()),
            (T::S64, T::F64) if plain && nearest => Some(select::<S64ToF64>()),
            (T::U64, T::F64) if plain && nearest => Some(select::<U64ToF64>()),
            (T::S64, T::F32) if plain && nearest => Some(select::<S64ToF32>()),
            (T::U64, T::F32) if plain && nearest => Some(select::<U64ToF32>()),
            (T::F32, T::S32) if chop && !self.dst_wide => Some(select::<F32ToS32>()),
            (T::F32, T::U32) if chop && !self.dst_wide => Some(select::<F32ToU32>()),
            (T::F64, T::S32) if chop && !self.dst_wide && !self.ftz => Some(select::<F64ToS32>()),
            (T::F64, T::U32) if chop && !self.dst_wide && !self.ftz => Some(select::<F64ToU32>()),
            (T::F32, T::F64) if plain && !self.ftz && !self.integral => Some(select::<F32ToF64>()),
            (T::F64, T::F32) if plain && nearest && !self.ftz && !self.integral => {
                Some(select::<F64ToF32>())
            }
            (T::F64, T::F32) if plain && nearest && self.ftz && !self.integral => {
                Some(select::<F64ToF32Ftz>())
            }
            _ => None,
        };
        let imm = self.imm()?;
        if let Some(function) = fast {
            return Some((function, imm));
        }
        let function = match (self.src_wide, self.dst_wide) {
            (false, false) => select::<Cvt32To32>(),
            (false, true) => select::<Cvt32To64>(),
            (true, false) => select::<Cvt64To32>(),
            (true, true) => select::<Cvt64To64>(),
        };
        Some((function, imm))
    }

    /// The general conversion of the bits of one register. The result fills the register: integers
    /// are extended by the signedness of the destination type.
    pub fn run(&self, register: u64) -> u64 {
        let bits = register & low_mask(self.src.bits());
        let result = match (format_of(self.src), format_of(self.dst)) {
            (None, None) => return self.int_to_int(bits),
            (None, Some(to)) => {
                let value = soft::from_int(to, self.mode, as_integer(self.src, bits));
                self.finish_float(to, value)
            }
            (Some(from), None) => return self.float_to_int(from, bits),
            (Some(from), Some(to)) => self.float_to_float(from, to, bits),
        };
        if self.dst == ScalarType::TF32 { result << 13 } else { result }
    }

    fn int_to_int(&self, bits: u64) -> u64 {
        let mut value = as_integer(self.src, bits);
        if self.sat {
            let (low, high) = int_range(self.dst);
            value = value.clamp(low, high);
        }
        self.extend(value as u64)
    }

    fn extend(&self, value: u64) -> u64 {
        let value = value & low_mask(self.dst.bits());
        let wide = as_integer(self.dst, value) as u64;
        if self.dst_wide {
            wide
        } else if self.dst_half {
            // 16-bit registers are kept zero-extended.
            wide & 0xffff
        } else {
            wide & 0xffff_ffff
        }
    }

    fn float_to_int(&self, from: Format, bits: u64) -> u64 {
        let bits = self.flush_input(from, bits);
        let (low, high) = int_range(self.dst);
        let value = match soft::to_int(from, self.mode, bits) {
            Some(value) => value.clamp(low, high),
            None if from != soft::F64 && self.dst.bits() < 64 => 0,
            // The integer indefinite value.
            None => return self.extend(1 << (self.dst.bits() - 1)),
        };
        self.extend(value as u64)
    }

    fn flush_input(&self, format: Format, bits: u64) -> u64 {
        let exponent_zero = bits >> format.man_bits & ((1 << format.exp_bits) - 1) == 0;
        let sign = bits & 1 << (format.exp_bits + format.man_bits);
        if self.ftz && format == soft::F32 && exponent_zero { sign } else { bits }
    }

    fn float_to_float(&self, from: Format, to: Format, bits: u64) -> u64 {
        let bits = self.flush_input(from, bits);
        if let Some(nan) = self.nan_payload(from, to, bits) {
            return nan;
        }
        if self.integral {
            let rounded = soft::to_integral(from, self.mode, bits);
            return self.finish_float(to, soft::convert(from, to, Mode::NearestEven, rounded));
        }
        if from == to && from == soft::F64 && !self.sat {
            return bits;
        }
        if self.dst == ScalarType::TF32 {
            let value = soft::convert(from, to, self.mode, bits);
            return self.finish_float(to, value);
        }
        self.finish_float(to, soft::convert(from, to, self.mode, bits))
    }

    /// What becomes of a NaN in the conversions that hand its payload on (H200): between `.f64` and
    /// narrower formats, from `.bf16`, and to `.tf32`.
    fn nan_payload(&self, from: Format, to: Format, bits: u64) -> Option<u64> {
        let magnitude = bits & ((1 << (from.exp_bits + from.man_bits)) - 1);
        if magnitude <= from.infinity() || self.sat || self.relu {
            return None;
        }
        if self.ftz && from == soft::F32 {
            // The flush makes it canonical first.
            return (to == soft::F64).then_some(0x7fff_ffff_e000_0000);
        }
        let payload = from == soft::F64
            || to == soft::F64
            || self.src == ScalarType::BF16 && to == soft::F32
            || self.dst == ScalarType::TF32;
        if !payload {
            return None;
        }
        let fraction = bits & ((1 << from.man_bits) - 1);
        let moved = if to.man_bits >= from.man_bits {
            fraction << (to.man_bits - from.man_bits)
        } else {
            fraction >> (from.man_bits - to.man_bits)
        };
        let sign = u64::from(bits != magnitude) << (to.exp_bits + to.man_bits);
        let as_is = from == to || self.src == ScalarType::BF16 || self.dst == ScalarType::TF32;
        let quiet = if as_is && moved != 0 { 0 } else { 1 << (to.man_bits - 1) };
        Some(sign | to.infinity() | moved | quiet)
    }

    fn finish_float(&self, to: Format, value: u64) -> u64 {
        let sign_bit = 1u64 << (to.exp_bits + to.man_bits);
        let (magnitude, negative) = (value & (sign_bit - 1), value & sign_bit != 0);
        let nan = magnitude > to.infinity();
        let mut value = if nan { to.nan } else { value };
        if self.satfinite && !nan && magnitude >= to.infinity() {
            value = (to.infinity() - 1) | (value & sign_bit);
        }
        if self.relu && !nan && negative {
            value = 0;
        }
        if self.sat {
            let one = soft::from_int(to, Mode::NearestEven, 1);
            value = if nan || negative { 0 } else { value.min(one) };
        }
        self.flush_input(to, value)
    }
}

fn low_mask(bits: u32) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

/// The integer that the low bits of a register mean.
fn as_integer(ty: ScalarType, bits: u64) -> i128 {
    if ty.is_signed() {
        let shift = 64 - ty.bits();
        i128::from((bits << shift) as i64 >> shift)
    } else {
        i128::from(bits & low_mask(ty.bits()))
    }
}

fn int_range(ty: ScalarType) -> (i128, i128) {
    let bits = ty.bits();
    if ty.is_signed() { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) }
}

fn f(bits: u32) -> f32 {
    f32::from_bits(bits)
}

/// `imm` bit 3 is `.ftz`, which changes no truncation.
#[inline(always)]
fn chop32(bits: u32) -> f32 {
    f32::from_bits(bits)
}

op! {
    U32To64: (W32, W0, W0) -> W64 = |a, _, _, _| u64::from(a);
    S32To64: (W32, W0, W0) -> W64 = |a, _, _, _| a as i32 as i64 as u64;
    S32ToF32: (W32, W0, W0) -> W32 = |a, _, _, _| (a as i32 as f32).to_bits();
    U32ToF32: (W32, W0, W0) -> W32 = |a, _, _, _| (a as f32).to_bits();
    S32ToF64: (W32, W0, W0) -> W64 = |a, _, _, _| f64::from(a as i32).to_bits();
    U32ToF64: (W32, W0, W0) -> W64 = |a, _, _, _| f64::from(a).to_bits();
    S64ToF64: (W64, W0, W0) -> W64 = |a, _, _, _| (a as i64 as f64).to_bits();
    U64ToF64: (W64, W0, W0) -> W64 = |a, _, _, _| (a as f64).to_bits();
    S64ToF32: (W64, W0, W0) -> W32 = |a, _, _, _| (a as i64 as f32).to_bits();
    U64ToF32: (W64, W0, W0) -> W32 = |a, _, _, _| (a as f32).to_bits();
    F32ToS32: (W32, W0, W0) -> W32 = |a, _, _, _| chop32(a) as i32 as u32;
    F32ToU32: (W32, W0, W0) -> W32 = |a, _, _, _| chop32(a) as u32;
    F64ToS32: (W64, W0, W0) -> W32 = |a, _, _, _| {
        let value = f64::from_bits(a);
        if value.is_nan() { 0x8000_0000 } else { value as i32 as u32 }
    };
    F64ToU32: (W64, W0, W0) -> W32 = |a, _, _, _| {
        let value = f64::from_bits(a);
        if value.is_nan() { 0x8000_0000 } else { value as u32 }
    };
    F32ToF64: (W32, W0, W0) -> W64 = |a, _, _, _| f64::from(f(a)).to_bits();
    F64ToF32: (W64, W0, W0) -> W32 = |a, _, _, _| (f64::from_bits(a) as f32).to_bits();
    F64ToF32Ftz: (W64, W0, W0) -> W32 = |a, _, _, _| ftz::<true>((f64::from_bits(a) as f32).to_bits());
}

heavy_op! {
    Cvt32To32: (W32, W0, W0) -> W32 = |a, _, _, i| Conversion::from_imm(i).run(u64::from(a)) as u32;
    Cvt32To64: (W32, W0, W0) -> W64 = |a, _, _, i| Conversion::from_imm(i).run(u64::from(a));
    Cvt64To32: (W64, W0, W0) -> W32 = |a, _, _, i| Conversion::from_imm(i).run(a) as u32;
    Cvt64To64: (W64, W0, W0) -> W64 = |a, _, _, i| Conversion::from_imm(i).run(a);
    /// `cvt.rn.f16x2.f32`: `imm` is that of the conversion of one value.
    PackHalf: (W32, W32, W0) -> W32 = |a, b, _, i| {
        let conversion = Conversion::from_imm(i);
        (conversion.run(u64::from(a)) as u32) << 16 | (conversion.run(u64::from(b)) as u32 & 0xffff)
    };
    /// `cvt.pack.sat`: `imm` = bits of the result | signed << 8 | source signed << 9 | has c << 10.
    PackSat: (W32, W32, W32) -> W32 = |a, b, c, i| {
        let (bits, signed) = (i & 0xff, i & 0x100 != 0);
        let source = |v: u32| if i & 0x200 != 0 { i64::from(v as i32) } else { i64::from(v) };
        let (low, high) = if signed { (-(1i64 << (bits - 1)), (1i64 << (bits - 1)) - 1) } else { (0, (1i64 << bits) - 1) };
        let part = |v: u32| source(v).clamp(low, high) as u32 & low_mask(bits) as u32;
        let pair = part(a) << bits | part(b);
        if i & 0x400 != 0 { c << (2 * bits) | pair } else { pair }
    };
}

/// The `imm` of [`PackHalf`].
pub fn pack_half_imm(conversion: &Conversion) -> Option<u32> {
    conversion.imm()
}

#[cfg(test)]
mod tests {
    use super::*;
    use cdp_ptx::ScalarType as T;

    fn conversion(src: T, dst: T, mode: Mode) -> Conversion {
        Conversion {
            dst,
            src,
            mode,
            integral: false,
            ftz: false,
            sat: false,
            relu: false,
            satfinite: false,
            dst_wide: dst.bits() == 64,
            dst_half: false,
            src_wide: src.bits() == 64,
        }
    }

    #[test]
    fn integers() {
        assert_eq!(conversion(T::S8, T::S32, Mode::Zero).run(0xff), 0xffff_ffff);
        assert_eq!(conversion(T::U8, T::S32, Mode::Zero).run(0x1ff), 0xff);
        assert_eq!(conversion(T::S32, T::S64, Mode::Zero).run(0xffff_fffe), u64::MAX - 1);
        assert_eq!(conversion(T::S32, T::U16, Mode::Zero).run(0xffff_fffe), 0xfffe);
        let sat = Conversion { sat: true, ..conversion(T::S32, T::U8, Mode::Zero) };
        assert_eq!(sat.run(0xffff_fffe), 0);
        assert_eq!(sat.run(300), 255);
        // A wider register receives the sign of the destination type.
        assert_eq!(conversion(T::S32, T::S8, Mode::Zero).run(0x80), 0xffff_ff80);
        assert_eq!(conversion(T::S8, T::S16, Mode::Zero).run(0xc2), 0xffff_ffc2);
        assert_eq!(conversion(T::S32, T::S16, Mode::Zero).run(0x1_8000), 0xffff_8000);
        assert_eq!(conversion(T::S32, T::U16, Mode::Zero).run(0xffff_8000), 0x8000);
        let half = Conversion { dst_half: true, ..conversion(T::S8, T::S16, Mode::Zero) };
        assert_eq!(half.run(0xc2), 0xffc2);
    }

    #[test]
    fn floats_to_integers() {
        let run = |src, dst, mode, value: u64| conversion(src, dst, mode).run(value);
        let single = |v: f32| u64::from(v.to_bits());
        assert_eq!(run(T::F32, T::S32, Mode::Zero, single(-2.7)), 0xffff_fffe);
        assert_eq!(run(T::F32, T::S32, Mode::NearestEven, single(2.5)), 2);
        assert_eq!(run(T::F32, T::S32, Mode::Zero, single(1e20)), 0x7fff_ffff);
        assert_eq!(run(T::F32, T::U32, Mode::Zero, single(-1.0)), 0);
        assert_eq!(run(T::F32, T::S32, Mode::Zero, single(f32::NAN)), 0);
        assert_eq!(run(T::F64, T::S32, Mode::Zero, f64::NAN.to_bits()), 0x8000_0000);
        assert_eq!(run(T::F32, T::S64, Mode::Zero, single(f32::NAN)), 1 << 63);
        assert_eq!(run(T::F32, T::U8, Mode::Zero, single(300.0)), 255);
        assert_eq!(run(T::F32, T::S16, Mode::Zero, single(-3.5)), 0xffff_fffd);
        assert_eq!(run(T::F32, T::S8, Mode::Zero, single(-3.5)), 0xffff_fffd);
    }

    #[test]
    fn floats_to_floats() {
        let integral = Conversion { integral: true, ..conversion(T::F32, T::F32, Mode::Down) };
        assert_eq!(integral.run(u64::from((-1.5f32).to_bits())), u64::from((-2f32).to_bits()));
        let sat = Conversion { sat: true, ..conversion(T::F32, T::F32, Mode::NearestEven) };
        assert_eq!(sat.run(u64::from(7f32.to_bits())), u64::from(1f32.to_bits()));
        assert_eq!(conversion(T::F64, T::F32, Mode::Up).run(0.1f64.to_bits()), 0x3dcc_cccd);
        assert_eq!(conversion(T::F64, T::F32, Mode::Zero).run(0.1f64.to_bits()), 0x3dcc_cccc);
        let tf32 = conversion(T::F32, T::TF32, Mode::NearestAway);
        assert_eq!(tf32.run(0x3f80_1000), 0x3f80_2000);
    }
}
