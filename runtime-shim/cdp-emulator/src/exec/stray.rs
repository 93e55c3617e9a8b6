//! Where an access went that is not all in one variable of shared or local memory, for the check of
//! bounds ([`crate::check::bounds`]).

use super::{SharedPlace, Warp};
use crate::code::Function;

/// Where an access to shared memory went, if not all of it is in one variable.
pub fn astray_in_shared(places: &[SharedPlace], offset: u64, bytes: u64) -> Option<String> {
    let end = |place: &SharedPlace| u64::from(place.offset).saturating_add(place.size_bytes);
    if places.iter().any(|p| u64::from(p.offset) <= offset && offset + bytes <= end(p)) {
        return None;
    }
    let before = places.iter().filter(|place| u64::from(place.offset) <= offset);
    let after = places.iter().filter(|place| u64::from(place.offset) > offset);
    let before = before.max_by_key(|place| place.offset);
    let after = after.min_by_key(|place| place.offset);
    let behind = before.map_or(u64::MAX, |place| (offset + bytes).saturating_sub(end(place)));
    let ahead = after.map_or(u64::MAX, |place| u64::from(place.offset) - offset);
    Some(match (before, after) {
        (Some(place), _) if behind <= ahead => {
            format!("{behind} bytes past the end of `{}` in shared memory", place.name)
        }
        (_, Some(place)) => format!("{ahead} bytes before `{}` in shared memory", place.name),
        _ => format!("offset {offset} of shared memory, where no variable is"),
    })
}

/// Which bytes of shared memory from an offset on are a variable's, a bit each.
pub fn of_variables(places: &[SharedPlace], offset: u64, bytes: u64) -> u64 {
    let holds = |at: u64| {
        places.iter().any(|place| {
            at.checked_sub(u64::from(place.offset)).is_some_and(|behind| behind < place.size_bytes)
        })
    };
    (0..bytes.min(64)).filter(|byte| holds(offset + byte)).fold(0, |bits, byte| bits | 1 << byte)
}

/// Where an access to local memory went, if not all of it is in one variable of the function, or of a
/// caller, in whose frame it is.
pub fn astray_in_local(
    functions: &[std::sync::Arc<Function>],
    warp: &Warp,
    mut frame: u32,
    offset: u64,
    bytes: u64,
) -> Option<String> {
    while let Some(entry) = warp.frames.get(frame as usize) {
        let base = u64::from(entry.local) * 4;
        let function = &functions[entry.function as usize];
        let own_end = base + u64::from(function.local_words) * 4;
        if offset >= base {
            let at = offset - base;
            let holds = |&(from, size): &(u32, u32)| {
                u64::from(from) <= at && at + bytes <= u64::from(from) + u64::from(size)
            };
            // Memory of `alloca` lies behind the frame's own.
            let inside = offset >= own_end || function.locals.iter().any(holds);
            return (!inside)
                .then(|| format!("no variable of `{}`, in its local memory", function.name));
        }
        frame = entry.parent;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_between_variables_belongs_to_nobody() {
        let place = |name: &str, offset, size_bytes| SharedPlace {
            name: name.to_string(),
            offset,
            size_bytes,
        };
        let places = [place("a", 0, 64), place("b", 320, 64)];
        let text = |offset, bytes| astray_in_shared(&places, offset, bytes);
        assert_eq!((text(60, 4), text(320, 16)), (None, None));
        assert_eq!(text(64, 4).as_deref(), Some("4 bytes past the end of `a` in shared memory"));
        assert_eq!(text(60, 8).as_deref(), Some("4 bytes past the end of `a` in shared memory"));
        assert_eq!(text(316, 4).as_deref(), Some("4 bytes before `b` in shared memory"));
    }
}
