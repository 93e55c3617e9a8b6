//! What CUDA and the C library have and `.cdp` leaves out: each function, type and enumerator is refused by its
//! name, with what to use instead. What this is not: functions that only one side of the program has, whose
//! rows say so themselves ([`super::Lower::Refuse`]).

use crate::diagnostics::NAME_IT_CU;

/// Paragraphs of functions: what they belong to and what to use instead, and below it their names.
const FUNCTIONS: &str = include_str!("outside.txt");
/// The same of types, enumerators and macros, some of them by how their names begin.
const DECLARED: &str = include_str!("declared.txt");

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
    /// What is said of it where it is used.
    pub fn message(&self, shown: &str) -> String {
        format!("`{shown}` is outside the `.cdp` subset: it belongs to {}", self.library)
    }

    /// The cure by another name of the file; empty where that does not help: CUDA 13 has nothing of older
    /// versions, and device code has none of the host's functions.
    pub fn other_name(&self, on_device: bool) -> &'static str {
        let gone = self.library.starts_with("older");
        if gone || self.function && on_device { "" } else { NAME_IT_CU }
    }
}

/// Whether CUDA or the C library has this name and `.cdp` does not.
pub fn outside(name: &str) -> Option<Outside> {
    let is = |known: &str| match known.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => name == known,
    };
    for (list, function) in [(FUNCTIONS, true), (DECLARED, false)] {
        let mut paragraphs = paragraphs(list);
        let found = paragraphs.find(|(.., names)| names.split_whitespace().any(is));
        if let Some((library, cure, _)) = found {
            return Some(Outside { library, cure, function });
        }
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
        let cure = |name| outside(name).map_or("", |left| left.cure);
        let library = |name| outside(name).map_or("", |left| left.library);
        assert!(cure("cudaGraphCreate").contains("parent kernel"));
        assert!(cure("cudaLaunchAttributeCooperative").contains("<<<>>>"));
        assert_eq!(library("setjmp"), "the C library");
        assert!(library("cuInit").contains("driver") && library("CUdevice").contains("driver"));
        assert!(outside("cudaMalloc").is_none() && outside("current").is_none());
        assert!(outside("CUBE").is_none() && outside("cudaLaunchAttribut").is_none());
    }
}
