//! Deadlocks between blocks: all that could run only goes round loops that wait, for something that
//! none of it will do.
//!
//! That is known, not guessed: when every block in execution has had turns and all of them only went
//! round waiting loops, the state of all their warps and what is in memory are remembered, and if both
//! come again, they will come for ever. A program whose memory host code can write to in the meantime is left alone:
//! one with managed or pinned memory, unless its only thread waits for the device, and one with memory that it
//! registered, which may be another process' too. Clocks stand still for that (`standstill.rs`).
//!
//! Before that, blocks that have not begun are given a place: as many as an H200 has for them.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use super::Core;
use super::drive::MAX_RESIDENT;
use super::standstill::{MOST_BYTES, Next, Standstill};
use crate::exec::fault::Fault;
use crate::exec::{Block, block, mbarrier};
use crate::hardware::MULTIPROCESSORS;
use crate::memory::AllocKind;
use crate::report::ReportKind;
use crate::work::GridKey;

/// Rounds of all blocks without progress before anybody looks.
const PATIENCE: u64 = 8;
/// What rounds grow to before anybody looks again, where time has led nowhere.
const REST: u64 = 16;
/// Turns without progress after which a seeded schedule no longer interrupts warps.
const CALM_AFTER: u64 = 1 << 15;
/// Groups of waiting lanes that a report shows.
const MOST_WAITERS: usize = 8;
/// Blocks that begin at once when those in execution only wait.
const MORE_BLOCKS: usize = 64;

/// Turns since a block last did anything but to wait.
#[derive(Debug, Default)]
pub struct Stall {
    /// Turns in which a block only went round waiting loops.
    spins: u64,
    /// Turns of any kind.
    turns: u64,
    /// Blocks, stores and atomics so far, and memory, when they were last remembered.
    seen: Option<(u64, u64, Option<u64>)>,
    /// The round at which they are remembered anew, and rounds until the next time.
    renew: (u64, u64),
    /// The round before which nobody looks.
    rest: u64,
    /// The clocks stand still.
    pub(super) still: Option<Box<Standstill>>,
    /// A seed that is set aside.
    seed: Option<u64>,
    /// Blocks beyond the usual number that may be in execution, because others waited for them.
    pub(super) room: usize,
}

impl Core {
    /// A block has ended, begun, or asked the device for something.
    pub(super) fn no_stall(&mut self) {
        self.take_up_seed();
        self.let_clocks_go_on();
        self.stall = Stall { room: self.stall.room, ..Stall::default() };
    }

    /// A block used up its slice.
    pub(super) fn note_slice(&mut self) {
        self.stall.turns += 1;
        if self.machine.schedule_seed.is_none() {
            self.let_clocks_go_on();
            self.stall.spins = 0;
            self.stall.rest = 0;
            self.forget_states();
            if self.stall.turns <= CALM_AFTER {
                self.take_up_seed();
            }
        } else if self.stall.turns > CALM_AFTER {
            // Interrupted at random, hardly a state comes twice. Any order is one that may be.
            self.set_seed_aside();
        }
    }

    /// From now on no warp is interrupted at random.
    fn set_seed_aside(&mut self) {
        self.stall.seed = self.machine.schedule_seed;
        self.machine_mut().schedule_seed = None;
    }

    fn take_up_seed(&mut self) {
        if let Some(seed) = self.stall.seed.take() {
            self.machine_mut().schedule_seed = Some(seed);
        }
    }

    /// All warps of a block only go round loops that wait; it is among the ready ones again. Ends the
    /// program if nothing will change that.
    pub(super) fn note_spin(&mut self) {
        self.stall.turns += 1;
        self.stall.spins += 1;
        let blocks = self.resident_blocks as u64;
        if self.machine.watch().is_some_and(|watch| watch.holds.is_taken()) {
            return;
        }
        let all_ready = self.ready_blocks.len() as u64 == blocks && self.ready_nodes.is_empty();
        if !all_ready || !self.stall.spins.is_multiple_of(blocks) || self.given != 0 {
            return;
        }
        let places = self.ready_grids.values().map(|key| self.places_for(*key)).max().unwrap_or(0);
        if self.resident_blocks < places {
            let room = self.stall.room + MORE_BLOCKS;
            self.stall.room = room.min(places.saturating_sub(MAX_RESIDENT));
            return;
        }
        let round = self.stall.spins / blocks;
        if round < self.stall.rest.max(PATIENCE) || self.level != 0 || self.host_may_write() {
            return;
        }
        self.stop_clocks(round);
        match self.look(round) {
            Next::Fail => self.fail_for_ever(),
            Next::GiveUp => {
                self.let_clocks_go_on();
                self.stall.rest = round * REST;
                self.forget_states();
            }
            Next::Leap => self.forget_states(),
            Next::Wait => {}
        }
    }

    fn forget_states(&mut self) {
        self.stall.seen = None;
        self.stall.renew = (0, 1);
    }

