//! Rows: the values of one register, or of one word of local memory, of all 32 lanes. Copying and
//! filling them in some lanes.
//!
//! A narrow row is 32 words, a wide one 32 doublewords. Everything is inlined into functions that
//! are compiled for the processor's vector instructions, where a row is a few moves.

/// All ones if the lane is in the mask.
#[inline(always)]
fn keep(mask: u32, lane: usize) -> u32 {
    0u32.wrapping_sub(mask >> lane & 1)
}

#[inline(always)]
fn keep_wide(mask: u32, lane: usize) -> u64 {
    0u64.wrapping_sub(u64::from(mask >> lane & 1))
}

/// Copies the lanes of `mask` from one narrow row to another.
///
/// # Safety
/// Both are rows that nobody else uses; they may be the same.
#[inline(always)]
pub unsafe fn copy(to: *mut u32, from: *const u32, mask: u32) {
    let (to, from) = (to.cast::<[u32; 32]>(), from.cast::<[u32; 32]>());
    // SAFETY: by the contract.
    unsafe {
        let mut values = from.read_unaligned();
        if mask == u32::MAX {
            to.write_unaligned(values);
            return;
        }
        let old = to.read_unaligned();
        for lane in 0..32 {
            let keep = keep(mask, lane);
            values[lane] = values[lane] & keep | old[lane] & !keep;
        }
        to.write_unaligned(values);
    }
}

/// Copies the lanes of `mask` from one wide row to another.
///
/// # Safety
/// As [`copy`].
#[inline(always)]
pub unsafe fn copy_wide(to: *mut u32, from: *const u32, mask: u32) {
    // SAFETY: by the contract.
    unsafe { put_wide(to, from.cast::<[u64; 32]>().read_unaligned(), mask) }
}

/// Writes the lanes of `mask` of a wide row.
///
/// # Safety
/// As [`copy`].
#[inline(always)]
unsafe fn put_wide(to: *mut u32, mut values: [u64; 32], mask: u32) {
    let to = to.cast::<[u64; 32]>();
    // SAFETY: by the contract.
    unsafe {
        if mask == u32::MAX {
            to.write_unaligned(values);
            return;
        }
        let old = to.read_unaligned();
        for lane in 0..32 {
            let keep = keep_wide(mask, lane);
            values[lane] = values[lane] & keep | old[lane] & !keep;
        }
        to.write_unaligned(values);
    }
}

/// Copies the lanes of `mask` of a wide row to two narrow rows that follow each other, the low words
/// first: how local memory holds doublewords.
///
/// # Safety
/// As [`copy`], for 64 words on both sides.
#[inline(always)]
pub unsafe fn split(to: *mut u32, from: *const u32, mask: u32) {
    // SAFETY: by the contract.
    unsafe {
        let values = from.cast::<[u64; 32]>().read_unaligned();
        let (mut low, mut high) = ([0; 32], [0; 32]);
        for lane in 0..32 {
            low[lane] = values[lane] as u32;
            high[lane] = (values[lane] >> 32) as u32;
        }
        copy(to, low.as_ptr(), mask);
        copy(to.add(32), high.as_ptr(), mask);
    }
}

/// The reverse of [`split`].
///
/// # Safety
/// As [`split`].
#[inline(always)]
pub unsafe fn join(to: *mut u32, from: *const u32, mask: u32) {
    // SAFETY: by the contract.
    unsafe {
        let low = from.cast::<[u32; 32]>().read_unaligned();
        let high = from.add(32).cast::<[u32; 32]>().read_unaligned();
        let mut values = [0; 32];
        for lane in 0..32 {
            values[lane] = u64::from(low[lane]) | u64::from(high[lane]) << 32;
        }
        put_wide(to, values, mask);
    }
}

