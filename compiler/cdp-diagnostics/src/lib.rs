//! Diagnostics as data: what is wrong with the user's program, where, and how to cure it.
//!
//! Only the user's program: a file that cannot be written or a tool that is missing is an error
//! enum elsewhere, and a defect of the compiler is a `bug!`. Places are spans of a [`source`] map, names
//! are symbols of an [`intern`]er. Which codes exist is decided in [`codes`], how a diagnostic looks
//! in [`render`].
//!
//! Not here: any language. Who finds something, and in what, is the front end's matter, the lints'
//! (`cdp-lint`), or clang's.

#![deny(missing_docs)]
#![forbid(unsafe_code)]

pub mod codes;
pub mod intern;
pub mod render;
pub mod source;

pub use codes::{Code, CodeInfo};

use std::collections::BTreeMap;

use source::{SourceMap, Span};

/// How bad it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Severity {
    /// The program compiles.
    Warning,
    /// Nothing is made from this program.
    Error,
}

/// A place with a few words about it.
#[derive(Clone, Debug)]
pub struct Label {
    /// The narrowest guilty text.
    pub span: Span,
    /// May be empty on the primary label, when the message says it all.
    pub text: String,
}

/// A cure.
#[derive(Clone, Debug)]
pub struct Help {
    /// What to do, in the imperative.
    pub text: String,
    /// Text to put in place of a span, when the cure is that exact.
    pub suggestion: Option<Suggestion>,
}

/// A replacement for the text of a span.
#[derive(Clone, Debug)]
pub struct Suggestion {
    /// May be empty, for an insertion.
    pub span: Span,
    /// What to put there.
    pub replacement: String,
}

/// What becomes of a finding of a lint.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Level {
    /// Nothing is said.
    Allow,
    /// A warning.
    Warn,
    /// It is an error.
    Deny,
}

/// The cure of what is valid C++ or GNU C++ and costs more here than it is worth.
pub const NAME_IT_CU: &str = "or name the file `.cu`: those are read by clang, which takes it";

/// One finding.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// Which kind; it has a page.
    pub code: Code,
    /// As the registry has it, until levels are applied at the end.
    pub severity: Severity,
    /// What a pragma says about the lint here; options do not change it.
    pub level: Option<Level>,
    /// One line, no full stop.
    pub message: String,
    /// The narrowest guilty text.
    pub primary: Label,
    /// Other places that matter.
    pub secondary: Vec<Label>,
    /// Facts and reasons.
    pub notes: Vec<String>,
    /// Cures.
    pub helps: Vec<Help>,
}

impl Diagnostic {
    /// A diagnostic with the severity its code has by default, and a bare primary label.
    pub fn new(code: Code, span: Span, message: impl Into<String>) -> Self {
        Diagnostic {
            code,
            severity: code.info().severity,
            level: None,
            message: message.into(),
            primary: Label { span, text: String::new() },
            secondary: Vec::new(),
            notes: Vec::new(),
            helps: Vec::new(),
        }
    }

    /// Words beside the primary span.
    pub fn label(&mut self, text: impl Into<String>) -> &mut Self {
        self.primary.text = text.into();
        self
    }

    /// Another place, with words.
    pub fn secondary(&mut self, span: Span, text: impl Into<String>) -> &mut Self {
        if !span.is_none() {
            self.secondary.push(Label { span, text: text.into() });
        }
        self
    }

    /// A fact or reason; none if it is empty.
    pub fn note(&mut self, text: impl Into<String>) -> &mut Self {
        self.notes.extend(Some(text.into()).filter(|text| !text.is_empty()));
        self
    }

    /// A cure in words; none if it is empty.
    pub fn help(&mut self, text: impl Into<String>) -> &mut Self {
        let text = Some(text.into()).filter(|text| !text.is_empty());
        self.helps.extend(text.map(|text| Help { text, suggestion: None }));
        self
    }

    /// A cure that is a replacement of text.
    pub fn suggest(
        &mut self,
        text: impl Into<String>,
        span: Span,
        replacement: impl Into<String>,
    ) -> &mut Self {
        let suggestion = Suggestion { span, replacement: replacement.into() };
        self.helps.push(Help { text: text.into(), suggestion: Some(suggestion) });
        self
    }
}

