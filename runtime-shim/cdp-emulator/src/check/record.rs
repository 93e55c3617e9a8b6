//! What is remembered of an access to a word: 64 bits.
//!
//! ```text
//! 0..32   stamp: which block, when, which instruction (see `stamps`); 0 for no access
//! 32..42  a thread of the block
//! 42..52  another one that did the same, or the same one again
//! 52..56  which bytes of the word
//! 56..58  strength: weak, atomic in the block, atomic in the device, volatile
//! 58      each byte was touched by another thread: byte 0 by the first, byte 1 by the next, ...
//! 59      each half was touched by another thread
//! 60      read and written in one
//! 63      the word's bytes are kept apart (in the write record alone)
//! ```

/// How an access may meet others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Strength {
    /// A plain access.
    Weak,
    /// Atomic for threads of its block.
    Block,
    /// Atomic for all threads.
    Device,
    /// The same, and it does not wait for others: volatile, outside of loops that look until a value
    /// has come.
    Volatile,
}

/// What is remembered of an access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Record(pub u64);

const THREAD: u32 = 32;
const OTHER: u32 = 42;
const MASK: u32 = 52;
const STRENGTH: u32 = 56;
const BYTES_APART: u64 = 1 << 58;
const HALVES_APART: u64 = 1 << 59;
const UPDATE: u64 = 1 << 60;
const SPLIT: u64 = 1 << 63;
const THREAD_MASK: u64 = 1023;

/// What a record has more if both of its threads are the next ones.
pub const NEXT_THREAD: u64 = 1 << THREAD | 1 << OTHER;
/// The bits that say which threads.
pub const THREADS: u64 = THREAD_MASK << THREAD | THREAD_MASK << OTHER;
/// Those of them that say which warps.
pub const WARPS: u64 = (THREAD_MASK & !31) * NEXT_THREAD;
/// The bits of the second thread.
pub const OTHER_THREAD: u64 = THREAD_MASK << OTHER;

impl Record {
    /// The mark of a word whose bytes are kept apart.
    pub const SPLIT: Record = Record(SPLIT);

    /// One thread's access.
    pub fn new(stamp: u32, thread: u32, mask: u8, strength: Strength, update: bool) -> Record {
        let strength = match strength {
            Strength::Weak => 0u64,
            Strength::Block => 1,
            Strength::Device => 2,
            Strength::Volatile => 3,
        };
        let thread = u64::from(thread) & THREAD_MASK;
        Record(
            u64::from(stamp)
                | thread << THREAD
                | thread << OTHER
                | u64::from(mask) << MASK
                | strength << STRENGTH
                | if update { UPDATE } else { 0 },
        )
    }

    /// No access.
    #[inline(always)]
    pub fn is_none(self) -> bool {
        self.0 as u32 == 0
    }

    /// The word's bytes are kept apart.
    #[inline(always)]
    pub fn is_split(self) -> bool {
        self.0 & SPLIT != 0
    }

    /// The stamp.
    #[inline(always)]
    pub fn stamp(self) -> u32 {
        self.0 as u32
    }

    /// The bytes.
    #[inline(always)]
    pub fn mask(self) -> u8 {
        (self.0 >> MASK & 15) as u8
    }

    /// The same for fewer bytes.
    pub fn with_mask(self, mask: u8) -> Record {
        if mask == 0 {
            return Record(0);
        }
        Record(self.0 & !(15 << MASK) | u64::from(mask) << MASK)
    }

    /// Its strength.
    #[inline(always)]
    pub fn strength(self) -> Strength {
        match self.0 >> STRENGTH & 3 {
            0 => Strength::Weak,
            1 => Strength::Block,
            2 => Strength::Device,
            _ => Strength::Volatile,
        }
    }

    /// Read and written in one.
    pub fn is_update(self) -> bool {
        self.0 & UPDATE != 0
    }

    /// Its first thread.
    #[inline(always)]
    pub fn first(self) -> u32 {
        (self.0 >> THREAD & THREAD_MASK) as u32
    }

    /// Its other thread, or the first again.
    #[inline(always)]
    pub fn other(self) -> u32 {
        (self.0 >> OTHER & THREAD_MASK) as u32
    }

    /// The same with another second thread.
    #[inline(always)]
    pub fn with_other(self, thread: u32) -> Record {
        Record(self.0 & !OTHER_THREAD | u64::from(thread) << OTHER)
    }

    /// The same by one thread.
    #[inline(always)]
    pub fn by(self, thread: u32) -> Record {
        Record(self.0 & !THREADS | (u64::from(thread) * NEXT_THREAD))
    }

