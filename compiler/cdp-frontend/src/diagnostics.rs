//! Diagnostics as data: what is wrong with the user's program, where, and how to cure it.
//!
//! Only the user's program: a file that cannot be written or a tool that is missing is an error
//! enum elsewhere, and a defect of the compiler is a `bug!`. How a diagnostic looks is decided in
//! [`render`]; which codes exist, in [`codes`].

pub mod codes;
pub mod render;

pub use codes::{Code, CodeInfo};

use std::collections::BTreeMap;

use crate::source::{SourceMap, Span};

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
    pub replacement: String,
}

/// One finding.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    pub code: Code,
    pub severity: Severity,
    /// One line, no full stop.
    pub message: String,
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
            message: message.into(),
            primary: Label { span, text: String::new() },
            secondary: Vec::new(),
            notes: Vec::new(),
            helps: Vec::new(),
        }
    }

    /// Words beside the primary span.
    pub fn label(mut self, text: impl Into<String>) -> Self {
        self.primary.text = text.into();
        self
    }

    /// Another place, with words.
    pub fn secondary(mut self, span: Span, text: impl Into<String>) -> Self {
        if !span.is_none() {
            self.secondary.push(Label { span, text: text.into() });
        }
        self
    }

    /// A fact or reason.
    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.notes.push(text.into());
        self
    }

    /// A cure in words.
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.helps.push(Help { text: text.into(), suggestion: None });
        self
    }

    /// A cure that is a replacement of text.
    pub fn suggest(
        mut self,
        text: impl Into<String>,
        span: Span,
        replacement: impl Into<String>,
    ) -> Self {
        let suggestion = Suggestion { span, replacement: replacement.into() };
        self.helps.push(Help { text: text.into(), suggestion: Some(suggestion) });
        self
    }
}

/// Which warnings are given, and whether they are errors: `-W name`, `-Wno-name`, `-Werror`,
/// `-Werror=name`, `-w`.
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
        let known = |name: &str| {
            codes::warning(name).map(|_| name.to_owned()).ok_or_else(|| name.to_owned())
        };
        if word == "error" {
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

    /// The severity a warning code has under these options; `None` when it is off.
    pub fn severity(&self, code: Code) -> Option<Severity> {
        let info = code.info();
        let name = info.name?;
        if self.silent || !self.enabled.get(name).copied().unwrap_or(info.default_on) {
            return None;
        }
        let error = self.as_errors.get(name).copied().unwrap_or(self.all_as_errors);
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
}

impl Diagnostics {
    /// Errors past this many are counted, not kept.
    pub const MAX_ERRORS: usize = 100;

    /// None.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one. Past [`MAX_ERRORS`](Self::MAX_ERRORS) errors, errors are only counted.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        if diagnostic.severity == Severity::Error {
            if self.kept >= Self::MAX_ERRORS {
                self.dropped += 1;
                return;
            }
            self.kept += 1;
        } else if self.list.len() - self.kept >= 10 * Self::MAX_ERRORS {
            return;
        }
        self.list.push(diagnostic);
    }

    /// Adds one if there is one.
    pub fn extend_one(&mut self, diagnostic: Option<Diagnostic>) {
        if let Some(diagnostic) = diagnostic {
            self.push(diagnostic);
        }
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
        let mut done = Diagnostics { list: Vec::new(), kept: 0, dropped: self.dropped };
        let mut list = self.list;
        list.sort_by_key(|diagnostic| {
            let site = sources.call_site(diagnostic.primary.span);
            (site.lo, diagnostic.primary.span.lo)
        });
        for mut diagnostic in list {
            if diagnostic.code.is_warning() {
                let Some(severity) = options.severity(diagnostic.code) else { continue };
                diagnostic.severity = severity;
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
