//! Remarks: what was done with each launch site, what was not, and why, in words.

use std::fmt;
use std::sync::Arc;

use cdp_launch::LaunchAbi;

use super::direct::Direct;
use crate::raise::place::LaunchPlace;

/// What became of a launch site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LaunchOutcome {
    /// Children of a block are run one after another, small ones by the launching threads' warps, others by a grid for
    /// all of them.
    InOrder,
    /// Small children are run by the launching threads' warps, those of different warps at the same time.
    Independent,
    /// The children that a warp, a block or a grid launches are launched together.
    Aggregated,
    /// Every child is launched, into the fire-and-forget stream instead of the NULL stream.
    Relaxed,
    /// Every child is launched, as the source says.
    Kept,
}

impl LaunchOutcome {
    /// One word, for machines.
    pub fn name(self) -> &'static str {
        match self {
            LaunchOutcome::InOrder => "in-order",
            LaunchOutcome::Independent => "independent",
            LaunchOutcome::Aggregated => "aggregated",
            LaunchOutcome::Relaxed => "relaxed",
            LaunchOutcome::Kept => "kept",
        }
    }
}

/// What the optimiser says of one launch site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchRemark {
    /// `None` where the module does not say it.
    pub place: Option<LaunchPlace>,
    /// The function that launches, as the source names it where that is known.
    pub parent: String,
    /// The kernel that is launched.
    pub child: String,
    /// Whether the launch stays, and as what.
    pub outcome: LaunchOutcome,
    /// What was done, or why nothing was.
    pub message: String,
    /// What the user could write, or which option to give.
    pub advice: Option<String>,
}

impl fmt::Display for LaunchRemark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            write!(f, "{place}: ")?;
        }
        let LaunchRemark { parent, child, message, .. } = self;
        write!(f, "remark: launch of `{child}` in `{parent}`: {message}")?;
        match &self.advice {
            Some(advice) => write!(f, "\n  help: {advice}"),
            None => Ok(()),
        }
    }
}

/// What is known of launches that were optimised.
#[derive(Default)]
pub(crate) struct Optimized {
    /// Whether anything was done.
    pub changed: bool,
    /// The module declares functions that [`super::sequence::code`] defines, for this ABI.
    pub recorded: Option<LaunchAbi>,
    /// Functions that LLVM has no part in; the text may be long, and outlives the module where PTX is made in pieces.
    pub direct: Arc<Direct>,
    pub remarks: Vec<LaunchRemark>,
    /// The module after the pass that was asked for.
    pub printed: Option<String>,
}
