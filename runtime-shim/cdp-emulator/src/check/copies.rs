//! Asynchronous copies (`cp.async`, `cp.async.bulk`): they are done when they are issued, and for the
//! race checker by somebody else than the thread that issues them.
//!
//! A block whose threads copy has two blocks more, as records and views name them: one that reads
//! what is copied, one that writes it. Their threads are those that issue the copies, their time goes
//! on at every commit and wait. A copy comes behind what its thread knew when it issued it; the thread
//! knows it once it has waited for its group or its barrier object, and others then as they come to
//! know anything else of the thread.

use std::collections::VecDeque;

use super::block::BlockState;
use super::view::{Clocks, View};
use super::{BlockMeta, Place, Watch};
use crate::code::CopyOrder;
use crate::hash::IntMap;

/// The copies of a block.
#[derive(Debug)]
pub struct Copies {
    /// What stands for those that read and those that write; 0 before the first copy.
    agents: [u32; 2],
    time: u32,
    /// The stamps made last, of reads and writes, with instruction and time.
    stamps: [(Place, u32, u32); 2],
    /// Times of the groups that a thread has committed and not waited for: `cp.async`, bulk.
    groups: [IntMap<u32, VecDeque<u32>>; 2],
}

impl Default for Copies {
    fn default() -> Copies {
        let stamps = [(Place::HOST, 0, 0); 2];
        Copies { agents: [0; 2], time: 1, stamps, groups: Default::default() }
    }
}

impl Watch {
    /// The stamp of a part of a copy.
    pub fn copy_stamp(&mut self, state: &mut BlockState, place: Place, writes: bool) -> u32 {
        if state.copies.agents[0] == 0 {
            let BlockMeta { grid, linear, .. } = self.blocks[state.id as usize];
            self.blocks.extend([BlockMeta { grid, linear, copies: true }; 2]);
            let last = self.blocks.len() as u32 - 1;
            state.copies.agents = [last - 1, last];
        }
        let (side, now) = (usize::from(writes), state.copies.time);
        let (known, time, stamp) = state.copies.stamps[side];
        if (known, time) == (place, now) {
            return stamp;
        }
        let stamp = self.new_stamp(state.copies.agents[side], now, place);
        state.copies.stamps[side] = (place, now, stamp);
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
}

impl BlockState {
    /// What is known once a thread's copies up to a time are done, or only their reads.
    fn copies_done(&self, thread: u32, time: u32, reads_only: bool) -> View {
        let mut view = View::default();
        let agents = &self.copies.agents[..if reads_only { 1 } else { 2 }];
        for &agent in agents {
            view.raise_block(agent, &Clocks { all: 0, parts: vec![(thread, time)] });
        }
        view
    }

    /// Threads commit or wait for copies.
    pub fn order_copies(&mut self, order: CopyOrder, threads: impl Iterator<Item = u32>) {
        if self.copies.agents[0] == 0 {
            return;
        }
        let now = self.copies.time;
        self.copies.time += 1;
        for thread in threads {
            let bulk = match order {
                CopyOrder::Commit { bulk } | CopyOrder::Wait { bulk, .. } => bulk,
                CopyOrder::WaitAll => false,
            };
            let groups = self.copies.groups[usize::from(bulk)].entry(thread).or_default();
            let (time, reads_only) = match order {
                CopyOrder::Commit { .. } => {
                    groups.push_back(now);
                    continue;
                }
                CopyOrder::WaitAll => {
                    groups.clear();
                    (Some(now), false)
                }
                CopyOrder::Wait { pending, read, .. } => {
                    let done = groups.len().saturating_sub(pending as usize);
                    let last = groups.iter().take(done).next_back().copied();
                    if !read {
                        groups.drain(..done);
                    }
                    (last, read)
                }
            };
            if let Some(time) = time {
                let done = self.copies_done(thread, time, reads_only).into();
                self.learn(thread, &done);
            }
        }
    }

    /// A barrier object is told of a thread's copies so far.
    pub fn copies_arrive(&mut self, offset: u64, thread: u32) {
        if self.copies.agents[0] == 0 {
            return;
        }
        let done = self.copies_done(thread, self.copies.time, false).into();
        self.copies.time += 1;
        let (collected, _) = self.objects.entry(offset).or_default();
        super::view::learn(&mut collected.known, &done);
    }
}
