//! Order within a block: program order, barriers, exchanges between lanes; and what each of its
//! threads learned from elsewhere.
//!
//! A block has one clock, which its accesses are stamped with. Whenever a thread lets others know
//! what it did, what is known is "up to now", and the clock moves on.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::copies::Copies;
use super::shadow::{Bytes, SharedShadow};
use super::sync::{Mark, SyncVar};
use super::view::{Clocks, Known, Told, View, WARP, learn};
use crate::lanes::lanes_of;

/// What a lane knows of the lanes of its warp, by lane.
type Pairs = [[u32; 32]; 32];

/// A warp.
#[derive(Clone, Debug, Default)]
pub struct WarpState {
    /// All lanes know all lanes up to this time.
    pub all: u32,
    /// What lanes know beyond that, once only some of them met.
    pairs: Option<Box<Pairs>>,
}

/// A thread.
#[derive(Clone, Debug, Default)]
pub struct ThreadState {
    /// What it learned.
    pub learned: Known,
    /// What relaxed reads saw, until a fence.
    pub seen: Known,
    /// The same, as far as it is from its own block.
    pub seen_in_block: Known,
    /// Its last fences: for the device, for the block.
    pub fence: Option<Arc<Mark>>,
    pub block_fence: Option<Arc<Mark>>,
    /// The first stamp that was not yet made at its last fence, or at one that a barrier told it of.
    pub fenced_at: u32,
}

/// What the phases of a barrier object collect and tell.
#[derive(Clone, Debug, Default)]
pub struct Phases {
    /// By those who have arrived in this phase.
    pub collected: Told,
    /// By those who arrived in the last one.
    complete: Told,
    /// By those who arrived in the one before that.
    before: Told,
    /// What ended the last one, until somebody has looked.
    ended: Option<End>,
}

/// The arrival that ended a phase.
#[derive(Clone, Copy, Debug)]
pub struct End {
    block: u32,
    thread: u32,
    time: u32,
    /// The first stamp that was not yet made.
    stamp: u32,
}

/// A block that the checks watch.
#[derive(Debug, Default)]
pub struct BlockState {
    /// Its number.
    pub id: u32,
    /// Its grid's number.
    pub grid: u32,
    time: u32,
    stamped: bool,
    /// All threads know all threads up to this time.
    pub all: u32,
    /// What all threads know from before the grid began.
    pub base: Known,
    /// What all threads learned since.
    pub shared_view: Known,
    warps: Vec<WarpState>,
    threads: Vec<ThreadState>,
    thread_count: u32,
    /// Records of shared memory.
    pub shared: SharedShadow,
    /// Bytes of shared words that are kept apart.
    pub shared_bytes: FxHashMap<u64, Box<Bytes>>,
    /// Released views in shared memory.
    pub vars: FxHashMap<u64, SyncVar>,
    /// There were fences of which not all threads know.
    pub fences: bool,
    /// What named barriers have collected.
    collected: [Told; 16],
    /// Barrier objects, by offset.
    pub objects: FxHashMap<u64, Phases>,
    /// Its asynchronous copies.
    pub copies: Copies,
    /// What is known to be done by other blocks of the cluster, which orders nothing but the end of this one.
    pub done_by_others: Known,
    /// Records of shared memory below this stamp are of another block.
    pub floor: u32,
    /// The first stamp that its grid may have made.
    pub grid_floor: u32,
    /// The stamp of this block that was made last.
    newest: u32,
    /// What this block did by itself below this stamp comes before whatever any thread of it does from now on.
    met: u32,
    /// Stamps made lately.
    pub stamps: StampCache,
    /// Stamps that come before everything that any thread does from now on.
    pub ordered: Ordered,
    /// Stamps of other blocks that do not, as long as nothing is learned.
    pub unordered: Ordered,
}

/// Stamps that are remembered: more than most loops have accesses.
pub const STAMPS: usize = 128;

/// Stamps made lately, by instruction.
#[derive(Debug)]
pub struct StampCache(pub [(super::Origin, u32, u32); STAMPS]);

impl Default for StampCache {
    fn default() -> StampCache {
        let none = super::Origin { function: u32::MAX, instruction: u32::MAX };
        StampCache([(none, 0, 0); STAMPS])
    }
}

