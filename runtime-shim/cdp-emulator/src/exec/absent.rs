//! Values that lanes took from lanes which did not take part in a shuffle: PTX leaves open what they are.
//!
//! Kept for each lane until the block ends, the last one only: it is told when something comes of the value, which
//! the loader has functions find out ([`crate::services::Lack::Lane`]). A lane that is given such a value by another
//! one inherits what is known of it.

use super::{Block, Machine, Path, Warp, path};
use crate::check::findings::{Absent, Whereabouts};
use crate::code::JOIN_RETURN;
use crate::services::Unset;

/// A value from a lane that did not take part.
#[derive(Clone, Copy, Debug)]
pub struct Absence {
    /// The lane that took it first.
    lane: u32,
    /// Function and instruction of the shuffle.
    at: (u32, u32),
    /// The lane it was taken from.
    source: u32,
    elsewhere: Elsewhere,
}

/// Where a lane is that does not come.
#[derive(Clone, Copy, Debug)]
enum Elsewhere {
    NoThread,
    Ended,
    /// At an instruction of a function.
    At(u32, u32),
}

/// A lane takes a value at the instruction of `path` from a lane that does not take part.
pub fn take(warp: &mut Warp, path: &Path, lane: u32, source: u32) {
    let at = (warp.frame(path).function, path.pc);
    let elsewhere = whereabouts(warp, source);
    known(warp)[lane as usize] = Some(Absence { lane, at, source, elsewhere });
}

/// A lane takes from another one what that one had from such a lane.
pub fn inherit(warp: &mut Warp, lane: u32, source: u32) {
    let known = known(warp);
    known[lane as usize] = known[source as usize];
}

fn known(warp: &mut Warp) -> &mut [Option<Absence>] {
    warp.absences.resize(32, None);
    &mut warp.absences
}

fn whereabouts(warp: &Warp, lane: u32) -> Elsewhere {
    if warp.initial >> lane & 1 == 0 {
        return Elsewhere::NoThread;
    }
    let has = |lanes: u32| lanes >> lane & 1 != 0;
    if let Some(path) = warp.paths.iter().find(|path| has(path.mask)) {
        return Elsewhere::At(warp.frame(path).function, path.pc);
    }
    let parked = warp.groups.iter().find(|group| group.expected != 0 && has(group.arrived));
    match parked {
        Some(group) if group.join != JOIN_RETURN => {
            Elsewhere::At(warp.frames[group.frame as usize].function, group.join)
        }
        _ => Elsewhere::Ended,
    }
}

/// Something comes of such values in lanes of the path.
pub fn tell(machine: &Machine, block: &Block, warp: &Warp, at: &Path, lanes: u32, effect: Unset) {
    let Some(mut watch) = machine.watch() else { return };
    for lane in crate::lanes::lanes_of(lanes) {
        let Some(Some(absence)) = warp.absences.get(lane) else { continue };
        let place = |lane: u32, (function, instruction): (u32, u32)| crate::memory::SiteRef {
            function,
            instruction,
            ..path::site(block, warp, at, lane)
        };
        watch.findings.add_absent(Absent {
            taken: place(absence.lane, absence.at),
            source: absence.source,
            whereabouts: match absence.elsewhere {
                Elsewhere::NoThread => Whereabouts::NoThread,
                Elsewhere::Ended => Whereabouts::Ended,
                Elsewhere::At(function, instruction) => {
                    Whereabouts::At(place(absence.source, (function, instruction)))
                }
            },
            effect,
            at: path::site(block, warp, at, lane as u32),
            count: 1,
        });
    }
}