/// Which lints are given, and whether they are errors: `-W name`, `-Wno-name`, `-Werror`,
/// `-Werror=name`, `-w`, `-A name`, `-D name`.
#[derive(Clone, Default, Debug)]
pub struct WarningOptions {
    /// By name, the last word wins; names come from [`CodeInfo::name`].
    pub enabled: BTreeMap<String, bool>,
    /// `-Werror`
    pub all_as_errors: bool,
    /// `-Werror=name` (true) and `-Wno-error=name` (false).
    pub as_errors: BTreeMap<String, bool>,
    /// `-w`: no warnings.
    pub silent: bool,
}

impl WarningOptions {
    /// Applies one command-line word, given without its leading `-W` (`name`, `no-name`, `error`,
    /// `error=name`, `no-error=name`).
    ///
    /// # Errors
    /// The unknown warning name.
    pub fn apply(&mut self, word: &str) -> Result<(), String> {
        let known =
            |name: &str| codes::lint(name).map(|_| name.to_owned()).ok_or_else(|| name.to_owned());
        if word == "all" {
            self.enabled.insert("unused-variable".into(), true);
            self.enabled.insert("unchecked-launch".into(), true);
        } else if word == "extra" {
            let off = codes::ALL.iter().filter(|code| !code.info().default_on);
            self.enabled.extend(off.filter_map(|code| Some((code.info().name?.to_owned(), true))));
        } else if word == "error" {
            self.all_as_errors = true;
        } else if let Some(name) = word.strip_prefix("error=") {
            let name = known(name)?;
            self.enabled.insert(name.clone(), true);
            self.as_errors.insert(name, true);
        } else if let Some(name) = word.strip_prefix("no-error=") {
            self.as_errors.insert(known(name)?, false);
        } else if let Some(name) = word.strip_prefix("no-") {
            self.enabled.insert(known(name)?, false);
        } else {
            self.enabled.insert(known(word)?, true);
        }
        Ok(())
    }

    /// Gives a lint a level: `-A name`, `-W name`, `-D name`. The last word wins.
    ///
    /// # Errors
    /// The unknown name.
    pub fn set(&mut self, name: &str, level: Level) -> Result<(), String> {
        let known = codes::lint(name).is_some();
        if !known {
            return Err(name.to_owned());
        }
        self.enabled.insert(name.to_owned(), level != Level::Allow);
        self.as_errors.insert(name.to_owned(), level == Level::Deny);
        Ok(())
    }

    /// The severity a lint has under these options; `None` when it is off.
    pub fn severity(&self, code: Code) -> Option<Severity> {
        let info = code.info();
        let name = info.name?;
        let asked = self.enabled.get(name).copied();
        // `-w` silences warnings, of which a denied lint is none unless it was made one.
        let denied = info.denied && asked.is_none();
        if !asked.unwrap_or(info.default_on) || (self.silent && !denied) {
            return None;
        }
        let error = self.as_errors.get(name).copied().unwrap_or(self.all_as_errors || denied);
        Some(if error { Severity::Error } else { Severity::Warning })
    }
}

/// The findings about one translation unit, in the order they were made.
#[derive(Clone, Default, Debug)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
    /// Errors in the list.
    kept: usize,
    /// Errors past the cap, counted but not kept.
    dropped: usize,
    /// The last one that was not kept.
    unkept: Option<Diagnostic>,
}

impl Diagnostics {
    /// Errors past this many are counted, not kept.
    pub const MAX_ERRORS: usize = 100;

    /// None.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one, of which more can be said. Past [`MAX_ERRORS`](Self::MAX_ERRORS) errors, errors are only
    /// counted.
    pub fn push(&mut self, diagnostic: Diagnostic) -> &mut Diagnostic {
        let is_error = diagnostic.severity == Severity::Error;
        let full = match is_error {
            true => self.kept >= Self::MAX_ERRORS,
            false => self.list.len() - self.kept >= 10 * Self::MAX_ERRORS,
        };
        if full {
            self.dropped += usize::from(is_error);
            return self.unkept.insert(diagnostic);
        }
        self.kept += usize::from(is_error);
        self.list.push(diagnostic);
        let last = self.list.len() - 1;
        &mut self.list[last]
    }

    /// Adds a new one, of which more can be said.
    pub fn add(&mut self, code: Code, span: Span, message: impl Into<String>) -> &mut Diagnostic {
        self.push(Diagnostic::new(code, span, message))
    }

