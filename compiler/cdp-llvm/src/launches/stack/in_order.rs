//! Children of one thread in the NULL stream that the launching thread runs itself, in their order: a recursion such as a
//! walk of a tree, which launches its own kernel in grids of one thread, becomes a loop, and small grids of other kernels
//! are run where it launches them.
//!
//! Legality. A block of one thread has a NULL stream of its own, in which each child is complete, with all below it, before
//! the next begins. So this is one order: behind a node all of its children, the first one first, each with all
//! below it. A thread that keeps its children on a stack, the first one on top, goes through them in just this order.
//! What is not run, for lack of room or because it is large, is launched as written, into the same stream, and then all is
//! that comes behind it: first what its node launched before, then the rest of the node's, and when that has ended what
//! is still on the stack, from the top. In a block of several threads their children have an order too, so
//! there all is launched as written, but where they may overlap ([`crate::options::LaunchOpt::Fast`]), when each thread keeps its own. The rest
//! is as in [`super`].
//!
//! Where nobody can tell in which order these children run, they are run at the same time instead
//! ([`super::super::sequence`]).

use inkwell::values::FunctionValue;

use super::{MOST_DEPTH, check_kernel, is_own, make_one};
use crate::launches::Pass;
use crate::launches::parent::{self, LaunchSite};
use crate::options::LaunchOpt;
use crate::raw;
use crate::raw::view::{Leaf, View, make_stack_in_order};

/// Bytes of a stack, which each thread that the device has room for has.
const MOST_STACK: u32 = 512;
/// The most launches of such a kernel, behind each of which what was kept may be launched.
const MOST_SITES: usize = 16;

impl<'ctx> Pass<'_, 'ctx> {
    /// Makes such a loop of a kernel, where that is right and it launches itself so, and yields its launches.
    pub(super) fn keep_in_order(
        &mut self,
        kernel: FunctionValue<'ctx>,
        sites: &[LaunchSite<'ctx>],
    ) -> Vec<View<'ctx>> {
        let tuning = self.options.launch_tuning;
        let (own, others): (Vec<_>, Vec<_>) = sites.iter().partition(|site| is_own(site, kernel));
        if tuning.stack_in_order == 0 || own.is_empty() {
            return Vec::new();
        }
        let Ok(bytes) = check_sites(kernel, sites) else { return Vec::new() };
        if matches!(self.unordered(kernel), Some(Ok(_))) {
            return Vec::new();
        }
        let depth = (MOST_STACK / bytes.max(1)).min(MOST_DEPTH).min(tuning.stack_in_order);
        let fast = self.options.launch_opt == LaunchOpt::Fast;
        let may_overlap = fast || sites.iter().all(|site| site.said.independent);
        let facts = parent::parent(kernel);
        let leaves: Vec<_> = others.into_iter().map(|site| self.leaf(site, &facts)).collect();
        let mut kept: Vec<_> = own.into_iter().map(call_of).collect();
        make_stack_in_order(kernel, &kept, &leaves, depth, !may_overlap, !fast, facts.listens);
        make_one(kernel);
        kept.extend(leaves.iter().filter(|leaf| leaf.body.is_some()).map(|leaf| leaf.site));
        kept
    }

    /// A launch of another kernel, and whether its small grids are run: those along x, of a kernel that another thread can run.
    fn leaf(&mut self, site: &LaunchSite<'ctx>, facts: &parent::Parent) -> Leaf<'ctx> {
        let shared = site.operands.get(7).and_then(|shared| View::value(*shared).constant_int());
        let asks = !call_of(site).users().is_empty() || shared != Some(0);
        let child = match asks {
            true => None,
            false => self.candidate(site, facts, false).ok(),
        };
        let child = child.and_then(|child| self.children[child].as_ref().ok());
        // One lane runs them one after another, where a launch would run them beside each other, though it takes longer to
        // begin.
        let limit = |loops| u64::from(self.options.launch_tuning.steps(loops).few_ordered);
        match child.filter(|child| !child.added && !child.once) {
            Some(child) => Leaf {
                site: call_of(site),
                body: Some(child.body),
                most_threads: child.most_threads.into(),
                most_work: limit(child.loops),
            },
            None => Leaf { site: call_of(site), body: None, most_threads: 0, most_work: 0 },
        }
    }
}

fn call_of<'ctx>(site: &LaunchSite<'ctx>) -> View<'ctx> {
    View::instruction(raw::instruction(site.call))
}

/// Bytes of a record; or, in words, what keeps the kernel's thread from doing so.
fn check_sites(kernel: FunctionValue<'_>, sites: &[LaunchSite<'_>]) -> Result<u32, String> {
    let is_plain = |site: &LaunchSite<'_>| {
        let said = &site.said;
        let asked = said.keep || said.threshold.is_some() || said.coarsen.is_some();
        !asked && said.aggregate.is_none()
    };
    if !sites.iter().all(is_plain) || sites.len() > MOST_SITES {
        return Err("something else was asked for, or it launches at many places".into());
    }
    if !sites.iter().all(|site| site.stream.is_some_and(|stream| stream.value() == 0)) {
        return Err("it launches into several streams".into());
    }
    check_kernel(kernel, sites)
}