/// A small set of stamps.
#[derive(Debug)]
pub struct Ordered(pub [u32; 256]);

impl Default for Ordered {
    fn default() -> Ordered {
        Ordered([0; 256])
    }
}

impl BlockState {
    /// Makes this the state of a block that begins.
    pub fn start(&mut self, id: u32, grid: u32, threads: u32, floor: u32, base: Known) {
        self.id = id;
        self.grid = grid;
        self.time = 1;
        self.stamped = false;
        self.all = 0;
        self.base = base;
        self.shared_view = None;
        self.warps.clear();
        self.warps.resize_with(threads.div_ceil(32) as usize, WarpState::default);
        self.threads.clear();
        self.thread_count = threads;
        self.shared_bytes.clear();
        self.vars.clear();
        self.fences = false;
        self.collected = Default::default();
        self.objects.clear();
        self.copies = Copies::default();
        self.done_by_others = None;
        if floor < self.floor {
            // Stamps are counted anew: what is left of another block looks like this one's.
            self.stamps = StampCache::default();
            self.shared = SharedShadow::default();
        }
        self.floor = floor;
        self.grid_floor = 0;
        self.newest = 0;
        self.met = 0;
        self.ordered = Ordered::default();
        self.unordered = Ordered::default();
    }

    /// The time of an access now.
    #[inline(always)]
    pub fn stamp_time(&mut self) -> u32 {
        self.stamped = true;
        self.time
    }

    /// A stamp was made for this time.
    pub fn stamped_by(&mut self, stamp: u32) {
        self.newest = stamp;
    }

    /// Records of shared memory below this stamp come before whatever the block does now. What is done
    /// asynchronously in shared memory has stamps of its own, which barriers do not order.
    #[inline(always)]
    pub fn settled(&self) -> u32 {
        if self.copies.is_empty() { self.floor.max(self.met) } else { self.floor }
    }

    /// What lanes of a warp know of each other, if all of them know the same: up to this time.
    #[inline(always)]
    pub fn warp_knows(&self, warp: u32) -> Option<u32> {
        let warp = &self.warps[warp as usize];
        warp.pairs.is_none().then_some(warp.all)
    }

    /// Threads of a warp may know a part of what a block did, and not what others of its threads did.
    pub fn knows_in_parts(&self, warp: u32, block: u32) -> bool {
        let in_parts = |known: &Known| {
            let clocks = known.as_ref()?.block(block)?;
            Some(!clocks.parts.is_empty() || block == self.id && clocks.all > self.all)
        };
        let first = warp as usize * 32;
        let lanes = self.threads.get(first..).unwrap_or_default();
        [&self.base, &self.shared_view].into_iter().any(|known| in_parts(known) == Some(true))
            || lanes.iter().take(32).any(|thread| thread.learned.is_some())
    }

    /// The time up to which others may know, from now on.
    pub fn release(&mut self) -> u32 {
        if self.stamped {
            self.stamped = false;
            self.time += 1;
        }
        self.time - 1
    }

    /// A thread's state, made when first needed.
    pub fn thread(&mut self, thread: u32) -> &mut ThreadState {
        if self.threads.is_empty() {
            self.threads.resize_with(self.thread_count.max(1) as usize, ThreadState::default);
        }
        &mut self.threads[thread as usize]
    }

    /// Its threads.
    pub fn thread_count(&self) -> u32 {
        self.thread_count
    }

    /// A thread's state, if it has any.
    pub fn thread_if_any(&self, thread: u32) -> Option<&ThreadState> {
        self.threads.get(thread as usize)
    }

    /// A thread may take it that another block of the cluster has begun: its own block has waited at the cluster's barrier,
    /// for which all arrive, relaxed or not; or it has heard of something that the other one did.
    pub fn knows_begun(&self, thread: u32, other: Option<u32>) -> bool {
        let learned = self.thread_if_any(thread).and_then(|own| own.learned.as_deref());
        let mut views = [self.shared_view.as_deref(), learned].into_iter().flatten();
        self.done_by_others.is_some()
            || other.is_some_and(|other| views.any(|view| view.block(other).is_some()))
    }

