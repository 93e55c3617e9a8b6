//! What becomes of what is remembered of a word, or of a row of words that has one record, if that can be told from the
//! records alone: everything before is known to come before, or was done by the same threads at the same time.
//!
//! What cannot be told so is [`super::runs`]' to judge, which finds out what this goes by.

use super::Stamp;
use super::plane::{STEPS_MASK, live};
use super::record::{OTHER_THREAD, Record, THREADS};
use super::shadow::{AGAIN, READ};

/// What is done about an access.
#[derive(Clone, Copy)]
pub enum Verdict {
    /// Nothing new is to be remembered.
    Known,
    /// The new records stand in this plane now.
    Replace(usize),
    /// Their threads are the second ones there.
    Join(usize),
    /// The new ones are all that counts; there are reads that no longer do.
    Written { read: bool, again: bool },
    /// Each word is to be looked at.
    Ask,
}

/// A set of stamps, each at its low bits.
type Stamps = [u32; 256];

/// What a block has found out about stamps.
pub struct Found<'a> {
    /// The least stamp that counts.
    pub floor: u64,
    /// Those that come before everything that it does.
    pub ordered: &'a Stamps,
    /// Those of other blocks that do not, while it knows nothing but its base.
    pub unordered: Option<&'a Stamps>,
    /// All stamps, and the number of the first.
    pub stamps: (&'a [Stamp], u32),
    /// The block.
    pub block: u32,
}

impl Found<'_> {
    /// The block of a stamp.
    fn block_of(&self, record: Record) -> Option<u32> {
        let at = record.stamp().wrapping_sub(self.stamps.1);
        self.stamps.0.get(at as usize).map(|stamp| stamp.block)
    }

    /// What is remembered is known to come before what a new record tells of.
    #[inline(always)]
    fn is_before(&self, old: Record, new: Record) -> bool {
        if old.0 == 0 {
            return true;
        }
        if old.is_split() {
            return false;
        }
        if self.ordered[(old.stamp() & 255) as usize] == old.stamp() {
            return true;
        }
        // Each thread its own.
        let same = (old.0 ^ new.0) & (THREADS | STEPS_MASK) == 0;
        same && new.first() == new.other()
            && !old.is_apart()
            && self.block_of(old) == Some(self.block)
    }

    /// Nothing orders what is remembered with what the block does.
    #[inline(always)]
    fn is_apart(&self, old: Record) -> bool {
        self.unordered.is_some_and(|found| found[(old.stamp() & 255) as usize] == old.stamp())
    }

    /// What becomes of a write and two reads; of a row's, all with the steps of its threads.
    #[inline(always)]
    pub fn verdict(&self, new: Record, old: [Record; 3], writes: bool) -> Verdict {
        let [write, read, again] = old.map(|record| Record(live(record, self.floor)));
        if !self.is_before(write, new) {
            return Verdict::Ask;
        }
        let (no_read, none_again) = (read.0 == 0, again.0 == 0);
        if writes {
            return match self.is_before(read, new) && self.is_before(again, new) {
                true => Verdict::Written { read: !no_read, again: !none_again },
                false => Verdict::Ask,
            };
        }
        if no_read && none_again {
            return Verdict::Replace(READ);
        }
        let known = |seen: Record| (seen.0 ^ new.0) & OTHER_THREAD == 0;
        if read.is_same_but_threads(new) {
            return if known(read) { Verdict::Known } else { Verdict::Join(READ) };
        }
        if again.is_same_but_threads(new) {
            return if known(again) { Verdict::Known } else { Verdict::Join(AGAIN) };
        }
        if self.is_before(read, new) {
            return Verdict::Replace(READ);
        }
        if !self.is_apart(read) {
            return Verdict::Ask;
        }
        if self.is_before(again, new) {
            return Verdict::Replace(AGAIN);
        }
        if !self.is_apart(again) {
            return Verdict::Ask;
        }
        if (read.mask(), again.mask()) != (15, 15) {
            return Verdict::Ask;
        }
        // Two are remembered, of different blocks if there are.
        let block = self.block_of(read);
        let other = block == self.block_of(again) && block != Some(self.block);
        if other { Verdict::Replace(AGAIN) } else { Verdict::Known }
    }
}
