//! Words that follow each other, looked at in one go.
//!
//! The lanes of a warp mostly touch words that follow each other, or all the same word, and what is remembered of
//! such words was mostly left there by accesses of the same kind: records that differ in their threads alone. What
//! is true of the first of them is then true of all. [`Watch::in_runs`] takes an access apart into such runs, and
//! decides for a run what [`super::race`] would decide for each of its words; where it cannot tell (threads of which
//! some may know of an access and others not, words whose bytes are kept apart, every conflict) the words are
//! looked at one by one.

use super::Watch;
use super::access::{Access, Way};
use super::block::BlockState;
use super::neighbours::Neighbours;
use super::parts::{Lanes, Part, Parts, Run};
use super::plane::{ONE, ROW, Seen, Series};
use super::quick::{Found, Verdict};
use super::race::Touch;
use super::record::{OTHER_THREAD, Record, Strength, WARPS};
use super::shadow::{AGAIN, Page, READ};

/// How accesses that are remembered lie to a new one, for all words of a run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Relation {
    /// They come before it, or there are none.
    Before,
    /// They do not.
    Apart,
    /// That must be asked for each word.
    Mixed,
}

/// Looks at all planes of a page, at as many words of a row as are alike from the first on.
#[inline(always)]
fn look(page: &Page, word: usize, new: &[u64], floor: u64) -> ([Seen; 3], usize) {
    let mut words = new.len();
    loop {
        let mut seen = [Seen::default(); 3];
        let mut differ = 0;
        for (seen, plane) in seen.iter_mut().zip(&page.planes) {
            let found = plane.look(word, &new[..words], floor);
            *seen = found.0;
            differ |= found.1;
        }
        if differ == 0 {
            return (seen, words);
        }
        words = alike(page, word, words, floor);
    }
}

/// How many words are alike from the first on, which not all are.
#[inline(never)]
fn alike(page: &Page, word: usize, words: usize, floor: u64) -> usize {
    let same = |at: usize| page.planes.iter().all(|plane| plane.is_alike(word, word + at, floor));
    (1..words).find(|&at| !same(at)).unwrap_or(words)
}

impl Watch {
    /// Looks at a plain access of whole words.
    pub(super) fn in_runs(&mut self, state: &mut BlockState, access: &Access<'_>, stamp: u32) {
        let neighbours = Neighbours::of(access.at, access.bytes, access.lanes);
        let Access { at, lanes, bytes, writes, first_thread, .. } = *access;
        let record = Record::new(stamp, first_thread, 15, Strength::Weak, false);
        for part in (Lanes { at, lanes, bytes, writes, neighbours }).parts() {
            self.run::<true>(state, access, &part.run(record, 0));
        }
    }

    /// Looks at a plain access of whole words by the block's own threads, if that finds nothing that is worth telling: by
    /// all of a warp's lanes, which lie as they are said to, with what is added to their addresses and with where these
    /// end. False: [`Watch::access`] is for it.
    ///
    /// # Safety
    /// The processor has AVX2 and what comes with it.
    #[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt"))]
    pub unsafe fn plain_access(
        &mut self,
        state: &mut BlockState,
        access: &Access<'_>,
        lanes: &Lanes<'_>,
        parts: Option<&Parts>,
        to: (u64, u64),
    ) -> bool {
        let stamp = self.stamp_now(state, access.origin);
        let record = Record::new(stamp, access.first_thread, 15, Strength::Weak, false);
        match parts.and_then(Parts::few) {
            Some(parts) => self.in_parts(state, access, record, parts.iter().copied(), to),
            None => self.in_parts(state, access, record, lanes.parts(), to),
        }
    }

    /// Looks at parts of a plain access that adds `added` to where they begin. False: there are some of which not all can be
    /// decided in runs, or that are not before `end`, and these were not looked at.
    #[inline(always)]
    fn in_parts(
        &mut self,
        state: &mut BlockState,
        access: &Access<'_>,
        record: Record,
        parts: impl Iterator<Item = Part>,
        (added, end): (u64, u64),
    ) -> bool {
        for part in parts {
            let run = part.run(record, added);
            if run.address >= end || !self.run::<false>(state, access, &run) {
                return false;
            }
        }
        true
    }

