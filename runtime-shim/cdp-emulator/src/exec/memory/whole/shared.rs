//! Whole warps in shared memory, and what an access knows of its addresses from the one before.

// Parts of eight lanes are named by their number, in several arrays at once.
#![allow(clippy::needless_range_loop)]

use std::arch::x86_64::*;

use super::super::super::Block;
use super::super::super::path::Running;
use super::{Eight, eight, part};
use crate::alu::Word;
use crate::code::{Access, Inst, NONE};
use crate::memory::space;

/// The offsets in a row of addresses to shared memory, before an instruction adds its own number.
#[derive(Clone, Copy)]
pub struct Offsets {
    /// Of which row; [`NONE`] for none.
    pub(super) row: u32,
    /// For elements of how many bytes.
    size: u32,
    /// How all four parts of eight lanes lie, if they do alike.
    shape: Eight,
    /// The first of each part.
    first: [u32; 4],
    /// The lowest.
    lowest: u32,
    /// The highest.
    highest: u32,
    /// All bits that are set in any.
    bits: u32,
}

/// What accesses found out for others through the same rows, in one run of `exec::straight`.
pub struct Known {
    pub(super) rows: [Offsets; 4],
}

impl Known {
    /// Nothing.
    #[inline(always)]
    pub fn none() -> Known {
        let nothing = Offsets {
            row: NONE,
            size: 0,
            shape: Eight::Other,
            first: [0; 4],
            lowest: 0,
            highest: 0,
            bits: 0,
        };
        Known { rows: [nothing; 4] }
    }
}

/// Finds out how the offsets in a row lie.
///
/// # Safety
/// `inst` was decoded for the frame at `run.regs`.
#[target_feature(enable = "avx2")]
#[inline(never)]
pub unsafe fn learn(run: &Running<'_>, inst: &Inst, access: Access) -> Offsets {
    let size = 1u32 << access.size_log2;
    let mut found = Offsets { row: inst.a, size, ..Known::none().rows[0] };
    // SAFETY: a decoded row of this width.
    let at = unsafe { offsets(run, inst.a, 0, access.wide_address) };
    let Some(at) = at else { return found };
    let ahead = _mm256_mullo_epi32(
        _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7),
        _mm256_set1_epi32(size as i32),
    );
    let (mut low, mut high, mut bits) = (at[0], at[0], at[0]);
    let (mut follow, mut apart) = (_mm256_set1_epi32(-1), _mm256_setzero_si256());
    for chunk in 0..4 {
        let head = _mm256_castsi256_si128(at[chunk]);
        found.first[chunk] = _mm_cvtsi128_si32(head) as u32;
        let from_head = _mm256_sub_epi32(at[chunk], _mm256_broadcastd_epi32(head));
        follow = _mm256_and_si256(follow, _mm256_cmpeq_epi32(from_head, ahead));
        apart = _mm256_or_si256(apart, from_head);
        low = _mm256_min_epu32(low, at[chunk]);
        high = _mm256_max_epu32(high, at[chunk]);
        bits = _mm256_or_si256(bits, at[chunk]);
    }
    let words = |eight: __m256i| -> [u32; 8] {
        // SAFETY: both are eight words.
        unsafe { std::mem::transmute(eight) }
    };
    found.lowest = words(low).into_iter().fold(u32::MAX, u32::min);
    found.highest = words(high).into_iter().fold(0, u32::max);
    found.bits = words(bits).into_iter().fold(0, |all, word| all | word);
    let follow = _mm256_movemask_epi8(follow) == -1;
    let same = _mm256_testz_si256(apart, apart) == 1;
    found.shape = match (follow, same) {
        (true, _) => Eight::Row,
        (_, true) => Eight::Same,
        _ => Eight::Other,
    };
    found
}

