//! Whole warps in global and constant memory.

use std::arch::x86_64::*;

use super::super::super::path::Running;
use super::super::super::{Block, CachedExtent, Warp};
use super::{Eight, eight};
use crate::alu::Word;
use crate::code::Inst;

/// `from` and the three numbers after it, times `size`.
#[target_feature(enable = "avx2")]
#[inline]
fn steps64(from: i64, size: i64) -> __m256i {
    let step = |n: i64| from.wrapping_add(n).wrapping_mul(size);
    _mm256_setr_epi64x(step(0), step(1), step(2), step(3))
}

/// The allocation that the instruction went to last or, if that does not have them, another one that the
/// warp remembers, which has all bytes from `first` to before `end`.
#[inline(always)]
fn remembered<const WRITE: bool>(warp: &mut Warp, slot: u32, first: u64, end: u64) -> bool {
    let has = |cached: &CachedExtent| {
        first >= cached.lo && end <= if WRITE { cached.write_hi } else { cached.hi }
    };
    let slot = (slot & 7) as usize;
    if has(&warp.cache[slot]) {
        return true;
    }
    let Some(&found) = warp.cache.iter().find(|cached| has(cached)) else { return false };
    warp.cache[slot] = found;
    true
}

/// An access to global or constant memory through a row of 64-bit addresses, all in one allocation that the
/// warp remembers. False: nothing was done.
///
/// # Safety
/// `inst` was decoded for the frame at `run.regs`.
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
#[inline(never)]
pub unsafe fn global<W: Word, const WRITE: bool>(
    block: &mut Block,
    warp: &mut Warp,
    run: &Running<'_>,
    inst: &Inst,
) -> bool {
    let size = size_of::<W::T>() as u64;
    // SAFETY: decoded rows of these widths; what is accessed lies in the allocation.
    unsafe {
        let base = run.regs.add(inst.a as usize).cast::<u64>();
        let row = run.regs.add(inst.d as usize);
        let added = i64::from(inst.imm as i32) as u64;
        let first = base.read_unaligned().wrapping_add(added);
        let head = _mm256_set1_epi64x(base.read_unaligned() as i64);
        let (mut follow, mut apart) = (_mm256_set1_epi64x(-1), _mm256_setzero_si256());
        for four in 0..8 {
            let lanes = _mm256_loadu_si256(base.add(four * 4).cast());
            let from_head = _mm256_sub_epi64(lanes, head);
            let ahead = steps64(four as i64 * 4, size as i64);
            follow = _mm256_and_si256(follow, _mm256_cmpeq_epi64(from_head, ahead));
            apart = _mm256_or_si256(apart, from_head);
        }
        if _mm256_movemask_epi8(follow) == -1 {
            let Some(end) = first.checked_add(size * 32) else { return false };
            if first & (size - 1) != 0 || !remembered::<WRITE>(warp, run.path.pc, first, end) {
                return false;
            }
            for chunk in 0..4 {
                let memory = first.wrapping_add((chunk as u64 * 8).wrapping_mul(size));
                eight::<W, u64, WRITE>(row, chunk, Eight::Row, memory, &[0; 8]);
            }
            count(
                block,
                WRITE,
                (end.wrapping_sub(1) >> 7).wrapping_sub(first >> 7).wrapping_add(1),
            );
            return true;
        }
        if !WRITE && _mm256_testz_si256(apart, apart) == 1 {
            let Some(end) = first.checked_add(size) else { return false };
            if first & (size - 1) != 0 || !remembered::<WRITE>(warp, run.path.pc, first, end) {
                return false;
            }
            for chunk in 0..4 {
                eight::<W, u64, false>(row, chunk, Eight::Same, first, &[0; 8]);
            }
            count(block, WRITE, 1);
            return true;
        }
        scattered::<W, WRITE>(block, warp, run, inst)
    }
}

