//! Order through memory: fences, and atomic and volatile accesses.
//!
//! PTX ISA, "Memory Consistency Model": a release pattern (a releasing write, or a fence and then a
//! strong write) synchronises with an acquire pattern (an acquiring read, or a strong read and then a
//! fence) that sees its value, if the scopes of both include the other's thread; a release and then
//! another strong write by the same thread to the same place are a release pattern too. One allowance: an
//! atomic read-modify-write takes over what was released even without a fence after it. Programs that
//! are called correct lean on that in locks and in "the last block adds up". In the same spirit a
//! barrier behind fences passes them on: what threads of a block have fenced before they meet,
//! any of them releases afterwards.

use std::sync::{Arc, OnceLock};

use super::Watch;
use super::block::BlockState;
use super::view::{self, Clocks, Known, View, learn};
use crate::code::{Order, Reach};

/// What was released through a word of memory.
#[derive(Clone, Debug, Default)]
pub struct SyncVar {
    /// To all threads.
    device: Known,
    /// The only block that released to all, or 0.
    from: u32,
    /// To the threads of one block.
    block: (u32, Known),
    /// Who released last, if nobody else wrote since: block, thread, to whom, and what.
    last: Option<(u32, u32, Reach, Arc<View>)>,
}

impl SyncVar {
    /// Something was released through it.
    pub fn releases(&self) -> bool {
        self.device.is_some() || self.block.1.is_some()
    }
}

/// What a thread knew at a fence. The view is made when a write after the fence needs it.
#[derive(Debug, Default)]
pub struct Mark {
    clocks: Clocks,
    learned: Known,
    shared: Known,
    view: OnceLock<Arc<View>>,
}

impl Mark {
    /// What any of several threads knew at its fence, if there are two at least that differ.
    pub fn joined(marks: &[&Arc<Mark>]) -> Option<Arc<Mark>> {
        let (first, rest) = marks.split_first()?;
        if rest.iter().all(|mark| Arc::ptr_eq(mark, first)) {
            return None;
        }
        let mut all = Mark {
            clocks: first.clocks.clone(),
            learned: first.learned.clone(),
            shared: first.shared.clone(),
            view: OnceLock::new(),
        };
        for (at, mark) in rest.iter().enumerate() {
            if at > 0 && Arc::ptr_eq(mark, rest[at - 1]) {
                continue;
            }
            all.clocks.join(&mark.clocks);
            for (to, more) in [(&mut all.learned, &mark.learned), (&mut all.shared, &mark.shared)] {
                if let Some(more) = more {
                    learn(to, more);
                }
            }
        }
        Some(Arc::new(all))
    }

    /// `mark` with what others knew at their fences.
    pub fn with(mark: Option<&Arc<Mark>>, fenced: &Arc<View>) -> Arc<Mark> {
        let mut all = match mark {
            Some(mark) if mark.learned.as_ref().is_some_and(|known| known.holds(fenced)) => {
                return mark.clone();
            }
            Some(mark) => Mark {
                clocks: mark.clocks.clone(),
                learned: mark.learned.clone(),
                shared: mark.shared.clone(),
                view: OnceLock::new(),
            },
            None => Mark::default(),
        };
        learn(&mut all.learned, fenced);
        Arc::new(all)
    }

    /// All that was known.
    pub fn view(&self, base: &Known, block: u32) -> Arc<View> {
        let Mark { clocks, learned, shared, view } = self;
        view.get_or_init(|| {
            let mut all = base.as_deref().cloned().unwrap_or_default();
            for more in [learned, shared].into_iter().flatten() {
                all.join(more);
            }
            all.raise_block(block, clocks);
            Arc::new(all)
        })
        .clone()
    }
}

/// A strong access to one word, for its order.
#[derive(Clone, Copy, Debug)]
pub struct Strong {
    /// Reads.
    pub reads: bool,
    /// Writes, if it can.
    pub writes: bool,
    /// It is an update that left what was there: who sees that sees the same as without it.
    pub keeps: bool,
    /// Order and scope.
    pub order: Order,
}

/// A thread executes a fence; `now` is the first stamp that is not yet made.
pub fn fence(state: &mut BlockState, thread: u32, order: Order, now: u32) {
    use crate::code::Sem;
    state.thread(thread).fenced_at = now;
    if order.sem != Sem::Release {
        let own = state.thread(thread);
        let mut got: [Known; 2] = [own.seen_in_block.take(), None];
        if order.reach == Reach::Device {
            got[1] = own.seen.take();
        }
        for view in got.into_iter().flatten() {
            state.learn(thread, &view);
        }
    }
    if order.sem != Sem::Acquire {
        let clocks = state.clocks(thread);
        let shared = state.shared_view.clone();
        state.fences = true;
        let own = state.thread(thread);
        let learned = own.learned.clone();
        let mark = Arc::new(Mark { clocks, learned, shared, view: OnceLock::new() });
        match order.reach {
            Reach::Device => own.fence = Some(mark),
            Reach::Block => own.block_fence = Some(mark),
        }
    }
}

