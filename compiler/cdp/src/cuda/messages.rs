//! The form of clang's messages: which line is one, where it points, what it says.
//!
//! What the messages mean to the user is in [`super::report`].

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Severity {
    Error,
    Warning,
    Note,
}

/// A line that is a message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line<'a> {
    /// None of a message about the whole run.
    pub place: Option<ClangPlace<'a>>,
    pub severity: Severity,
    pub text: &'a str,
}

/// Where a message points.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClangPlace<'a> {
    pub file: &'a str,
    /// Line, and column in bytes, both from 1.
    pub at: (u32, u32),
    /// `3:1-3:8}{3:9-3:10`
    ranges: &'a str,
}

impl<'a> Line<'a> {
    /// `file:3:49:{3:49-3:56}: error: text`; `None` for a line that is no message.
    pub(super) fn read(line: &'a str) -> Option<Line<'a>> {
        let words = [
            ("fatal error: ", Severity::Error),
            ("error: ", Severity::Error),
            ("warning: ", Severity::Warning),
            ("note: ", Severity::Note),
        ];
        let found = words.into_iter().filter_map(|(word, severity)| {
            // At the beginning, or behind a place.
            let at = match line.starts_with(word) {
                true => 0,
                false => line.find(&format!(": {word}"))? + 2,
            };
            Some((at, word, severity))
        });
        let (at, word, severity) =
            found.min_by_key(|(at, word, _)| (*at, usize::MAX - word.len()))?;
        let before = line[..at].trim_end().trim_end_matches(':');
        Some(Line { place: ClangPlace::read(before), severity, text: &line[at + word.len()..] })
    }
}

impl<'a> ClangPlace<'a> {
    fn read(text: &'a str) -> Option<ClangPlace<'a>> {
        let (place, ranges) = text.split_once(":{").unwrap_or((text, ""));
        let mut words = place.rsplitn(3, ':');
        let column = words.next()?.trim().parse().ok()?;
        let line = words.next()?.parse().ok()?;
        Some(ClangPlace { file: words.next()?, at: (line, column), ranges })
    }

    /// The ranges that the message underlines, from their first place to behind their last.
    pub(super) fn ranges(&self) -> impl Iterator<Item = ((u32, u32), (u32, u32))> + use<'a> {
        self.ranges.trim_end_matches([':', '}']).split("}{").filter_map(range)
    }
}

/// `3:49-3:56`
pub(super) fn range(text: &str) -> Option<((u32, u32), (u32, u32))> {
    let (from, to) = text.split_once('-')?;
    Some((pair(from)?, pair(to)?))
}

/// `3:49`
fn pair(text: &str) -> Option<(u32, u32)> {
    let (line, column) = text.split_once(':')?;
    Some((line.parse().ok()?, column.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_taken_apart() {
        let line = Line::read("dir/a.cu:17:54:{17:1-17:9}{18:2-18:3}: error: no: note: x").unwrap();
        let place = line.place.unwrap();
        assert_eq!((place.file, place.at), ("dir/a.cu", (17, 54)));
        let ranges: Vec<_> = place.ranges().collect();
        assert_eq!(ranges, [((17, 1), (17, 9)), ((18, 2), (18, 3))]);
        assert_eq!((line.severity, line.text), (Severity::Error, "no: note: x"));
        let line = Line::read("C:9:2: warning: w").unwrap();
        assert_eq!((line.place.unwrap().file, line.place.unwrap().at), ("C", (9, 2)));
        assert_eq!(line.place.unwrap().ranges().count(), 0);
        let line = Line::read("fatal error: no file").unwrap();
        assert_eq!((line.place.is_none(), line.text), (true, "no file"));
        assert!(Line::read("2 errors generated when compiling for sm_90.").is_none());
    }
}
