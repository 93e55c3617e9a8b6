//! Launches that no stream needs to order: they go into the fire-and-forget stream instead of the NULL stream,
//! which the device takes more than twice as many of in a second.
//!
//! Legality. The NULL stream orders the launches of a block. Where those of different threads may overlap,
//! what is left is the order of one thread's launches, and a thread that launches once has none. What else
//! looks at streams (copies, events, other files) is an obstacle that [`super::parent`] finds. The parent's
//! grid and its tail launches wait for fire-and-forget launches as they do for others.

use super::child::reachable;
use super::parent::LaunchSite;
use crate::raw;
use crate::raw::view::View;

/// For each site of a kernel, whether a thread that launches there launches nothing else into the NULL
/// stream.
pub(super) fn alone(sites: &[LaunchSite<'_>]) -> Vec<bool> {
    let ordered: Vec<_> = sites.iter().filter(|site| site.in_null_stream()).collect();
    let calls: Vec<_> =
        ordered.iter().map(|site| View::instruction(raw::instruction(site.call))).collect();
    let mut found = only_one(&calls).into_iter();
    sites.iter().map(|site| site.in_null_stream() && found.next() == Some(true)).collect()
}

/// For each of these instructions of a function, whether a thread that comes there comes to none of the others, and not
/// there again.
pub(super) fn only_one(instructions: &[View<'_>]) -> Vec<bool> {
    let blocks: Vec<_> = instructions.iter().map(|instruction| instruction.block()).collect();
    let after: Vec<_> = blocks.iter().map(|block| block.map(reachable)).collect();
    let meets = |a: usize, b: usize| match (&after[a], blocks[b]) {
        (Some(after), Some(block)) => after.contains(&block),
        _ => true,
    };
    let apart = |a: usize, b: usize| blocks[a] != blocks[b] && !meets(a, b) && !meets(b, a);
    let all = 0..blocks.len();
    let is_alone = |a| !meets(a, a) && all.clone().all(|b| a == b || apart(a, b));
    all.clone().map(is_alone).collect()
}
