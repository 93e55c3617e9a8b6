//! What is asynchronous (`cp.async`, `cp.async.bulk`, `wgmma`): it is done when it is issued, and for the
//! race checker by somebody else than the thread that issues it.
//!
//! A block has agents for that, blocks as records and views name them: for each way in which threads come
//! to know that it is done one that reads and one that writes. Their threads are those that issue, their
//! time goes on at every commit and wait. What they do comes behind what the thread knew when it issued
//! it; the thread knows it once it has waited for its group or its barrier object, and others then as
//! they come to know anything else of the thread.
//!
//! Bulk copies and `wgmma` go through the asynchronous proxy. Of what was stored it sees what a
//! `fence.proxy.async` came behind; such knowledge goes where all other goes, so it is kept in views, under
//! the number of the block with [`PROXY`].

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::block::BlockState;
use super::view::{Clocks, PROXY, View, WARP};
use super::{BlockMeta, Origin, Stamp, Watch};
use crate::code::{Async, CopyOrder};
use crate::lanes::lanes_of;

/// The asynchronous work of a block.
#[derive(Debug, Default)]
pub struct Copies {
    /// What stands for those that read and those that write.
    agents: Vec<(Async, [Agent; 2])>,
    /// How often threads committed, waited, or told a barrier object.
    time: u32,
    /// Times of the groups that were committed and not waited for, by kind and thread.
    groups: FxHashMap<(u8, u32), VecDeque<u32>>,
}

/// One that reads or writes.
#[derive(Clone, Copy, Debug)]
struct Agent {
    /// Its number among the blocks.
    block: u32,
    /// The stamp made last, with instruction and time.
    last: (Origin, u32, u32),
}

impl Watch {
    /// The stamp of a part of what is asynchronous.
    pub fn copy_stamp(
        &mut self,
        state: &mut BlockState,
        origin: Origin,
        of: Async,
        writes: bool,
    ) -> u32 {
        let copies = &mut state.copies;
        let at = copies.agents.iter().position(|agent| agent.0 == of).unwrap_or_else(|| {
            let BlockMeta { grid, linear, .. } = self.blocks[state.id as usize];
            let first = self.blocks.len() as u32;
            self.blocks.extend([BlockMeta { grid, linear, later: Some(of) }; 2]);
            let agent = |block| Agent { block, last: (Origin::HOST, 0, 0) };
            copies.agents.push((of, [agent(first), agent(first + 1)]));
            copies.agents.len() - 1
        });
        // From 1: nothing is known up to 0.
        let now = copies.time + 1;
        let agent = &mut copies.agents[at].1[usize::from(writes)];
        let (known, time, stamp) = agent.last;
        if (known, time) == (origin, now) {
            return stamp;
        }
        let stamp = self.new_stamp(agent.block, now, origin);
        agent.last = (origin, now, stamp);
        stamp
    }

    /// True if two numbers stand for one block.
    pub fn are_of_one_block(&self, a: u32, b: u32) -> bool {
        let of = |block: u32| {
            let meta = &self.blocks[block as usize];
            (meta.grid, meta.linear)
        };
        a == b || of(a) == of(b)
    }

    /// True if a number stands for what goes through the asynchronous proxy.
    pub fn is_by_proxy(&self, block: u32) -> bool {
        self.blocks[block as usize].later.is_some_and(Async::by_proxy)
    }

    /// True if a fence between the proxies came behind a store by `other` that `thread` knows of. Complete
    /// grids need none, nor does what came before the grid.
    pub fn is_fenced(&self, state: &BlockState, stamp: &Stamp, other: u32, thread: u32) -> bool {
        let learned = state.thread_if_any(thread).and_then(|own| own.learned.as_deref());
        let fenced = |view: &View| {
            view.block(stamp.block | PROXY).is_some_and(|clocks| clocks.of(other) >= stamp.time)
                || self.covers(view, stamp.block)
        };
        state.base.as_deref().is_some_and(|view| self.knows(view, stamp, other))
            || [state.shared_view.as_deref(), learned].into_iter().flatten().any(fenced)
    }
}