    /// True if `thread` knows what `other` of this block did at `time`.
    #[inline(always)]
    pub fn knows_own(&self, thread: u32, other: u32, time: u32) -> bool {
        if thread == other || time <= self.all {
            return true;
        }
        if thread / 32 == other / 32 {
            let warp = &self.warps[thread as usize / 32];
            if time <= warp.all {
                return true;
            }
            if let Some(pairs) = &warp.pairs
                && time <= pairs[thread as usize % 32][other as usize % 32]
            {
                return true;
            }
        }
        let learned = self.threads.get(thread as usize).and_then(|t| t.learned.as_ref());
        [learned, self.shared_view.as_ref()]
            .into_iter()
            .flatten()
            .any(|view| view.block(self.id).is_some_and(|clocks| clocks.of(other) >= time))
    }

    /// No thread has learned anything since the block began.
    pub fn knows_only_its_base(&self) -> bool {
        self.threads.is_empty() && self.shared_view.is_none()
    }

    /// What a thread knows of its own block.
    pub fn clocks(&mut self, thread: u32) -> Clocks {
        let now = self.release();
        let warp = &self.warps[thread as usize / 32];
        let mut clocks = Clocks { all: self.all, parts: Vec::new() };
        if let Some(pairs) = &warp.pairs {
            for (lane, &time) in pairs[thread as usize % 32].iter().enumerate() {
                clocks.raise(thread / 32 * 32 + lane as u32, time);
            }
        }
        clocks.raise(thread, now);
        clocks.raise((thread / 32) | WARP, warp.all);
        clocks
    }

    /// All that a thread knows, itself included.
    pub fn view_of(&mut self, thread: u32) -> View {
        let mut view = self.base.as_deref().cloned().unwrap_or_default();
        if let Some(shared) = &self.shared_view {
            view.join(shared);
        }
        if let Some(learned) = self.thread_if_any(thread).and_then(|t| t.learned.as_ref()) {
            view.join(learned);
        }
        let clocks = self.clocks(thread);
        view.raise_block(self.id, &clocks);
        view.gather(self.id, thread, self.thread_count);
        view
    }

    /// A thread learns what somebody released.
    pub fn learn(&mut self, thread: u32, view: &Arc<View>) {
        learn(&mut self.thread(thread).learned, view);
    }

    /// What the threads in `lanes` have learned, and have seen without a fence until now.
    fn learned_by(&mut self, threads: impl Iterator<Item = u32>) -> Known {
        let mut all: Known = None;
        for thread in threads {
            let Some(state) = self.threads.get_mut(thread as usize) else { continue };
            // A barrier is as good as a fence for what was read before it.
            if let Some(seen) = state.seen.take() {
                learn(&mut state.learned, &seen);
            }
            state.seen_in_block = None;
            if let Some(learned) = &state.learned {
                learn(&mut all, learned);
            }
        }
        all
    }

    /// What any thread has learned.
    pub fn learned_by_all(&mut self) -> Known {
        let mut all = self.learned_by(0..self.threads.len() as u32);
        if let Some(shared) = &self.shared_view {
            learn(&mut all, shared);
        }
        all
    }

    /// All threads of the block met.
    pub fn meet(&mut self) {
        self.all = self.release();
        self.met = self.newest + 1;
        if self.threads.is_empty() {
            return;
        }
        if let Some(learned) = self.learned_by_all() {
            for state in &mut self.threads {
                state.learned = None;
            }
            self.shared_view = Some(learned);
        }
        if std::mem::take(&mut self.fences) {
            self.share_fences(0, |_| true);
        }
    }

    /// Fences before a barrier count for all who met there: threads from `first` on, by their number
    /// from it.
    fn share_fences(&mut self, first: u32, met: impl Fn(usize) -> bool) {
        let Some(threads) = self.threads.get_mut(first as usize..) else { return };
        let here = || (0..threads.len()).filter(|&at| met(at));
        let marks: Vec<_> = here().filter_map(|at| threads[at].fence.as_ref()).collect();
        let joined = match (Mark::joined(&marks), marks.first()) {
            (Some(joined), _) => joined,
            (None, Some(only)) => Arc::clone(only),
            (None, None) => return,
        };
        let fenced_at = here().map(|at| threads[at].fenced_at).max().unwrap_or(0);
        for (_, own) in threads.iter_mut().enumerate().filter(|(at, _)| met(*at)) {
            own.fence = Some(joined.clone());
            own.fenced_at = fenced_at;
        }
    }