/// As [`global`], for lanes that do not all follow each other.
///
/// # Safety
/// As [`global`].
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
unsafe fn scattered<W: Word, const WRITE: bool>(
    block: &mut Block,
    warp: &mut Warp,
    run: &Running<'_>,
    inst: &Inst,
) -> bool {
    let size = size_of::<W::T>() as i64;
    // The addresses, after one more than the first has: where a transaction begins is told from the lane
    // before.
    let mut at = [0u64; 33];
    // SAFETY: decoded rows of these widths; what is accessed lies in the allocation.
    unsafe {
        let base = run.regs.add(inst.a as usize).cast::<u64>();
        let row = run.regs.add(inst.d as usize);
        let added = _mm256_set1_epi64x(i64::from(inst.imm as i32));
        // Unsigned numbers in the order of signed ones, which processors compare.
        let turn = _mm256_set1_epi64x(i64::MIN);
        let (mut low, mut high) = (_mm256_set1_epi64x(i64::MAX), _mm256_set1_epi64x(i64::MIN));
        let mut bits = _mm256_setzero_si256();
        for four in 0..8 {
            let lanes = _mm256_loadu_si256(base.add(four * 4).cast());
            let lanes = _mm256_add_epi64(lanes, added);
            _mm256_storeu_si256(at.as_mut_ptr().add(1 + four * 4).cast(), lanes);
            bits = _mm256_or_si256(bits, lanes);
            let turned = _mm256_xor_si256(lanes, turn);
            low = _mm256_blendv_epi8(low, turned, _mm256_cmpgt_epi64(low, turned));
            high = _mm256_blendv_epi8(high, turned, _mm256_cmpgt_epi64(turned, high));
        }
        if _mm256_testz_si256(bits, _mm256_set1_epi64x(size - 1)) == 0 {
            return false;
        }
        let (mut lows, mut highs) = ([0i64; 4], [0i64; 4]);
        _mm256_storeu_si256(lows.as_mut_ptr().cast(), low);
        _mm256_storeu_si256(highs.as_mut_ptr().cast(), high);
        let lowest = lows[0].min(lows[1]).min(lows[2]).min(lows[3]) as u64 ^ 1 << 63;
        let highest = highs[0].max(highs[1]).max(highs[2]).max(highs[3]) as u64 ^ 1 << 63;
        let Some(end) = highest.checked_add(size as u64) else { return false };
        if !remembered::<WRITE>(warp, run.path.pc, lowest, end) {
            return false;
        }
        at[0] = !at[1];
        let mut begin = _mm256_setzero_si256();
        for four in 0..8 {
            let before = _mm256_loadu_si256(at.as_ptr().add(four * 4).cast());
            let lanes = _mm256_loadu_si256(at.as_ptr().add(four * 4 + 1).cast());
            let (before, lanes) = (_mm256_srli_epi64::<7>(before), _mm256_srli_epi64::<7>(lanes));
            begin = _mm256_add_epi64(begin, _mm256_cmpeq_epi64(before, lanes));
        }
        let mut same = [0i64; 4];
        _mm256_storeu_si256(same.as_mut_ptr().cast(), begin);
        // Each lane in the segment of the one before counted as -1.
        let same = same[0].wrapping_add(same[1]).wrapping_add(same[2]).wrapping_add(same[3]);
        count(block, WRITE, 32i64.wrapping_add(same) as u64);
        for chunk in 0..4 {
            let places = &*at.as_ptr().add(1 + chunk * 8).cast::<[u64; 8]>();
            let low = _mm256_loadu_si256(places.as_ptr().cast());
            let high = _mm256_loadu_si256(places.as_ptr().add(4).cast());
            let head = _mm256_broadcastq_epi64(_mm256_castsi256_si128(low));
            let (low, high) = (_mm256_sub_epi64(low, head), _mm256_sub_epi64(high, head));
            let follow = _mm256_and_si256(
                _mm256_cmpeq_epi64(low, steps64(0, size)),
                _mm256_cmpeq_epi64(high, steps64(4, size)),
            );
            let apart = _mm256_or_si256(low, high);
            let shape = if _mm256_movemask_epi8(follow) == -1 {
                Eight::Row
            } else if _mm256_testz_si256(apart, apart) == 1 {
                Eight::Same
            } else {
                Eight::Other
            };
            eight::<W, u64, WRITE>(row, chunk, shape, 0, places);
        }
    }
    true
}

#[inline(always)]
fn count(block: &mut Block, write: bool, segments: u64) {
    let counter = match write {
        true => &mut block.counters.store_transactions,
        false => &mut block.counters.load_transactions,
    };
    *counter = counter.wrapping_add(segments);
}