impl Copies {
    /// The block has done nothing asynchronously.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.agents.is_empty()
    }
}

impl BlockState {
    /// What is known once the asynchronous work of a kind, of a thread or warp (by its key in [`Clocks`]), is
    /// done up to a time, or only its reads.
    fn copies_done(&self, of: Async, key: u32, time: u32, reads_only: bool) -> Option<View> {
        let (_, agents) = self.copies.agents.iter().find(|agent| agent.0 == of)?;
        let mut view = View::default();
        for agent in &agents[..if reads_only { 1 } else { 2 }] {
            view.raise_block(agent.block, &Clocks { all: 0, parts: vec![(key, time)] });
        }
        Some(view)
    }

    /// Lanes of a warp commit or wait for what they do asynchronously.
    pub fn order_copies(&mut self, order: CopyOrder, warp: u32, lanes: u32) {
        if self.copies.agents.is_empty() {
            return;
        }
        let threads = lanes_of(lanes).map(|lane| warp * 32 + lane as u32);
        let of = match order {
            CopyOrder::Commit { of } | CopyOrder::Wait { of, .. } => of,
            CopyOrder::WaitAll => Async::Copies,
            CopyOrder::Proxy | CopyOrder::Dependencies => return,
        };
        self.copies.time += 1;
        if of == Async::Products {
            // Those of a warp are its own as a whole.
            if let Some(done) = self.order_group(order, of, warp | WARP) {
                let done = done.into();
                threads.for_each(|thread| self.learn(thread, &done));
            }
            return;
        }
        for thread in threads {
            if let Some(done) = self.order_group(order, of, thread) {
                self.learn(thread, &done.into());
            }
        }
    }

    /// A thread or warp commits or waits; what it knows then.
    fn order_group(&mut self, order: CopyOrder, of: Async, key: u32) -> Option<View> {
        let now = self.copies.time;
        let kind = match of {
            Async::Copies => 0,
            Async::Bulk => 1,
            Async::Products | Async::Object(_) => 2,
        };
        let groups = self.copies.groups.entry((kind, key)).or_default();
        let (time, reads_only) = match order {
            CopyOrder::Wait { pending, read, .. } => {
                let done = groups.len().saturating_sub(pending as usize);
                let last = groups.iter().take(done).next_back().copied();
                if !read {
                    groups.drain(..done);
                }
                (last?, read)
            }
            CopyOrder::WaitAll => {
                groups.clear();
                (now, false)
            }
            _ => {
                groups.push_back(now);
                return None;
            }
        };
        self.copies_done(of, key, time, reads_only)
    }

    /// A barrier object is told of a thread's copies of a kind so far.
    pub fn copies_arrive(&mut self, of: Async, offset: u64, thread: u32) {
        if self.copies.agents.is_empty() {
            return;
        }
        self.copies.time += 1;
        let Some(done) = self.copies_done(of, thread, self.copies.time, false) else { return };
        let phases = self.objects.entry(offset).or_default();
        super::view::learn(&mut phases.collected.known, &done.into());
    }

    /// Lanes of a warp have the asynchronous proxy see what they know.
    pub fn fence_proxy(&mut self, warp: u32, lanes: u32) {
        let mut fenced = View::default();
        let mut own = Clocks::default();
        let threads = || lanes_of(lanes).map(|lane| warp * 32 + lane as u32);
        for thread in threads() {
            own.join(&self.clocks(thread));
            if let Some(learned) =
                self.thread_if_any(thread).and_then(|state| state.learned.as_ref())
            {
                fenced.fence(learned);
            }
            own.gather(thread, self.thread_count());
        }
        if let Some(shared) = &self.shared_view {
            fenced.fence(shared);
        }
        fenced.raise_block(self.id | PROXY, &own);
        let fenced = fenced.into();
        threads().for_each(|thread| self.learn(thread, &fenced));
    }
}
