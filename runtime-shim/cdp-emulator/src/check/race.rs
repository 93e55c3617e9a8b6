//! Accesses: is each ordered with those that are remembered of the same bytes?

use super::access::{Access, Manner, Way};
use super::block::{BlockState, STAMPS};
use super::findings::{Conflict, Side, Unseen};
use super::record::{Record, Strength};
use super::shadow::{Cell, Page};
use super::{Origin, Stamp, Watch, holds};
use crate::code::{Reach, Sem};
use crate::lanes::lanes_of;
use crate::memory::space;

/// One thread's access to one word.
#[derive(Clone, Copy)]
pub(super) struct Touch {
    pub record: Record,
    pub thread: u32,
    pub writes: bool,
    pub way: Way,
    pub address: u64,
}

/// What one access to a word came to.
pub(super) struct Outcome {
    pub cell: Cell,
    /// What it conflicts with: the record, a thread of it, and whether that one wrote.
    pub conflict: Option<(Record, u32, bool)>,
}

impl Watch {
    /// Looks at an access before it is made.
    pub fn access(&mut self, state: &mut BlockState, access: &Access<'_>) {
        let stamp = match access.kind {
            Manner::Later(of) => self.copy_stamp(state, access.origin, of, access.writes),
            _ => self.stamp_now(state, access.origin),
        };
        let strength = match (access.order.sem, access.order.reach) {
            (Sem::Weak | Sem::Fixed, _) => Strength::Weak,
            // Between blocks volatile flags are as good as relaxed atomics.
            (Sem::Volatile, _) if access.shared => Strength::Volatile,
            (_, Reach::Block) => Strength::Block,
            (_, Reach::Device) => Strength::Device,
        };
        let plain = strength == Strength::Weak && access.kind == Manner::Own;
        let bits = access.at.iter().fold(access.bytes, |bits, at| bits | at);
        if plain && bits % 4 == 0 {
            self.in_runs(state, access, stamp);
            return;
        }
        // What a copy does is none of its thread's releasing or acquiring.
        let orders = access.order.is_strong() && !matches!(access.kind, Manner::Later(_));
        let behind = if orders { self.looks_back(state, access, stamp) } else { 0 };
        self.lane_by_lane(state, access, stamp, strength);
        if orders {
            self.strong(state, access, access.lanes & !behind);
            if access.writes && self.holds.awaits_any() {
                for lane in lanes_of(access.lanes) {
                    self.holds.came(holds::key(state.id, access.shared, access.at[lane]));
                }
            }
        }
    }

    pub(super) fn lane_by_lane(
        &mut self,
        state: &mut BlockState,
        access: &Access<'_>,
        stamp: u32,
        strength: Strength,
    ) {
        let update = access.reads && access.writes;
        let way = access.way();
        let mut lanes = access.lanes;
        if !access.writes && access.at.iter().all(|&at| at == access.at[0]) {
            // All read the same: two of them are remembered anyway.
            lanes = 1 << lanes.trailing_zeros() | 1 << (31 - lanes.leading_zeros());
        }
        while lanes != 0 {
            let lane = lanes.trailing_zeros() as usize;
            lanes &= lanes - 1;
            // Of neighbours that read the same the first and the last are remembered.
            let same = |other: usize| {
                access.lanes >> other & 1 != 0 && access.at[other] == access.at[lane]
            };
            if !access.writes && lane > 0 && lane < 31 && same(lane - 1) && same(lane + 1) {
                continue;
            }
            let thread = access.first_thread + lane as u32;
            let start = access.at[lane];
            let end = start + access.bytes;
            let mut word = start & !3;
            while word < end {
                let low = start.saturating_sub(word).min(4) as u32;
                let high = (end - word).min(4) as u32;
                let mask = (15u8 << low) & (15 >> (4 - high));
                let record = Record::new(stamp, thread, mask, strength, update);
                let touch = Touch { record, thread, writes: access.writes, way, address: word };
                if matches!(access.kind, Manner::Swap { .. }) {
                    self.findings.swapped(state.id, thread, word);
                }
                self.word(state, access, &touch);
                word += 4;
            }
        }
    }

