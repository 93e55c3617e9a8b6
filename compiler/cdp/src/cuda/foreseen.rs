//! `__shared__` variables that clang will refuse because their type has a constructor or destructor
//! ([`super::shared`]), found in a file's text before clang reads it, so that it is read once.
//!
//! A type is known by its name: CUDA's own, a class of the file with a constructor or destructor that does
//! something, or another name of one of these. What is not seen here clang refuses, and it is written again
//! then; what is seen without need is the same variable by another spelling. This is no parser of C++.

use super::again::edited;
use super::shared::{declaration, storage_and_reference, type_of};
use super::spelling::{is_word, places, skipped};

/// Class templates of CUDA's library whose objects stand in shared memory.
const OF_CUDA: &[&str] =
    &["barrier", "pipeline_shared_state", "counting_semaphore", "binary_semaphore", "atomic_flag"];

/// How many names of one type may stand for each other.
const MOST_NAMES: usize = 4;

/// The text with such declarations written again; `None` if there are none.
pub(super) fn rewritten(text: &str) -> Option<String> {
    const WORD: &str = "__shared__";
    if !text.contains(WORD) {
        return None;
    }
    let mut edits = std::collections::BTreeMap::new();
    let mut at = 0;
    while at < text.len() {
        let over = skipped(text.as_bytes(), at);
        if over > 0 || !text.as_bytes()[at..].starts_with(WORD.as_bytes()) {
            at += over.max(1);
            continue;
        }
        at += WORD.len();
        let Some(range) = declaration(text, at) else { continue };
        let place = &text[range.clone()];
        let is_wanted = type_of(place).is_some_and(|name| runs_code(text, &name, MOST_NAMES));
        if let Some(new) = is_wanted.then(|| storage_and_reference(place)).flatten() {
            at = range.end;
            edits.insert(range.start, (range.end, new));
        }
    }
    edited(text, edits)
}

/// Whether objects of a type are made or ended by code.
fn runs_code(text: &str, of_type: &str, names: usize) -> bool {
    let head = of_type.split(['<', '[']).next().unwrap_or_default();
    let name = head.rsplit("::").next().unwrap_or_default().trim();
    let name = name.rsplit(char::is_whitespace).next().unwrap_or_default();
    if name.is_empty() || !name.bytes().all(is_word) || names == 0 {
        return false;
    }
    OF_CUDA.contains(&name)
        || other_name(text, name).is_some_and(|of| runs_code(text, of, names - 1))
        || bodies(text, name).any(|body| has_code(body, name))
}

/// What `using NAME = ...;` says that a name stands for.
fn other_name<'a>(text: &'a str, name: &'a str) -> Option<&'a str> {
    places(text, name).find_map(|at| {
        let before = text[..at].trim_end();
        let rest = text[at + name.len()..].trim_start().strip_prefix('=')?;
        before.ends_with("using").then(|| rest.split(';').next()).flatten()
    })
}

/// The bodies of classes of this name.
fn bodies<'a>(text: &'a str, name: &'a str) -> impl Iterator<Item = &'a str> + 'a {
    places(text, name).filter_map(move |at| {
        let before = text[..at].trim_end();
        if !["struct", "class", "union"].iter().any(|word| before.ends_with(word)) {
            return None;
        }
        let rest = &text[at + name.len()..];
        let open = rest.find(['{', ';', '(', ')'])?;
        let rest = rest[open..].strip_prefix('{')?;
        Some(&rest[..end_of(rest, b'{', b'}')?])
    })
}

/// Where the bracket closes that is open before the text.
fn end_of(text: &str, open: u8, close: u8) -> Option<usize> {
    let mut depth = 1_usize;
    text.bytes().position(|byte| {
        depth += usize::from(byte == open);
        depth -= usize::from(byte == close);
        depth == 0
    })
}

/// Whether a class has a constructor without arguments, or a destructor, that is more than nothing.
fn has_code(body: &str, name: &str) -> bool {
    places(body, name).any(|at| {
        let Some(rest) = body[at + name.len()..].trim_start().strip_prefix('(') else {
            return false;
        };
        let Some(end) = end_of(rest, b'(', b')') else { return false };
        let (arguments, behind) = (rest[..end].trim(), rest[end + 1..].trim_start());
        let alone = arguments.is_empty() || arguments.contains('=');
        let nothing =
            behind.strip_prefix('{').is_some_and(|rest| rest.trim_start().starts_with('}'));
        let defaulted =
            behind.strip_prefix('=').is_some_and(|rest| rest.trim_start().starts_with("default"));
        alone && !nothing && !defaulted
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_that_run_code_are_found_by_name() {
        let classes = "struct A { int x; A() : x(0) {} };\nclass B final : public A { ~B() { f(); } };\n\
            struct C { C() {} C(int); int n; };\nstruct D { D() = default; };\nstruct E;\n\
            using Pair = A;\nusing block_barrier = cuda::barrier<cuda::thread_scope_block>;\n\
            template <int N> struct V { V(int a = N) : a(a) {} int a; };\n";
        let declared =
            |declaration: &str| rewritten(&format!("{classes}void k() {{ {declaration} }}"));
        for taken in [
            "__shared__ A a;",
            "static __shared__ B b[2];",
            "__shared__ Pair pair;",
            "__shared__ block_barrier bar;",
            "__shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;",
            "__shared__ ns::V<3> v, w;",
        ] {
            let made = declared(taken).unwrap_or_default();
            assert!(made.contains("reinterpret_cast<__cdp_type_"), "{taken}: {made}");
            assert_eq!(made.lines().count(), classes.lines().count() + 1);
        }
        for left in [
            "__shared__ C c;",
            "__shared__ D d;",
            "__shared__ E e;",
            "__shared__ int a[4];",
            "extern __shared__ A a[];",
            "// __shared__ A a;\n",
            "puts(\"__shared__ A a;\");",
            "__shared__ typename A::Storage s;",
        ] {
            assert_eq!(declared(left), None, "{left}");
        }
    }
}
