//! Which child the threads of a site can run: the kernel as it is, or as a block that adds up ([`super::added`]).
//!
//! What is absent: what a child may not do ([`super::child`]), and what is done with those that cannot be run.

use super::child::{self, Child};
use super::parent::{LaunchSite, Parent};
use super::{Pass, added, gather};
use crate::options::LaunchOpt;

impl<'ctx> Pass<'_, 'ctx> {
    /// The child that a site's threads can run; or why not.
    pub(super) fn candidate(
        &mut self,
        site: &LaunchSite<'ctx>,
        facts: &Parent,
        free: bool,
    ) -> std::result::Result<usize, String> {
        if site.said.behind {
            return Err(
                "its thread runs children of its own, behind which its order is kept by a launch"
                    .into(),
            );
        }
        if site.said.keep {
            return Err("left alone, as `#pragma cdp keep` says".into());
        }
        if !self.is_proper(site) {
            return Err("it is not understood".into());
        }
        match site.stream {
            Some(cdp_launch::StreamConst::TailLaunch) => {
                return Err("a tail launch runs after its parent".into());
            }
            Some(stream) if stream.value() == 0 || !site.in_null_stream() => {}
            Some(_) => return Err("it names a default stream other than 0".into()),
            None => return Err("its stream is not known, and may order it with others".into()),
        }
        if let (Some(obstacle), true) = (&facts.obstacle, site.in_null_stream()) {
            return Err(obstacle.clone());
        }
        let fast = self.options.launch_opt == LaunchOpt::Fast;
        let ordered = site.in_null_stream() && !site.said.independent && !free;
        if let (Some(what), true) = (facts.crowded, ordered) {
            return Err(format!("the parent {what}, so that there may be no room for a lock"));
        }
        if let (Some(look), false) = (facts.looks_at_errors, fast) {
            return Err(format!(
                "the parent calls `{look}`, and a child that is not launched cannot fail for lack of room"
            ));
        }
        let kernel = site.kernel().ok_or_else(|| String::from("its kernel is not known"))?;
        let name = kernel.get_name().to_string_lossy().into_owned();
        let index = self.child_named(name.clone(), || child::child(kernel));
        let Err(reason) = &self.children[index] else { return Ok(index) };
        let reason = reason.clone();
        if self.options.launch_tuning.added == 0 {
            return Err(reason);
        }
        let block = gather::constant_block(site);
        let added = self.child_named(format!("{name} {block:?}"), || {
            added::child(kernel, block).ok_or_else(|| reason.clone())
        });
        self.children[added].is_ok().then_some(added).ok_or(reason)
    }

    /// The child with a name, which is looked at once.
    fn child_named(
        &mut self,
        name: String,
        look: impl FnOnce() -> std::result::Result<Child<'ctx>, String>,
    ) -> usize {
        if let Some(index) = self.by_kernel.get(&name) {
            return *index;
        }
        self.children.push(look());
        self.by_kernel.insert(name, self.children.len() - 1);
        self.children.len() - 1
    }
}