    /// Looks whether the state of all blocks has come again.
    fn look(&mut self, round: u64) -> Next {
        if self.has_picture() {
            return self.compare_pictures(round);
        }
        let (state, traffic) = self.state_of_blocks();
        if let Some((then, traffic_then, memory)) = self.stall.seen
            && then == state
            && (traffic == traffic_then || memory.is_some() && memory == self.state_of_memory())
        {
            if self.machine.schedule_seed.is_some() {
                // By chance, if every warp was interrupted where it had been before: nothing follows from that.
                self.set_seed_aside();
                self.stall.spins = 0;
                self.forget_states();
                return Next::Wait;
            }
            return self.comes_again(round);
        }
        if round >= self.stall.renew.0 {
            self.machine.clocks.forget();
            self.stall.seen = Some((state, traffic, self.state_of_memory()));
            let apart = self.stall.renew.1;
            self.stall.renew = (round + apart, 2 * apart);
        }
        self.does_not_come_again(round)
    }

    /// Blocks of a grid that an H200 has room for at once.
    fn places_for(&self, key: GridKey) -> usize {
        let Some(grid) = self.grid(key) else { return 0 };
        let info = &grid.info;
        let of_one = self.occupancy_of(info.kernel, info.threads(), info.dynamic_bytes.into());
        MULTIPROCESSORS as usize * of_one as usize
    }

    fn host_may_write(&self) -> bool {
        let alone = || self.host_waits.is_some_and(|is_alone| is_alone());
        self.shares_memory() && (self.machine.memory.has_foreign() || !alone())
    }

    /// There is memory that host code uses too.
    fn shares_memory(&self) -> bool {
        self.machine.memory.live().any(|record| record.kind == AllocKind::Managed)
    }

    /// All that the blocks in execution go by, and the stores and atomics that they have made.
    fn state_of_blocks(&self) -> (u64, u64) {
        self.walk_blocks(|words, state| words.hash(state))
    }

    /// Walks over the blocks in execution, with their warps' registers and local memory for `see`. Gives the hash of what
    /// else they go by and of what `see` adds, and the stores and atomics that they have made.
    pub(super) fn walk_blocks(
        &self,
        mut see: impl FnMut(&[u32], &mut DefaultHasher),
    ) -> (u64, u64) {
        let (mut state, mut traffic) = (DefaultHasher::new(), 0);
        let blocks = self.blocks.iter().filter_map(|entry| entry.block.as_deref());
        for block in blocks.flat_map(Block::members) {
            (block.serial, &block.shared).hash(&mut state);
            traffic += block.counters.store_transactions + block.counters.atomics;
            for warp in &block.warps {
                (warp.live, warp.regs.len()).hash(&mut state);
                see(&warp.regs, &mut state);
                see(&warp.local, &mut state);
                for path in &warp.paths {
                    (path.pc, path.mask, path.frame, path.group).hash(&mut state);
                }
            }
        }
        (state.finish(), traffic)
    }

    /// What is in memory; `None` if that is too much to look at.
    pub(super) fn state_of_memory(&self) -> Option<u64> {
        let memory = &self.machine.memory;
        if memory.live_bytes() > MOST_BYTES {
            return None;
        }
        let mut state = DefaultHasher::new();
        for record in memory.live() {
            let size = record.size_bytes as usize;
            // SAFETY: a live allocation of the arena, whose blocks do not run now.
            state.write(unsafe { std::slice::from_raw_parts(record.base as *const u8, size) });
        }
        Some(state.finish())
    }

    fn fail_for_ever(&mut self) {
        let blocks = || self.blocks.iter().filter_map(|entry| entry.block.as_deref());
        let count: usize = blocks().map(|block| block.members().count()).sum();
        let waiters: Vec<_> = blocks()
            .flat_map(|block| block::waiters(&self.machine, block).into_iter().take(2))
            .take(MOST_WAITERS)
            .collect();
        let left: u64 = self
            .ready_grids
            .values()
            .filter_map(|key| self.grid(*key))
            .map(|grid| grid.end_block - grid.next_block)
            .sum();
        let plural = if count == 1 { "block goes" } else { "blocks go" };
        let message = match left {
            0 => format!("{count} {plural} round loops that wait, and nothing will end them"),
            _ => format!(
                "{count} {plural} round loops that wait, and nothing will end them; {left} blocks have \
                 not begun, because no more fit on the device at once"
            ),
        };
        let tails = blocks().any(|block| {
            let grid =
                self.grids.iter().flatten().find(|grid| Arc::ptr_eq(&grid.info, &block.grid));
            grid.is_some_and(|grid| !grid.tails.is_empty())
        });
        let objects = waiters.iter().any(|waiter| waiter.what.starts_with(mbarrier::PHASE));
        let cure = match left {
            _ if tails => {
                "what is launched into cudaStreamTailLaunch begins when the grid that launched it is \
                 complete: the grid cannot wait for what its tail does"
            }
            _ if objects => {
                "a phase of a barrier object ends when as many arrivals have come as it was made for \
                 (init(), mbarrier.init), and all bytes that it was told to expect: by threads that do \
                 not wait for it themselves"
            }
            0 if self.shares_memory() => {
                "what a loop waits for must be written by a thread that does not wait itself, and host code waits too: \
                 it writes nothing before the call is done that waits for these blocks"
            }
            0 => "what a loop waits for must be written by a thread that does not wait itself",
            _ => {
                "blocks that wait for each other must all be in execution at once: launch no more than \
                 cudaOccupancyMaxActiveBlocksPerMultiprocessor() allows, or use a cooperative launch"
            }
        };
        let mut fault = Fault::new(ReportKind::Deadlock, None, message).help(cure);
        fault.site = waiters.first().map(|waiter| waiter.site);
        fault.waiters = waiters;
        self.fail(fault);
    }
}
