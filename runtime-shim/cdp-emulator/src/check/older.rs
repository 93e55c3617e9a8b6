//! Values from before a write that a reader does not know of.
//!
//! A strong read need not see the newest value: any is right that is not older than what the reader knows of. In most schedules it
//! is the newest all the same, and where a program goes on too early (a sequence lock that looks once, a ring that is one slot too
//! short) the read then orders what it should not have counted on. So who looks and does not know of the last writes gets the value
//! from before the first of them, as if it had looked earlier, with what had been released by then; and again, as long as it
//! goes on all the same. Who looks again without having told anybody anything in between waits for another value, and gets the
//! next one, as do threads of other warps. Nobody sees an older value than somebody has seen.
//!
//! Only what is certain is told: reads by `ld`, or by updates that change nothing, of places that were last written strongly and by
//! nobody else in between, as the records of the race checker have it ([`super::shadow`]). Who has executed a fence since a write sees
//! it, since the fence may be in an order with those of the writer.
//!
//! Phases of barrier objects are seen in the same way ([`BlockState::first_look`]).

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::Watch;
use super::access::Access;
use super::block::BlockState;
use super::race::current;
use super::sync::{SyncVar, look};
use crate::lanes::lanes_of;

/// Writes that are remembered of a place, so that a ring may have as many slots. Pairs of them are forgotten, which most locks of this
/// kind count in.
const MOST: usize = 64;
/// Looks that find the same older value: of those who wait in ways that are not seen here.
const LOOKS: u32 = 64;
/// Writes and places that are remembered in all. Then all are forgotten: who looks sees the newest value.
const MOST_OF_ALL: usize = 1 << 16;

/// What stands before newer writes of places that are read and written strongly, by address.
#[derive(Debug, Default)]
pub struct Older {
    places: FxHashMap<u64, Place>,
    /// Places and writes that were remembered since all were forgotten.
    remembered: usize,
    /// Some code may look.
    pub is_asked: bool,
    /// Who got an older value last, where, and its block's time: until that moves on it sees the newest at the next other place, since
    /// what is wrong may be what is done then.
    last: Option<(Thread, u64, u32)>,
    /// What lanes of the access at hand get: the value by its lane.
    given: Vec<(usize, u64)>,
}

/// Writes of a place that nobody has seen by looking.
#[derive(Debug, Default)]
struct Place {
    bytes: u64,
    writes: VecDeque<Write>,
    /// The stamp of the last access that the records call a write.
    last: Option<u32>,
    /// Who looked first at the value before these writes, and its stamp then; and how many did so far.
    asked: Option<(Thread, u32)>,
    looks: u32,
}

/// A thread: its block's number, and its own in that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Thread {
    block: u32,
    number: u32,
}

impl Thread {
    fn is_of_warp(self, other: Thread) -> bool {
        (self.block, self.number / 32) == (other.block, other.number / 32)
    }
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
        self.remembered = 0;
        self.given.clear();
    }

    /// What lanes got by the last access, by lane.
    pub fn take(&mut self) -> Vec<(usize, u64)> {
        std::mem::take(&mut self.given)
    }
}

impl Place {
    /// Somebody looks who knows of no write from `first` on: the one before which it looks, if it does not see the newest value.
    fn look(&mut self, first: usize, who: Thread, stamp: u32) -> Option<&Write> {
        if first > 0 {
            self.writes.drain(..first);
            (self.asked, self.looks) = (None, 0);
        }
        let moves_on = self.asked.is_some_and(|(thread, then)| match thread == who {
            true => then == stamp,
            false => !thread.is_of_warp(who),
        });
        if moves_on || self.looks == LOOKS {
            self.writes.pop_front();
            self.looks = 0;
        }
        if self.asked.is_none_or(|(thread, then)| moves_on || thread == who || then != stamp) {
            self.asked = Some((who, stamp));
        }
        self.looks += 1;
        self.writes.front()
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
        if self.older.remembered > MOST_OF_ALL {
            self.older.clear();
        }
        let mut places = std::mem::take(&mut self.older.places);
        let mut behind = 0;
        for lane in lanes_of(access.lanes) {
            let place = access.base.wrapping_add(access.at[lane]);
            let thread = access.first_thread + lane as u32;
            let newest = self.newest(state, access, access.at[lane]);
            if newest.is_none() && !access.writes {
                continue;
            }
            let known = places.entry(place).or_insert_with(|| {
                self.older.remembered += 1;
                Place::default()
            });
            if known.bytes != access.bytes || known.last != newest {
                known.writes.clear();
            }
            (known.bytes, known.last) = (access.bytes, newest);
            let keeps = access.kind.keeps() || !access.writes;
            let unknown =
                if access.reads && keeps { self.unknown(state, known, thread) } else { None };
            let who = Thread { block: state.id, number: thread };
            let time = self.stamp(stamp).time;
            let goes_on = self
                .older
                .last
                .is_some_and(|(by, at, then)| by.is_of_warp(who) && at != place && then == time);
            // What orders nothing hides nothing: with the newest value more is seen.
            let vars = if access.shared { &state.vars } else { &self.vars };
            let orders = access.tells || vars.get(&access.at[lane]).is_some_and(SyncVar::releases);
            let may = access.kind.looks() && !goes_on && orders;
            match unknown {
                Some(first) if may => {
                    if let Some(Write { was, released, .. }) = known.look(first, who, stamp) {
                        self.older.last = Some((who, place, time));
                        if let Some(released) = released {
                            look(released, state, thread, (access.order, access.writes));
                        }
                        self.older.given.push((lane, *was));
                        behind |= 1 << lane;
                    }
                }
                // It sees the newest. Of those who write too others know by what they wrote.
                Some(_) => {
                    known.writes.clear();
                    self.older.last = self.older.last.filter(|_| !goes_on);
                }
                None => {}
            }
            known.last = if access.writes { Some(stamp) } else { newest };
            if !keeps {
                if known.writes.len() == MOST {
                    known.writes.drain(..2);
                }
                let vars = if access.shared { &state.vars } else { &self.vars };
                let released = vars.get(&access.at[lane]).cloned();
                known.writes.push_back(Write { was: was[lane], released, stamp, thread });
                self.older.remembered += 1;
            }
        }
        self.older.places = places;
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
        let fenced_at = state.thread_if_any(thread).map_or(0, |own| own.fenced_at);
        let knows = |write: &Write| {
            let stamp = self.stamp(write.stamp);
            let is_own = stamp.block == state.id && write.thread == thread;
            is_own || write.stamp < fenced_at || self.is_before(state, stamp, write.thread, thread)
        };
        let first = place.writes.iter().rposition(knows).map_or(0, |last| last + 1);
        (first < place.writes.len()).then_some(first)
    }
}