    /// Its bytes or halves were touched by threads of their own.
    #[inline(always)]
    pub fn is_apart(self) -> bool {
        self.0 & (BYTES_APART | HALVES_APART) != 0
    }

    /// The same instruction at the same time, with the same bytes.
    #[inline(always)]
    pub fn is_same_but_threads(self, other: Record) -> bool {
        (self.0 ^ other.0) & !THREADS == 0
    }

    /// The threads that touched any of the bytes in `mask`: at most four, with repetitions.
    pub fn threads(self, mask: u8) -> [u32; 4] {
        let first = self.first();
        let apart = self.0 & (BYTES_APART | HALVES_APART);
        if apart == 0 {
            return [first, self.other(), first, first];
        }
        let touched = mask & self.mask();
        let thread = |byte: u32| {
            let step = if apart == BYTES_APART { byte } else { byte / 2 };
            (first + step) & THREAD_MASK as u32
        };
        let any = thread(touched.trailing_zeros().min(3));
        [0, 1, 2, 3].map(|byte| if touched >> byte & 1 != 0 { thread(byte) } else { any })
    }

    /// Both by one thread alone.
    #[inline(always)]
    pub fn is_one_thread(self, thread: u32) -> bool {
        let pair = self.0 >> THREAD & (THREAD_MASK << 10 | THREAD_MASK);
        let thread = u64::from(thread);
        pair == (thread << 10 | thread) && self.0 & (BYTES_APART | HALVES_APART) == 0
    }

    /// This record and `new` as one, if one can hold both: accesses of one instruction at one time.
    #[inline]
    pub fn merged(self, new: Record) -> Option<Record> {
        const KIND: u64 = 3 << STRENGTH | UPDATE | u32::MAX as u64;
        if (self.0 ^ new.0) & KIND != 0 {
            return None;
        }
        let apart = self.0 & (BYTES_APART | HALVES_APART);
        let (mask, new_mask) = (self.mask(), new.mask());
        if apart == 0 && new_mask == mask {
            // Two threads are remembered: the first and the last.
            let last = u64::from(new.first());
            return Some(Record(self.0 & !(THREAD_MASK << OTHER) | last << OTHER));
        }
        if apart == 0 && self.is_one_thread(new.first()) {
            return Some(self.with_mask(mask | new_mask));
        }
        if mask & new_mask != 0 {
            return None;
        }
        let unit = match new_mask {
            1 | 2 | 4 | 8 => 1,
            3 | 12 => 2,
            _ => return None,
        };
        let kind = if unit == 1 { BYTES_APART } else { HALVES_APART };
        // The thread that would have touched the first byte.
        let origin = |record: Record| {
            let step = record.mask().trailing_zeros() / unit;
            record.first().wrapping_sub(step) & THREAD_MASK as u32
        };
        let single = mask.count_ones() == unit && self.is_one_thread(self.first());
        let mine = match apart {
            0 if single => origin(self),
            _ if apart == kind => self.first(),
            _ => return None,
        };
        if mine != origin(new) {
            return None;
        }
        let threads = u64::from(mine) << THREAD | u64::from(mine) << OTHER;
        let base =
            self.with_mask(mask | new_mask).0 & !(THREAD_MASK << THREAD | THREAD_MASK << OTHER);
        Some(Record(base | threads | kind))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by(thread: u32, mask: u8) -> Record {
        Record::new(7, thread, mask, Strength::Weak, false)
    }

    #[test]
    fn neighbours_share_a_record() {
        let bytes = by(40, 1).merged(by(41, 2)).and_then(|r| r.merged(by(42, 4))).unwrap();
        assert_eq!(bytes.mask(), 7);
        assert_eq!(bytes.threads(4)[2], 42);
        assert_eq!(bytes.threads(2), [41; 4]);
        assert_eq!(bytes.merged(by(50, 8)), None);
        let halves = by(8, 12).merged(by(7, 3)).unwrap();
        assert_eq!((halves.threads(3)[0], halves.threads(12)[3]), (7, 8));
    }

    #[test]
    fn two_threads_with_the_same_bytes() {
        let both = by(3, 15).merged(by(900, 15)).unwrap();
        assert_eq!(&both.threads(15)[..2], [3, 900]);
        assert!(both.merged(by(5, 1)).is_none());
        assert!(by(3, 15).is_one_thread(3) && !both.is_one_thread(3));
        assert_eq!(by(3, 1).merged(by(3, 6)).map(Record::mask), Some(7));
        let atomic = Record::new(7, 3, 15, Strength::Device, true);
        assert_eq!(by(3, 15).merged(atomic), None);
        assert_eq!((atomic.strength(), atomic.is_update()), (Strength::Device, true));
    }
}