    /// Looks at a plain access of one lane to words that follow each other, of which `access` has the first.
    pub fn words_of_one(&mut self, state: &mut BlockState, access: &Access<'_>, words: usize) {
        let lane = access.lanes.trailing_zeros();
        let stamp = self.stamp_now(state, access.origin);
        let thread = access.first_thread + lane;
        let record = Record::new(stamp, thread, 15, Strength::Weak, false);
        let series = Series::new(record, ONE);
        let run = Run { address: access.at[lane as usize & 31], words, series };
        self.run::<true>(state, access, &run);
    }

    /// Looks at a run, part by part.
    #[inline(always)]
    fn run<const TO_THE_END: bool>(
        &mut self,
        state: &mut BlockState,
        access: &Access<'_>,
        run: &Run,
    ) -> bool {
        let floor = u64::from(if access.shared { state.settled() } else { self.first_stamp });
        let mut done = 0;
        while done < run.words {
            let words = match self.at_once(state, access, run, (done, floor)) {
                0 => self.part(state, access, run, (done, floor), TO_THE_END),
                words => words,
            };
            if words == 0 {
                return false;
            }
            done += words;
        }
        true
    }

    /// Looks at a word or rows of a run, if their records say at once what becomes of them. Gives how many words that were.
    #[inline(always)]
    fn at_once(
        &mut self,
        state: &mut BlockState,
        access: &Access<'_>,
        run: &Run,
        (done, floor): (usize, u64),
    ) -> usize {
        let address = run.address + 4 * done as u64;
        let left = run.words - done;
        let is_row = left >= ROW && address.is_multiple_of(4 * ROW as u64);
        if run.words != 1 && !is_row {
            return 0;
        }
        let (is_fixed, of_grid) = (access.way() == Way::Fixed, state.grid_floor);
        let only_base = state.knows_only_its_base();
        let found = Found {
            floor,
            ordered: &state.ordered.0,
            unordered: only_base.then_some(&state.unordered.0),
            stamps: (&self.stamps, self.first_stamp),
            block: state.id,
        };
        let (page, word) = match access.shared {
            true => state.shared.page(address),
            false => self.shadow.page(address),
        };
        if !is_row {
            let new = run.series.first();
            let cell = page.get(word);
            if page.beneath.is_asked_by_plain(cell.write) {
                return 0;
            }
            if is_fixed && cell.write.stamp() >= of_grid {
                return 0;
            }
            let old = [cell.write, cell.read, cell.again];
            return usize::from(page.put_word(word, new, found.verdict(new, old, access.writes)));
        }
        let new = run.series.tag(done);
        let Some(old) = page.tags(word) else { return 0 };
        if page.beneath.is_asked_by_plain(old[0]) || is_fixed && old[0].stamp() >= of_grid {
            return 0;
        }
        let verdict = found.verdict(new, old, access.writes);
        // What is true of one row is true of the next one that goes on as it does.
        let rows = if left >= 2 * ROW && page.goes_on(word, old) { 2 } else { 1 };
        if !page.put_row(word, new, verdict) {
            return 0;
        }
        if rows == 2 {
            page.put_row(word + ROW, run.series.tag(done + ROW), verdict);
        }
        rows * ROW
    }

    /// Looks at as many words of a run as are alike. Gives how many that are; none if it cannot be decided for all of them,
    /// and they are not to be looked at one by one.
    #[inline(never)]
    fn part(
        &mut self,
        state: &mut BlockState,
        access: &Access<'_>,
        run: &Run,
        (done, floor): (usize, u64),
        to_the_end: bool,
    ) -> usize {
        let address = run.address + 4 * done as u64;
        let in_row = ROW - (address / 4) as usize % ROW;
        let new = run.series.records(done);
        let new = &new[..(run.words - done).min(in_row)];
        let of_grid = state.grid_floor;
        let (page, word) = self.page(state, access.shared, address);
        let (seen, words) = look(page, word, new, floor);
        let is_own = access.way() == Way::Fixed && seen[0].record.stamp() >= of_grid;
        let new = &new[..words];
        let verdict = match is_own || page.beneath.is_asked_by_plain(seen[0].record) {
            true => Verdict::Ask,
            false => self.judge(state, access, new, &seen),
        };
        match verdict {
            Verdict::Ask if !to_the_end => return 0,
            Verdict::Ask => self.one_by_one(state, access, address, new),
            verdict => {
                let (page, word) = self.page(state, access.shared, address);
                page.put_words(word, (new, run.series, done), verdict);
            }
        }
        words
    }

