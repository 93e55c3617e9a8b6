//! Reading special registers.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use super::rows::{copy, fill, fill_with};
use super::{Block, Machine, Warp};
use crate::code::{Inst, Special};

/// What clocks of device code show: the instructions executed, unless everybody waits. Then they stand still, so
/// that it can be seen whether anything but time could end that, and leap ahead.
#[derive(Debug, Default)]
pub struct Clocks {
    /// What all of them show while they stand.
    pub standing: Option<u64>,
    /// How far they are ahead of the instructions executed.
    pub ahead: u64,
    /// One was read since they stopped.
    pub read: AtomicBool,
    /// What was asked of barrier objects since they stopped and is not so yet, by who asked.
    pub asked: Mutex<HashMap<Asking, Asked>>,
}

/// Who asks: the block's serial number, the warp in it, and the instruction.
pub type Asking = (u64, u32, u32);

/// What lanes wait for.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The lanes.
    pub lanes: u32,
    /// In words.
    pub what: String,
}

impl Clocks {
    /// Remembers what a lane asks for in vain.
    pub fn ask(&self, by: Asking, lane: usize, what: impl FnOnce() -> String) {
        if self.standing.is_none() {
            return;
        }
        let mut asked = self.asked.lock().unwrap_or_else(|held| held.into_inner());
        asked.entry(by).or_insert_with(|| Asked { lanes: 0, what: what() }).lanes |= 1 << lane;
    }

    /// Forgets what was asked.
    pub fn forget(&self) {
        self.asked.lock().unwrap_or_else(|held| held.into_inner()).clear();
    }

    /// What one of these lanes of a warp asked for in vain.
    pub fn asked_by(&self, (block, warp): (u64, u32), lanes: u32) -> Option<String> {
        let asked = self.asked.lock().unwrap_or_else(|held| held.into_inner());
        let own = asked.iter().filter(|((of, in_it, _), one)| {
            (*of, *in_it) == (block, warp) && one.lanes & lanes != 0
        });
        own.max_by_key(|(by, _)| *by).map(|(_, one)| one.what.clone())
    }
}

/// `%tid`, `%ctaid`, `%ntid`, `%nctaid`, with which nearly every kernel begins, in the active lanes.
#[inline(always)]
pub fn place(block: &Block, warp: &Warp, regs: *mut u32, inst: &Inst, which: Special, active: u32) {
    let uniform = match which {
        Special::Ntid(d) => block.grid.block[d as usize],
        Special::Ctaid(d) => block.index[d as usize],
        Special::Nctaid(d) => block.grid.grid[d as usize],
        Special::Tid(d) => {
            // SAFETY: a decoded row, and an array of its size.
            unsafe { copy(regs.add(inst.d as usize), warp.tid[d as usize].as_ptr(), active) };
            return;
        }
        _ => return read(block, warp, regs, inst, which, active),
    };
    // SAFETY: decoded row.
    unsafe { fill(regs.add(inst.d as usize), u64::from(uniform), false, active) }
}

/// Special registers, in the active lanes.
pub fn read(block: &Block, warp: &Warp, regs: *mut u32, inst: &Inst, which: Special, active: u32) {
    let grid = &block.grid;
    let wide = which.is_wide();
    let uniform = match which {
        Special::Ntid(d) => u64::from(grid.block[d as usize]),
        Special::Ctaid(d) => u64::from(block.index[d as usize]),
        Special::Nctaid(d) => u64::from(grid.grid[d as usize]),
        Special::ClusterId(d) => u64::from(block.index[d as usize] / grid.cluster[d as usize]),
        Special::Clusters(d) => u64::from(grid.grid[d as usize] / grid.cluster[d as usize]),
        Special::InCluster(d) => u64::from(block.index[d as usize] % grid.cluster[d as usize]),
        Special::ClusterSize(d) => u64::from(grid.cluster[d as usize]),
        Special::ClusterRank => u64::from(block.rank),
        Special::ClusterBlocks => u64::from(grid.cluster_blocks()),
        Special::IsExplicitCluster => u64::from(grid.explicit_cluster),
        Special::Warp => u64::from(warp.index),
        Special::Warps => u64::from(grid.threads().div_ceil(32)),
        Special::Sm => block.linear % u64::from(crate::hardware::MULTIPROCESSORS),
        Special::Sms => u64::from(crate::hardware::MULTIPROCESSORS),
        Special::Grid => grid.serial,
        Special::GridBarrierLo => grid.barrier & u64::from(u32::MAX),
        Special::GridBarrierHi => grid.barrier >> 32,
        Special::DynamicShared => u64::from(grid.dynamic_bytes),
        Special::TotalShared => u64::from(grid.shared_bytes - grid.shared_gaps),
        Special::GraphExec => grid.of_graph.graph,
        Special::Fixed(value) | Special::Fixed64(value) => u64::from(value),
        // Clocks: see `read_clock`.
        Special::ClockLo
        | Special::ClockHi
        | Special::Clock64
        | Special::Timer
        | Special::TimerLo
        | Special::TimerHi
        | Special::Tid(_)
        | Special::Lane
        | Special::MaskEq
        | Special::MaskLe
        | Special::MaskLt
        | Special::MaskGe
        | Special::MaskGt => 0,
    };
    let value = |lane: usize| -> u64 {
        match which {
            Special::Tid(d) => u64::from(warp.tid[d as usize][lane]),
            Special::Lane => lane as u64,
            Special::MaskEq => 1 << lane,
            Special::MaskLe => u64::from(u32::MAX >> (31 - lane)),
            Special::MaskLt => (1 << lane) - 1,
            Special::MaskGe => u64::from(u32::MAX << lane),
            Special::MaskGt => u64::from(u32::MAX << lane & !(1 << lane)),
            _ => uniform,
        }
    };
    // SAFETY: decoded row.
    unsafe { fill_with(regs, inst.d, wide, active, value) };
}

/// Clocks, in the active lanes.
pub fn read_clock(
    machine: &Machine,
    block: &Block,
    warp: &Warp,
    regs: *mut u32,
    inst: &Inst,
    which: Special,
    active: u32,
) {
    let clocks = &machine.clocks;
    let now = match clocks.standing {
        Some(time) => {
            clocks.read.store(true, Ordering::Relaxed);
            time
        }
        None => block.grid.start_clock + warp.clock + clocks.ahead,
    };
    let value = match which {
        Special::ClockHi | Special::TimerHi => now >> 32,
        _ => now,
    };
    // SAFETY: decoded row.
    unsafe { fill_with(regs, inst.d, which.is_wide(), active, |_| value) };
}
