//! Which lanes of an access touch what follows the lane before them, or the same.

/// Lanes by what they touch. Bits of lanes of which the one before is not active are not set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Neighbours {
    /// What follows what the lane before touches.
    following: u32,
    /// The same as the lane before.
    same: u32,
}

impl Neighbours {
    /// All lanes lie apart.
    const NONE: Neighbours = Neighbours { following: 0, same: 0 };

    /// Of `lanes` that touch `bytes` each.
    pub fn of(at: &[u64; 32], bytes: u64, lanes: u32) -> Neighbours {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has it.
            return unsafe { Neighbours::of_avx2(at, bytes, lanes) };
        }
        Neighbours::one_by_one(at, bytes, lanes)
    }

    fn one_by_one(at: &[u64; 32], bytes: u64, lanes: u32) -> Neighbours {
        let mut found = Neighbours::NONE;
        for lane in 1..32 {
            let step = at[lane].wrapping_sub(at[lane - 1]);
            found.following |= u32::from(step == bytes) << lane;
            found.same |= u32::from(step == 0) << lane;
        }
        found.among(lanes)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    #[inline]
    fn of_avx2(at: &[u64; 32], bytes: u64, lanes: u32) -> Neighbours {
        use std::arch::x86_64::*;
        let (bytes, none) = (_mm256_set1_epi64x(bytes as i64), _mm256_setzero_si256());
        let mut found = Neighbours::NONE;
        let mut last = none;
        for four in 0..8 {
            // SAFETY: eight times four lanes.
            let lanes = unsafe { _mm256_loadu_si256(at.as_ptr().add(4 * four).cast()) };
            // The lanes before these: the last one of the four before, and the first three of these.
            let turned = _mm256_permute4x64_epi64::<0b10_01_00_11>(lanes);
            let before = _mm256_blend_epi32::<0b11>(turned, last);
            last = turned;
            let step = _mm256_sub_epi64(lanes, before);
            let mask = |lanes| _mm256_movemask_pd(_mm256_castsi256_pd(lanes)) as u32;
            found.following |= mask(_mm256_cmpeq_epi64(step, bytes)) << (4 * four);
            found.same |= mask(_mm256_cmpeq_epi64(step, none)) << (4 * four);
        }
        found.among(lanes)
    }

    /// Of all lanes that touch `bytes` each, at what is in a row of addresses, which go to `at`, with the bits that are set
    /// in any.
    ///
    /// # Safety
    /// `row` is a row of addresses, `wide` if of 64 bits; `at` has room for 32.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    #[inline]
    pub unsafe fn of_row(
        row: *const u32,
        wide: bool,
        bytes: u64,
        at: *mut u64,
    ) -> (u64, Neighbours) {
        use std::arch::x86_64::*;
        // SAFETY: by the contract.
        unsafe {
            let load = |four: usize| match wide {
                true => _mm256_loadu_si256(row.add(8 * four).cast()),
                false => _mm256_cvtepu32_epi64(_mm_loadu_si128(row.add(4 * four).cast())),
            };
            let head = _mm256_permute4x64_epi64::<0>(load(0));
            let step = _mm256_set1_epi64x(bytes.wrapping_mul(4) as i64);
            let first = bytes as i64;
            // Where the lanes are if each follows the one before.
            let mut next = _mm256_add_epi64(
                head,
                _mm256_setr_epi64x(0, first, first.wrapping_mul(2), first.wrapping_mul(3)),
            );
            let (mut bits, mut astray, mut apart) =
                (head, _mm256_setzero_si256(), _mm256_setzero_si256());
            for four in 0..8 {
                let lanes = load(four);
                _mm256_storeu_si256(at.add(4 * four).cast(), lanes);
                bits = _mm256_or_si256(bits, lanes);
                astray = _mm256_or_si256(astray, _mm256_xor_si256(lanes, next));
                apart = _mm256_or_si256(apart, _mm256_xor_si256(lanes, head));
                next = _mm256_add_epi64(next, step);
            }
            let mut all = [0; 4];
            _mm256_storeu_si256(all.as_mut_ptr().cast(), bits);
            let found = if _mm256_testz_si256(astray, astray) == 1 {
                Neighbours { following: !1, same: 0 }
            } else if _mm256_testz_si256(apart, apart) == 1 {
                Neighbours { following: 0, same: !1 }
            } else {
                Neighbours::of_avx2(&*at.cast(), bytes, u32::MAX)
            };
            (all[0] | all[1] | all[2] | all[3], found)
        }
    }

    #[inline(always)]
    fn among(self, lanes: u32) -> Neighbours {
        let both = lanes & lanes << 1;
        Neighbours { following: self.following & both, same: self.same & both }
    }

    /// How many lanes behind this one follow each other from it on.
    #[inline(always)]
    pub fn follow(self, lane: u32) -> u32 {
        (u64::from(self.following) >> (lane + 1)).trailing_ones()
    }

    /// How many lanes behind this one touch the same.
    #[inline(always)]
    pub fn same(self, lane: u32) -> u32 {
        (u64::from(self.same) >> (lane + 1)).trailing_ones()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_follow_each_other_in_rows() {
        // Two rows of eight words, the same two again, then one word alone.
        let at = std::array::from_fn(|lane| match lane {
            0..16 => 4096 + lane as u64 % 8 * 4 + lane as u64 / 8 * 256,
            _ => 4096,
        });
        let found = Neighbours::of(&at, 4, u32::MAX);
        assert_eq!([0, 3, 7, 8, 15, 31].map(|lane| found.follow(lane)), [7, 4, 0, 7, 0, 0]);
        assert_eq!([0, 15, 16, 30, 31].map(|lane| found.same(lane)), [0, 0, 15, 1, 0]);
        let parted = Neighbours::of(&at, 4, !0b100);
        assert_eq!([0, 2, 3].map(|lane| parted.follow(lane)), [1, 0, 4]);
        for lanes in [u32::MAX, !0b100, 0xffff] {
            let vectors = Neighbours::of(&at, 4, lanes);
            assert_eq!(vectors, Neighbours::one_by_one(&at, 4, lanes));
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn rows_of_addresses_lie_as_their_lanes_do() {
        if !is_x86_feature_detected!("avx2") {
            return;
        }
        let shapes: [fn(u32) -> u32; 6] = [
            |lane| 64 + 4 * lane,
            |_| 4096,
            |lane| 128 + lane % 16 * 4,
            |lane| 128 + lane / 16 * 4,
            |lane| if lane == 31 { 64 } else { 64 + 4 * lane },
            |lane| if lane == 1 { 8 } else { 64 },
        ];
        for shape in shapes {
            let row: [u32; 32] = std::array::from_fn(|lane| shape(lane as u32));
            let at = row.map(u64::from);
            let wide: [u32; 64] =
                std::array::from_fn(|half| if half % 2 == 0 { row[half / 2] } else { 0 });
            for (row, is_wide) in [(&row[..], false), (&wide[..], true)] {
                for bytes in [4, 8] {
                    let mut found = [0; 32];
                    // SAFETY: the processor has it; rows of these widths.
                    let (bits, lie) = unsafe {
                        Neighbours::of_row(row.as_ptr(), is_wide, bytes, found.as_mut_ptr())
                    };
                    assert_eq!((found, lie), (at, Neighbours::one_by_one(&at, bytes, u32::MAX)));
                    assert_eq!(bits, at.iter().fold(0, |bits, at| bits | at));
                }
            }
        }
    }
}
