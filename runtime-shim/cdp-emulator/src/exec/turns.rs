//! The turns of the blocks of a cluster.

use std::sync::Arc;

use super::cluster::{Cluster, complete};
use super::{Block, BlockStop, GridInfo, Machine, block, door};

/// Makes the blocks of a cluster. `first` counts blocks cluster by cluster.
pub fn start(
    machine: &Machine,
    grid: &Arc<GridInfo>,
    first: u64,
    old: Option<Box<Block>>,
) -> Box<Block> {
    let count = grid.cluster_blocks();
    let clusters = [0, 1, 2].map(|d| grid.grid[d] / grid.cluster[d].max(1));
    let at = super::index_in(clusters, first / u64::from(count));
    let make = |rank: u32, old| {
        let within = super::index_in(grid.cluster, u64::from(rank));
        let [x, y, z] = [0, 1, 2].map(|d| u64::from(at[d] * grid.cluster[d] + within[d]));
        let [nx, ny, _] = grid.grid.map(u64::from);
        let mut block = block::start_one(machine, grid, x + nx * (y + ny * z), old);
        block.rank = rank;
        block
    };
    let mut leader = make(0, old);
    let peers = (1..count).map(|rank| make(rank, None)).collect();
    leader.cluster = Some(Box::new(Cluster::of(peers)));
    leader
}

/// Runs the blocks of a cluster in turns, until all have ended or the budget is used up.
pub fn run(machine: &Machine, block: &mut Block, budget: i64) -> BlockStop {
    let count = block.members().count() as u32;
    let mut left = budget;
    // Blocks in a row that had nothing to do, and that only went round loops.
    let (mut idle, mut spinning, mut runtime) = (0, 0, false);
    loop {
        let before = block.counters.warp_instructions;
        let stop = block::run_one(machine, block, left);
        let ran = block.counters.warp_instructions - before;
        left -= ran as i64;
        if matches!(stop, BlockStop::Done) && ran > 0 {
            door::shared_ends(machine, block);
        }
        if complete(block) {
            (idle, spinning) = (0, 0);
        }
        match stop {
            BlockStop::Fault(_) | BlockStop::Service { .. } => return stop,
            BlockStop::Slice => {
                turn_over(machine, block, idle);
                return BlockStop::Slice;
            }
            BlockStop::Spin => {
                (idle, spinning) = (idle + 1, spinning + 1);
            }
            BlockStop::Done | BlockStop::Together | BlockStop::Waiting => {
                idle = if ran > 0 { 1 } else { idle + 1 };
                runtime |= matches!(stop, BlockStop::Waiting);
            }
        }
        if block.members().all(Block::has_ended) {
            return BlockStop::Done;
        }
        if idle > count {
            return match (spinning > 0, runtime) {
                (true, _) => {
                    turn_over(machine, block, idle);
                    BlockStop::Spin
                }
                (false, true) => BlockStop::Waiting,
                (false, false) => BlockStop::Fault(block::deadlock(machine, block)),
            };
        }
        turn_over(machine, block, idle);
        if left <= 0 {
            return BlockStop::Slice;
        }
    }
}

/// The next block of the cluster takes its turn; a seeded schedule chooses one, unless it is looked
/// for one that can go on.
fn turn_over(machine: &Machine, block: &mut Block, idle: u32) {
    let Some(mut cluster) = block.cluster.take() else { return };
    let count = cluster.peers.len();
    if count > 0 {
        let next = match machine.schedule_seed {
            Some(seed) if idle < 2 => block::any(block, seed, count),
            _ => {
                let after = (block.rank + 1) % (count as u32 + 1);
                cluster.peers.iter().position(|peer| peer.rank == after).unwrap_or(0)
            }
        };
        // What the scheduler asks of the cluster goes along.
        let peer = &mut cluster.peers[next];
        std::mem::swap(block, peer);
        std::mem::swap(&mut block.counters, &mut peer.counters);
        std::mem::swap(&mut block.output, &mut peer.output);
        std::mem::swap(&mut block.warnings, &mut peer.warnings);
        block.runtime.key = peer.runtime.key;
    }
    block.cluster = Some(cluster);
}
