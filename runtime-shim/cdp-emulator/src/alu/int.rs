//! Integer arithmetic, logic and shifts. 16-bit values live zero-extended in 32-bit rows.
//! Definitions: PTX ISA, "Integer Arithmetic Instructions", "Logic and Shift Instructions".

use super::op;

/// Sign-extends the low 16 bits.
#[inline(always)]
fn s16(a: u32) -> i32 {
    a as u16 as i16 as i32
}
/// Keeps the low 16 bits.
#[inline(always)]
fn h(a: i32) -> u32 {
    a as u16 as u32
}

op! {
    Mov32: (W32, W0, W0) -> W32 = |a, _, _, _| a;
    Mov64: (W64, W0, W0) -> W64 = |a, _, _, _| a;
    /// Moves into a row that holds 16-bit values.
    Mov16: (W32, W0, W0) -> W32 = |a, _, _, _| a & 0xffff;

    Add16: (W32, W32, W0) -> W32 = |a, b, _, _| a.wrapping_add(b) & 0xffff;
    Add32: (W32, W32, W0) -> W32 = |a, b, _, _| a.wrapping_add(b);
    Add64: (W64, W64, W0) -> W64 = |a, b, _, _| a.wrapping_add(b);
    AddSat32: (W32, W32, W0) -> W32 = |a, b, _, _| (a as i32).saturating_add(b as i32) as u32;
    Sub16: (W32, W32, W0) -> W32 = |a, b, _, _| a.wrapping_sub(b) & 0xffff;
    Sub32: (W32, W32, W0) -> W32 = |a, b, _, _| a.wrapping_sub(b);
    Sub64: (W64, W64, W0) -> W64 = |a, b, _, _| a.wrapping_sub(b);
    SubSat32: (W32, W32, W0) -> W32 = |a, b, _, _| (a as i32).saturating_sub(b as i32) as u32;
    Add16x2: (W32, W32, W0) -> W32 = |a, b, _, _| {
        (a.wrapping_add(b) & 0xffff) | ((a >> 16).wrapping_add(b >> 16) << 16)
    };

    MulLo16: (W32, W32, W0) -> W32 = |a, b, _, _| a.wrapping_mul(b) & 0xffff;
    MulLo32: (W32, W32, W0) -> W32 = |a, b, _, _| a.wrapping_mul(b);
    MulLo64: (W64, W64, W0) -> W64 = |a, b, _, _| a.wrapping_mul(b);
    MulHiU16: (W32, W32, W0) -> W32 = |a, b, _, _| (a & 0xffff).wrapping_mul(b & 0xffff) >> 16;
    MulHiS16: (W32, W32, W0) -> W32 = |a, b, _, _| h(s16(a).wrapping_mul(s16(b)) >> 16);
    MulHiU32: (W32, W32, W0) -> W32 = |a, b, _, _| ((u64::from(a) * u64::from(b)) >> 32) as u32;
    MulHiS32: (W32, W32, W0) -> W32 = |a, b, _, _| ((i64::from(a as i32) * i64::from(b as i32)) >> 32) as u32;
    MulHiU64: (W64, W64, W0) -> W64 = |a, b, _, _| ((u128::from(a) * u128::from(b)) >> 64) as u64;
    MulHiS64: (W64, W64, W0) -> W64 = |a, b, _, _| ((i128::from(a as i64) * i128::from(b as i64)) >> 64) as u64;
    MulWideU16: (W32, W32, W0) -> W32 = |a, b, _, _| (a & 0xffff).wrapping_mul(b & 0xffff);
    MulWideS16: (W32, W32, W0) -> W32 = |a, b, _, _| s16(a).wrapping_mul(s16(b)) as u32;
    MulWideU32: (W32, W32, W0) -> W64 = |a, b, _, _| u64::from(a) * u64::from(b);
    MulWideS32: (W32, W32, W0) -> W64 = |a, b, _, _| (i64::from(a as i32) * i64::from(b as i32)) as u64;

    MadLo16: (W32, W32, W32) -> W32 = |a, b, c, _| a.wrapping_mul(b).wrapping_add(c) & 0xffff;
    MadLo32: (W32, W32, W32) -> W32 = |a, b, c, _| a.wrapping_mul(b).wrapping_add(c);
    MadLo64: (W64, W64, W64) -> W64 = |a, b, c, _| a.wrapping_mul(b).wrapping_add(c);
    MadHiU16: (W32, W32, W32) -> W32 = |a, b, c, _| ((a & 0xffff).wrapping_mul(b & 0xffff) >> 16).wrapping_add(c) & 0xffff;
    MadHiS16: (W32, W32, W32) -> W32 = |a, b, c, _| h((s16(a).wrapping_mul(s16(b)) >> 16).wrapping_add(c as i32));
    MadHiU32: (W32, W32, W32) -> W32 = |a, b, c, _| (((u64::from(a) * u64::from(b)) >> 32) as u32).wrapping_add(c);
    MadHiS32: (W32, W32, W32) -> W32 = |a, b, c, _| (((i64::from(a as i32) * i64::from(b as i32)) >> 32) as u32).wrapping_add(c);
    MadHiSatS32: (W32, W32, W32) -> W32 = |a, b, c, _| {
        (((i64::from(a as i32) * i64::from(b as i32)) >> 32) as i32).saturating_add(c as i32) as u32
    };
    MadHiU64: (W64, W64, W64) -> W64 = |a, b, c, _| (((u128::from(a) * u128::from(b)) >> 64) as u64).wrapping_add(c);
    MadHiS64: (W64, W64, W64) -> W64 = |a, b, c, _| (((i128::from(a as i64) * i128::from(b as i64)) >> 64) as u64).wrapping_add(c);
    MadWideU16: (W32, W32, W32) -> W32 = |a, b, c, _| (a & 0xffff).wrapping_mul(b & 0xffff).wrapping_add(c);
    MadWideS16: (W32, W32, W32) -> W32 = |a, b, c, _| (s16(a).wrapping_mul(s16(b)) as u32).wrapping_add(c);
    MadWideU32: (W32, W32, W64) -> W64 = |a, b, c, _| (u64::from(a) * u64::from(b)).wrapping_add(c);
    MadWideS32: (W32, W32, W64) -> W64 = |a, b, c, _| ((i64::from(a as i32) * i64::from(b as i32)) as u64).wrapping_add(c);

    MulLo24U: (W32, W32, W0) -> W32 = |a, b, _, _| mul24u(a, b) as u32;
    MulLo24S: (W32, W32, W0) -> W32 = |a, b, _, _| mul24s(a, b) as u32;
    MulHi24U: (W32, W32, W0) -> W32 = |a, b, _, _| (mul24u(a, b) >> 16) as u32;
    MulHi24S: (W32, W32, W0) -> W32 = |a, b, _, _| (mul24s(a, b) >> 16) as u32;
    MadLo24U: (W32, W32, W32) -> W32 = |a, b, c, _| (mul24u(a, b) as u32).wrapping_add(c);
    MadLo24S: (W32, W32, W32) -> W32 = |a, b, c, _| (mul24s(a, b) as u32).wrapping_add(c);
    MadHi24U: (W32, W32, W32) -> W32 = |a, b, c, _| ((mul24u(a, b) >> 16) as u32).wrapping_add(c);
    MadHi24S: (W32, W32, W32) -> W32 = |a, b, c, _| ((mul24s(a, b) >> 16) as u32).wrapping_add(c);
    MadHi24SatS: (W32, W32, W32) -> W32 = |a, b, c, _| ((mul24s(a, b) >> 16) as i32).saturating_add(c as i32) as u32;

    SadU16: (W32, W32, W32) -> W32 = |a, b, c, _| c.wrapping_add((a & 0xffff).abs_diff(b & 0xffff)) & 0xffff;
    SadS16: (W32, W32, W32) -> W32 = |a, b, c, _| c.wrapping_add(s16(a).abs_diff(s16(b))) & 0xffff;
    SadU32: (W32, W32, W32) -> W32 = |a, b, c, _| c.wrapping_add(a.abs_diff(b));
    SadS32: (W32, W32, W32) -> W32 = |a, b, c, _| c.wrapping_add((a as i32).abs_diff(b as i32));
    SadU64: (W64, W64, W64) -> W64 = |a, b, c, _| c.wrapping_add(a.abs_diff(b));
    SadS64: (W64, W64, W64) -> W64 = |a, b, c, _| c.wrapping_add((a as i64).abs_diff(b as i64));

    // Division by zero gives all ones, quotient and remainder, as the hardware does.
    DivU16: (W32, W32, W0) -> W32 = |a, b, _, _| (a & 0xffff).checked_div(b & 0xffff).unwrap_or(0xffff);
    DivS16: (W32, W32, W0) -> W32 = |a, b, _, _| if s16(b) == 0 { 0xffff } else { h(s16(a).wrapping_div(s16(b))) };
    DivU32: (W32, W32, W0) -> W32 = |a, b, _, _| a.checked_div(b).unwrap_or(u32::MAX);
    DivS32: (W32, W32, W0) -> W32 = |a, b, _, _| if b == 0 { u32::MAX } else { (a as i32).wrapping_div(b as i32) as u32 };
    DivU64: (W64, W64, W0) -> W64 = |a, b, _, _| a.checked_div(b).unwrap_or(u64::MAX);
    DivS64: (W64, W64, W0) -> W64 = |a, b, _, _| if b == 0 { u64::MAX } else { (a as i64).wrapping_div(b as i64) as u64 };
    RemU16: (W32, W32, W0) -> W32 = |a, b, _, _| (a & 0xffff).checked_rem(b & 0xffff).unwrap_or(0xffff);
    RemS16: (W32, W32, W0) -> W32 = |a, b, _, _| if s16(b) == 0 { 0xffff } else { h(s16(a).wrapping_rem(s16(b))) };
    RemU32: (W32, W32, W0) -> W32 = |a, b, _, _| a.checked_rem(b).unwrap_or(!0);
    RemS32: (W32, W32, W0) -> W32 = |a, b, _, _| if b == 0 { u32::MAX } else { (a as i32).wrapping_rem(b as i32) as u32 };
    RemU64: (W64, W64, W0) -> W64 = |a, b, _, _| a.checked_rem(b).unwrap_or(!0);
    RemS64: (W64, W64, W0) -> W64 = |a, b, _, _| if b == 0 { u64::MAX } else { (a as i64).wrapping_rem(b as i64) as u64 };

    Abs16: (W32, W0, W0) -> W32 = |a, _, _, _| h(s16(a).wrapping_abs());
    Abs32: (W32, W0, W0) -> W32 = |a, _, _, _| (a as i32).wrapping_abs() as u32;
    Abs64: (W64, W0, W0) -> W64 = |a, _, _, _| (a as i64).wrapping_abs() as u64;
    Neg16: (W32, W0, W0) -> W32 = |a, _, _, _| h(s16(a).wrapping_neg());
    Neg32: (W32, W0, W0) -> W32 = |a, _, _, _| a.wrapping_neg();
    Neg64: (W64, W0, W0) -> W64 = |a, _, _, _| a.wrapping_neg();

    MinU16: (W32, W32, W0) -> W32 = |a, b, _, _| (a & 0xffff).min(b & 0xffff);
    MinS16: (W32, W32, W0) -> W32 = |a, b, _, _| h(s16(a).min(s16(b)));
    MinU32: (W32, W32, W0) -> W32 = |a, b, _, _| a.min(b);
    MinS32: (W32, W32, W0) -> W32 = |a, b, _, _| (a as i32).min(b as i32) as u32;
    MinU64: (W64, W64, W0) -> W64 = |a, b, _, _| a.min(b);
    MinS64: (W64, W64, W0) -> W64 = |a, b, _, _| (a as i64).min(b as i64) as u64;
    MaxU16: (W32, W32, W0) -> W32 = |a, b, _, _| (a & 0xffff).max(b & 0xffff);
    MaxS16: (W32, W32, W0) -> W32 = |a, b, _, _| h(s16(a).max(s16(b)));
    MaxU32: (W32, W32, W0) -> W32 = |a, b, _, _| a.max(b);
    MaxS32: (W32, W32, W0) -> W32 = |a, b, _, _| (a as i32).max(b as i32) as u32;
    MaxU64: (W64, W64, W0) -> W64 = |a, b, _, _| a.max(b);
    MaxS64: (W64, W64, W0) -> W64 = |a, b, _, _| (a as i64).max(b as i64) as u64;
    MinReluS32: (W32, W32, W0) -> W32 = |a, b, _, _| (a as i32).min(b as i32).max(0) as u32;
    MaxReluS32: (W32, W32, W0) -> W32 = |a, b, _, _| (a as i32).max(b as i32).max(0) as u32;
    MinU16x2: (W32, W32, W0) -> W32 = |a, b, _, _| (a & 0xffff).min(b & 0xffff) | (a >> 16).min(b >> 16) << 16;
    MaxU16x2: (W32, W32, W0) -> W32 = |a, b, _, _| (a & 0xffff).max(b & 0xffff) | (a >> 16).max(b >> 16) << 16;
    MinS16x2: (W32, W32, W0) -> W32 = |a, b, _, _| h(s16(a).min(s16(b))) | h(s16(a >> 16).min(s16(b >> 16))) << 16;
    MaxS16x2: (W32, W32, W0) -> W32 = |a, b, _, _| h(s16(a).max(s16(b))) | h(s16(a >> 16).max(s16(b >> 16))) << 16;
    MinReluS16x2: (W32, W32, W0) -> W32 = |a, b, _, _| {
        h(s16(a).min(s16(b)).max(0)) | h(s16(a >> 16).min(s16(b >> 16)).max(0)) << 16
    };
    MaxReluS16x2: (W32, W32, W0) -> W32 = |a, b, _, _| {
        h(s16(a).max(s16(b)).max(0)) | h(s16(a >> 16).max(s16(b >> 16)).max(0)) << 16
    };

    And32: (W32, W32, W0) -> W32 = |a, b, _, _| a & b;
    And64: (W64, W64, W0) -> W64 = |a, b, _, _| a & b;
    Or32: (W32, W32, W0) -> W32 = |a, b, _, _| a | b;
    Or64: (W64, W64, W0) -> W64 = |a, b, _, _| a | b;
    Xor32: (W32, W32, W0) -> W32 = |a, b, _, _| a ^ b;
    Xor64: (W64, W64, W0) -> W64 = |a, b, _, _| a ^ b;
    Not16: (W32, W0, W0) -> W32 = |a, _, _, _| !a & 0xffff;
    Not32: (W32, W0, W0) -> W32 = |a, _, _, _| !a;
    Not64: (W64, W0, W0) -> W64 = |a, _, _, _| !a;
    Cnot16: (W32, W0, W0) -> W32 = |a, _, _, _| u32::from(a & 0xffff == 0);
    Cnot32: (W32, W0, W0) -> W32 = |a, _, _, _| u32::from(a == 0);
    Cnot64: (W64, W0, W0) -> W64 = |a, _, _, _| u64::from(a == 0);
    /// `imm` is the truth table.
    Lop3: (W32, W32, W32) -> W32 = |a, b, c, t| {
        let bit = |n: u32| 0u32.wrapping_sub(t >> n & 1);
        (!a & !b & !c & bit(0)) | (!a & !b & c & bit(1)) | (!a & b & !c & bit(2)) | (!a & b & c & bit(3))
            | (a & !b & !c & bit(4)) | (a & !b & c & bit(5)) | (a & b & !c & bit(6)) | (a & b & c & bit(7))
    };

    Shl16: (W32, W32, W0) -> W32 = |a, n, _, _| if n < 16 { a << n & 0xffff } else { 0 };
    Shl32: (W32, W32, W0) -> W32 = |a, n, _, _| if n < 32 { a << n } else { 0 };
    Shl64: (W64, W32, W0) -> W64 = |a, n, _, _| if n < 64 { a << n } else { 0 };
    ShrU16: (W32, W32, W0) -> W32 = |a, n, _, _| if n < 16 { (a & 0xffff) >> n } else { 0 };
    ShrU32: (W32, W32, W0) -> W32 = |a, n, _, _| if n < 32 { a >> n } else { 0 };
    ShrU64: (W64, W32, W0) -> W64 = |a, n, _, _| if n < 64 { a >> n } else { 0 };
    ShrS16: (W32, W32, W0) -> W32 = |a, n, _, _| h(s16(a) >> n.min(15));
    ShrS32: (W32, W32, W0) -> W32 = |a, n, _, _| ((a as i32) >> n.min(31)) as u32;
    ShrS64: (W64, W32, W0) -> W64 = |a, n, _, _| ((a as i64) >> n.min(63)) as u64;
    ShfLClamp: (W32, W32, W32) -> W32 = |lo, hi, n, _| (((u64::from(hi) << 32 | u64::from(lo)) << n.min(32)) >> 32) as u32;
    ShfLWrap: (W32, W32, W32) -> W32 = |lo, hi, n, _| (((u64::from(hi) << 32 | u64::from(lo)) << (n & 31)) >> 32) as u32;
    ShfRClamp: (W32, W32, W32) -> W32 = |lo, hi, n, _| ((u64::from(hi) << 32 | u64::from(lo)) >> n.min(32)) as u32;
    ShfRWrap: (W32, W32, W32) -> W32 = |lo, hi, n, _| ((u64::from(hi) << 32 | u64::from(lo)) >> (n & 31)) as u32;

    /// `b` is a row of all ones or zero made from the predicate; see `decode`.
    SlctS32: (W32, W32, W32) -> W32 = |a, b, c, _| if c as i32 >= 0 { a } else { b };
    SlctS32W64: (W64, W64, W32) -> W64 = |a, b, c, _| if c as i32 >= 0 { a } else { b };
    // NaN selects b; -0.0 >= 0 holds. `imm` 1 flushes subnormal c.
    SlctF32: (W32, W32, W32) -> W32 = |a, b, c, ftz| if f32::from_bits(flush(c, ftz)) >= 0.0 { a } else { b };
    SlctF32W64: (W64, W64, W32) -> W64 = |a, b, c, ftz| if f32::from_bits(flush(c, ftz)) >= 0.0 { a } else { b };
}

#[inline(always)]
fn flush(bits: u32, ftz: u32) -> u32 {
    if ftz != 0 && bits & 0x7f80_0000 == 0 { bits & 0x8000_0000 } else { bits }
}
#[inline(always)]
fn mul24u(a: u32, b: u32) -> u64 {
    u64::from(a & 0xff_ffff) * u64::from(b & 0xff_ffff)
}
#[inline(always)]
fn mul24s(a: u32, b: u32) -> i64 {
    let extend = |v: u32| i64::from((v << 8) as i32 >> 8);
    extend(a) * extend(b)
}
