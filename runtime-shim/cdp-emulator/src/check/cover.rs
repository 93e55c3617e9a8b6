//! What lies beneath atomic writes: what one write record for a word would forget.
//!
//! An atomic write takes the place of the write before it. What conflicts with a plain write and knows of another one behind it
//! knows of both, but of atomic writes this is not true, since they do not conflict with each other:
//!
//! - A plain write that an atomic one covers (`counter = 0; atomicAdd(&counter, 1)`) conflicts with the atomics of other
//!   threads, which do not conflict with what lies above. Only atomic accesses ask for it: plain ones conflict with
//!   the atomic above as well.
//! - An atomic write that another thread's covers (`atomicAdd(&sum, x); if (last) out = sum`) conflicts with the plain accesses
//!   of that thread, which knows of its own write. Only accesses that are not atomic for all ask for it. One is kept; of those
//!   through which something is released, none: who updates what is there takes over what all of them released.
//!
//! Reads before atomic writes stay where reads are ([`super::race`]); but of the read that a compare-and-swap of its
//! thread checks it is known that it does no harm.

use super::Watch;
use super::access::{Access, Manner};
use super::beneath::{Covered, FIRST, OTHER};
use super::block::BlockState;
use super::race::{Outcome, Touch};
use super::record::{Record, Strength};
use super::shadow::Cell;

impl Watch {
    /// The same as [`Watch::meet`], with what lies beneath an atomic write. The cell is a byte's, or a word's.
    #[inline(always)]
    pub(super) fn weigh(
        &mut self,
        state: &mut BlockState,
        access: &Access<'_>,
        touch: &Touch,
        (cell, is_byte): (Cell, bool),
    ) -> Option<Outcome> {
        let mut outcome = self.meet(state, touch, cell)?;
        if !cell.write.is_none()
            && (touch.record.strength() != Strength::Weak
                || cell.write.strength() != Strength::Weak)
        {
            self.look_beneath(state, access, touch, (cell.write, is_byte), &mut outcome);
        }
        if matches!(access.kind, Manner::Swap { .. }) {
            self.forget_checked(state, touch, &mut outcome.cell);
        }
        Some(outcome)
    }

    /// What a thread read before it swaps, it checks now.
    fn forget_checked(&self, state: &BlockState, touch: &Touch, cell: &mut Cell) {
        for read in [&mut cell.read, &mut cell.again] {
            if !read.is_none()
                && read.is_one_thread(touch.thread)
                && self.stamp(read.stamp()).block == state.id
            {
                *read = read.with_mask(read.mask() & !touch.record.mask());
            }
        }
    }

    /// Looks beneath the write that an access met, and keeps that if the access covers it.
    fn look_beneath(
        &mut self,
        state: &mut BlockState,
        access: &Access<'_>,
        touch: &Touch,
        (above, is_byte): (Record, bool),
        outcome: &mut Outcome,
    ) {
        let covered = self.covered(state, access.shared, touch, is_byte);
        let strength = touch.record.strength();
        for (kind, record) in covered.into_iter().enumerate() {
            let is_asked = match kind {
                FIRST => strength != Strength::Weak,
                _ => strength <= Strength::Block,
            };
            if is_asked && outcome.conflict.is_none() && !record.is_none() {
                outcome.conflict =
                    self.against(state, touch, record).map(|thread| (record, thread, true));
            }
        }
        let writes = touch.writes && strength != Strength::Weak;
        if !writes || outcome.conflict.is_some() || above.stamp() == touch.record.stamp() {
            return;
        }
        let kind = match above.strength() < strength && above.strength() <= Strength::Block {
            true => FIRST,
            false => OTHER,
        };
        let keeps = match kind {
            FIRST => self.keeps_first(state, access, above),
            _ => self.keeps_other(state, access, touch, (above, covered[OTHER])),
        };
        if keeps {
            self.cover(state, access.shared, touch, (kind, above, is_byte));
        }
    }

    /// Somebody may come who does not know of the write with which atomics began.
    fn keeps_first(&self, state: &BlockState, access: &Access<'_>, above: Record) -> bool {
        // To shared memory only the block's threads come.
        !access.shared
            || above.strength() == Strength::Weak && !self.for_all(state, self.stamp(above.stamp()))
    }

    /// The thread does not know of the atomic write that it covers, and none is kept that it does not know of.
    fn keeps_other(
        &self,
        state: &mut BlockState,
        access: &Access<'_>,
        touch: &Touch,
        (above, kept): (Record, Record),
    ) -> bool {
        if !kept.is_none() && !self.all_before(state, kept, touch.thread)
            || self.all_before(state, above, touch.thread)
        {
            return false;
        }
        let at = access.at[(touch.thread - access.first_thread) as usize & 31];
        let vars = if access.shared { &state.vars } else { &self.vars };
        !(access.reads && vars.contains_key(&at))
    }

    /// What lies beneath the last write of a word or byte.
    fn covered(
        &mut self,
        state: &mut BlockState,
        shared: bool,
        touch: &Touch,
        is_byte: bool,
    ) -> Covered {
        let floor = if shared { state.floor } else { self.first_stamp };
        let covered = if is_byte {
            self.bytes(state, shared, touch.address).beneath[byte_of(touch)]
        } else {
            let (page, word) = self.page(state, shared, touch.address);
            page.beneath.get(word)
        };
        covered.map(|record| if record.stamp() < floor { Record(0) } else { record })
    }

    /// Keeps what is covered.
    fn cover(
        &mut self,
        state: &mut BlockState,
        shared: bool,
        touch: &Touch,
        (kind, above, is_byte): (usize, Record, bool),
    ) {
        if is_byte {
            let bytes = self.bytes(state, shared, touch.address);
            bytes.beneath[byte_of(touch)][kind] = above;
        } else {
            let (page, word) = self.page(state, shared, touch.address);
            page.beneath.put(kind, word, above);
        }
    }
}

/// Which byte of its word a touch of one is.
fn byte_of(touch: &Touch) -> usize {
    touch.record.mask().trailing_zeros() as usize & 3
}
