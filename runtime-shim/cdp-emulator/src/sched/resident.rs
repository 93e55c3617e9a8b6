//! Blocks that have begun and not ended: their places, and which of them wait.

use std::cmp::Reverse;

use super::{Core, Resident};
use crate::exec::{Block, PathState};
use crate::lanes::lanes_of;
use crate::work::{BlockKey, GridKey};

impl Core {
    /// Enters a block into the table.
    pub(super) fn add_resident(&mut self, grid: GridKey, mut block: Box<Block>) -> BlockKey {
        let index = match self.free_blocks.pop() {
            Some(index) => index,
            None => {
                self.blocks.push(Resident {
                    generation: 0,
                    block: None,
                    grid,
                    linear: 0,
                    outstanding: 0,
                    waiting: false,
                });
                self.blocks.len() as u32 - 1
            }
        };
        let entry = &mut self.blocks[index as usize];
        let key = BlockKey { index, generation: entry.generation };
        let linear = block.linear;
        block.runtime.key = Some(key);
        entry.block = Some(block);
        entry.grid = grid;
        entry.linear = linear;
        entry.outstanding = 0;
        entry.waiting = false;
        self.resident_blocks += 1;
        key
    }

    fn resident(&mut self, key: BlockKey) -> Option<&mut Resident> {
        self.blocks.get_mut(key.index as usize).filter(|entry| entry.generation == key.generation)
    }

    pub(super) fn block_grid(&mut self, key: BlockKey) -> Option<GridKey> {
        self.resident(key).map(|entry| entry.grid)
    }

    pub(super) fn take_block(&mut self, key: BlockKey) -> Option<Box<Block>> {
        self.resident(key)?.block.take()
    }

    pub(super) fn put_block(&mut self, key: BlockKey, block: Box<Block>) {
        if let Some(entry) = self.resident(key) {
            entry.block = Some(block);
        }
    }

    /// A block has ended.
    pub(super) fn drop_resident(&mut self, key: BlockKey) {
        if let Some(entry) = self.resident(key) {
            entry.generation = entry.generation.wrapping_add(1);
            entry.block = None;
            self.free_blocks.push(key.index);
            self.resident_blocks -= 1;
        }
    }

    pub(super) fn add_outstanding(&mut self, key: BlockKey) {
        if let Some(entry) = self.resident(key) {
            entry.outstanding += 1;
        }
    }

    pub(super) fn drop_outstanding(&mut self, key: BlockKey) {
        let Some(entry) = self.resident(key) else { return };
        entry.outstanding -= 1;
        if entry.outstanding == 0 && std::mem::take(&mut entry.waiting) {
            let grid = entry.grid;
            self.queue_block(key, grid, 0);
        }
    }

    /// Launched work of a block that is not done.
    pub fn block_outstanding(&mut self, key: BlockKey) -> u64 {
        self.resident(key).map_or(0, |entry| entry.outstanding)
    }

    /// Puts a block into the queue, `rounds` after those that are there; one that watches no others is
    /// next.
    pub(super) fn queue_block(&mut self, key: BlockKey, grid: GridKey, rounds: u64) {
        self.turn_serial += 1;
        let fresh = self.turn_serial;
        let nested = self.machine.schedule_seed.is_none();
        let linear = self.resident(key).map(|entry| entry.linear);
        let turn = match (self.grid(grid), linear) {
            (Some(grid), Some(linear)) if grid.apart && nested => {
                (self.round, Reverse(grid.depth), grid.order, linear)
            }
            (grid, _) => {
                (self.round + rounds, Reverse(grid.map_or(0, |grid| grid.depth)), fresh, 0)
            }
        };
        self.ready_blocks.insert(turn, key);
    }

    /// A block waits for the device runtime: sets it aside, or wakes it at once if its work is done.
    pub(super) fn park_block(&mut self, key: BlockKey, grid: GridKey) {
        let Some(entry) = self.resident(key) else { return };
        if entry.outstanding == 0 {
            self.queue_block(key, grid, 0);
        } else {
            entry.waiting = true;
        }
    }

    /// Lets the lanes go on that wait in `cudaDeviceSynchronize`, if their work is done. The result
    /// was stored when they began to wait.
    pub(super) fn wake_lanes(&mut self, key: BlockKey, block: &mut Block) {
        if self.block_outstanding(key) > 0 {
            return;
        }
        let mut woken = Vec::new();
        for warp in &mut block.warps {
            for path in &mut warp.paths {
                if path.state == PathState::Runtime {
                    path.state = PathState::Ready;
                    path.pc += 1;
                    woken.push((warp.index * 32, path.mask));
                }
            }
        }
        if block.state.is_some() {
            for (first, mask) in woken {
                for lane in lanes_of(mask) {
                    self.edge_children_done(key, block, first + lane as u32);
                }
            }
        }
    }
}
