//! A launch site on its way into a function: what was decided for it.
//!
//! What is absent: who decides ([`super::Pass`]), and the function ([`super::distribute`]).

use super::argument::Argument;
use super::child::Child;
use super::gather::{Calls, Gather};
use super::pool::Pool;
use super::queue::Queue;
use super::sequence::Sequence;
use super::tuning::Tuning;

/// Which promises are kept how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    InOrder,
    /// As it stands: nothing of it is run, recorded or moved.
    AsWritten,
    /// `tracked`: the stream orders the children of one thread.
    Independent {
        tracked: bool,
    },
}

/// A launch site on its way into a function.
pub(super) struct Site<'a, 'ctx> {
    /// The function's name.
    pub name: String,
    pub kernel: String,
    pub arguments: Vec<Argument>,
    /// Nobody looks at the launch's error: one that fails does nothing.
    pub unasked: bool,
    /// Which of the grid's and the block's dimensions are the same in every lane.
    pub uniform: [bool; 6],
    pub mode: Mode,
    pub tuning: Tuning,
    /// The parent may have learnt what other blocks wrote, which its children must see.
    pub listens: bool,
    /// What is launched goes into the fire-and-forget stream ([`super::relax`]).
    pub relaxed: bool,
    /// That children may overlap is known of blocks of one dimension only; in others all is launched as written.
    pub flat: bool,
    /// The function stays one that is called.
    pub apart: bool,
    /// What is launched as written goes through the warp's door ([`super::door`]).
    pub parted: bool,
    /// Each lane comes here for itself alone ([`super::together`]).
    pub lone: bool,
    /// All lanes of the warp come here, those too that do not launch ([`super::late`]).
    pub late: bool,
    /// Without a child: one thread of a block comes here, if the block has one dimension, which `flat` asks for.
    pub single: bool,
    /// With a child: one lane of a warp at most has one that is run, as one thread of such a block launches.
    pub one: bool,
    /// All children are run, however large ([`super::inside`]).
    pub inside: bool,
    /// The variable by which the host is told of children that are not small ([`super::inside`]), if it is.
    pub tells: Option<String>,
    /// How the launches of a warp become one, where they may.
    pub gather: Option<(&'a Gather<'ctx>, &'a Calls)>,
    /// How launches of the block are recorded, where they are.
    pub sequence: Option<(&'a Gather<'ctx>, &'a Sequence)>,
    /// Where launches of the whole grid are gathered, when nothing orders them.
    pub queue: Option<Queue>,
    /// Where children of the whole grid are run by all its warps, if they are.
    pub pool: Option<Pool>,
    /// `None` for a site whose child cannot be run: it only takes part in the order.
    pub child: Option<&'a Child<'ctx>>,
}
