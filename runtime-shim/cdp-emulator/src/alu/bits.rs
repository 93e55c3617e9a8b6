//! Counting, finding, reversing, extracting and permuting bits; dot products of packed integers.
//! Definitions: PTX ISA, "Integer Arithmetic Instructions" and "prmt".

use super::op;

op! {
    Popc32: (W32, W0, W0) -> W32 = |a, _, _, _| a.count_ones();
    Popc64: (W64, W0, W0) -> W32 = |a, _, _, _| a.count_ones();
    Clz32: (W32, W0, W0) -> W32 = |a, _, _, _| a.leading_zeros();
    Clz64: (W64, W0, W0) -> W32 = |a, _, _, _| a.leading_zeros();
    BfindU32: (W32, W0, W0) -> W32 = |a, _, _, shift| bfind(u64::from(a), 32, shift);
    BfindS32: (W32, W0, W0) -> W32 = |a, _, _, shift| bfind(u64::from(if (a as i32) < 0 { !a } else { a }), 32, shift);
    BfindU64: (W64, W0, W0) -> W32 = |a, _, _, shift| bfind(a, 64, shift);
    BfindS64: (W64, W0, W0) -> W32 = |a, _, _, shift| bfind(if (a as i64) < 0 { !a } else { a }, 64, shift);
    Brev32: (W32, W0, W0) -> W32 = |a, _, _, _| a.reverse_bits();
    Brev64: (W64, W0, W0) -> W64 = |a, _, _, _| a.reverse_bits();
    BfeU32: (W32, W32, W32) -> W32 = |a, pos, len, _| bfe(u64::from(a), pos, len, 32, false) as u32;
    BfeS32: (W32, W32, W32) -> W32 = |a, pos, len, _| bfe(u64::from(a), pos, len, 32, true) as u32;
    BfeU64: (W64, W32, W32) -> W64 = |a, pos, len, _| bfe(a, pos, len, 64, false);
    BfeS64: (W64, W32, W32) -> W64 = |a, pos, len, _| bfe(a, pos, len, 64, true);
    /// First step of `bfi`: the field's mask from position and length.
    BfiMask32: (W32, W32, W0) -> W32 = |pos, len, _, _| field_mask(pos & 0xff, len & 0xff, 32) as u32;
    BfiMask64: (W32, W32, W0) -> W64 = |pos, len, _, _| field_mask(pos, len, 64);
    /// Second step: the field moved to its place.
    BfiShift32: (W32, W32, W0) -> W32 = |a, pos, _, _| a.checked_shl(pos & 0xff).unwrap_or(0);
    BfiShift64: (W64, W32, W0) -> W64 = |a, pos, _, _| a.checked_shl(pos).unwrap_or(0);
    /// Third step: `a` where the mask `c` is set, else `b`.
    Merge32: (W32, W32, W32) -> W32 = |a, b, c, _| (a & c) | (b & !c);
    Merge64: (W64, W64, W64) -> W64 = |a, b, c, _| (a & c) | (b & !c);
    BmskClamp: (W32, W32, W0) -> W32 = |pos, len, _, _| field_mask(pos, len, 32) as u32;
    BmskWrap: (W32, W32, W0) -> W32 = |pos, len, _, _| field_mask(pos & 31, len & 31, 32) as u32;
    SzextClampU: (W32, W32, W0) -> W32 = |a, n, _, _| szext(a, n.min(32), false);
    SzextClampS: (W32, W32, W0) -> W32 = |a, n, _, _| szext(a, n.min(32), true);
    SzextWrapU: (W32, W32, W0) -> W32 = |a, n, _, _| szext(a, n & 31, false);
    SzextWrapS: (W32, W32, W0) -> W32 = |a, n, _, _| szext(a, n & 31, true);
    Fns: (W32, W32, W32) -> W32 = |mask, base, offset, _| fns(mask, base, offset as i32);
    Prmt: (W32, W32, W32) -> W32 = |a, b, c, _| prmt(a, b, c);
    PrmtF4e: (W32, W32, W32) -> W32 = |a, b, c, _| prmt(a, b, [0x3210, 0x4321, 0x5432, 0x6543][c as usize & 3]);
    PrmtB4e: (W32, W32, W32) -> W32 = |a, b, c, _| prmt(a, b, [0x5670, 0x6701, 0x7012, 0x0123][c as usize & 3]);
    PrmtRc8: (W32, W32, W32) -> W32 = |a, b, c, _| prmt(a, b, 0x1111 * (c & 3));
    PrmtEcl: (W32, W32, W32) -> W32 = |a, b, c, _| prmt(a, b, [0x3210, 0x3211, 0x3222, 0x3333][c as usize & 3]);
    PrmtEcr: (W32, W32, W32) -> W32 = |a, b, c, _| prmt(a, b, [0x0000, 0x1110, 0x2210, 0x3210][c as usize & 3]);
    PrmtRc16: (W32, W32, W32) -> W32 = |a, b, c, _| prmt(a, b, [0x1010, 0x3232, 0x1010, 0x3232][c as usize & 3]);
    /// `imm` bit 0: `a` is signed; bit 1: `b` is signed.
    Dp4a: (W32, W32, W32) -> W32 = |a, b, c, signs| {
        let part = |v: u32, i: u32, signed: bool| {
            let byte = (v >> (8 * i)) as u8;
            if signed { i32::from(byte as i8) } else { i32::from(byte) }
        };
        let mut sum = c;
        for i in 0..4 {
            let product = part(a, i, signs & 1 != 0) * part(b, i, signs & 2 != 0);
            sum = sum.wrapping_add(product as u32);
        }
        sum
    };
    /// As [`Dp4a`]; `imm` bit 2: the upper two bytes of `b`.
    Dp2a: (W32, W32, W32) -> W32 = |a, b, c, signs| {
        let b = if signs & 4 != 0 { b >> 16 } else { b };
        let mut sum = c;
        for i in 0..2 {
            let half = (a >> (16 * i)) as u16;
            let x = if signs & 1 != 0 { i32::from(half as i16) } else { i32::from(half) };
            let byte = (b >> (8 * i)) as u8;
            let y = if signs & 2 != 0 { i32::from(byte as i8) } else { i32::from(byte) };
            sum = sum.wrapping_add(x.wrapping_mul(y) as u32);
        }
        sum
    };
    Lo64: (W64, W0, W0) -> W32 = |a, _, _, _| a as u32;
    Hi64: (W64, W0, W0) -> W32 = |a, _, _, _| (a >> 32) as u32;
    Pack64: (W32, W32, W0) -> W64 = |a, b, _, _| u64::from(b) << 32 | u64::from(a);
    Pack32: (W32, W32, W0) -> W32 = |a, b, _, _| (a & 0xffff) | b << 16;
    /// `imm`: shift in bits 0..8, width in bits 8..16.
    Extract32: (W32, W0, W0) -> W32 = |a, _, _, imm| (a >> (imm & 31)) & width_mask(imm >> 8);
    Extract64: (W64, W0, W0) -> W32 = |a, _, _, imm| (a >> (imm & 63)) as u32 & width_mask(imm >> 8);
    /// `b` shifted left by `imm` onto `a`.
    Insert32: (W32, W32, W0) -> W32 = |a, b, _, imm| a | b << (imm & 31);
    Insert64: (W64, W32, W0) -> W64 = |a, b, _, imm| a | u64::from(b) << (imm & 63);

    // Carry arithmetic: the carry row holds 0 or 1 in each lane.
    AddCarry32: (W32, W32, W32) -> W32 = |a, b, c, _| a.wrapping_add(b).wrapping_add(c);
    AddCarryOut32: (W32, W32, W32) -> W32 = |a, b, c, _| {
        ((u64::from(a) + u64::from(b) + u64::from(c)) >> 32) as u32
    };
    AddCarry64: (W64, W64, W32) -> W64 = |a, b, c, _| a.wrapping_add(b).wrapping_add(u64::from(c));
    AddCarryOut64: (W64, W64, W32) -> W32 = |a, b, c, _| {
        ((u128::from(a) + u128::from(b) + u128::from(c)) >> 64) as u32
    };
    // Subtraction is addition of the complement: the carry is 1 if nothing was borrowed (H200).
    SubCarry32: (W32, W32, W32) -> W32 = |a, b, c, _| a.wrapping_add(!b).wrapping_add(c);
    SubCarryOut32: (W32, W32, W32) -> W32 = |a, b, c, _| {
        ((u64::from(a) + u64::from(!b) + u64::from(c)) >> 32) as u32
    };
    SubCarry64: (W64, W64, W32) -> W64 = |a, b, c, _| a.wrapping_add(!b).wrapping_add(u64::from(c));
    SubCarryOut64: (W64, W64, W32) -> W32 = |a, b, c, _| {
        ((u128::from(a) + u128::from(!b) + u128::from(c)) >> 64) as u32
    };
}