    fn strong(&mut self, state: &mut BlockState, access: &Access<'_>, lanes: u32) {
        let strong = super::sync::Strong {
            reads: access.reads,
            writes: access.writes,
            keeps: access.kind.keeps(),
            order: access.order,
        };
        for lane in lanes_of(lanes) {
            let thread = access.first_thread + lane as u32;
            if access.shared {
                self.strong_shared(state, thread, access.at[lane], strong);
            } else {
                self.strong_global(state, thread, access.at[lane], strong);
            }
        }
    }

    /// The stamp of an instruction now.
    pub(super) fn stamp_now(&mut self, state: &mut BlockState, origin: Origin) -> u32 {
        let time = state.stamp_time();
        let slot = (origin.instruction as usize ^ (origin.function as usize * 7)) % STAMPS;
        let (known, at, stamp) = state.stamps.0[slot];
        // Those below were the block's whose state this was before.
        if known == origin && at == time && stamp >= state.floor {
            return stamp;
        }
        let stamp = self.new_stamp(state.id, time, origin);
        state.stamped_by(stamp);
        state.stamps.0[slot] = (origin, time, stamp);
        stamp
    }

    /// Looks at one word.
    #[inline(always)]
    pub(super) fn word(&mut self, state: &mut BlockState, access: &Access<'_>, touch: &Touch) {
        // The commonest cases: the same thread again, nobody before, or all before is ordered.
        let old = if access.shared {
            let floor = state.settled();
            let (page, word) = state.shared.page(touch.address);
            let old = page.get(word);
            if touch.way == Way::Usual
                && !page.beneath.is_asked_by_plain(old.write)
                && let Some(new) = quick(old, touch, floor, &state.ordered.0)
            {
                page.put(word, old, new);
                return;
            }
            old
        } else {
            let (page, word) = self.shadow.page(touch.address);
            let old = page.get(word);
            if touch.way == Way::Usual
                && !page.beneath.is_asked_by_plain(old.write)
                && let Some(new) = quick(old, touch, self.first_stamp, &state.ordered.0)
            {
                page.put(word, old, new);
                return;
            }
            old
        };
        self.word_slow(state, access, touch, old);
    }

    #[inline(never)]
    fn word_slow(&mut self, state: &mut BlockState, access: &Access<'_>, touch: &Touch, old: Cell) {
        let floor = if access.shared { state.floor } else { self.first_stamp };
        let cell = current(old, floor);
        if cell.write.is_split() {
            self.split_word(state, access, touch);
            return;
        }
        let Some(outcome) = self.weigh(state, access, touch, (cell, false)) else {
            // Bytes of the word belong to different threads in a way that records cannot say.
            self.split(state, access.shared, touch.address, cell);
            self.split_word(state, access, touch);
            return;
        };
        if let Some((record, thread, wrote)) = outcome.conflict {
            self.conflict(state, access, touch, record, thread, wrote);
        }
        if outcome.cell == old {
            return;
        }
        let (page, word) = self.page(state, access.shared, touch.address);
        page.put(word, old, outcome.cell);
    }

