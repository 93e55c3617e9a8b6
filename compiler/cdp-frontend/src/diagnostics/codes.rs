//! The registry of diagnostic codes: number, name (of a warning), one-line title, and the page that
//! `cdpc explain` shows. A code that is not here cannot be raised.
//!
//! Ranges are in [`GROUPS`]: W01xx are the preprocessor's warnings, W07xx the checker's. Codes with
//! a name are lints, whose level options and pragmas change.

use super::Severity;

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

/// Error codes: `E0101 "title";`. Warnings: `W0701 "name" on|off "title";`.
macro_rules! codes {
    (errors { $($error:ident $error_title:literal;)* }
     denied { $($denied:ident $denied_name:literal $denied_title:literal;)* }
     warnings { $($warning:ident $name:literal $default:ident $title:literal;)* }) => {
        /// A diagnostic code.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Code {
            $(#[doc = $error_title] $error,)*
            $(#[doc = $denied_title] $denied,)*
            $(#[doc = $title] $warning,)*
        }

        /// Every code, in order.
        pub const ALL: &[Code] = &[$(Code::$error,)* $(Code::$denied,)* $(Code::$warning,)*];

        impl Code {
            /// What the registry knows of it.
            pub fn info(self) -> &'static CodeInfo {
                match self {
                    $(Code::$error => &CodeInfo {
                        code: stringify!($error),
                        severity: Severity::Error,
                        name: None,
                        default_on: true,
                        denied: false,
                        title: $error_title,
                    },)*
                    $(Code::$denied => &CodeInfo {
                        code: stringify!($denied),
                        severity: Severity::Warning,
                        name: Some($denied_name),
                        default_on: true,
                        denied: true,
                        title: $denied_title,
                    },)*
                    $(Code::$warning => &CodeInfo {
                        code: stringify!($warning),
                        severity: Severity::Warning,
                        name: Some($name),
                        default_on: codes!(@ $default),
                        denied: false,
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

        // What the subset leaves out.
        E0220 "templates are outside the `.cdp` subset";
        E0221 "lambda expressions are outside the `.cdp` subset";
        E0222 "member functions are outside the `.cdp` subset";
        E0223 "constructors and destructors are outside the `.cdp` subset";
        E0224 "access control is outside the `.cdp` subset";
        E0225 "inheritance is outside the `.cdp` subset";
        E0226 "virtual functions are outside the `.cdp` subset";
        E0227 "exceptions are outside the `.cdp` subset";
        E0228 "a computed `goto` is outside the `.cdp` subset";
        E0229 "this range-based `for` is outside the `.cdp` subset";
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
        E0243 "the C++ standard library is outside the `.cdp` subset";
        E0244 "this type is outside the `.cdp` subset";

        // Declarations, types and expressions.
        E0301 "a name that is not declared";
        E0302 "declarations that contradict each other";
        E0303 "a value that does not convert to the type that is wanted";
        E0304 "an operator without meaning for its operands";
        E0305 "an assignment to something that cannot be assigned to";
        E0306 "a call with arguments that no function takes";
        E0307 "a call that fits several functions";
        E0308 "an incomplete type where a size is needed";
        E0309 "a member that is not there";
        E0310 "a constant expression is needed";
        E0311 "a static assertion failed";
        E0312 "an impossible array or object size";
        E0313 "an initialiser that does not fit";
        E0314 "a jump statement outside what it belongs to";
        E0315 "a `return` that does not fit its function";
        E0316 "an invalid declaration";
        E0317 "an invalid function declaration";
        E0318 "a call of something that is no function";
        E0319 "an impossible cast";
        E0320 "pointer arithmetic, subscripts or dereferencing of something unsuitable";
        E0321 "something that has no address";
        E0323 "a reference that cannot be bound";
        E0324 "an invalid enumeration or bit-field";
        E0326 "an invalid attribute value";
        E0328 "inline PTX with wrong operands";
        E0329 "an invalid `switch`";
        E0330 "a static variable without a constant initial value";
        E0331 "`auto` that cannot be deduced";
        E0333 "an invalid operator function";
        E0334 "an invalid `new` or `delete`";
        E0335 "an unknown language linkage";

        // Launches.
        E0401 "a launch with the wrong number of arguments";
        E0402 "a launch argument of the wrong type";
        E0403 "a pointer to local memory as a launch argument";
        E0404 "a pointer to shared memory as a launch argument";
        E0405 "kernel parameters that take too many bytes";
        E0409 "a launch from a `__host__ __device__` function";
        E0410 "a kernel called without a launch configuration";
        E0411 "a launch of something that is no kernel";
        E0412 "a kernel that returns a value";
        E0413 "an invalid launch configuration";
        E0414 "a named stream that CDP1 does not have";
        E0415 "a named stream that the launch ABI cannot launch into";
        E0416 "CDP1 on an architecture that does not have it";
        E0417 "a kernel with parameters that cannot be launched";
        E0419 "a `#pragma cdp` that is not understood, or that contradicts another";

        // Device and host, memory spaces.
        E0501 "a host function in device code";
        E0502 "a device function in host code";
        E0503 "a host variable in device code";
        E0504 "a device variable in host code";
        E0505 "a memory-space word that does not fit the declaration";
        E0506 "an initialiser of a shared variable";
        E0507 "a write to constant memory or a builtin variable";
        E0508 "execution-space words that contradict each other";
        E0509 "something of device code in host code";

        // Device runtime and CUDA API.
        E0601 "`cudaDeviceSynchronize` in device code";
        E0602 "a runtime function that device code does not have";
        E0603 "a function of CUDA or the C library that is outside the `.cdp` subset";
        E0605 "a device-side copy of local or shared memory";
        E0608 "a function that the architecture does not have";

        // `.cu` files.
        E0901 "an error in a `.cu` file";
        E0902 "a launch in a `.cu` file that cannot be lowered";
    }
    denied {
        // Launches that fail when the program runs, which a program may want to show.
        E0406 "launch-block" "a block that no device can run";
        E0407 "launch-grid" "a grid that no device can run";
        E0408 "launch-shared-memory" "more shared memory than the architecture has";
    }
    warnings {
        W0150 "warning-directive" on "`#warning`";
        W0151 "macro-redefined" on "a macro is defined again with another meaning";
        W0152 "unknown-directive-tail" on "extra text after a preprocessor directive";
        W0153 "multichar" on "a character constant with several characters";
        W0154 "unknown-pragma" off "a pragma that this compiler does not know";

        W0701 "writable-strings" on "a string literal becomes a pointer to non-const characters";
        W0702 "array-bounds" on "an index outside its array";
        W0703 "div-by-zero" on "an integer divided by zero";
        W0704 "shift-count" on "a shift by more bits than the value has";
        W0705 "sign-compare" on "a negative number compared with an unsigned value";
        W0706 "return-type" on "a function ends without returning its value";
        W0707 "misplaced-unroll" on "`#pragma unroll` before something that is no loop";
        W0708 "return-local-addr" on "the address of a local variable is returned";
        W0709 "format" on "a `printf` format that does not fit its arguments";
        W0710 "launch-pointer" on "a launch argument may point to local or shared memory";
        W0711 "copy-pointer" on "a device-side copy may touch local or shared memory";
        W0712 "repeated-launch" on "every thread of a block makes the same launch";
        W0713 "divergent-barrier" on "a barrier that some threads of the block do not reach";
        W0714 "stream-flags" on "a device-side stream without `cudaStreamNonBlocking`";
        W0715 "event-flags" on "a device-side event without `cudaEventDisableTiming`";
        W0716 "handle-to-child" on "a stream or event handle is passed to a child";
        W0717 "child-result" on "the parent reads what its child writes";
        W0718 "volatile-register" off "a register whose value may change while the thread runs";
        W0719 "unchecked-launch" off "a function that launches and never looks for an error";
        W0720 "launch-in-loop" off "launches in a loop may pass the pending-launch limit";
        W0721 "narrowing" on "a value in braces that its type cannot hold";
        W0722 "pointer-to-int-cast" on "a pointer cast to an integer that is too small for it";
        W0723 "execution-space" on "declarations of one function that name different sides";
        W0724 "copy-kind" on "a device-side copy from or to the host";
        W0725 "unused-variable" off "a variable that nothing reads";
        W0726 "parentheses" on "an assignment where a condition is expected";
        W0727 "tautological-compare" on "a comparison that always has one result";
        W0728 "constant-conversion" on "a constant that the type it is given to cannot hold";

        W0901 "clang" on "a warning about a `.cu` file";
        W0902 "launch-limits" on "a launch in a `.cu` file that no device can run";
    }
}

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

impl Code {
    /// True for a code with a name, whose severity options decide.
    pub fn is_lint(self) -> bool {
        self.info().name.is_some()
    }

    /// The page that explains it, in Markdown: what it means, an example, and the cure.
    pub fn page(self) -> Option<&'static str> {
        let code = self.info().code;
        let place = PAGES.binary_search_by_key(&code, |(name, _)| name).ok()?;
        Some(PAGES[place].1)
    }

    /// Whether it refuses, wherever it is raised, what clang takes on host and device.
    pub fn is_for_clang(self) -> bool {
        use Code::*;
        matches!(
            self,
            E0220
                | E0221
                | E0222
                | E0223
                | E0224
                | E0225
                | E0226
                | E0228
                | E0229
                | E0232
                | E0233
                | E0234
                | E0236
                | E0237
                | E0238
                | E0243
        )
    }

    /// The code spelled `E0203`; upper or lower case.
    pub fn parse(text: &str) -> Option<Code> {
        ALL.iter().copied().find(|code| code.info().code.eq_ignore_ascii_case(text))
    }
}

/// The pages of `compiler/docs/codes`, sorted by code.
const PAGES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/pages.rs"));

impl std::fmt::Display for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.info().code)
    }
}

/// The lint with this name.
pub fn lint(name: &str) -> Option<Code> {
    ALL.iter().copied().find(|code| code.info().name == Some(name))
}
