//! Whether launches that keep the order of their block's NULL stream can be recorded ([`super::sequence`]): an analysis
//! of a kernel and all that it launches. Where they cannot, they stay as they are written.
//!
//! What is absent: how they are recorded.

use inkwell::values::FunctionValue;

use super::parent::{self, LaunchSite, Parent};
use super::sequence::{self, Sequence};
use super::{Pass, ordered, relax, sites_of};
use crate::raw;

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
            let kernel = raw::as_function(site.operands[0]);
            let arguments = kernel.and_then(|kernel| self.arguments(site, kernel));
            let gather = self.gather(site, child).map(|index| (index, &self.gathers[index]));
            let fits = match (gather, arguments) {
                (Some((index, Ok(gather))), Some(arguments)) => {
                    sequence::runs_in_turn(gather)
                        && Sequence::new(gather, index, &arguments).is_some()
                }
                _ => false,
            };
            let complete = kernel.is_some_and(|child| {
                !sequence::launches(child) || self.is_nested(parent, sites, child)
            });
            if !fits || !complete {
                let name = site
                    .said
                    .child
                    .clone()
                    .or_else(|| Some(kernel?.get_name().to_string_lossy().into_owned()));
                let name = name.unwrap_or_default();
                return Err(format!("one block cannot run several grids of `{name}`"));
            }
        }
        Ok(())
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
            return sites.iter().all(ordered);
        }
        if let Some(known) = self.nested.get(&child) {
            return *known;
        }
        // What comes round to this is not understood.
        self.nested.insert(child, false);
        let sites = sites_of(child);
        let facts = parent::parent(child);
        let proof = self.proof_of(child, &sites, &relax::alone(&sites));
        let known = sites.iter().all(ordered)
            && matches!(proof, Some(Err(_)))
            && facts.crowded.is_none()
            && self.why_not_recorded(child, &sites, &facts).is_ok();
        self.nested.insert(child, known);
        known
    }
}