#[inline(always)]
fn width_mask(bits: u32) -> u32 {
    if bits >= 32 { u32::MAX } else { (1 << bits) - 1 }
}

#[inline(always)]
fn bfind(a: u64, width: u32, shift_amount: u32) -> u32 {
    if a == 0 {
        return u32::MAX;
    }
    let position = 63 - a.leading_zeros();
    if shift_amount != 0 { width - 1 - position } else { position }
}

#[inline(always)]
fn bfe(a: u64, pos: u32, len: u32, width: u32, signed: bool) -> u64 {
    // Positions and lengths are bytes for 32 bits and whole words for 64 (H200).
    let (pos, len) =
        if width == 32 { (pos & 0xff, len & 0xff) } else { (pos.min(255), len.min(255)) };
    let top = width - 1;
    let bit = |n: u32| if n > top { 0 } else { a >> n & 1 };
    let sign = if !signed || len == 0 { 0 } else { bit((pos + len - 1).min(top)) };
    let field = if pos > top { 0 } else { a >> pos };
    let kept = if len == 0 {
        0
    } else if len > 63 {
        u64::MAX
    } else {
        (1u64 << len) - 1
    };
    let available = if pos > top { 0 } else { width - pos };
    let real = if available == 0 {
        0
    } else if available > 63 {
        u64::MAX
    } else {
        (1u64 << available) - 1
    };
    let value = field & kept & real;
    let fill = if sign != 0 { !(kept & real) } else { 0 };
    let wide = value | fill;
    if width == 32 { wide & 0xffff_ffff } else { wide }
}