    /// True if an error is among them.
    pub fn has_errors(&self) -> bool {
        self.error_count() > 0
    }

    /// Number of errors, those past the cap included.
    pub fn error_count(&self) -> usize {
        self.kept + self.dropped
    }

    /// Number of warnings.
    pub fn warning_count(&self) -> usize {
        self.list.iter().filter(|diagnostic| diagnostic.severity == Severity::Warning).count()
    }

    /// Errors that were counted but not kept.
    pub fn dropped_count(&self) -> usize {
        self.dropped
    }

    /// True when more errors would not be kept, so that a stage may stop looking.
    pub fn is_full(&self) -> bool {
        self.error_count() >= Self::MAX_ERRORS
    }

    /// True if there is nothing.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// All that were kept.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.list.iter()
    }

    /// Adds everything of `other`.
    pub fn extend(&mut self, other: Diagnostics) {
        self.dropped += other.dropped;
        for diagnostic in other.list {
            self.push(diagnostic);
        }
    }

    /// Drops the warnings that `options` turn off, makes errors of those it says, and puts all in
    /// source order. Findings of the device and host pass about the same place are given once.
    pub fn finish(self, options: &WarningOptions, sources: &SourceMap) -> Diagnostics {
        let mut done = Diagnostics { dropped: self.dropped, ..Diagnostics::default() };
        let mut list = self.list;
        list.sort_by_key(|diagnostic| {
            let site = sources.call_site(diagnostic.primary.span);
            (site.lo, diagnostic.primary.span.lo)
        });
        for mut diagnostic in list {
            if diagnostic.code.is_lint() {
                let severity = match diagnostic.level {
                    Some(Level::Allow) => None,
                    Some(Level::Warn) => (!options.silent).then_some(Severity::Warning),
                    Some(Level::Deny) => Some(Severity::Error),
                    None => options.severity(diagnostic.code),
                };
                let Some(severity) = severity else { continue };
                diagnostic.severity = severity;
            }
            let names_it = diagnostic.helps.iter().any(|help| help.text == NAME_IT_CU);
            if diagnostic.code.is_for_clang() && !names_it {
                diagnostic.help(NAME_IT_CU);
            }
            let repeated =
                done.list.iter().rev().take(16).any(|earlier| same_finding(earlier, &diagnostic));
            if !repeated {
                done.push(diagnostic);
            }
        }
        done
    }
}

fn same_finding(a: &Diagnostic, b: &Diagnostic) -> bool {
    a.code == b.code
        && (a.primary.span.lo, a.primary.span.hi) == (b.primary.span.lo, b.primary.span.hi)
        && a.message == b.message
}

impl<'a> IntoIterator for &'a Diagnostics {
    type Item = &'a Diagnostic;
    type IntoIter = std::slice::Iter<'a, Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_of_lints() {
        let severity = |words: &[(&str, Level)], silent: bool, code: Code| {
            let mut options = WarningOptions { silent, ..WarningOptions::default() };
            for (name, level) in words {
                options.set(name, *level).expect("a lint");
            }
            options.severity(code)
        };
        let block = "launch-block";
        assert_eq!(severity(&[], false, Code::E0406), Some(Severity::Error));
        assert_eq!(severity(&[], true, Code::E0406), Some(Severity::Error));
        assert_eq!(severity(&[(block, Level::Warn)], false, Code::E0406), Some(Severity::Warning));
        assert_eq!(severity(&[(block, Level::Allow)], false, Code::E0406), None);
        let again = [(block, Level::Allow), (block, Level::Deny)];
        assert_eq!(severity(&again, false, Code::E0406), Some(Severity::Error));
        assert_eq!(severity(&[], false, Code::W0725), None);
        assert_eq!(
            severity(&[("unused-variable", Level::Deny)], false, Code::W0725),
            Some(Severity::Error)
        );
        assert_eq!(WarningOptions::default().set("E0301", Level::Allow), Err("E0301".into()));
        let mut all = WarningOptions::default();
        all.apply("extra").expect("a group");
        assert_eq!(all.severity(Code::E0406), Some(Severity::Error));
        assert_eq!(all.severity(Code::W0725), Some(Severity::Warning));
    }
}
