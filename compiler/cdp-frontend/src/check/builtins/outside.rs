//! What CUDA and the C library have and `.cdp` leaves out: each function, type and enumerator is refused by its
//! name, with what to use instead. What this is not: functions that only one side of the program has, whose
//! rows say so themselves ([`super::Lower::Refuse`]).

use crate::diagnostics::{Code, Diagnostic, NAME_IT_CU};
use crate::source::Span;

/// Paragraphs of functions: what they belong to and what to use instead, and below it their names.
const FUNCTIONS: &str = include_str!("outside.txt");
/// The same of types, enumerators and macros, some of them by how their names begin.
const DECLARED: &str = include_str!("declared.txt");
/// The same of libraries beside the runtime: how their names begin, and their namespaces with `::`.
const LIBRARIES: &str = include_str!("libraries.txt");

/// Each paragraph: what its names belong to, what to use instead (empty when there is nothing), the names.
fn paragraphs(
    list: &'static str,
) -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    let paragraphs = list.split("\n\n").filter_map(|text| text.split_once('\n'));
    paragraphs.filter_map(|(head, names)| {
        let (library, cure) = head.split_once('|')?;
        Some((library.trim(), cure.trim(), names))
    })
}

/// Every function listed, each one known to [`outside`]; the driver API is known by its names' form.
pub fn listed() -> impl Iterator<Item = &'static str> {
    paragraphs(FUNCTIONS).flat_map(|(.., names)| names.split_whitespace())
}

/// The types, enumerators and macros listed, or with `*` how their names begin.
pub fn declared() -> impl Iterator<Item = &'static str> {
    paragraphs(DECLARED).flat_map(|(.., names)| names.split_whitespace())
}

/// How the libraries' names begin, and their namespaces.
pub fn libraries() -> impl Iterator<Item = &'static str> {
    paragraphs(LIBRARIES).flat_map(|(.., names)| names.split_whitespace())
}

/// What CUDA or the C library has and `.cdp` has not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Outside {
    /// What it belongs to.
    pub library: &'static str,
    /// What to use instead; empty when there is nothing.
    pub cure: &'static str,
    function: bool,
}

impl Outside {
    /// Whether a header of the C library declares it.
    pub fn is_of_c(&self) -> bool {
        self.library == "the C library"
    }

    /// E0603 where it is used.
    pub fn report(&self, shown: &str, span: Span, on_device: bool) -> Diagnostic {
        let message =
            format!("`{shown}` is outside the `.cdp` subset: it belongs to {}", self.library);
        let mut found = Diagnostic::new(Code::E0603, span, message);
        found.help(self.cure).help(self.other_name(on_device));
        found
    }

    /// The cure by another name of the file; empty where that does not help: CUDA 13 has nothing of older
    /// versions, and device code has none of the host's functions.
    fn other_name(&self, on_device: bool) -> &'static str {
        let gone = self.library.starts_with("older");
        let is_said = self.cure.contains("name the file");
        if gone || is_said || self.function && on_device { "" } else { NAME_IT_CU }
    }
}

/// Whether CUDA or the C library has this name, or a namespace of this name where `::` follows, and `.cdp` has not.
pub fn outside(name: &str, is_namespace: bool) -> Option<Outside> {
    let is = |known: &str| match (known.strip_suffix('*'), known.strip_suffix("::")) {
        (_, Some(namespace)) => is_namespace && name == namespace,
        (Some(beginning), _) => !is_namespace && name.starts_with(beginning),
        _ => !is_namespace && name == known,
    };
    for (list, function) in [(FUNCTIONS, true), (DECLARED, false), (LIBRARIES, false)] {
        let mut paragraphs = paragraphs(list);
        let found = paragraphs.find(|(.., names)| names.split_whitespace().any(is));
        if let Some((library, cure, _)) = found {
            return Some(Outside { library, cure, function });
        }
    }
    if is_namespace {
        return None;
    }
    // `cuInit` and `CUdevice`, and not `cudaX` or `cubX`.
    let begins = |beginning, next: fn(&char) -> bool| {
        let rest = name.strip_prefix(beginning);
        rest.and_then(|rest: &str| rest.chars().next()).is_some_and(|first| next(&first))
    };
    let function = begins("cu", char::is_ascii_uppercase);
    (function || begins("CU", char::is_ascii_lowercase)).then_some(Outside {
        library: "CUDA's driver API",
        cure: "use the runtime API: functions whose names begin with `cuda`",
        function,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_is_known_and_none_is_a_builtin() {
        let mut names: Vec<&str> = listed().collect();
        assert!(names.len() > 200);
        assert!(!names.iter().any(|name| super::super::is_function_name(name)));
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]));
        let cure = |name| outside(name, false).map_or("", |left| left.cure);
        let library = |name| outside(name, false).map_or("", |left| left.library);
        assert!(cure("cudaGraphCreate").contains("parent kernel"));
        assert!(cure("cudaLaunchAttributeCooperative").contains("<<<>>>"));
        assert_eq!(library("setjmp"), "the C library");
        assert!(library("cuInit").contains("driver") && library("CUdevice").contains("driver"));
        assert!(cure("curandState").contains("curand_kernel.h"));
        for none in ["cudaMalloc", "current", "CUBE", "cudaLaunchAttribut", "thrust"] {
            assert_eq!(outside(none, false), None, "{none}");
        }
        let namespace = |name| outside(name, true).map_or("", |left| left.library);
        assert!(namespace("cooperative_groups").contains("cooperative groups"));
        assert_eq!((namespace("curandState"), namespace("cuInit")), ("", ""));
    }
}
