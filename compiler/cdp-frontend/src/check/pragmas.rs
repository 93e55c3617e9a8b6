//! Pragmas that the checker carries out where they stand: `#pragma pack`, and the levels of lints.

use super::state::Checker;
use crate::ast;
use crate::diagnostics::codes::lint;
use crate::diagnostics::{Code, Level};
use crate::source::Span;

impl<'a> Checker<'a> {
    pub fn pragma(&mut self, pragma: &'a ast::Pragma) {
        let ast::PragmaKind::Cdp(symbol) = pragma.kind else { return };
        let words: Vec<&str> = self.text(symbol).split(' ').collect();
        if let Some((&"pack", rest)) = words.split_first() {
            if self.pragmas.pack(rest).is_none() {
                let message = "this `#pragma pack` is outside the `.cdp` subset";
                self.error(Code::E0239, pragma.span, message).help(
                    "write `pack(n)`, `pack(push, n)` or `pack(pop)`, where n is 1, 2, 4, 8 or 16",
                );
            }
        } else {
            self.lint_level(&words, pragma.span);
        }
    }

    /// `cdp allow(name)`, `cdp warn(name)`, `cdp deny(name)`. Words of later versions are let pass.
    fn lint_level(&mut self, words: &[&str], span: Span) {
        let [word, "(", name @ .., ")"] = words else { return };
        let level = match *word {
            "allow" => Level::Allow,
            "warn" => Level::Warn,
            "deny" => Level::Deny,
            _ => return,
        };
        for name in name.concat().split(',') {
            match lint(name) {
                Some(code) => self.pragmas.levels.push((code, level)),
                None => {
                    let message = format!("there is no lint `{name}`");
                    self.error(Code::W0154, span, message).help("`cdpc explain` lists all names");
                }
            }
        }
    }
}
