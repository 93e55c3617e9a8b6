//! Children of one thread that a warp runs: where a kernel's thread may run what it launches of its own kernel in whatever
//! order ([`super::keep`]), so may any other thread, and a grid of one thread leaves 31 lanes of its warp idle. So such grids
//! are launched as blocks of one warp, whose first lane does the grid's work; what any lane launches of the kernel lies
//! on a stack in shared memory, and when all have come to their end each lane takes one of it.
//!
//! How much is lost. Lanes that do not do the same go one after another, so the warp keeps few children of one that took
//! long, and launches others; one that has been at work for long keeps as many as it has lanes, so that others have
//! something to do.
//!
//! Legality is that of the stack of a thread ([`super::why_not`]): nobody waits for another child, and nothing tells where a
//! child runs. A child sees what its parent's lane wrote, since lanes meet between. Lanes of such a
//! warp launch at different times, so they do it behind its door ([`super::super::door`]).
//!
//! That is done in `fast` alone: it is one copy more of the kernel to compile.
//!
//! What the host launches, or a site that does not say one thread by constants, is the kernel as it was, with the stack of its
//! thread.

use inkwell::attributes::AttributeLoc;
use inkwell::values::FunctionValue;

use super::{is_one_thread, make_one};
use crate::launches::Pass;
use crate::launches::parent::{self, LaunchSite, sites_of};
use crate::launches::tuning::Tuning;
use crate::raw;
use crate::raw::view::{View, WarpLimits, launch_by_warp, made_of_warp};

/// Bytes of a stack: as much shared memory as 32 blocks of a multiprocessor have each.
const MOST_STACK: u32 = 4096;

/// The kernels of warps, each with the kernel that it is for.
pub(in crate::launches) type Warps<'ctx> = Vec<(FunctionValue<'ctx>, FunctionValue<'ctx>)>;

impl<'ctx> Pass<'_, 'ctx> {
    /// The kernel that is written, of one for warps; itself of any other.
    pub(in crate::launches) fn written(&self, kernel: FunctionValue<'ctx>) -> FunctionValue<'ctx> {
        let found = self.warps.iter().find(|(warp, _)| *warp == kernel);
        found.map_or(kernel, |(_, written)| *written)
    }
}

/// Makes the kernel of a warp for grids of one thread of a kernel, which launches such ones at `own` sites, with records of so
/// many bytes.
pub(super) fn of_warp<'ctx>(
    kernel: FunctionValue<'ctx>,
    own: &[View<'ctx>],
    bytes: u32,
    tuning: &Tuning,
) -> Option<FunctionValue<'ctx>> {
    let depth = (MOST_STACK / bytes.max(1)).min(tuning.stack_warp);
    // A bound of threads is one of registers, which one warp more would not keep to.
    let bounded = ["nvvm.maxntid", "nvvm.reqntid"]
        .iter()
        .any(|key| kernel.get_string_attribute(AttributeLoc::Function, key).is_some());
    if depth == 0 || bounded {
        return None;
    }
    let name = format!("__cdp_warp_of_{}", kernel.get_name().to_string_lossy());
    let limits = WarpLimits {
        depth,
        long: tuning.stack_cycles.into(),
        few: tuning.stack_warp_long,
        busy: tuning.stack_warp_cycles.into(),
    };
    let listens = parent::parent(kernel).listens;
    let warp = made_of_warp(kernel, own, &name, &limits, listens)?;
    make_one(warp);
    Some(warp)
}

/// Has all sites that launch one thread of a kernel with such a copy launch that.
pub(super) fn launch_warps<'ctx>(
    parents: &mut Vec<(FunctionValue<'ctx>, Vec<LaunchSite<'ctx>>)>,
    warps: &[(FunctionValue<'ctx>, FunctionValue<'ctx>)],
) {
    parents.extend(warps.iter().map(|(warp, _)| (*warp, sites_of(*warp))));
    for (parent, sites) in parents {
        let mut changed = false;
        for site in sites.iter() {
            let found = warps.iter().find(|(_, kernel)| site.kernel() == Some(*kernel));
            if let Some((warp, _)) = found.filter(|(_, kernel)| is_one_thread(site, *kernel)) {
                launch_by_warp(View::instruction(raw::instruction(site.call)), *warp);
                changed = true;
            }
        }
        if changed {
            *sites = sites_of(*parent);
        }
    }
}