    /// What becomes of words of which this is remembered.
    #[inline(always)]
    fn judge(
        &self,
        state: &mut BlockState,
        access: &Access<'_>,
        new: &[u64],
        [write, read, again]: &[Seen; 3],
    ) -> Verdict {
        let warp = access.first_thread / 32;
        let first = Record(new[0]);
        let mut relation = |seen: &Seen| match seen.record.0 {
            0 => Relation::Before,
            _ => self.relation(state, warp, (first, new.len()), seen),
        };
        if relation(write) != Relation::Before {
            return Verdict::Ask;
        }
        let (no_read, none_again) = (read.record.0 == 0, again.record.0 == 0);
        if access.writes {
            if relation(read) != Relation::Before || relation(again) != Relation::Before {
                return Verdict::Ask;
            }
            return Verdict::Written { read: !no_read, again: !none_again };
        }
        if no_read && none_again {
            return Verdict::Replace(READ);
        }
        for (seen, plane) in [(read, READ), (again, AGAIN)] {
            if seen.record.is_same_but_threads(first) {
                let known = seen.from_new & OTHER_THREAD == 0;
                return if known { Verdict::Known } else { Verdict::Join(plane) };
            }
        }
        for (seen, plane) in [(read, READ), (again, AGAIN)] {
            match relation(seen) {
                Relation::Before => return Verdict::Replace(plane),
                Relation::Mixed => return Verdict::Ask,
                Relation::Apart => {}
            }
        }
        if (read.record.mask(), again.record.mask()) != (15, 15) {
            return Verdict::Ask;
        }
        // Two are remembered, of different blocks if there are.
        let block = |record: Record| self.stamp(record.stamp()).block;
        let one = block(read.record);
        let other = one == block(again.record) && one != block(first);
        if other { Verdict::Replace(AGAIN) } else { Verdict::Known }
    }

    /// How what is remembered of some words lies to a new access of threads of a warp, of which this is the first
    /// record, and the number of the words.
    fn relation(
        &self,
        state: &mut BlockState,
        warp: u32,
        (new, words): (Record, usize),
        seen: &Seen,
    ) -> Relation {
        let old = seen.record;
        let slot = (old.stamp() & 255) as usize;
        if old.is_split() {
            return Relation::Mixed;
        }
        if state.ordered.0[slot] == old.stamp() {
            return Relation::Before;
        }
        let knows_only_its_base = state.knows_only_its_base();
        if knows_only_its_base && state.unordered.0[slot] == old.stamp() {
            return Relation::Apart;
        }
        let at = *self.stamp(old.stamp());
        if self.for_all(state, &at) {
            state.ordered.0[slot] = old.stamp();
            return Relation::Before;
        }
        if at.block == state.id {
            return own_relation(state, (warp, at.time), (new, words), seen);
        }
        if state.knows_in_parts(warp, at.block) {
            return Relation::Mixed;
        }
        if knows_only_its_base {
            state.unordered.0[slot] = old.stamp();
        }
        Relation::Apart
    }

    /// Looks at words one by one.
    #[inline(never)]
    fn one_by_one(
        &mut self,
        state: &mut BlockState,
        access: &Access<'_>,
        address: u64,
        new: &[u64],
    ) {
        for (at, &record) in new.iter().enumerate() {
            let record = Record(record);
            let mut look = |thread: u32| {
                let touch = Touch {
                    record: record.by(thread),
                    thread,
                    writes: access.writes,
                    way: access.way(),
                    address: address + 4 * at as u64,
                };
                self.word(state, access, &touch);
            };
            look(record.first());
            if record.other() != record.first() {
                look(record.other());
            }
        }
    }
}

