//! The registry of diagnostic codes: number, one-line title, the page that `cdpc explain` shows, and the name of
//! a lint. A code without a page in `compiler/docs/codes` cannot be raised.
//!
//! Ranges are in [`GROUPS`]: W01xx are the preprocessor's warnings, W07xx the checker's. Codes with
//! a name are lints, whose level options and pragmas change.

use crate::Level::{self, Allow, Deny, Warn};
use crate::Severity;

/// What the registry knows of a code.
#[derive(Clone, Copy, Debug)]
pub struct CodeInfo {
    /// `E0203`, `W0701`.
    pub code: &'static str,
    /// What it is where nothing changes its level.
    pub severity: Severity,
    /// A lint's name, for `-W name`.
    pub name: Option<&'static str>,
    /// False for a warning that must be asked for.
    pub default_on: bool,
    /// A finding that is an error unless options or a pragma say otherwise.
    pub denied: bool,
    /// One line, no full stop.
    pub title: &'static str,
}

/// Declares the codes: each with the title and the place of its page.
macro_rules! codes {
    ($($code:ident $title:literal $page:literal;)*) => {
        /// A diagnostic code.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Code { $(#[doc = $title] $code,)* }

        /// Every code, in order.
        pub const ALL: &[Code] = &[$(Code::$code,)*];

        /// How each is spelled, its title, and its page.
        const PAGES: &[(&str, &str, &str)] =
            &[$((stringify!($code), $title, include_str!($page)),)*];
    };
}

include!(concat!(env!("OUT_DIR"), "/codes.rs"));

use Code::*;

/// The codes that are lints: their names, and what becomes of them where nothing is said. Denied are launches that
/// fail when the program runs, which a program may want to show.
const LINTS: &[(Code, &str, Level)] = &[
    (E0406, "launch-block", Deny),
    (E0407, "launch-grid", Deny),
    (E0408, "launch-shared-memory", Deny),
    (W0150, "warning-directive", Warn),
    (W0151, "macro-redefined", Warn),
    (W0152, "unknown-directive-tail", Warn),
    (W0153, "multichar", Warn),
    (W0154, "unknown-pragma", Allow),
    (W0701, "writable-strings", Warn),
    (W0702, "array-bounds", Warn),
    (W0703, "div-by-zero", Warn),
    (W0704, "shift-count", Warn),
    (W0705, "sign-compare", Warn),
    (W0706, "return-type", Warn),
    (W0707, "misplaced-unroll", Warn),
    (W0708, "return-local-addr", Warn),
    (W0709, "format", Warn),
    (W0710, "launch-pointer", Warn),
    (W0711, "copy-pointer", Warn),
    (W0712, "repeated-launch", Warn),
    (W0713, "divergent-barrier", Warn),
    (W0714, "stream-flags", Warn),
    (W0715, "event-flags", Warn),
    (W0716, "handle-to-child", Warn),
    (W0717, "child-result", Warn),
    (W0718, "volatile-register", Allow),
    (W0719, "unchecked-launch", Allow),
    (W0720, "launch-in-loop", Allow),
    (W0721, "narrowing", Warn),
    (W0722, "pointer-to-int-cast", Warn),
    (W0723, "execution-space", Warn),
    (W0724, "copy-kind", Warn),
    (W0725, "unused-variable", Allow),
    (W0726, "parentheses", Warn),
    (W0727, "tautological-compare", Warn),
    (W0728, "constant-conversion", Warn),
    (W0729, "unused-value", Warn),
    (W0730, "uninitialized", Warn),
    (W0731, "switch", Warn),
    (W0732, "integer-overflow", Warn),
    (W0733, "empty-body", Warn),
    (W0734, "string-compare", Warn),
    (W0735, "sizeof-pointer-div", Warn),
    (W0736, "jump-past-initialisation", Warn),
    (W0737, "pointer-arith", Warn),
    (W0738, "implicit-int", Warn),
    (W0901, "clang", Warn),
    (W0902, "launch-limits", Warn),
];

/// What the codes are about, by how they begin, in order.
pub const GROUPS: &[(&str, &str)] = &[
    ("E01", "Preprocessor and lexer"),
    ("E02", "Syntax, and what the subset leaves out"),
    ("E03", "Declarations, types and expressions"),
    ("E04", "Launches"),
    ("E05", "Device and host, memory spaces"),
    ("E06", "Device runtime and CUDA API"),
    ("E09", "`.cu` files"),
    ("W", "Warnings"),
];

/// What refuses, wherever it is raised, something that clang takes on host and device.
const FOR_CLANG: &[Code] = &[
    E0220, E0221, E0222, E0223, E0224, E0225, E0226, E0228, E0229, E0232, E0233, E0234, E0236,
    E0237, E0238, E0243,
];

impl Code {
    /// What the registry knows of it.
    pub fn info(self) -> CodeInfo {
        let (code, title, _) = PAGES[self as usize];
        let lint = LINTS.iter().find(|(lint, ..)| *lint == self);
        let level = lint.map(|(.., level)| *level);
        CodeInfo {
            code,
            severity: if lint.is_some() { Severity::Warning } else { Severity::Error },
            name: lint.map(|(_, name, _)| *name),
            default_on: level != Some(Allow),
            denied: level == Some(Deny),
            title,
        }
    }

    /// True for a code with a name, whose severity options decide.
    pub fn is_lint(self) -> bool {
        self.info().name.is_some()
    }

    /// The page that explains it, in Markdown: what it means, an example, and the cure.
    pub fn page(self) -> &'static str {
        PAGES[self as usize].2
    }

    /// Whether it refuses, wherever it is raised, what clang takes on host and device.
    pub fn is_for_clang(self) -> bool {
        FOR_CLANG.contains(&self)
    }

    /// The code spelled `E0203`; upper or lower case.
    pub fn parse(text: &str) -> Option<Code> {
        ALL.iter().copied().find(|code| code.info().code.eq_ignore_ascii_case(text))
    }
}

impl std::fmt::Display for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.info().code)
    }
}

/// The lint with this name.
pub fn lint(name: &str) -> Option<Code> {
    LINTS.iter().find(|(_, known, _)| *known == name).map(|(code, ..)| *code)
}
