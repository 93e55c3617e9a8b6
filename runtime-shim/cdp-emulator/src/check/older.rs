//! Values from before a write that a reader does not know of.
//!
//! A strong read need not see the newest value: any is right that is not older than what the reader knows of. In most schedules it
//! is the newest all the same, and where a program looks once and goes on whatever it finds (a sequence lock, a ring that is one
//! slot too short) the read then orders what it should not have counted on. So, once for each run of writes, the first thread that
//! looks and does not know of them gets the value from before them, as if it had looked earlier, with what had been released by then.
//! The next look finds the newest, so that nobody waits longer than for one more look.
//!
//! Only what is certain is told: reads by `ld`, or by updates that change nothing, of places that were last written strongly and by
//! nobody else in between, as the records of the race checker have it ([`super::shadow`]). A thread that has executed a fence gets the newest always, since
//! fences may be in an order with those of the writer.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::Watch;
use super::access::Access;
use super::block::BlockState;
use super::race::current;
use super::sync::{SyncVar, look};

/// Writes that are remembered of a place. Pairs of them are forgotten, which most locks of this kind count in.
const MOST: usize = 16;

/// What stands before newer writes of places that are read and written strongly, by address.
#[derive(Debug, Default)]
pub struct Older {
    places: FxHashMap<u64, Place>,
    /// Some code may look.
    pub is_asked: bool,
    /// The stamp of the last access that got an older value: others by the same instruction, at other places, go on with the
    /// newest, since what is wrong may be what they do then.
    last: u32,
    /// What lanes of the access at hand get: the value by its lane.
    given: Vec<(usize, u64)>,
}

/// Writes of a place that nobody has looked at since who did not know of all of them.
#[derive(Debug, Default)]
struct Place {
    bytes: u64,
    writes: VecDeque<Write>,
    /// The stamp of the last access that the records call a write.
    last: Option<u32>,
}

/// A write, by its stamp and thread; what was there before, and had been released through it.
#[derive(Debug)]
struct Write {
    was: u64,
    released: Option<SyncVar>,
    stamp: u32,
    thread: u32,
}

impl Older {
    /// Forgets all.
    pub fn clear(&mut self) {
        self.places.clear();
        self.given.clear();
    }

    /// What lanes got by the last access, by lane.
    pub fn take(&mut self) -> Vec<(usize, u64)> {
        std::mem::take(&mut self.given)
    }
}

impl Watch {
    /// Remembers what a strong access writes over, and decides which lanes get an older value: a mask.
    pub(super) fn looks_back(
        &mut self,
        state: &mut BlockState,
        access: &Access<'_>,
        stamp: u32,
    ) -> u32 {
        self.older.given.clear();
        let Some(was) = access.was.filter(|_| self.older.is_asked) else { return 0 };
        let mut behind = 0;
        for lane in (0..32).filter(|lane| access.lanes >> lane & 1 != 0) {
            let place = access.base.wrapping_add(access.at[lane]);
            let thread = access.first_thread + lane as u32;
            let mut known = self.older.places.remove(&place).unwrap_or_default();
            let newest = self.newest(state, access, access.at[lane]);
            if known.bytes != access.bytes || known.last != newest {
                known.writes.clear();
            }
            (known.bytes, known.last) = (access.bytes, newest);
            let unknown = match access.reads {
                true => self.unknown(state, &known, thread),
                false => None,
            };
            if let Some(first) = unknown {
                let fenced = state.thread_if_any(thread).is_some_and(|own| own.fence.is_some());
                if access.kind.looks() && !fenced && self.older.last != stamp {
                    self.older.last = stamp;
                    let Write { was, released, .. } = &known.writes[first];
                    if let Some(released) = released {
                        look(released, state, thread, (access.order, access.writes));
                    }
                    self.older.given.push((lane, *was));
                    behind |= 1 << lane;
                }
                known.writes.clear();
            }
            known.last = if access.writes { Some(stamp) } else { newest };
            if access.writes && !access.kind.keeps() {
                if known.writes.len() == MOST {
                    known.writes.drain(..2);
                }
                let vars = if access.shared { &state.vars } else { &self.vars };
                let released = vars.get(&access.at[lane]).cloned();
                known.writes.push_back(Write { was: was[lane], released, stamp, thread });
            }
            if newest.is_some() || access.writes {
                self.older.places.insert(place, known);
            }
        }
        behind
    }

    /// The stamp of what was written last at an address, if it is one.
    fn newest(&mut self, state: &mut BlockState, access: &Access<'_>, at: u64) -> Option<u32> {
        let floor = if access.shared { state.floor } else { self.first_stamp };
        let (page, word) = self.page(state, access.shared, at & !3);
        let write = current(page.get(word), floor).write;
        (!write.is_none() && !write.is_split()).then(|| write.stamp())
    }

    /// The first write behind the last one that a thread knows of.
    fn unknown(&self, state: &BlockState, place: &Place, thread: u32) -> Option<usize> {
        let knows = |write: &Write| {
            let stamp = self.stamp(write.stamp);
            let is_own = stamp.block == state.id && write.thread == thread;
            is_own || self.is_before(state, stamp, write.thread, thread)
        };
        let first = place.writes.iter().rposition(knows).map_or(0, |last| last + 1);
        (first < place.writes.len()).then_some(first)
    }
}