/// `len` ones from bit `pos`, both already limited to what the instruction looks at.
#[inline(always)]
fn field_mask(pos: u32, len: u32, width: u32) -> u64 {
    if pos >= width || len == 0 {
        return 0;
    }
    let ones = if len >= width { u64::MAX } else { (1u64 << len) - 1 };
    let mask = ones << pos;
    if width == 32 { mask & 0xffff_ffff } else { mask }
}

#[inline(always)]
fn szext(a: u32, bits: u32, signed: bool) -> u32 {
    if bits == 0 {
        return 0;
    }
    let shift = 32 - bits;
    if signed { ((a << shift) as i32 >> shift) as u32 } else { a << shift >> shift }
}

#[inline(always)]
fn fns(mask: u32, base: u32, offset: i32) -> u32 {
    if base > 31 {
        return u32::MAX;
    }
    if offset == 0 {
        return if mask >> base & 1 != 0 { base } else { u32::MAX };
    }
    let (mut position, step) = (base as i32, offset.signum());
    let mut left = offset.unsigned_abs();
    while (0..32).contains(&position) {
        if mask >> position & 1 != 0 {
            left -= 1;
            if left == 0 {
                return position as u32;
            }
        }
        position += step;
    }
    u32::MAX
}

#[inline(always)]
fn prmt(a: u32, b: u32, selectors: u32) -> u32 {
    let bytes = u64::from(b) << 32 | u64::from(a);
    let mut out = 0;
    for i in 0..4 {
        let selector = selectors >> (4 * i) & 0xf;
        let byte = (bytes >> (8 * (selector & 7))) as u8;
        let byte = if selector & 8 != 0 { ((byte as i8) >> 7) as u8 } else { byte };
        out |= u32::from(byte) << (8 * i);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bit_field_extract() {
        assert_eq!(bfe(0xabcd_1234, 8, 8, 32, false), 0x12);
        assert_eq!(bfe(0x0000_ff00, 8, 8, 32, true), 0xffff_ffff);
        assert_eq!(bfe(0x8000_0000, 28, 32, 32, true), 0xffff_fff8);
        assert_eq!(bfe(0x8000_0000, 28, 32, 32, false), 0x8);
        assert_eq!(bfe(0x8000_0000, 40, 8, 32, true), 0xffff_ffff);
        assert_eq!(bfe(0x8000_0000, 40, 8, 32, false), 0);
        assert_eq!(bfe(u64::MAX, 0, 0, 64, true), 0);
        assert_eq!(bfe(0x8000_0000_0000_0000, 63, 1, 64, true), u64::MAX);
    }

    #[test]
    fn finding_and_masks() {
        assert_eq!(bfind(0, 32, 0), u32::MAX);
        assert_eq!(bfind(1, 32, 0), 0);
        assert_eq!(bfind(1, 32, 1), 31);
        assert_eq!(field_mask(4, 8, 32), 0xff0);
        assert_eq!(field_mask(28, 8, 32), 0xf000_0000);
        assert_eq!(field_mask(32, 8, 32), 0);
        assert_eq!(field_mask(0, 99, 32), 0xffff_ffff);
        assert_eq!(szext(0xff, 8, true), u32::MAX);
        assert_eq!(szext(0xff, 4, false), 0xf);
        assert_eq!(szext(0xff, 0, true), 0);
    }

    #[test]
    fn find_nth_set() {
        assert_eq!(fns(0b1010_1100, 0, 1), 2);
        assert_eq!(fns(0b1010_1100, 0, 3), 5);
        assert_eq!(fns(0b1010_1100, 7, -2), 5);
        assert_eq!(fns(0b1010_1100, 3, 0), 3);
        assert_eq!(fns(0b1010_1100, 4, 0), u32::MAX);
        assert_eq!(fns(0b1010_1100, 0, 9), u32::MAX);
    }

    #[test]
    fn permute() {
        assert_eq!(prmt(0x3322_1100, 0x7766_5544, 0x7410), 0x7744_1100);
        assert_eq!(prmt(0x0000_0080, 0, 0x8888), 0xffff_ffff);
    }
}