/// As [`Watch::relation`], to what the block itself did at a time that not all of its threads know of.
fn own_relation(
    state: &BlockState,
    (warp, time): (u32, u32),
    (new, words): (Record, usize),
    seen: &Seen,
) -> Relation {
    let old = seen.record;
    if old.is_apart() {
        return Relation::Mixed;
    }
    if seen.from_new == 0 && new.first() == new.other() {
        // Each thread its own.
        return Relation::Before;
    }
    if seen.from_new & WARPS == 0 {
        return match state.warp_knows(warp) {
            Some(known) if time <= known => Relation::Before,
            Some(_) if words == 1 && !state.knows_in_parts(warp, state.id) => {
                // One thread knows nothing of another one.
                let mine =
                    old.first() == old.other() && [new.first(), new.other()].contains(&old.first());
                if mine { Relation::Mixed } else { Relation::Apart }
            }
            _ => Relation::Mixed,
        };
    }
    let of_others = [old.first(), old.other()].into_iter().any(|thread| thread / 32 != warp);
    match seen.from_first & WARPS == 0 && of_others && !state.knows_in_parts(warp, state.id) {
        true => Relation::Apart,
        false => Relation::Mixed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::access::Manner;
    use crate::check::plane::live;
    use crate::check::{Origin, Watch};
    use crate::code::Order;
    use crate::config::Checks;

    /// Bytes of each memory that is touched.
    const SPAN: u64 = 512;
    const GLOBAL: u64 = 1 << 20;

    /// Numbers that are the same in every run.
    struct Random(u64);

    impl Random {
        fn below(&mut self, end: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (self.0 >> 33) % end
        }
    }

    /// A checker, and the state of two blocks of two warps.
    struct Side {
        watch: Watch,
        blocks: Vec<Box<BlockState>>,
    }

    impl Side {
        fn new() -> Side {
            let mut watch = Watch::new(Checks { races: true, ..Checks::default() });
            let grid = watch.add_grid(1, 0, 0, None);
            let blocks = (0..2).map(|at| watch.start_block(grid, at, 64, None)).collect();
            Side { watch, blocks }
        }

        /// What counts of what is remembered.
        fn records(&mut self) -> Vec<[u64; 3]> {
            let mut all = Vec::new();
            for word in 0..SPAN / 4 {
                let (page, at) = self.watch.shadow.page(GLOBAL + 4 * word);
                let cell = page.get(at);
                let floor = u64::from(self.watch.first_stamp);
                all.push([cell.write, cell.read, cell.again].map(|of| live(of, floor)));
                for block in &mut self.blocks {
                    let floor = u64::from(block.settled());
                    let (page, at) = block.shared.page(4 * word);
                    let cell = page.get(at);
                    all.push([cell.write, cell.read, cell.again].map(|of| live(of, floor)));
                }
            }
            all
        }
    }

    /// Addresses of lanes that lie as lanes' mostly do, and some that do not.
    fn addresses(random: &mut Random, bytes: u64) -> [u64; 32] {
        let room = SPAN / bytes;
        let (kind, start) = (random.below(6), random.below(room));
        let scattered: [u64; 32] = std::array::from_fn(|_| random.below(room));
        std::array::from_fn(|lane| {
            let place = match kind {
                0 | 1 => start / 8 * 8 + lane as u64,
                2 => start,
                3 => start + lane as u64 % 16,
                4 => start + lane as u64 / 16,
                _ => scattered[lane],
            };
            place % room * bytes
        })
    }

    #[test]
    fn runs_come_to_what_their_words_come_to_one_by_one() {
        let random = &mut Random(7);
        for _ in 0..40 {
            let (mut runs, mut words) = (Side::new(), Side::new());
            for step in 0..60 {
                let (block, warp) = (random.below(2) as usize, random.below(2) as u32);
                let lanes = match random.below(4) {
                    // Without gaps: of all lanes that read one word, in however many runs, two are remembered.
                    0 => u32::MAX >> random.below(20) << random.below(12),
                    _ => u32::MAX,
                };
                let what = random.below(10);
                let bytes = 4 << random.below(3);
                let mut at = addresses(random, bytes);
                let (shared, writes) = (random.below(2) == 0, random.below(3) == 0);
                at = at.map(|at| if shared { at } else { GLOBAL + at });
                let instruction = random.below(4) as u32;
                for (side, whole) in [(&mut runs, true), (&mut words, false)] {
                    let state = &mut *side.blocks[block];
                    match what {
                        0 => state.meet(),
                        1 => state.meet_in_warp(warp, lanes, u32::MAX, lanes),
                        _ => {
                            let access = Access {
                                origin: Origin { function: 0, instruction },
                                first_thread: warp * 32,
                                at: &at,
                                lanes,
                                bytes,
                                shared,
                                base: 0,
                                reads: !writes,
                                writes,
                                kind: Manner::Own,
                                was: None,
                                order: Order::WEAK,
                                tells: true,
                                value: None,
                            };
                            let stamp = side.watch.stamp_now(state, access.origin);
                            let weak = Strength::Weak;
                            match whole {
                                true => side.watch.in_runs(state, &access, stamp),
                                false => side.watch.lane_by_lane(state, &access, stamp, weak),
                            }
                        }
                    }
                }
                assert!(runs.records() == words.records(), "step {step}");
            }
            let found = [&mut runs, &mut words].map(|side| side.watch.findings.take().len());
            assert_eq!(found[0], found[1]);
        }
    }
}
