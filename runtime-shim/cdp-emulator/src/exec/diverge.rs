//! Lanes of a warp that part and meet again.
//!
//! When a branch sends lanes two ways, a [`Group`] remembers where they meet (the branch's
//! post-dominator). Lanes that get there first are parked in the group; the last ones take them
//! along. Lanes that end leave all their groups. If every other lane of the warp waits for parked
//! lanes, or spins, the parked ones are let go on alone: that is the forward progress that
//! independent thread scheduling promises. Where lanes stay apart ([`crate::WarpScheduling::Apart`]) there are no groups.

use super::{Group, Path, PathState, Warp};
use crate::code::{JOIN_RETURN, NONE};

/// What became of a path that reached a meeting point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// It goes on, perhaps with more lanes.
    Continues,
    /// It is parked; its lanes are in the group.
    Parked,
}

/// The group whose lanes meet at `join` in the path's frame: the innermost if it is that one
/// already, else a new one around the path's lanes.
pub fn group_for(warp: &mut Warp, path: &mut Path, join: u32) -> u32 {
    if path.group != NONE {
        let top = &warp.groups[path.group as usize];
        if top.join == join && top.frame == path.frame {
            return path.group;
        }
    }
    let group =
        Group { join, frame: path.frame, expected: path.mask, arrived: 0, parent: path.group };
    let index = warp.add_group(group);
    path.group = index;
    index
}

/// Sends the lanes `away` of `path` to `target`; they and the rest meet at `join`. The path keeps
/// the rest. Lanes whose target is the meeting point are parked at once.
pub fn split(warp: &mut Warp, path: &mut Path, away: u32, target: u32, join: u32) {
    let root = warp.frames[path.frame as usize].parent == NONE;
    // Lanes that only meet at the end of the kernel never need to.
    let meet = !(warp.apart || join == JOIN_RETURN && root);
    if meet {
        let group = group_for(warp, path, join);
        if target == join {
            warp.groups[group as usize].arrived |= away;
            path.mask &= !away;
            return;
        }
    }
    path.mask &= !away;
    let other = Path { pc: target, mask: away, state: PathState::Ready, ..*path };
    warp.add_path(other);
}

/// Handles a path that is at meeting point `join` of its frame.
pub fn arrive(warp: &mut Warp, path: &mut Path, join: u32) -> Arrival {
    while path.group != NONE {
        let index = path.group;
        let group = &mut warp.groups[index as usize];
        if group.join != join || group.frame != path.frame {
            break;
        }
        group.arrived |= path.mask;
        if group.arrived != group.expected {
            return Arrival::Parked;
        }
        path.mask = group.expected;
        path.group = group.parent;
        warp.drop_group(index);
    }
    Arrival::Continues
}

/// Takes lanes out of the path's groups, innermost first, because they have ended or go on alone.
/// Lanes parked in a group that is complete without them become a path.
pub fn leave(warp: &mut Warp, group: u32, lanes: u32) {
    let mut index = group;
    while index != NONE {
        let parent = warp.groups[index as usize].parent;
        warp.groups[index as usize].expected &= !lanes;
        let Group { expected, arrived, .. } = warp.groups[index as usize];
        if expected == 0 {
            warp.drop_group(index);
        } else if arrived == expected {
            wake(warp, index);
        }
        index = parent;
    }
}

/// Makes the lanes parked in a group a path at its meeting point, outside of the group, and frees
/// the group.
fn wake(warp: &mut Warp, index: u32) {
    let Group { join, frame, arrived, parent, .. } = warp.groups[index as usize];
    // A path at `JOIN_RETURN` executes the return; the run loop knows this program counter.
    warp.add_path(Path { pc: join, mask: arrived, frame, group: parent, state: PathState::Ready });
    warp.drop_group(index);
}

/// Lets lanes that are parked go on without the rest of their group. Prefers the group of the path
/// that spins. True if there were any.
pub fn release_parked(warp: &mut Warp, spinning: Option<&Path>) -> bool {
    let mut index = spinning.map_or(NONE, |path| path.group);
    while index != NONE && warp.groups[index as usize].arrived == 0 {
        index = warp.groups[index as usize].parent;
    }
    if index == NONE {
        let found = warp.groups.iter().position(|g| g.arrived != 0 && g.expected != 0);
        match found {
            Some(found) => index = found as u32,
            None => return false,
        }
    }
    let Group { join, frame, expected, arrived, parent } = warp.groups[index as usize];
    warp.add_path(Path { pc: join, mask: arrived, frame, group: parent, state: PathState::Ready });
    let group = &mut warp.groups[index as usize];
    group.expected = expected & !arrived;
    group.arrived = 0;
    if group.expected == 0 {
        warp.drop_group(index);
    }
    true
}

/// Lanes that are parked in any group.
pub fn parked(warp: &Warp) -> u32 {
    warp.groups.iter().filter(|g| g.expected != 0).fold(0, |lanes, g| lanes | g.arrived)
}

/// True if lanes are parked in a group that lanes of the path belong to: those lanes wait for it.
pub fn others_wait_for(warp: &Warp, path: &Path) -> bool {
    let mut index = path.group;
    while index != NONE {
        let group = &warp.groups[index as usize];
        if group.arrived & !path.mask != 0 {
            return true;
        }
        index = group.parent;
    }
    false
}
