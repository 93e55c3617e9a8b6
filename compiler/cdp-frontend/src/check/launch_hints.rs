//! `#pragma cdp` before a statement: what it says of the launches in it. It changes no meaning, and nvcc reads
//! over it.

use cdp_ir::LaunchHints;

use super::state::Checker;
use crate::ast::{self, PragmaKind};
use crate::diagnostics::{Code, Diagnostic};
use crate::source::Span;

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
                Err(what) => self.report(
                    Diagnostic::new(Code::E0419, pragma.span, what)
                        .note("there are `independent`, `keep`, `threshold(N)`, and for lints `allow`, `warn`, `deny`"),
                ),
            }
        }
    }

    fn add_hints(&mut self, hints: LaunchHints, span: Span) {
        let all = &mut self.f.launch_hints;
        let twice = all.threshold.is_some() && hints.threshold.is_some();
        *all = LaunchHints {
            independent: all.independent || hints.independent,
            keep: all.keep || hints.keep,
            threshold: hints.threshold.or(all.threshold),
        };
        let contradicts = all.keep && (all.independent || all.threshold.is_some());
        if contradicts {
            let message =
                "`keep` leaves launches as they are, and another hint says how to change them";
            self.report(Diagnostic::new(Code::E0419, span, message).help("take one of them away"));
        } else if twice {
            let message = "the threshold is given twice";
            self.report(Diagnostic::new(Code::E0419, span, message).help("take one of them away"));
        }
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
                let rest = [words.next(), words.next(), words.next()];
                let [Some("("), Some(number), Some(")")] = rest else {
                    return Err("`threshold` wants a number in parentheses".into());
                };
                let threads = number.trim_end_matches(['u', 'U']).parse();
                hints.threshold =
                    Some(threads.map_err(|_| format!("`{number}` is no number of threads"))?);
            }
            word => return Err(format!("`#pragma cdp {word}` is not known")),
        }
    }
    Ok(hints)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_are_read_in_any_order() {
        let hints = parse("threshold ( 64 ) independent").unwrap();
        assert_eq!((hints.threshold, hints.independent, hints.keep), (Some(64), true, false));
        assert!(parse("keep").unwrap().keep);
        for wrong in ["", "faster", "threshold", "threshold ( x )", "threshold ( 1"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