/// An access to shared memory through a row of which this is known. False: nothing was done.
///
/// # Safety
/// As [`access`]; every byte of shared memory was written.
#[target_feature(enable = "avx2")]
#[inline]
pub unsafe fn again<W: Word, const WRITE: bool>(
    block: &mut Block,
    run: &Running<'_>,
    inst: &Inst,
    offsets: &Offsets,
) -> bool {
    let size = size_of::<W::T>() as u32;
    let room = (block.shared.len() as u64).min(space::WINDOW_BYTES) as i64;
    let added = i64::from(inst.imm as i32);
    // Sums of 33 bits: one that is in shared memory did not wrap.
    let lowest = i64::from(offsets.lowest).wrapping_add(added);
    let end = i64::from(offsets.highest).wrapping_add(added).wrapping_add(i64::from(size));
    let aligned = (offsets.bits | inst.imm) & (size - 1) == 0;
    if offsets.size != size || !aligned || lowest < 0 || end > room {
        return false;
    }
    let memory = (block.shared.as_mut_ptr() as u64).wrapping_add(added as u64);
    // SAFETY: a decoded row of this width, and offsets that are all in shared memory.
    unsafe {
        let row = run.regs.add(inst.d as usize);
        match offsets.shape {
            Eight::Row => {
                for chunk in 0..4 {
                    let at = [offsets.first[chunk]; 8];
                    eight::<W, u32, WRITE>(row, chunk, Eight::Row, memory, &at);
                }
            }
            Eight::Same if !WRITE => {
                for chunk in 0..4 {
                    let at = [offsets.first[chunk]; 8];
                    eight::<W, u32, WRITE>(row, chunk, Eight::Same, memory, &at);
                }
            }
            Eight::Same | Eight::Other => return false,
        }
    }
    block.counters.shared_accesses = block.counters.shared_accesses.wrapping_add(1);
    true
}

/// The offsets in a row, each with a number added. `None`: they are not all below 2^32.
#[target_feature(enable = "avx2")]
#[inline]
unsafe fn offsets(run: &Running<'_>, row: u32, added: i32, wide: bool) -> Option<[__m256i; 4]> {
    let mut at = [_mm256_setzero_si256(); 4];
    // SAFETY: a decoded row of this width.
    unsafe {
        let base = run.regs.add(row as usize);
        if !wide {
            let added = _mm256_set1_epi32(added);
            for chunk in 0..4 {
                let eight = _mm256_loadu_si256(base.add(chunk * 8).cast());
                at[chunk] = _mm256_add_epi32(eight, added);
            }
            return Some(at);
        }
        let added = _mm256_set1_epi64x(i64::from(added));
        let mut bits = _mm256_setzero_si256();
        for chunk in 0..4 {
            let low = _mm256_loadu_si256(base.add(chunk * 16).cast());
            let high = _mm256_loadu_si256(base.add(chunk * 16 + 8).cast());
            let (low, high) = (_mm256_add_epi64(low, added), _mm256_add_epi64(high, added));
            bits = _mm256_or_si256(bits, _mm256_or_si256(low, high));
            // The low words of both, in two steps: within halves, then the halves' pairs in order.
            let (low, high) = (_mm256_castsi256_ps(low), _mm256_castsi256_ps(high));
            let words = _mm256_castps_si256(_mm256_shuffle_ps::<0b10_00_10_00>(low, high));
            at[chunk] = _mm256_permute4x64_epi64::<0b11_01_10_00>(words);
        }
        let beyond = _mm256_set1_epi64x(!0xffff_ffff);
        (_mm256_testz_si256(bits, beyond) == 1).then_some(at)
    }
}

/// True if one of eight elements was never written.
///
/// # Safety
/// `flags` plus all `at` are elements of the flags of shared memory.
#[inline(always)]
unsafe fn fresh<W: Word>(shape: Eight, flags: u64, at: &[u32; 8]) -> bool {
    let mut found = false;
    // SAFETY: by the contract.
    unsafe {
        if shape == Eight::Row {
            let first = flags.wrapping_add(u64::from(at[0]));
            for flags in (first as *const [W::T; 8]).read_unaligned() {
                found |= flags == W::T::default();
            }
            return found;
        }
        for offset in at {
            let place = flags.wrapping_add(u64::from(*offset)) as *const W::T;
            found |= place.read_unaligned() == W::T::default();
        }
    }
    found
}

