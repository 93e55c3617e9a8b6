//! The registry of diagnostic codes: number, name (of a warning), one-line title, and the page that
//! `cdpc explain` shows. A code that is not here cannot be raised.
//!
//! Ranges: E01xx preprocessor and lexer; E02xx syntax and what the subset leaves out; E03xx
//! declarations, types and expressions; E04xx launches; E05xx device/host and memory spaces; E06xx
//! device runtime and CUDA API; W07xx warnings.

use super::Severity;

/// What the registry knows of a code.
#[derive(Clone, Copy, Debug)]
pub struct CodeInfo {
    /// `E0203`, `W0701`.
    pub code: &'static str,
    pub severity: Severity,
    /// A warning's name, for `-W name`.
    pub name: Option<&'static str>,
    /// False for a warning that must be asked for.
    pub default_on: bool,
    /// One line, no full stop.
    pub title: &'static str,
}

/// Error codes: `E0101 "title";`. Warnings: `W0701 "name" on|off "title";`.
macro_rules! codes {
    (errors { $($error:ident $error_title:literal;)* }
     warnings { $($warning:ident $name:literal $default:ident $title:literal;)* }) => {
        /// A diagnostic code.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Code { $(#[doc = $error_title] $error,)* $(#[doc = $title] $warning,)* }

        /// Every code, in order.
        pub const ALL: &[Code] = &[$(Code::$error,)* $(Code::$warning,)*];

        impl Code {
            /// What the registry knows of it.
            pub fn info(self) -> &'static CodeInfo {
                match self {
                    $(Code::$error => &CodeInfo {
                        code: stringify!($error),
                        severity: Severity::Error,
                        name: None,
                        default_on: true,
                        title: $error_title,
                    },)*
                    $(Code::$warning => &CodeInfo {
                        code: stringify!($warning),
                        severity: Severity::Warning,
                        name: Some($name),
                        default_on: codes!(@ $default),
                        title: $title,
                    },)*
                }
            }
        }
    };
    (@ on) => { true };
    (@ off) => { false };
}

codes! {
    errors {
        // Preprocessor and lexer.
        E0101 "the source is not valid UTF-8";
        E0102 "a character that cannot be part of a program";
        E0103 "an unterminated string, character constant or comment";
        E0104 "a malformed number";
        E0105 "a malformed character constant or escape sequence";
        E0106 "a file cannot be included";
        E0107 "files include each other too deeply";
        E0108 "a malformed preprocessor directive";
        E0109 "unbalanced conditional directives";
        E0110 "an invalid `#if` expression";
        E0111 "an invalid macro definition";
        E0112 "a macro is used with the wrong arguments";
        E0113 "tokens that cannot be pasted together";
        E0114 "`#error`";
        E0115 "macro expansion grows without bound";
        E0116 "a source file is too large";

        // Syntax.
        E0201 "unexpected token";
        E0202 "unbalanced brackets";
        E0203 "a missing `;`";
        E0204 "an unknown type name";
        E0205 "nesting is too deep";
        E0206 "an invalid combination of type words";
        E0207 "a missing expression";
        E0208 "strings with different prefixes side by side";
        E0209 "the program is too large";

        // What the subset leaves out.
        E0220 "templates are outside the `.cdp` subset";
        E0221 "lambda expressions are outside the `.cdp` subset";
        E0222 "member functions are outside the `.cdp` subset";
        E0223 "constructors and destructors are outside the `.cdp` subset";
        E0224 "access control is outside the `.cdp` subset";
        E0225 "inheritance is outside the `.cdp` subset";
        E0226 "virtual functions are outside the `.cdp` subset";
        E0227 "exceptions are outside the `.cdp` subset";
        E0228 "`goto` and its labels are outside the `.cdp` subset";
        E0229 "range-based `for` is outside the `.cdp` subset";
        E0230 "coroutines are outside the `.cdp` subset";
        E0231 "run-time type information is outside the `.cdp` subset";
        E0232 "structured bindings are outside the `.cdp` subset";
        E0233 "user-defined literals are outside the `.cdp` subset";
        E0234 "concepts and constraints are outside the `.cdp` subset";
        E0235 "modules are outside the `.cdp` subset";
        E0236 "member operators and conversions are outside the `.cdp` subset";
        E0237 "pointers to members are outside the `.cdp` subset";
        E0238 "GNU statement expressions and computed labels are outside the `.cdp` subset";
        E0239 "this C++ declaration is outside the `.cdp` subset";
        E0240 "this C++ expression is outside the `.cdp` subset";
        E0241 "file-scope `asm` is outside the `.cdp` subset";
        E0242 "old-style function definitions are not C++";
        E0243 "the C++ standard library is outside the `.cdp` subset";
        E0244 "this type is outside the `.cdp` subset";
    }
    warnings {
        W0150 "warning-directive" on "`#warning`";
        W0151 "macro-redefined" on "a macro is defined again with another meaning";
        W0152 "unknown-directive-tail" on "extra text after a preprocessor directive";
        W0153 "multichar" on "a character constant with several characters";
        W0154 "unknown-pragma" off "a pragma that this compiler does not know";
    }
}

impl Code {
    /// True for a `W` code, whatever severity options give it.
    pub fn is_warning(self) -> bool {
        self.info().name.is_some()
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

/// The warning with this name.
pub fn warning(name: &str) -> Option<Code> {
    ALL.iter().copied().find(|code| code.info().name == Some(name))
}
