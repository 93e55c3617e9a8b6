//! Which of several names was meant by one that does not exist, for cures. Where the names come from is the
//! caller's matter.

/// The candidate within a third of the text's length in edits, the nearest, and of those the first. Nobody
/// misspells a very long name, and comparing two of them would take long.
pub fn nearest<'n>(text: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let limit = (text.len() / 3).clamp(1, 3);
    if !(2..=100).contains(&text.len()) {
        return None;
    }
    names
        .filter(|name| name.len().abs_diff(text.len()) <= limit && !name.is_empty())
        .map(|name| (strsim::osa_distance(text, name), name))
        .filter(|(distance, _)| (1..=limit).contains(distance))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}
