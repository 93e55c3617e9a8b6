//! Interruptions of seeded schedules: behind an access to memory that others see, a path may be set
//! aside, and its lanes may part. So every interleaving of such accesses can come up, as on a GPU,
//! where lanes have promised progress and no promised order.

use super::path::{Running, WarpStop};
use super::{Machine, Warp};
use crate::code::{NONE, Op};

/// Accesses between two interruptions, at most.
const LONGEST: u64 = 6;
/// Paths of a warp beyond which its lanes part no further.
const MOST_PATHS: usize = 6;

/// Accesses until the running path is interrupted. Without a seed more than fit into a slice.
#[inline(always)]
pub fn fuse(machine: &Machine, warp: &mut Warp) -> u32 {
    match machine.schedule_seed {
        None => u32::MAX,
        Some(_) => 1 + (warp.next_random() % LONGEST) as u32,
    }
}

/// Sets the running path aside, or a part of its lanes.
#[cold]
pub fn interrupt(warp: &mut Warp, run: &mut Running<'_>) -> Option<WarpStop> {
    let chance = warp.next_random();
    if chance & 1 != 0 && may_part(warp, run) {
        let away = run.path.mask & (chance >> 32) as u32;
        if away != 0 && away != run.path.mask {
            run.path.mask &= !away;
            let mut other = run.path;
            other.mask = away;
            warp.add_path(other);
        }
    }
    warp.paths.push(run.path);
    // Another path of the warp, or another warp.
    (chance >> 1 & 3 != 0).then_some(WarpStop::Yield)
}

/// Whether it makes no difference but in order if lanes part here.
fn may_part(warp: &Warp, run: &Running<'_>) -> bool {
    let alone = |op: &Op| matches!(op, Op::ActiveMask);
    warp.live == u32::MAX
        && warp.paths.len() < MOST_PATHS
        && warp.frame(&run.path).parent == NONE
        // Barriers for a number of threads count whole warps; old exchanges take who is there.
        && run.function.barriers.iter().all(|barrier| barrier.threads == NONE)
        && run.function.collectives.iter().all(|collective| collective.mask != NONE)
        // Who asks for those that are there counts on branches, unless lanes stay apart anyway.
        && (warp.apart || !run.function.code.iter().any(|inst| alone(&inst.op)))
}
