//! Scalar and SIMD video instructions. Definitions: PTX ISA, "Video Instructions".
//!
//! They are rare, so the decoded form keeps their modifiers and the lanes are computed one by one.

use cdp_ptx::inst::{Video, VideoMad, VideoSimd};
use cdp_ptx::{CmpOp, ReduxOp, ShiftMode, VideoOp, VideoSelect};

/// The lowest bit of a part, and how many it has.
fn place(part: VideoSelect) -> (u32, u32) {
    match part {
        VideoSelect::Whole => (0, 32),
        VideoSelect::H0 => (0, 16),
        VideoSelect::H1 => (16, 16),
        byte => (8 * (byte as u32 - VideoSelect::B0 as u32), 8),
    }
}

fn part(value: u32, select: VideoSelect, signed: bool) -> i64 {
    let (low, width) = place(select);
    extend(value >> low & mask_of(width), width, signed)
}

fn mask_of(width: u32) -> u32 {
    u32::MAX >> (32 - width)
}

fn extend(bits: u32, width: u32, signed: bool) -> i64 {
    let shift = 64 - width;
    if signed { (u64::from(bits) << shift) as i64 >> shift } else { i64::from(bits) }
}

fn compare(op: CmpOp, a: i64, b: i64) -> bool {
    match op {
        CmpOp::Eq | CmpOp::Equ => a == b,
        CmpOp::Ne | CmpOp::Neu => a != b,
        CmpOp::Lt | CmpOp::Ltu => a < b,
        CmpOp::Le | CmpOp::Leu => a <= b,
        CmpOp::Gt | CmpOp::Gtu => a > b,
        CmpOp::Ge | CmpOp::Geu => a >= b,
        CmpOp::Num => true,
        CmpOp::Nan => false,
    }
}

fn saturate(value: i64, width: u32, signed: bool) -> i64 {
    let (low, high) =
        if signed { (-(1 << (width - 1)), (1 << (width - 1)) - 1) } else { (0, (1 << width) - 1) };
    value.clamp(low, high)
}

fn shift_count(b: i64, mode: ShiftMode) -> u32 {
    let count = b as u32;
    match mode {
        ShiftMode::Clamp => count.min(32),
        ShiftMode::Wrap => count & 31,
    }
}

fn base(op: VideoOp, (shift, cmp): (Option<ShiftMode>, Option<CmpOp>), a: i64, b: i64) -> i64 {
    let count = shift.map_or(0, |mode| shift_count(b, mode));
    match op {
        VideoOp::Add => a + b,
        VideoOp::Sub => a - b,
        VideoOp::AbsDiff => (a - b).abs(),
        VideoOp::Min => a.min(b),
        VideoOp::Max => a.max(b),
        // Halves are rounded away from zero.
        VideoOp::Average => (a + b + i64::from(a + b >= 0)) >> 1,
        VideoOp::Shl => a << count,
        VideoOp::Shr => a >> count,
        VideoOp::Set => i64::from(cmp.is_some_and(|cmp| compare(cmp, a, b))),
    }
}

/// A scalar video instruction on the values of one lane.
pub fn scalar(v: &Video, a: u32, b: u32, c: u32) -> u32 {
    let x = part(a, v.a.1, v.a_ty.is_signed());
    let y = part(b, v.b.1, v.b_ty.is_signed());
    let signed = v.dst_ty.is_signed();
    let mut result = base(v.op, (v.shift, v.cmp), x, y);
    let (low, width) = place(v.part);
    if v.sat {
        result = saturate(result, width, signed);
    }
    match v.merge {
        None => insert(c, result as u32, low, mask_of(width)),
        Some(op) => second(op, result as u32, c, signed),
    }
}

fn insert(into: u32, value: u32, shift: u32, mask: u32) -> u32 {
    (into & !(mask << shift)) | (value & mask) << shift
}

fn second(op: ReduxOp, a: u32, c: u32, signed: bool) -> u32 {
    match (op, signed) {
        (ReduxOp::Add, _) => a.wrapping_add(c),
        (ReduxOp::Min, true) => (a as i32).min(c as i32) as u32,
        (ReduxOp::Min, false) => a.min(c),
        (ReduxOp::Max, true) => (a as i32).max(c as i32) as u32,
        (ReduxOp::Max, false) => a.max(c),
        (ReduxOp::And, _) => a & c,
        (ReduxOp::Or, _) => a | c,
        (ReduxOp::Xor, _) => a ^ c,
    }
}

/// `vmad` on the values of one lane.
pub fn mad(v: &VideoMad, a: u32, b: u32, c: u32) -> u32 {
    let x = i128::from(part(a, v.a.1, v.a_ty.is_signed()));
    let y = i128::from(part(b, v.b.1, v.b_ty.is_signed()));
    let all_unsigned =
        !v.a_ty.is_signed() && !v.b_ty.is_signed() && !v.negate_product && !v.negate_c;
    let z = i128::from(if all_unsigned { i64::from(c) } else { i64::from(c as i32) });
    let product = if v.negate_product { -(x * y) } else { x * y };
    let addend = if v.negate_c { -z } else { z };
    let sum = product + addend + i128::from(v.plus_one);
    let shifted = sum >> v.shift_bits;
    if v.sat {
        let (low, high) = if all_unsigned {
            (0, i128::from(u32::MAX))
        } else {
            (i128::from(i32::MIN), i128::from(i32::MAX))
        };
        return shifted.clamp(low, high) as u32;
    }
    shifted as u32
}

/// A SIMD video instruction on the values of one lane.
pub fn simd(v: &VideoSimd, a: u32, b: u32, c: u32) -> u32 {
    let width = 32 / v.lanes;
    let mask = mask_of(width);
    let pair = u64::from(b) << 32 | u64::from(a);
    let pick = |select: u8, signed: bool| {
        extend((pair >> (width * u32::from(select))) as u32 & mask, width, signed)
    };
    let mut sum = 0u32;
    let mut merged = c;
    for i in 0..v.lanes {
        if v.write_mask >> i & 1 == 0 {
            continue;
        }
        let x = pick(v.a_select[i as usize], v.a_ty.is_signed());
        let y = pick(v.b_select[i as usize], v.b_ty.is_signed());
        let mut result = base(v.op, (None, v.cmp), x, y);
        if v.sat {
            result = saturate(result, width, v.dst_ty.is_signed());
        }
        sum = sum.wrapping_add(result as u32);
        merged = insert(merged, result as u32, width * i, mask);
    }
    if v.accumulate { sum.wrapping_add(c) } else { merged }
}