    /// Some lanes of a warp met; `live` are all that have not ended, `named` those that were waited for.
    /// Lanes that have ended are known if they are named.
    pub fn meet_in_warp(&mut self, warp: u32, lanes: u32, live: u32, named: u32) {
        let now = self.release();
        let began = u32::MAX >> 32u32.saturating_sub(self.thread_count - warp * 32);
        let state = &mut self.warps[warp as usize];
        if lanes & live == live && named & began == began {
            state.all = now;
            state.pairs = None;
        } else {
            let pairs = state.pairs.get_or_insert_with(|| Box::new([[0; 32]; 32]));
            let mut row = [0; 32];
            for lane in lanes_of(lanes) {
                for (known, &more) in row.iter_mut().zip(&pairs[lane]) {
                    *known = more.max(*known);
                }
            }
            for lane in lanes_of(lanes) {
                row[lane] = now;
            }
            for lane in lanes_of(lanes) {
                pairs[lane] = row;
            }
        }
        if self.threads.is_empty() {
            return;
        }
        let threads = || lanes_of(lanes).map(move |lane| warp * 32 + lane as u32);
        if let Some(learned) = self.learned_by(threads()) {
            let count = self.thread_count;
            for thread in threads().filter(|&thread| thread < count) {
                self.learn(thread, &learned);
            }
        }
        if self.fences {
            self.share_fences(warp * 32, |lane| lane < 32 && lanes >> lane & 1 != 0);
        }
    }

    /// What a thread tells at a barrier that not all threads of the block come to.
    pub fn tell(&mut self, thread: u32) -> Told {
        let known = Some(Arc::new(self.view_without_base(thread)));
        let own = self.thread_if_any(thread);
        let fence = own.and_then(|own| own.fence.as_ref());
        Told {
            known,
            fenced: fence.map(|mark| mark.view(&self.base, self.id)),
            fenced_at: own.map_or(0, |own| own.fenced_at),
        }
    }

    /// What it tells where it tells only what it did before its last fence.
    pub fn tell_fenced(&mut self, thread: u32) -> Told {
        let Told { fenced, fenced_at, .. } = self.tell(thread);
        Told { known: fenced.clone(), fenced, fenced_at }
    }

    /// What a thread has done, and what it knows of its block.
    pub fn done_by(&mut self, thread: u32) -> Arc<View> {
        let mut view = View::default();
        let clocks = self.clocks(thread);
        view.raise_block(self.id, &clocks);
        Arc::new(view)
    }

    /// A thread is told something at a barrier.
    pub fn hear(&mut self, thread: u32, told: &Told) {
        if let Some(known) = &told.known {
            self.learn(thread, known);
        }
        if let Some(fenced) = &told.fenced {
            self.fences = true;
            let own = self.thread(thread);
            own.fence = Some(Mark::with(own.fence.as_ref(), fenced));
            own.fenced_at = own.fenced_at.max(told.fenced_at);
        }
    }

    /// Lanes of a warp come to a named barrier that not all threads of the block come to.
    pub fn arrive_at(&mut self, barrier: usize, warp: u32, lanes: u32) {
        for lane in lanes_of(lanes) {
            let told = self.tell(warp * 32 + lane as u32);
            self.collected[barrier].join(&told);
        }
    }

    /// As [`BlockState::view_of`], without what all threads know anyway.
    fn view_without_base(&mut self, thread: u32) -> View {
        let mut view = View::default();
        if let Some(state) = self.threads.get_mut(thread as usize) {
            if let Some(seen) = state.seen.take() {
                learn(&mut state.learned, &seen);
            }
            if let Some(learned) = &state.learned {
                view.join(learned);
            }
        }
        let clocks = self.clocks(thread);
        view.raise_block(self.id, &clocks);
        view
    }

