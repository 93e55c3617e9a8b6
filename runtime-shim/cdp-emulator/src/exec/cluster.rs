//! Clusters: blocks that run together, reach each other's shared memory and meet at a barrier of theirs.
//!
//! To the scheduler a cluster is one block: it holds the one whose turn it is, which holds the others
//! ([`Cluster::peers`]). So no two blocks of a cluster run at the same time, and whoever runs reaches the
//! memory of the others without a lock. Not here: their turns (`turns`); what an access does there; for its time the memory of
//! the other block takes the place of the running one's ([`in_memory_of`]).

use super::fault::Fault;
use super::path::{Next, Running, keep_active};
use super::rows::{read_row, write_row};
use super::{Block, PathState, Step, Warp, checks};
use crate::check::view::{Known, Told, learn};
use crate::code::{Inst, StateSpace};
use crate::lanes::lanes_of;
use crate::memory::space;
use crate::report::ReportKind;

/// Addresses of shared memory of a cluster (`.shared::cluster`): above the offset, 0 for the own block,
/// else the rank of the block plus one.
const RANK_SHIFT: u32 = 24;

/// What the blocks of a cluster have in common. With the block whose turn it is.
#[derive(Debug, Default)]
pub struct Cluster {
    /// The other blocks.
    // Boxed, because they come from boxes and are large.
    #[allow(clippy::vec_box)]
    pub peers: Vec<Box<Block>>,
    /// Completed phases of the cluster's barrier.
    phase: u32,
    /// What those who arrived in this phase released, for the checks.
    collected: Told,
    /// What was released in the last phase.
    complete: Told,
    /// What those who arrived in this phase, and in the last one, had done, relaxed or not: that nobody's memory
    /// goes as long as others use it takes no more than to arrive after the use.
    done: [Known; 2],
}

impl Cluster {
    /// That of a block with these others, before anybody arrived at the barrier.
    #[allow(clippy::vec_box)]
    pub fn of(peers: Vec<Box<Block>>) -> Cluster {
        Cluster { peers, ..Cluster::default() }
    }
}

impl Block {
    /// The block and the others of its cluster.
    pub fn members(&self) -> impl Iterator<Item = &Block> {
        let peers = self.cluster.iter().flat_map(|cluster| cluster.peers.iter().map(|p| &**p));
        std::iter::once(self).chain(peers)
    }

    /// Other blocks are in its cluster.
    pub fn has_peers(&self) -> bool {
        self.cluster.as_ref().is_some_and(|cluster| !cluster.peers.is_empty())
    }

    pub(super) fn has_ended(&self) -> bool {
        self.warps.iter().all(|warp| warp.live == 0)
    }
}

/// Ends the phase of the cluster's barrier if all threads that have not ended have arrived.
pub fn complete(block: &mut Block) -> bool {
    let Some(cluster) = block.cluster.as_deref() else { return false };
    let now = 0u32.wrapping_sub(cluster.phase & 1);
    let mut any = false;
    for member in block.members() {
        for warp in &member.warps {
            let here = warp.arrived & !(warp.arrived_in ^ now) & warp.live;
            if here != warp.live {
                return false;
            }
            any |= here != 0;
        }
    }
    if any && let Some(cluster) = block.cluster.as_deref_mut() {
        cluster.phase = cluster.phase.wrapping_add(1);
        cluster.complete = std::mem::take(&mut cluster.collected);
        cluster.done = [None, cluster.done[0].take()];
    }
    any
}

/// Lanes of which the phase that they arrived in is complete.
fn free_to_go(cluster: &Cluster, warp: &Warp) -> u32 {
    let now = 0u32.wrapping_sub(cluster.phase & 1);
    warp.arrived & (warp.arrived_in ^ now)
}

/// `barrier.cluster.arrive`
pub fn arrive(block: &mut Block, warp: &mut Warp, active: u32, releases: bool) -> Step<()> {
    let cluster = block.cluster.get_or_insert_default();
    if let again @ 1.. = warp.arrived & active {
        let message = "a second arrival at the cluster's barrier, with no wait since the first";
        return Err(Fault::new(
            ReportKind::InvalidInstruction,
            Some(again.trailing_zeros()),
            message,
        )
        .help("each barrier.cluster.arrive is followed by its barrier.cluster.wait"));
    }
    warp.arrived |= active;
    let now = 0u32.wrapping_sub(cluster.phase & 1);
    warp.arrived_in = (warp.arrived_in & !active) | (now & active);
    block.counters.barriers += 1;
    if let Some(state) = block.state.as_deref_mut() {
        for lane in lanes_of(active) {
            let thread = warp.index * 32 + lane as u32;
            learn(&mut cluster.done[0], &state.done_by(thread));
            // One that does not release passes on what the thread has fenced (`fence.mbarrier_init`).
            let told = if releases { state.tell(thread) } else { state.tell_fenced(thread) };
            cluster.collected.join(&told);
        }
    }
    Ok(())
}

