//! Reading special registers.

use super::rows::{copy, fill, fill_with};
use super::{Block, Warp};
use crate::code::{Inst, Special};

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
    let clock = grid.start_clock + warp.clock;
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
        Special::ClockLo | Special::Clock64 | Special::Timer | Special::TimerLo => clock,
        Special::ClockHi | Special::TimerHi => clock >> 32,
        Special::GridBarrierLo => grid.barrier & u64::from(u32::MAX),
        Special::GridBarrierHi => grid.barrier >> 32,
        Special::DynamicShared => u64::from(grid.dynamic_bytes),
        Special::TotalShared => u64::from(grid.shared_bytes - grid.shared_gaps),
        Special::GraphExec => grid.of_graph.graph,
        Special::Fixed(value) | Special::Fixed64(value) => u64::from(value),
        Special::Tid(_)
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
