//! Which lanes of an access touch what follows the lane before them, or the same.

use super::access::Access;

/// Lanes by what they touch. Bits of lanes of which the one before is not active are not set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Neighbours {
    /// What follows what the lane before touches.
    following: u32,
    /// The same as the lane before.
    same: u32,
}

impl Neighbours {
    /// Of an access.
    pub fn of(access: &Access<'_>) -> Neighbours {
        let mut found = Neighbours { following: 0, same: 0 };
        for lane in 1..32 {
            let step = access.at[lane].wrapping_sub(access.at[lane - 1]);
            found.following |= u32::from(step == access.bytes) << lane;
            found.same |= u32::from(step == 0) << lane;
        }
        found.among(access.lanes)
    }

    /// The same for processors with AVX2.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    #[inline]
    pub fn of_avx2(access: &Access<'_>) -> Neighbours {
        use std::arch::x86_64::*;
        let (bytes, none) = (_mm256_set1_epi64x(access.bytes as i64), _mm256_setzero_si256());
        let mut found = Neighbours { following: 0, same: 0 };
        let mut last = none;
        for four in 0..8 {
            // SAFETY: eight times four lanes.
            let lanes = unsafe { _mm256_loadu_si256(access.at.as_ptr().add(4 * four).cast()) };
            // The lanes before these: the last one of the four before, and the first three of these.
            let turned = _mm256_permute4x64_epi64::<0b10_01_00_11>(lanes);
            let before = _mm256_blend_epi32::<0b11>(turned, last);
            last = turned;
            let step = _mm256_sub_epi64(lanes, before);
            let mask = |lanes| _mm256_movemask_pd(_mm256_castsi256_pd(lanes)) as u32;
            found.following |= mask(_mm256_cmpeq_epi64(step, bytes)) << (4 * four);
            found.same |= mask(_mm256_cmpeq_epi64(step, none)) << (4 * four);
        }
        found.among(access.lanes)
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
    use crate::check::Origin;
    use crate::check::access::Manner;
    use crate::code::Order;

    #[test]
    fn lanes_follow_each_other_in_rows() {
        // Two rows of eight words, the same two again, then one word alone.
        let at = std::array::from_fn(|lane| match lane {
            0..16 => 4096 + lane as u64 % 8 * 4 + lane as u64 / 8 * 256,
            _ => 4096,
        });
        let access = |lanes| Access {
            origin: Origin::COPY,
            first_thread: 0,
            at: &at,
            lanes,
            bytes: 4,
            shared: false,
            base: 0,
            reads: true,
            writes: false,
            kind: Manner::Own,
            order: Order::WEAK,
            value: None,
        };
        let found = Neighbours::of(&access(u32::MAX));
        assert_eq!([0, 3, 7, 8, 15, 31].map(|lane| found.follow(lane)), [7, 4, 0, 7, 0, 0]);
        assert_eq!([0, 15, 16, 30, 31].map(|lane| found.same(lane)), [0, 0, 15, 1, 0]);
        let parted = Neighbours::of(&access(!0b100));
        assert_eq!([0, 2, 3].map(|lane| parted.follow(lane)), [1, 0, 4]);
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            for lanes in [u32::MAX, !0b100, 0xffff] {
                // SAFETY: the processor has it.
                let vectors = unsafe { Neighbours::of_avx2(&access(lanes)) };
                assert_eq!(vectors, Neighbours::of(&access(lanes)));
            }
        }
    }
}
