//! Writes that lie beneath atomic ones: what one write record for a word would forget.
//!
//! An atomic write takes the place of the write before it. If that was a plain one (`counter = 0; atomicAdd(&counter, 1)`)
//! the atomics of other threads conflict with it and not with what lies above, so it is remembered ([`super::beneath`]), as long as
//! some thread may come to the word that does not know of it. Only atomic accesses ask: plain ones conflict with
//! the atomic above as well.

use super::Watch;
use super::access::Access;
use super::block::BlockState;
use super::race::{Outcome, Touch};
use super::record::{Record, Strength};
use super::shadow::Cell;

/// The place of what an access touches.
fn key(touch: &Touch) -> u64 {
    let mask = touch.record.mask();
    let byte = if mask.is_power_of_two() { mask.trailing_zeros() } else { 0 };
    touch.address + u64::from(byte)
}

impl Watch {
    /// The same as [`Watch::meet`], with what lies beneath an atomic write.
    #[inline(always)]
    pub(super) fn weigh(
        &mut self,
        state: &mut BlockState,
        access: &Access<'_>,
        touch: &Touch,
        cell: Cell,
    ) -> Option<Outcome> {
        let mut outcome = self.meet(state, touch, cell)?;
        if touch.record.strength() != Strength::Weak {
            self.look_beneath(state, access, touch, cell.write, &mut outcome);
        }
        Some(outcome)
    }

    /// Looks beneath what an atomic access met, and keeps the write that it covers.
    fn look_beneath(
        &mut self,
        state: &mut BlockState,
        access: &Access<'_>,
        touch: &Touch,
        covered: Record,
        outcome: &mut Outcome,
    ) {
        let place = key(touch);
        let kept = if access.shared { &state.beneath } else { &self.beneath };
        if outcome.conflict.is_none()
            && let Some(record) = kept.get(place)
        {
            outcome.conflict =
                self.against(state, touch, record).map(|thread| (record, thread, true));
        }
        let covers = touch.writes
            && !covered.is_none()
            && covered.strength() < touch.record.strength()
            && covered.strength() <= Strength::Block;
        if !covers || outcome.conflict.is_some() {
            return;
        }
        let stamp = self.stamp(covered.stamp());
        if access.shared {
            // Only this block's threads come here.
            if covered.strength() == Strength::Weak && !self.for_all(state, stamp) {
                state.beneath.insert(place, covered);
            }
        } else if self.blocks[stamp.block as usize].grid == state.grid {
            self.beneath.insert(place, covered);
        }
    }
}
