//! Whether launches that keep the order of their block's NULL stream can be recorded ([`super::sequence`]): an analysis
//! of a kernel and all that it launches. Where they cannot, they stay as they are written.
//!
//! What is absent: how they are recorded.

use inkwell::values::{BasicValueEnum, FunctionValue};

use super::calls::launches;
use super::child::is_kernel;
use super::independent::Dependence;
use super::parent::{self, LaunchSite, Parent, sites_of};
use super::sequence::{self, Sequence, Shape};
use super::{Pass, independent, relax, single, together};
use crate::options::LaunchOpt;
use crate::raw::view::View;

/// What becomes of launches that keep their order and are made all the same.
pub(super) enum Recording {
    /// They are recorded, and one thread launches them. `lone`: each lane of a warp comes to them for itself alone.
    Done { lone: bool },
    /// Records are not to be had. CDP1 is another device runtime, of which no lost launch is known.
    Off,
    /// These cannot be recorded, and why. They would be launched by several threads, at different times, while
    /// children of theirs come to their end: launches that the device runtime now and then loses. So no child of
    /// theirs is run.
    Impossible(String),
}

impl<'ctx> Pass<'_, 'ctx> {
    /// Whether the launches of a kernel into its NULL stream, which keep their order, are recorded.
    pub(super) fn recording(
        &mut self,
        kernel: FunctionValue<'ctx>,
        sites: &[LaunchSite<'ctx>],
        facts: &Parent,
    ) -> Recording {
        let off = self.options.launch_tuning.sequence == 0 || !self.options.abi.is_v2();
        let found = match off {
            // Lanes run children under a lock all the same.
            true => {
                let ordered: Vec<_> = sites.iter().filter(|site| site.in_null_stream()).collect();
                together::why_not(kernel, &ordered).map(|()| false)
            }
            false => self.why_not_recorded(kernel, sites, facts),
        };
        match found {
            Ok(_) if off => Recording::Off,
            Ok(lone) => Recording::Done { lone },
            Err(reason) => Recording::Impossible(reason),
        }
    }

    /// What keeps launches from being recorded, in words: of a kernel's own, and of those of a child that the block that
    /// runs it counts on. Where nothing does, whether each lane comes to them for itself alone: lanes that come at different
    /// times must not wait for each other.
    fn why_not_recorded(
        &mut self,
        parent: FunctionValue<'ctx>,
        sites: &[LaunchSite<'ctx>],
        facts: &Parent,
    ) -> std::result::Result<bool, String> {
        if sites.len() > parent::MOST_SITES {
            return Err(parent::too_many(sites.len()));
        }
        let ordered: Vec<&LaunchSite<'ctx>> =
            sites.iter().filter(|site| site.in_null_stream()).collect();
        let lone = together::why_not(parent, &ordered).is_err();
        if single::calls_itself_alone(parent, sites) && !ordered.iter().any(|site| nests(site)) {
            // The block would find out each time that it begins.
            return Err("its one thread has nobody to share a launch with".into());
        }
        if self.options.per_thread_stream {
            return Err("a thread has a default stream of its own".into());
        }
        if let Some(look) = facts.looks_at_errors {
            return Err(format!("its parent calls `{look}`"));
        }
        if let Some(obstacle) = &facts.obstacle {
            return Err(obstacle.clone());
        }
        sequence::why_not(parent, &ordered)?;
        for site in &ordered {
            let child = self.candidate(site, facts, false).ok();
            if !self.is_proper(site) {
                return Err("a launch beside it is not understood".into());
            }
            let kernel = site.kernel();
            let arguments = kernel.and_then(|kernel| self.arguments(site, kernel));
            let gather = self.gather(site, child).map(|index| (index, &self.gathers[index]));
            let fits = match (gather, arguments) {
                (Some((index, Ok(gather))), Some(arguments)) => {
                    sequence::runs_in_turn(gather)
                        && Sequence::new(gather, index, &arguments, None).is_some()
                }
                _ => false,
            };
            let complete = kernel
                .is_some_and(|child| !launches(child) || self.is_nested(parent, sites, child));
            if !fits || !complete {
                let symbol = || Some(kernel?.get_name().to_string_lossy().into_owned());
                let name = site.said.child.clone().or_else(symbol).unwrap_or_default();
                return Err(format!("one block cannot run several grids of `{name}`"));
            }
        }
        Ok(lone)
    }

    /// Whether all that a child launches is recorded, so that whoever runs it can run that behind it: then it is complete,
    /// as a grid is, when that is.
    fn is_nested(
        &mut self,
        parent: FunctionValue<'ctx>,
        sites: &[LaunchSite<'ctx>],
        child: FunctionValue<'ctx>,
    ) -> bool {
        if child == parent {
            // The others of its launches are looked at beside this.
            return sites.iter().all(LaunchSite::ordered);
        }
        if let Some(known) = self.nested.get(&child) {
            return *known;
        }
        // What comes round to this is left alone: each step from one kernel to another takes longer than its launch.
        self.nested.insert(child, false);
        let sites = sites_of(child);
        let facts = parent::parent(child);
        let alone = relax::alone(&sites);
        let keeps = matches!(self.proof_of(child, &sites, &alone), Some(Err(_)))
            || self.walks(child, &sites, &alone, &facts);
        let known = keeps
            && sites.iter().all(LaunchSite::ordered)
            && facts.crowded.is_none()
            && self.why_not_recorded(child, &sites, &facts).is_ok();
        self.nested.insert(child, known);
        known
    }

    /// Whether one thread of a block does all launches, of one kernel in grids of one block that no lanes can run instead, so
    /// that these come one after another whatever is proved of threads: one block can take them in their turn. Larger
    /// grids, and those of two kernels by turns, would be launched one by one all the same, and later. A thread's only
    /// launch is left to the fire-and-forget stream, unless it launches in its turn and nobody (`fast`) puts those of the
    /// whole grid together; or it is of the kernel itself, whose grids of one block launch one each then: nothing is
    /// there to put together, unless another kernel begins many such chains.
    pub(super) fn walks(
        &mut self,
        kernel: FunctionValue<'ctx>,
        sites: &[LaunchSite<'ctx>],
        alone: &[bool],
        facts: &Parent,
    ) -> bool {
        let fast = self.options.launch_opt == LaunchOpt::Fast;
        let all: Vec<&LaunchSite<'ctx>> =
            sites.iter().filter(|site| site.in_null_stream()).collect();
        let Some(child) = all.first().and_then(|site| site.kernel()) else { return false };
        let of_one = |site: &&LaunchSite<'ctx>| {
            let asked = site.said.aggregate.is_some() || !site.ordered();
            !asked && site.kernel() == Some(child) && has_one_block(site)
        };
        if !all.iter().all(of_one) || !single::one_thread(kernel, &all) {
            return false;
        }
        let once = sites.iter().zip(alone).all(|(site, alone)| *alone || !site.in_null_stream());
        match launches(child) {
            true => {
                !(fast && once && (child != kernel || self.is_launched_beside(kernel)))
                    && sites_of(child).iter().all(|site| site.kernel() == Some(child))
            }
            false => !once && self.candidate(all[0], facts, false).is_err(),
        }
    }

    /// The shape of all below a kernel that launches itself, where nobody can tell in which order its grids run with all
    /// below them, whoever of the module launched them; or who can. `None` where their shapes may differ.
    pub(super) fn unordered(
        &mut self,
        kernel: FunctionValue<'ctx>,
    ) -> Option<std::result::Result<Shape, Dependence>> {
        let shape = sequence::inherited(kernel)?;
        let functions: Vec<_> = self.module.get_functions().filter(|f| is_kernel(*f)).collect();
        for parent in functions {
            let sites = sites_of(parent);
            let ordered: Vec<_> = sites.into_iter().filter(LaunchSite::in_null_stream).collect();
            if ordered.iter().any(|site| site.kernel() == Some(kernel)) {
                let found = self.unordered.entry(parent);
                let found = found.or_insert_with(|| independent::nested::nested(parent, &ordered));
                if let Err(dependence) = found {
                    return Some(Err(dependence.clone()));
                }
            }
        }
        Some(Ok(shape))
    }

    /// Whether another kernel launches this one too.
    fn is_launched_beside(&self, kernel: FunctionValue<'ctx>) -> bool {
        let mut others = self.module.get_functions().filter(|function| *function != kernel);
        others.any(|other| sites_of(other).iter().any(|site| site.kernel() == Some(kernel)))
    }
}

/// Whether a site's grids are known to be of one block.
fn has_one_block(site: &LaunchSite<'_>) -> bool {
    let is_one = |count: &BasicValueEnum<'_>| View::value(*count).constant_int() == Some(1);
    site.operands.get(1..4).is_some_and(|grid| grid.iter().all(is_one))
}

/// Whether a site's kernel launches.
pub(super) fn nests(site: &LaunchSite<'_>) -> bool {
    site.kernel().is_some_and(launches)
}
