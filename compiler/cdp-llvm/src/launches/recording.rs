//! Whether launches that keep the order of their block's NULL stream can be recorded ([`super::sequence`]): an analysis
//! of a kernel and all that it launches. Where they cannot, they stay as they are written.
//!
//! What is absent: how they are recorded.

use std::collections::HashSet;

use inkwell::values::FunctionValue;

use super::parent::{self, LaunchSite, Parent};
use super::sequence::{self, Sequence};
use super::{Pass, ordered, relax, single, sites_of};
use crate::options::LaunchOpt;
use crate::raw;
use crate::raw::view::View;

/// What becomes of launches that keep their order and are made all the same.
pub(super) enum Recording {
    /// They are recorded, and one thread launches them.
    Done,
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
        if self.options.launch_tuning.sequence == 0 || !self.options.abi.is_v2() {
            return Recording::Off;
        }
        match self.why_not_recorded(kernel, sites, facts) {
            Ok(()) => Recording::Done,
            Err(reason) => Recording::Impossible(reason),
        }
    }

    fn why_not_recorded(
        &mut self,
        parent: FunctionValue<'ctx>,
        sites: &[LaunchSite<'ctx>],
        facts: &Parent,
    ) -> std::result::Result<(), String> {
        self.why_not_here(parent, sites, facts)?;
        for site in sites.iter().filter(|site| site.in_null_stream()) {
            let kernel = child_of(site);
            let launches = kernel.is_some_and(sequence::launches);
            if launches && !kernel.is_some_and(|kernel| self.is_complete(kernel)) {
                return Err(not_several(site));
            }
        }
        Ok(())
    }

    /// The same, without what the children launch.
    fn why_not_here(
        &mut self,
        parent: FunctionValue<'ctx>,
        sites: &[LaunchSite<'ctx>],
        facts: &Parent,
    ) -> std::result::Result<(), String> {
        let ordered: Vec<&LaunchSite<'ctx>> =
            sites.iter().filter(|site| site.in_null_stream()).collect();
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
            let kernel = child_of(site);
            let arguments = kernel.and_then(|kernel| self.arguments(site, kernel));
            let gather = self.gather(site, child).map(|index| (index, &self.gathers[index]));
            let fits = match (gather, arguments) {
                (Some((index, Ok(gather))), Some(arguments)) => {
                    sequence::runs_in_turn(gather)
                        && Sequence::new(gather, index, &arguments).is_some()
                }
                _ => false,
            };
            if !fits {
                return Err(not_several(site));
            }
        }
        Ok(())
    }

    /// Whether all that a kernel launches, and what that launches, is recorded, so that whoever runs it can run that behind
    /// it: then it is complete, as a grid is, when that is.
    fn is_complete(&mut self, kernel: FunctionValue<'ctx>) -> bool {
        let (mut seen, mut work) = (HashSet::new(), vec![kernel]);
        while let Some(kernel) = work.pop() {
            if !seen.insert(kernel) || !sequence::launches(kernel) {
                continue;
            }
            let sites = sites_of(kernel);
            let known = match self.nested.get(&kernel) {
                Some(known) => *known,
                None => self.records_all(kernel, &sites),
            };
            self.nested.insert(kernel, known);
            if !known {
                return false;
            }
            work.extend(sites.iter().filter_map(child_of));
        }
        true
    }

    /// Whether a kernel's launches are all to be recorded, if those of its children may be.
    fn records_all(&mut self, kernel: FunctionValue<'ctx>, sites: &[LaunchSite<'ctx>]) -> bool {
        let facts = parent::parent(kernel);
        let alone = relax::alone(sites);
        let keeps = matches!(self.proof_of(kernel, sites, &alone), Some(Err(_)))
            || self.walks(kernel, sites, &alone, &facts);
        keeps
            && sites.iter().all(ordered)
            && facts.crowded.is_none()
            && self.why_not_here(kernel, sites, &facts).is_ok()
    }

    /// Whether one thread of a block does all launches, and several that no lanes can run instead, so that these grids come
    /// one after another whatever is proved of threads: one block can take them in their turn. A thread's only launch is
    /// left to the fire-and-forget stream, unless it is of one block, launches in its turn, and nobody (`fast`) puts those
    /// of the whole grid together.
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
        let mut in_turn = |(site, alone): (&LaunchSite<'ctx>, &bool)| {
            let most = if *alone { 1 } else { u64::from(self.options.launch_tuning.turn_blocks) };
            let nests = child_of(site).is_some_and(sequence::launches);
            ordered(site)
                && may_have_blocks(site, most, !alone)
                && (nests || !alone && self.candidate(site, facts, false).is_err())
                && !(fast && *alone)
        };
        sites.iter().zip(alone).any(&mut in_turn)
            && all.iter().all(|site| ordered(site))
            && single::one_thread(kernel, &all)
    }
}

/// Whether a site's grids have at most so many blocks, or where it is not known, `unknown`.
fn may_have_blocks(site: &LaunchSite<'_>, most: u64, unknown: bool) -> bool {
    let Some(grid) = site.operands.get(1..4) else { return false };
    let counts: Option<Vec<u64>> = grid
        .iter()
        .map(|count| View::value(*count).constant_int().and_then(|n| u64::try_from(n).ok()))
        .collect();
    counts.map_or(unknown, |counts| {
        counts.iter().fold(1, |all: u64, n| all.saturating_mul(*n)) <= most
    })
}

fn child_of<'ctx>(site: &LaunchSite<'ctx>) -> Option<FunctionValue<'ctx>> {
    site.operands.first().and_then(|operand| raw::as_function(*operand))
}

fn not_several(site: &LaunchSite<'_>) -> String {
    let symbol = || Some(child_of(site)?.get_name().to_string_lossy().into_owned());
    let name = site.said.child.clone().or_else(symbol).unwrap_or_default();
    format!("one block cannot run several grids of `{name}`")
}
