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
    let blocks: Vec<_> =
        sites.iter().map(|site| View::instruction(raw::instruction(site.call)).block()).collect();
    let after: Vec<_> = blocks.iter().map(|block| block.map(reachable)).collect();
    let meets = |a: usize, b: usize| match (&after[a], blocks[b]) {
        (Some(after), Some(block)) => after.contains(&block),
        _ => true,
    };
    let ordered: Vec<usize> =
        (0..sites.len()).filter(|index| sites[*index].in_null_stream()).collect();
    (0..sites.len())
        .map(|site| {
            sites[site].in_null_stream()
                && !meets(site, site)
                && ordered.iter().filter(|other| **other != site).all(|other| {
                    blocks[site] != blocks[*other] && !meets(site, *other) && !meets(*other, site)
                })
        })
        .collect()
}