/// An access to shared memory. False: nothing was done.
///
/// # Safety
/// As [`learn`].
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
#[inline(never)]
pub unsafe fn shared<W: Word, const WRITE: bool>(
    block: &mut Block,
    run: &Running<'_>,
    inst: &Inst,
    wide_address: bool,
) -> bool {
    let size = size_of::<W::T>() as u32;
    // SAFETY: forwarded.
    let Some(at) = (unsafe { offsets(run, inst.a, inst.imm as i32, wide_address) }) else {
        return false;
    };
    let room = (block.shared.len() as u64).min(space::WINDOW_BYTES) as u32;
    let Some(last) = room.checked_sub(size) else { return false };
    let last = _mm256_set1_epi32(last as i32);
    let (mut highest, mut bits) = (last, _mm256_setzero_si256());
    let mut follow = [_mm256_setzero_si256(); 4];
    let (mut all_follow, mut apart) = (_mm256_set1_epi32(-1), _mm256_setzero_si256());
    let ahead = _mm256_mullo_epi32(
        _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7),
        _mm256_set1_epi32(size as i32),
    );
    let mut from_head = [_mm256_setzero_si256(); 4];
    for chunk in 0..4 {
        highest = _mm256_max_epu32(highest, at[chunk]);
        bits = _mm256_or_si256(bits, at[chunk]);
        let head = _mm256_broadcastd_epi32(_mm256_castsi256_si128(at[chunk]));
        from_head[chunk] = _mm256_sub_epi32(at[chunk], head);
        follow[chunk] = _mm256_cmpeq_epi32(from_head[chunk], ahead);
        all_follow = _mm256_and_si256(all_follow, follow[chunk]);
        apart = _mm256_or_si256(apart, from_head[chunk]);
    }
    let inside = _mm256_movemask_epi8(_mm256_cmpeq_epi32(highest, last)) == -1;
    if !inside || _mm256_testz_si256(bits, _mm256_set1_epi32(size as i32 - 1)) == 0 {
        return false;
    }
    let shapes = if _mm256_movemask_epi8(all_follow) == -1 {
        [Eight::Row; 4]
    } else if _mm256_testz_si256(apart, apart) == 1 {
        [Eight::Same; 4]
    } else {
        let mut shapes = [Eight::Other; 4];
        for chunk in 0..4 {
            if _mm256_movemask_epi8(follow[chunk]) == -1 {
                shapes[chunk] = Eight::Row;
            } else if _mm256_testz_si256(from_head[chunk], from_head[chunk]) == 1 {
                shapes[chunk] = Eight::Same;
            }
        }
        shapes
    };
    let mut places = [0u32; 32];
    // SAFETY: all offsets are below the size, which `written` shares; `row` is a decoded row of this width.
    unsafe {
        for chunk in 0..4 {
            _mm256_storeu_si256(places.as_mut_ptr().add(chunk * 8).cast(), at[chunk]);
        }
        let memory = block.shared.as_mut_ptr() as u64;
        let written = block.written.as_mut_ptr() as u64;
        let tracked = !block.all_written;
        if tracked && !WRITE {
            let mut found = false;
            for chunk in 0..4 {
                found |= fresh::<W>(shapes[chunk], written, part(&places, chunk));
            }
            if found {
                return false;
            }
            block.look_for_all_written();
        }
        let row = run.regs.add(inst.d as usize);
        // Named one by one, so that each is a few moves and no loop over kinds.
        if shapes == [Eight::Row; 4] {
            for chunk in 0..4 {
                eight::<W, u32, WRITE>(row, chunk, Eight::Row, memory, part(&places, chunk));
            }
        } else if shapes == [Eight::Same; 4] && !WRITE {
            for chunk in 0..4 {
                eight::<W, u32, WRITE>(row, chunk, Eight::Same, memory, part(&places, chunk));
            }
        } else {
            for chunk in 0..4 {
                eight::<W, u32, WRITE>(row, chunk, shapes[chunk], memory, part(&places, chunk));
            }
        }
        if tracked && WRITE {
            for chunk in 0..4 {
                let at = part(&places, chunk);
                if shapes[chunk] == Eight::Row {
                    let first = written.wrapping_add(u64::from(at[0])) as *mut u8;
                    first.write_bytes(0xff, size as usize * 8);
                    continue;
                }
                for offset in at {
                    let place = written.wrapping_add(u64::from(*offset)) as *mut u8;
                    place.write_bytes(0xff, size as usize);
                }
            }
        }
    }
    block.counters.shared_accesses = block.counters.shared_accesses.wrapping_add(1);
    true
}
