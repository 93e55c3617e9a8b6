//! `#pragma cdp` before a statement: what it says of the launches in it. It changes no meaning, and nvcc reads
//! over it.

use cdp_ir::{Aggregate, LaunchHints};

use super::state::Checker;
use crate::ast::{self, PragmaKind};
use crate::diagnostics::Code;
use crate::source::Span;

/// What there is.
const HINTS: &str = "there are `independent`, `keep`, `threshold(N)`, `aggregate(warp|block|grid)`, \
    `coarsen(N)`, and for lints `allow`, `warn`, `deny`";

impl<'a> Checker<'a> {
    /// Takes the pragmas in front of a statement; one without any keeps what is said of the statement
    /// around it.
    pub(super) fn hints(&mut self, stmt: &'a ast::Stmt) {
        for pragma in stmt.pragmas() {
            let PragmaKind::Cdp(text) = pragma.kind else { continue };
            let text = self.text(text).to_owned();
            // Those are other pragmas, which come the same way (`pragmas`).
            if ["pack", "allow", "warn", "deny"].iter().any(|word| text.starts_with(word)) {
                continue;
            }
            match parse(&text) {
                Ok(hints) => self.add_hints(hints, pragma.span),
                Err(what) => {
                    self.error(Code::E0419, pragma.span, what).note(HINTS);
                }
            }
        }
    }

    fn add_hints(&mut self, hints: LaunchHints, span: Span) {
        let all = &mut self.f.launch_hints;
        let twice = [
            ("threshold", all.threshold.is_some() && hints.threshold.is_some()),
            ("aggregate", all.aggregate.is_some() && hints.aggregate.is_some()),
            ("coarsen", all.coarsen.is_some() && hints.coarsen.is_some()),
        ];
        let twice = twice.iter().find_map(|(name, twice)| twice.then_some(*name));
        *all = LaunchHints {
            independent: all.independent || hints.independent,
            keep: all.keep || hints.keep,
            threshold: hints.threshold.or(all.threshold),
            aggregate: hints.aggregate.or(all.aggregate),
            coarsen: hints.coarsen.or(all.coarsen),
        };
        let changes = LaunchHints { keep: false, ..*all } != LaunchHints::default();
        let message = if all.keep && changes {
            "`keep` leaves launches as they are, and another hint says how to change them".into()
        } else if let Some(name) = twice {
            format!("`{name}` is given twice")
        } else if all.coarsen.is_some() && all.aggregate == Some(Aggregate::Warp) {
            "`coarsen` wants the launches of a block or a grid together, and `aggregate(warp)` a warp's".into()
        } else {
            return;
        };
        self.error(Code::E0419, span, message).help("take one of them away");
    }
}

/// The words after `#pragma cdp`, one space between tokens.
fn parse(text: &str) -> Result<LaunchHints, String> {
    let mut hints = LaunchHints::default();
    let mut words = text.split_whitespace();
    if text.trim().is_empty() {
        return Err("`#pragma cdp` says nothing".into());
    }
    while let Some(word) = words.next() {
        match word {
            "independent" => hints.independent = true,
            "keep" => hints.keep = true,
            "threshold" => {
                let number = in_parentheses(word, "a number", &mut words)?;
                hints.threshold = Some(count(number, "threads")?);
            }
            "aggregate" => {
                let whose = in_parentheses(word, "`warp`, `block` or `grid`", &mut words)?;
                let kind = Aggregate::from_word(whose);
                let error = || format!("`{whose}` is none of `warp`, `block`, `grid`");
                hints.aggregate = Some(kind.ok_or_else(error)?);
            }
            "coarsen" => {
                let number = in_parentheses(word, "a number", &mut words)?;
                let blocks = count(number, "blocks")?;
                if blocks == 0 {
                    return Err("`coarsen(0)` would leave nobody to do the work".into());
                }
                hints.coarsen = Some(blocks);
            }
            word => return Err(format!("`#pragma cdp {word}` is not known")),
        }
    }
    Ok(hints)
}

/// The one token between parentheses that follows a word.
fn in_parentheses<'a>(
    word: &str,
    what: &str,
    words: &mut impl Iterator<Item = &'a str>,
) -> Result<&'a str, String> {
    match [words.next(), words.next(), words.next()] {
        [Some("("), Some(inside), Some(")")] => Ok(inside),
        _ => Err(format!("`{word}` wants {what} in parentheses")),
    }
}

fn count(number: &str, of: &str) -> Result<u32, String> {
    let parsed = number.trim_end_matches(['u', 'U']).parse();
    parsed.map_err(|_| format!("`{number}` is no number of {of}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_are_read_in_any_order() {
        let hints = parse("threshold ( 64 ) independent").unwrap();
        assert_eq!((hints.threshold, hints.independent, hints.keep), (Some(64), true, false));
        assert!(parse("keep").unwrap().keep);
        let hints = parse("coarsen ( 4 ) aggregate ( block )").unwrap();
        assert_eq!((hints.aggregate, hints.coarsen), (Some(Aggregate::Block), Some(4)));
        let wrong =
            ["", "faster", "threshold", "threshold ( x )", "threshold ( 1", "coarsen ( 0 )"];
        for wrong in wrong.into_iter().chain(["aggregate", "aggregate ( all )", "coarsen ( -1 )"]) {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