    /// The page and word of an address, of the block's shared memory or of the device's.
    #[inline(always)]
    pub(super) fn page<'s>(
        &'s mut self,
        state: &'s mut BlockState,
        shared: bool,
        address: u64,
    ) -> (&'s mut Page, usize) {
        match shared {
            true => state.shared.page(address),
            false => self.shadow.page(address),
        }
    }

    /// What becomes of a word's records by an access; `None` if its bytes must be kept apart.
    #[inline(always)]
    pub(super) fn meet(
        &self,
        state: &mut BlockState,
        touch: &Touch,
        cell: Cell,
    ) -> Option<Outcome> {
        let new = touch.record;
        let mut conflict = None;
        let is_own = cell.write.stamp() == new.stamp() && cell.write.is_one_thread(touch.thread);
        if !(cell.write.is_none() || is_own) {
            let before = match touch.way {
                Way::Usual => Watch::against,
                Way::Proxy => Watch::against_proxy,
                Way::Fixed => Watch::against_fixed,
            };
            conflict =
                before(self, state, touch, cell.write).map(|thread| (cell.write, thread, true));
        }
        if !touch.writes {
            return self
                .read(state, new, touch.thread, cell)
                .map(|cell| Outcome { cell, conflict });
        }
        for read in [cell.read, cell.again] {
            if conflict.is_none() && !read.is_none() {
                conflict = self.against(state, touch, read).map(|thread| (read, thread, false));
            }
        }
        self.write(new, cell).map(|cell| Outcome { cell, conflict })
    }

    /// The thread of `record` whose access conflicts with this one and is not ordered before it.
    #[inline(always)]
    pub(super) fn against(
        &self,
        state: &mut BlockState,
        touch: &Touch,
        record: Record,
    ) -> Option<u32> {
        let common = record.mask() & touch.record.mask();
        if common == 0 {
            return None;
        }
        let stamp = record.stamp();
        let slot = (stamp & 255) as usize;
        if state.ordered.0[slot] == stamp {
            return None;
        }
        self.against_slow(state, touch, record, common)
    }

    fn against_slow(
        &self,
        state: &mut BlockState,
        touch: &Touch,
        record: Record,
        common: u8,
    ) -> Option<u32> {
        let stamp = *self.stamp(record.stamp());
        if both_strong(record, touch.record, stamp.block == state.id) {
            return None;
        }
        if self.for_all(state, &stamp) {
            state.ordered.0[(record.stamp() & 255) as usize] = record.stamp();
            return None;
        }
        let mut threads = record.threads(common);
        // Another thread than this one says more.
        threads.sort_by_key(|&other| other == touch.thread);
        threads.into_iter().find(|&other| !self.is_before(state, &stamp, other, touch.thread))
    }

    /// As [`Watch::against`], for an access by the asynchronous proxy and a write: one by the usual proxy
    /// must have been followed by a fence between the two.
    fn against_proxy(&self, state: &mut BlockState, touch: &Touch, record: Record) -> Option<u32> {
        let common = record.mask() & touch.record.mask();
        let found = self.against(state, touch, record);
        if found.is_some() || common == 0 {
            return found;
        }
        let stamp = *self.stamp(record.stamp());
        let strong =
            both_strong(record, touch.record, self.are_of_one_block(stamp.block, state.id));
        if strong || self.is_by_proxy(stamp.block) {
            return None;
        }
        let threads = record.threads(common);
        threads.into_iter().find(|&other| !self.is_fenced(state, &stamp, other, touch.thread))
    }

    /// As [`Watch::against`], for an access to what does not change while the grid runs, and a write: one of the same
    /// grid it need not see.
    fn against_fixed(&self, state: &mut BlockState, touch: &Touch, record: Record) -> Option<u32> {
        let common = record.mask() & touch.record.mask();
        let found = self.against(state, touch, record);
        let block = self.stamp(record.stamp()).block;
        if found.is_some() || common == 0 || self.blocks[block as usize].grid != state.grid {
            return found;
        }
        record.threads(common).into_iter().next()
    }

    /// True if an access comes before whatever any thread of the block does now.
    pub(super) fn for_all(&self, state: &BlockState, stamp: &Stamp) -> bool {
        if stamp.block == state.id {
            return stamp.time <= state.all;
        }
        let whole = |view: &super::View| {
            view.block(stamp.block).is_some_and(|clocks| clocks.all >= stamp.time)
                || self.covers(view, stamp.block)
        };
        [&state.base, &state.shared_view].into_iter().any(|view| view.as_deref().is_some_and(whole))
    }

    /// True if an access of thread `other` comes before what `thread` of this block does now.
    pub(super) fn is_before(
        &self,
        state: &BlockState,
        stamp: &Stamp,
        other: u32,
        thread: u32,
    ) -> bool {
        if stamp.block == state.id {
            return state.knows_own(thread, other, stamp.time);
        }
        let learned = state.thread_if_any(thread).and_then(|own| own.learned.as_deref());
        [state.base.as_deref(), state.shared_view.as_deref(), learned]
            .into_iter()
            .flatten()
            .any(|view| self.knows(view, stamp, other))
    }

    /// True if all that a record tells of comes before what `thread` does now.
    pub(super) fn all_before(&self, state: &mut BlockState, record: Record, thread: u32) -> bool {
        let stamp = self.stamp(record.stamp());
        let slot = record.stamp() as usize & 255;
        if state.ordered.0[slot] == record.stamp() {
            return true;
        }
        // What a block that learned nothing does not know of another one, it will not know later.
        let never = stamp.block != state.id && state.knows_only_its_base();
        if never && state.unordered.0[slot] == record.stamp() {
            return false;
        }
        let threads = record.threads(record.mask());
        let before = threads.into_iter().all(|other| self.is_before(state, stamp, other, thread));
        if never && !before {
            state.unordered.0[slot] = record.stamp();
        }
        before
    }

    /// The records after a read.
    #[inline(always)]
    fn read(
        &self,
        state: &mut BlockState,
        new: Record,
        thread: u32,
        mut cell: Cell,
    ) -> Option<Cell> {
        if cell.read.is_none() {
            cell.read = new;
            return Some(cell);
        }
        if cell.read == new {
            return Some(cell);
        }
        if let Some(both) = cell.read.merged(new) {
            cell.read = both;
            return Some(cell);
        }
        self.read_slow(state, new, thread, cell)
    }

    fn read_slow(
        &self,
        state: &mut BlockState,
        new: Record,
        thread: u32,
        mut cell: Cell,
    ) -> Option<Cell> {
        if !cell.again.is_none()
            && let Some(both) = cell.again.merged(new)
        {
            cell.again = both;
            return Some(cell);
        }
        // A weak read is the one that conflicts with more.
        let mut replaces = |old: Record| {
            old.mask() & !new.mask() == 0
                && new.strength() <= old.strength()
                && self.all_before(state, old, thread)
        };
        if replaces(cell.read) {
            cell.read = new;
        } else if cell.again.is_none() || replaces(cell.again) {
            cell.again = new;
        } else if cell.read.mask() != new.mask() || cell.again.mask() != new.mask() {
            return None;
        } else {
            // Two are remembered, of different blocks if there are.
            let block = |record: Record| self.stamp(record.stamp()).block;
            if block(cell.read) == block(cell.again) && block(new) != block(cell.read) {
                cell.again = new;
            }
        }
        Some(cell)
    }

    /// The records after a write.
    #[inline(always)]
    fn write(&self, new: Record, mut cell: Cell) -> Option<Cell> {
        let mask = new.mask();
        if mask == 15 || cell.write.is_none() || cell.write.mask() & !mask == 0 {
            // Atomics of several threads do not conflict with each other, but with others: two of
            // their threads are remembered.
            cell.write = match cell.write.merged(new) {
                Some(both) if new.strength() != Strength::Weak => both,
                _ => new,
            };
        } else {
            cell.write = match cell.write.merged(new) {
                Some(both) => both,
                None => self.same_time(cell.write, new)?,
            };
        }
        // What does not know of a read does not know of a plain write behind it either, and conflicts with that. With an
        // atomic write other atomics do not conflict.
        if new.strength() == Strength::Weak {
            cell.read = cell.read.with_mask(cell.read.mask() & !mask);
            cell.again = cell.again.with_mask(cell.again.mask() & !mask);
        }
        Some(cell)
    }

    /// Writes by one thread to several bytes, at one time.
    fn same_time(&self, old: Record, new: Record) -> Option<Record> {
        let [thread, ..] = new.threads(new.mask());
        let (then, now) = (self.stamp(old.stamp()), self.stamp(new.stamp()));
        let same = (then.block, then.time) == (now.block, now.time)
            && old.is_one_thread(thread)
            && old.strength() == new.strength();
        same.then(|| new.with_mask(old.mask() | new.mask()))
    }

    /// Notes two accesses that conflict and are not ordered.
    #[cold]
    pub(super) fn conflict(
        &mut self,
        state: &BlockState,
        access: &Access<'_>,
        touch: &Touch,
        record: Record,
        thread: u32,
        wrote: bool,
    ) {
        if wrote
            && !record.is_update()
            && !access.reads
            && self.is_same_value(access, touch, record, thread)
        {
            return;
        }
        let stamp = *self.stamp(record.stamp());
        let here = *self.stamp(touch.record.stamp());
        let is_before = wrote && self.is_before(state, &stamp, thread, touch.thread);
        let unseen = match touch.way {
            Way::Proxy if is_before => Some(Unseen::Unfenced),
            Way::Fixed if is_before => Some(Unseen::OwnGrid),
            _ => None,
        };
        let Some(kind) = self.kind_of(&stamp, &here) else { return };
        let side = |stamp: &Stamp, record: Record, thread: u32, writes: bool| Side {
            site: self.site(stamp, thread),
            origin: stamp.origin,
            writes,
            updates: record.is_update(),
            strength: record.strength(),
            grid: self.blocks[stamp.block as usize].grid,
            later: self.blocks[stamp.block as usize].later,
            releases: false,
        };
        let touched =
            touch.address + u64::from((record.mask() & touch.record.mask()).trailing_zeros());
        let of_cluster = space::window(touched) == space::Window::Shared;
        let conflict = Conflict {
            kind,
            now: Side {
                releases: access.kind == Manner::Release,
                ..side(&here, touch.record, touch.thread, touch.writes)
            },
            before: side(&stamp, record, thread, wrote),
            shared: access.shared || of_cluster,
            address: if of_cluster { space::offset(touched) } else { touched },
            same_block: self.are_of_one_block(stamp.block, state.id),
            unseen,
        };
        // The first read of a loop of compare-and-swaps is plain in the guide's own examples.
        let reader = match (wrote, touch.writes) {
            (true, false) if record.is_update() => Some((state.id, touch.thread)),
            (false, true) if touch.record.is_update() => Some((stamp.block, thread)),
            _ => None,
        };
        match reader {
            Some((block, thread)) => self.findings.hold((block, thread, touch.address), conflict),
            None => self.findings.add(conflict),
        }
    }

    /// Two writes of the same value are not told of: whichever comes last, the same is there.
    fn is_same_value(
        &self,
        access: &Access<'_>,
        touch: &Touch,
        record: Record,
        thread: u32,
    ) -> bool {
        let Some(value) = access.value else { return false };
        let lane = (touch.thread - access.first_thread) as usize;
        let same_instruction = record.stamp() == touch.record.stamp()
            && thread / 32 == touch.thread / 32
            && access.lanes >> (thread % 32) & 1 != 0;
        let start = access.at[lane];
        let common = record.mask() & touch.record.mask();
        (0..4u64).filter(|byte| common >> byte & 1 != 0).all(|byte| {
            let address = touch.address + byte;
            let new = value(lane, address - start);
            if same_instruction {
                let other = (thread % 32) as usize;
                let distance = address.wrapping_sub(access.at[other]);
                if distance < access.bytes {
                    return value(other, distance) == new;
                }
            }
            // SAFETY: the access was checked for bounds before it came here.
            unsafe { (access.base.wrapping_add(address) as *const u8).read() == new }
        })
    }
}