/// Gives the lanes of `mask` of a row one value.
///
/// # Safety
/// As [`copy`], for a row of this width.
#[inline(always)]
pub unsafe fn fill(to: *mut u32, value: u64, wide: bool, mask: u32) {
    // SAFETY: by the contract.
    unsafe {
        match (wide, mask) {
            (true, _) => put_wide(to, [value; 32], mask),
            (false, u32::MAX) => to.cast::<[u32; 32]>().write_unaligned([value as u32; 32]),
            (false, _) => copy(to, [value as u32; 32].as_ptr(), mask),
        }
    }
}

// Single lanes, of the frame at `regs`.

/// Writes `value(lane)` to the active lanes of a row.
///
/// # Safety
/// `row` is the offset of a row of the frame at `regs` of the given width.
#[inline(always)]
pub unsafe fn fill_with(
    regs: *mut u32,
    row: u32,
    wide: bool,
    mask: u32,
    value: impl Fn(usize) -> u64,
) {
    // SAFETY: by the contract.
    unsafe {
        let base = regs.add(row as usize);
        for lane in 0..32 {
            if mask >> lane & 1 != 0 {
                if wide {
                    base.cast::<u64>().add(lane).write_unaligned(value(lane));
                } else {
                    *base.add(lane) = value(lane) as u32;
                }
            }
        }
    }
}

/// Reads one lane of a row.
///
/// # Safety
/// `row` is the offset of a row of the frame at `regs` of the given width.
#[inline(always)]
pub unsafe fn read_row(regs: *const u32, row: u32, wide: bool, lane: usize) -> u64 {
    // SAFETY: by the contract.
    unsafe {
        let base = regs.add(row as usize);
        if wide {
            base.cast::<u64>().add(lane).read_unaligned()
        } else {
            u64::from(*base.add(lane))
        }
    }
}

/// Writes one lane of a row.
///
/// # Safety
/// `row` is the offset of a row of the frame at `regs` of the given width.
#[inline(always)]
pub unsafe fn write_row(regs: *mut u32, row: u32, wide: bool, lane: usize, value: u64) {
    // SAFETY: by the contract.
    unsafe {
        let base = regs.add(row as usize);
        if wide {
            base.cast::<u64>().add(lane).write_unaligned(value);
        } else {
            *base.add(lane) = value as u32;
        }
    }
}

/// Sets the active bits of a predicate.
#[inline]
pub fn set_pred(regs: *mut u32, word: u32, bits: u32, active: u32) {
    // SAFETY: callers pass a decoded predicate of the frame at `regs`.
    unsafe {
        let p = regs.add(word as usize);
        *p = (*p & !active) | (bits & active);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_lanes_of_the_mask() {
        let source: Vec<u32> = (0..64).map(|n| n * 0x0101_0101).collect();
        for mask in [u32::MAX, 0, 1, 0x8000_0001, 0x0f0f_00ff] {
            let (mut narrow, mut wide, mut back) = ([7u32; 32], [7u32; 64], [9u32; 64]);
            let mut filled = [7u32; 64];
            // SAFETY: arrays of the sizes of rows.
            unsafe {
                copy(narrow.as_mut_ptr(), source.as_ptr(), mask);
                split(wide.as_mut_ptr(), source.as_ptr(), mask);
                join(back.as_mut_ptr(), wide.as_ptr(), mask);
                fill(filled.as_mut_ptr(), 5 << 32 | 6, true, mask);
            }
            for lane in 0..32 {
                let there = mask >> lane & 1 != 0;
                let pick = |value: u32, other: u32| if there { value } else { other };
                let halves = [source[2 * lane], source[2 * lane + 1]];
                assert_eq!(narrow[lane], pick(source[lane], 7));
                assert_eq!([wide[lane], wide[32 + lane]], halves.map(|half| pick(half, 7)));
                assert_eq!([back[2 * lane], back[2 * lane + 1]], halves.map(|half| pick(half, 9)));
                assert_eq!(
                    [filled[2 * lane], filled[2 * lane + 1]],
                    [6, 5].map(|half| pick(half, 7))
                );
            }
        }
    }
}