    /// Lanes of a warp leave a named barrier.
    pub fn leave_barrier(&mut self, barrier: usize, warp: u32, lanes: u32) {
        let collected = self.collected[barrier].clone();
        for lane in lanes_of(lanes) {
            self.hear(warp * 32 + lane as u32, &collected);
        }
    }

    /// A named barrier begins anew.
    pub fn reset_barrier(&mut self, barrier: usize) {
        self.collected[barrier] = Told::default();
    }

    /// A thread arrives at a barrier object; `ends`: with it the phase ends. `now`: the first stamp that is not yet made.
    pub fn arrive_at_object(&mut self, offset: u64, thread: u32, ends: bool, now: u32) {
        let told = self.tell(thread);
        let by = End { block: self.id, thread, time: self.release(), stamp: now };
        let phases = self.objects.entry(offset).or_default();
        phases.collected.join(&told);
        if ends {
            let complete = std::mem::take(&mut phases.collected);
            phases.before = std::mem::replace(&mut phases.complete, complete);
            phases.ended = Some(by);
        }
    }

    /// What ended the last phase of a barrier object, if nobody has looked since. Who looks now and does not know of it
    /// ([`BlockState::may_miss`]) may find the object as it was before that, who looks later finds it as it is.
    pub fn first_look(&mut self, offset: u64) -> Option<End> {
        self.objects.get_mut(&offset)?.ended.take()
    }

    /// True if a thread need not know that a phase has ended.
    pub fn may_miss(&self, thread: u32, end: &End) -> bool {
        let fenced_at = self.thread_if_any(thread).map_or(0, |own| own.fenced_at);
        // Who is another block's is not asked about.
        end.block == self.id
            && end.stamp >= fenced_at
            && !self.knows_own(thread, end.thread, end.time)
    }

    /// A thread saw that a phase of a barrier object has ended: the last one, or the one before it.
    pub fn leave_object(&mut self, offset: u64, thread: u32, older: bool) {
        let Some(phases) = self.objects.get(&offset) else { return };
        let told = if older { &phases.before } else { &phases.complete }.clone();
        self.hear(thread, &told);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(threads: u32) -> BlockState {
        let mut state = BlockState::default();
        state.start(5, 1, threads, 1, None);
        state
    }

    #[test]
    fn barriers_order_what_came_before_them() {
        let mut state = block(64);
        let first = state.stamp_time();
        assert!(!state.knows_own(40, 3, first));
        state.meet();
        let second = state.stamp_time();
        assert!(state.knows_own(40, 3, first) && !state.knows_own(40, 3, second));
    }

    #[test]
    fn lanes_that_met_know_each_other_and_what_the_others_knew() {
        let mut state = block(64);
        let first = state.stamp_time();
        state.meet_in_warp(0, 0b0011, u32::MAX, 0b0011);
        assert!(state.knows_own(0, 1, first) && !state.knows_own(2, 1, first));
        state.meet_in_warp(0, 0b0110, u32::MAX, 0b0110);
        assert!(state.knows_own(2, 0, first), "by way of lane 1");
        assert!(!state.knows_own(0, 2, first));
        state.meet_in_warp(0, u32::MAX, u32::MAX, u32::MAX);
        assert!(state.knows_own(7, 2, first) && !state.knows_own(40, 2, first));
    }

    #[test]
    fn lanes_that_ended_are_known_only_if_they_were_waited_for() {
        let mut state = block(64);
        let first = state.stamp_time();
        state.meet_in_warp(0, 0xffff, 0xffff, 0xffff);
        assert!(state.knows_own(0, 1, first) && !state.knows_own(0, 20, first));
        state.meet_in_warp(0, 0xffff, 0xffff, u32::MAX);
        assert!(state.knows_own(0, 20, first));
    }

    #[test]
    fn those_who_only_arrive_learn_nothing() {
        let mut state = block(64);
        let before = state.stamp_time();
        state.arrive_at(1, 0, 1);
        let after = state.stamp_time();
        state.arrive_at(1, 1, 1);
        state.leave_barrier(1, 1, 1);
        assert!(state.knows_own(32, 0, before) && !state.knows_own(32, 0, after));
        assert!(!state.knows_own(0, 32, before));
    }
}