/// `barrier.cluster.wait`
pub fn wait(block: &mut Block, warp: &mut Warp, run: &mut Running<'_>, active: u32) -> Step<Next> {
    keep_active(warp, run, active);
    if let never @ 1.. = active & !warp.arrived {
        let message = "a wait at the cluster's barrier by a thread that has not arrived there";
        return Err(Fault::new(
            ReportKind::InvalidInstruction,
            Some(never.trailing_zeros()),
            message,
        )
        .help("barrier.cluster.arrive comes before barrier.cluster.wait"));
    }
    let free = block.cluster.as_deref().map_or(0, |cluster| free_to_go(cluster, warp));
    if active & !free != 0 {
        run.path.state = PathState::Cluster;
        warp.paths.push(run.path);
        return Ok(Next::Switch);
    }
    leave(block, warp, active);
    run.path.pc += 1;
    Ok(Next::Continue)
}

/// Lanes go on behind the barrier.
fn leave(block: &mut Block, warp: &mut Warp, lanes: u32) {
    warp.arrived &= !lanes;
    let told = |cluster: &Cluster| (cluster.complete.clone(), cluster.done[1].clone());
    let told = block.cluster.as_deref().map(told);
    if let (Some(state), Some((complete, done))) = (block.state.as_deref_mut(), told) {
        if let Some(done) = done {
            learn(&mut state.done_by_others, &done);
        }
        for lane in lanes_of(lanes) {
            state.hear(warp.index * 32 + lane as u32, &complete);
        }
    }
}

/// Lets the lanes of a block go on whose phase is complete. True if there were any.
pub fn wake(block: &mut Block) -> bool {
    complete(block);
    let mut any = false;
    for index in 0..block.warps.len() {
        let mut warp = block.take_warp(index);
        let free = block.cluster.as_deref().map_or(0, |cluster| free_to_go(cluster, &warp));
        for at in 0..warp.paths.len() {
            let path = warp.paths[at];
            if path.state == PathState::Cluster && path.mask & !free == 0 {
                warp.paths[at].state = PathState::Ready;
                warp.paths[at].pc += 1;
                leave(block, &mut warp, path.mask);
                any = true;
            }
        }
        block.put_warp(index, warp);
    }
    any
}

// Addresses.

/// `mapa`: the address of the same place in the block of another rank.
pub fn map(block: &Block, regs: *mut u32, inst: &Inst, space: StateSpace, active: u32) -> Step<()> {
    let wide = inst.imm != 0;
    for lane in lanes_of(active) {
        // SAFETY: decoded rows.
        let (at, rank) =
            unsafe { (read_row(regs, inst.a, wide, lane), read_row(regs, inst.b, false, lane)) };
        let rank = rank as u32;
        let Some(serial) = serial_of(block, rank) else {
            return Err(no_rank(block, lane, rank));
        };
        let mapped = match space {
            StateSpace::Generic if space::window(at) != space::Window::Shared => {
                let message = format!("`mapa` of {at:#x}, which is no address of shared memory");
                return Err(Fault::new(ReportKind::InvalidInstruction, Some(lane as u32), message));
            }
            StateSpace::Generic => space::shared_base(serial) | space::offset(at),
            _ => u64::from(rank + 1) << RANK_SHIFT | space::offset(at),
        };
        // SAFETY: decoded row.
        unsafe { write_row(regs, inst.d, wide, lane, mapped) };
    }
    Ok(())
}

/// `getctarank`: the rank of the block whose shared memory an address is in.
pub fn rank(
    block: &Block,
    regs: *mut u32,
    inst: &Inst,
    space: StateSpace,
    active: u32,
) -> Step<()> {
    for lane in lanes_of(active) {
        // SAFETY: decoded row.
        let at = unsafe { read_row(regs, inst.a, inst.imm != 0, lane) };
        let rank = match space {
            StateSpace::Generic => rank_by_serial(block, at),
            _ => Some((at >> RANK_SHIFT) as u32)
                .map(|high| high.checked_sub(1).unwrap_or(block.rank)),
        };
        let Some(rank) = rank else {
            let message = format!("`getctarank` of {at:#x}, which is not in the cluster's memory");
            return Err(Fault::new(ReportKind::InvalidInstruction, Some(lane as u32), message));
        };
        // SAFETY: decoded row.
        unsafe { write_row(regs, inst.d, false, lane, u64::from(rank)) };
    }
    Ok(())
}