/// The records after an access that meets nothing but what is known to come before it; `None` if that
/// must be looked at.
#[inline(always)]
fn quick(cell: Cell, touch: &Touch, floor: u32, ordered: &[u32; 256]) -> Option<Cell> {
    let new = touch.record;
    let Cell { write, mut read, again } = cell;
    let before = |record: Record| {
        let stamp = record.stamp();
        stamp < floor
            || ordered[(stamp & 255) as usize] == stamp
            || (stamp == new.stamp() && record.is_one_thread(touch.thread))
    };
    if write.is_split() || !before(write) {
        return None;
    }
    if !touch.writes {
        if read.stamp() < floor && again.stamp() < floor {
            return Some(Cell { write, read: new, again: Record(0) });
        }
        read = if read == new { new } else { read.merged(new)? };
        return Some(Cell { write, read, again });
    }
    let whole = !new.mask();
    let free =
        |record: Record| record.stamp() < floor || before(record) && record.mask() & whole == 0;
    if new.strength() != Strength::Weak || !free(write) || !free(read) || again.stamp() >= floor {
        return None;
    }
    Some(Cell { write: new, read: Record(0), again: Record(0) })
}

/// The records that still count.
#[inline(always)]
pub(super) fn current(mut cell: Cell, floor: u32) -> Cell {
    for record in [&mut cell.write, &mut cell.read, &mut cell.again] {
        if record.stamp() < floor && !record.is_split() {
            *record = Record(0);
        }
    }
    cell
}

/// True if both are atomic for each other.
fn both_strong(a: Record, b: Record, same_block: bool) -> bool {
    let enough = if same_block { Strength::Block } else { Strength::Device };
    let both_volatile = a.strength() == Strength::Volatile && b.strength() == Strength::Volatile;
    a.strength() >= enough && b.strength() >= enough && !both_volatile
}