/// What a strong write of a thread releases: to whom, and what. To its block it may be more than to the device, when a
/// fence for the block came later; that is the second.
fn released(state: &mut BlockState, thread: u32, order: Order) -> [Option<(Reach, Arc<View>)>; 2] {
    if order.releases() {
        return [Some((order.reach, Arc::new(state.view_of(thread)))), None];
    }
    if state.thread_if_any(thread).is_none() {
        return [None, None];
    }
    let (base, id) = (state.base.clone(), state.id);
    let own = state.thread(thread);
    let near = own.block_fence.as_ref().map(|mark| (Reach::Block, mark.view(&base, id)));
    let wide = own.fence.as_ref().map(|mark| mark.view(&base, id));
    match (wide, order.reach) {
        (Some(view), Reach::Device) => [Some((Reach::Device, view)), near],
        (wide, _) => [near.or(wide.map(|view| (Reach::Block, view))), None],
    }
}

/// What a thread gets by a strong read, or by the part for reads of a write, from what was released through a place.
pub fn look(var: &SyncVar, state: &mut BlockState, thread: u32, (order, writes): (Order, bool)) {
    let own_block = state.id;
    let wide = var.device.clone();
    let near = if var.block.0 == own_block { var.block.1.clone() } else { None };
    let near_wide = if var.from == own_block { wide.clone() } else { None };
    let at_once = order.acquires() || writes;
    let own = state.thread(thread);
    let (far_to, near_to) =
        if at_once { (None, None) } else { (Some(&mut own.seen), Some(&mut own.seen_in_block)) };
    match (far_to, near_to) {
        (Some(far_to), Some(near_to)) => {
            if let (Some(wide), Reach::Device) = (&wide, order.reach) {
                learn(far_to, wide);
            }
            for view in [&near, &near_wide].into_iter().flatten() {
                learn(near_to, view);
            }
        }
        _ => {
            if let (Some(wide), Reach::Device) = (&wide, order.reach) {
                learn(&mut own.learned, wide);
            }
            for view in [&near, &near_wide].into_iter().flatten() {
                learn(&mut own.learned, view);
            }
        }
    }
}

/// Order of a strong access to the variable at one place.
fn access(
    vars: &mut rustc_hash::FxHashMap<u64, SyncVar>,
    state: &mut BlockState,
    (thread, address): (u32, u64),
    strong: Strong,
    places: &mut u32,
) {
    let Strong { reads, writes, keeps, order } = strong;
    if reads && let Some(var) = vars.get(&address) {
        look(var, state, thread, (order, writes));
    }
    if !writes || keeps {
        return;
    }
    let [mut release, near] = released(state, thread, order);
    if !reads {
        // A plain write ends what was released before, but for what its own thread released there.
        let before = vars.remove(&address).and_then(|var| var.last);
        if let (None, Some((block, by, reach, view))) = (&release, before)
            && (block, by) == (state.id, thread)
        {
            release = Some((reach.min(order.reach), view));
        }
    }
    let Some((reach, mut view)) = release else {
        if let Some(var) = vars.get_mut(&address) {
            var.last = var.last.take().filter(|last| (last.0, last.1) == (state.id, thread));
        }
        return;
    };
    let var = vars.entry(address).or_default();
    // Who read what is there and releases what it knows, releases that too.
    let all = reads && order.releases();
    match reach {
        Reach::Device => {
            var.from = match var.device {
                None => state.id,
                Some(_) if var.from == state.id => state.id,
                Some(_) => 0,
            };
            view::release(&mut var.device, &mut view, all, places);
        }
        Reach::Block if var.block.0 == state.id => {
            view::release(&mut var.block.1, &mut view, all, places);
        }
        Reach::Block => var.block = (state.id, Some(view.clone())),
    }
    if let Some((_, near)) = near {
        match var.block.0 == state.id {
            true => learn(&mut var.block.1, &near),
            false => var.block = (state.id, Some(near)),
        }
    }
    var.last = Some((state.id, thread, reach, view));
}

impl Watch {
    /// Order of a strong access to global memory.
    pub fn strong_global(
        &mut self,
        state: &mut BlockState,
        thread: u32,
        address: u64,
        strong: Strong,
    ) {
        access(&mut self.vars, state, (thread, address), strong, &mut self.places);
    }

    /// Order of a strong access to shared memory.
    pub fn strong_shared(
        &mut self,
        state: &mut BlockState,
        thread: u32,
        offset: u64,
        strong: Strong,
    ) {
        let mut vars = std::mem::take(&mut state.vars);
        access(&mut vars, state, (thread, offset), strong, &mut self.places);
        state.vars = vars;
    }
}