/// The generic address of one of `.shared::cluster`.
pub fn to_generic(block: &Block, at: u64) -> u64 {
    let rank = (at >> RANK_SHIFT).checked_sub(1).map_or(block.rank, |rank| rank as u32);
    let serial = serial_of(block, rank).unwrap_or(block.serial);
    space::shared_base(serial) | space::offset(at)
}

/// The address in `.shared::cluster` of a generic one.
pub fn from_generic(block: &Block, at: u64) -> u64 {
    match rank_by_serial(block, at) {
        Some(rank) if rank != block.rank => u64::from(rank + 1) << RANK_SHIFT | space::offset(at),
        _ => space::offset(at),
    }
}

/// A generic address is in the shared memory of a block of the cluster.
pub fn holds(block: &Block, at: u64) -> bool {
    space::window(at) == space::Window::Shared && rank_by_serial(block, at).is_some()
}

fn serial_of(block: &Block, rank: u32) -> Option<u64> {
    block.members().find(|member| member.rank == rank).map(|member| member.serial)
}

fn rank_by_serial(block: &Block, at: u64) -> Option<u32> {
    let owner = space::owner_serial(at);
    let mut members = block.members();
    members.find(|member| space::truncated_serial(member.serial) == owner).map(|found| found.rank)
}

fn no_rank(block: &Block, lane: usize, rank: u32) -> Box<Fault> {
    let message = format!("block {rank} of a cluster of {}", block.grid.cluster_blocks());
    Fault::new(ReportKind::InvalidInstruction, Some(lane as u32), message)
        .help("the blocks of a cluster are numbered from 0, %cluster_nctarank of them")
}

/// Whose shared memory an address names, if not the own block's, and the offset in it. The address is
/// one of shared memory.
#[inline]
pub fn locate(
    block: &Block,
    warp: &Warp,
    space: StateSpace,
    at: u64,
    lane: usize,
    bytes: u64,
    write: bool,
) -> Step<(Option<u32>, u64)> {
    match space {
        StateSpace::Generic => {
            if space::owner_serial(at) == space::truncated_serial(block.serial) {
                return Ok((None, space::offset(at)));
            }
            let rank = rank_by_serial(block, at);
            if rank.is_none() {
                checks::own(block, warp, at, lane, bytes, write)?;
            }
            Ok((rank, space::offset(at)))
        }
        StateSpace::Cluster => match (at >> RANK_SHIFT).checked_sub(1) {
            None => Ok((None, at)),
            Some(rank) if rank == u64::from(block.rank) => Ok((None, space::offset(at))),
            Some(rank) if rank < u64::from(block.grid.cluster_blocks()) => {
                Ok((Some(rank as u32), space::offset(at)))
            }
            Some(rank) => Err(no_rank(block, lane, rank.min(u64::from(u32::MAX)) as u32)),
        },
        _ => Ok((None, at)),
    }
}

/// Does something while the shared memory of the block of a rank is in the place of the block's own;
/// for no rank it is the own.
pub fn in_memory_of<R>(
    block: &mut Block,
    rank: Option<u32>,
    lane: usize,
    act: impl FnOnce(&mut Block) -> Step<R>,
) -> Step<R> {
    let Some(rank) = rank else { return act(block) };
    exchange(block, rank, lane)?;
    let result = act(block);
    exchange(block, rank, lane)?;
    result
}

/// The memory of two blocks changes places.
fn exchange(block: &mut Block, rank: u32, lane: usize) -> Step<()> {
    let Some(mut cluster) = block.cluster.take() else { return Err(no_rank(block, lane, rank)) };
    let result = match cluster.peers.iter_mut().find(|peer| peer.rank == rank) {
        None => Err(no_rank(block, lane, rank)),
        Some(peer) if peer.has_ended() => {
            let message = format!(
                "an access to the shared memory of block {rank} of the cluster, which has ended"
            );
            Err(Fault::new(ReportKind::ForeignAddress, Some(lane as u32), message).help(
                "no block may end before the others are done with its memory: a last cluster.sync()",
            ))
        }
        Some(peer) => {
            std::mem::swap(&mut block.shared, &mut peer.shared);
            std::mem::swap(&mut block.written, &mut peer.written);
            std::mem::swap(&mut block.all_written, &mut peer.all_written);
            std::mem::swap(&mut block.written_checks, &mut peer.written_checks);
            std::mem::swap(&mut block.memory_serial, &mut peer.memory_serial);
            if let (Some(own), Some(other)) = (block.state.as_mut(), peer.state.as_mut()) {
                std::mem::swap(&mut own.objects, &mut other.objects);
            }
            Ok(())
        }
    };
    block.cluster = Some(cluster);
    result
}
