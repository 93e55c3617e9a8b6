//! Assignments of empty braces that nvcc takes and clang refuses: a class whose `operator=` also takes another class that is made
//! of `{}` (`__half2` and `__half2_raw`). EDG takes the class's own value for nearer; when clang reads the file again
//! ([`super::lenient`]) that is what is written.
//!
//! `__cdp_value` is declared in `headers/__cdp_cuda.h`. Not a parser: what stands before the sign is read backwards, as names,
//! members, indices, calls and stars.

use std::ops::Range;

use super::spelling::is_word;

/// Whether clang does not know which `operator=` is meant by braces, which have no type.
pub(super) fn is_of_braces(message: &str) -> bool {
    message.starts_with("use of overloaded operator '=' is ambiguous (with operand types '")
        && message.ends_with(" and 'void')")
}

/// The braces behind the sign at a place, with the type of what is assigned to.
pub(super) fn anew(text: &str, at: usize) -> Option<(Range<usize>, String)> {
    let behind = text.get(at..)?.strip_prefix('=')?;
    let braces = behind.trim_start();
    let start = text.len() - braces.len();
    braces.strip_prefix('{')?.trim_start().starts_with('}').then_some(())?;
    let to = assigned_to(text[..at].trim_end())?;
    Some((start..start, format!("decltype(__cdp_value({to}))")))
}

/// The expression that a text ends with.
fn assigned_to(text: &str) -> Option<&str> {
    let mut start = operand(text)?;
    while let Some(before) = connected(&text[..start]) {
        start = operand(before)?;
    }
    // A star with a value before it is a product, which nothing is assigned to.
    let stars = text[..start].trim_end_matches(|c: char| c == '*' || c.is_whitespace());
    let first = text[stars.len()..start].find('*').map_or(start, |place| stars.len() + place);
    Some(&text[first..])
}

/// What stands before a text's last `.`, `->` or `::`, if it ends with one.
fn connected(text: &str) -> Option<&str> {
    let text = text.trim_end();
    [".", "->", "::"].iter().find_map(|sign| text.strip_suffix(sign)).map(str::trim_end)
}

/// Where the name begins that a text ends with, with what is in brackets behind it; or the parentheses without a name.
fn operand(text: &str) -> Option<usize> {
    let mut end = text.len();
    while text[..end].ends_with([')', ']']) {
        end = opening(&text[..end])?;
        let before = text[..end].trim_end();
        if !before.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | ')' | ']')) {
            return Some(end);
        }
        // Behind `if (...)` begins a statement; behind a name or an index it goes on.
        if text[end..].starts_with('(') && before.ends_with(')') {
            return Some(end);
        }
        end = before.len();
    }
    let length = text[..end].bytes().rev().take_while(|byte| is_word(*byte)).count();
    (length > 0).then(|| end - length)
}

/// Where the bracket opens that a text ends with.
fn opening(text: &str) -> Option<usize> {
    let mut depth = 0u32;
    for (place, byte) in text.bytes().enumerate().rev() {
        match byte {
            b')' | b']' => depth += 1,
            b'(' | b'[' => depth -= 1,
            b';' | b'{' | b'}' => return None,
            _ => {}
        }
        if depth == 0 {
            return Some(place);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn braces_get_the_type_of_what_they_are_assigned_to() {
        for (text, to) in [
            ("res2 = {};", "res2"),
            ("if (a == b) x = { };", "x"),
            ("else s.m[i][j + f(1)] = {};", "s.m[i][j + f(1)]"),
            ("while (x) *p->q(2).r = {};", "*p->q(2).r"),
            ("; n::x={};", "n::x"),
            ("for (;;) (*p) = {};", "(*p)"),
        ] {
            let at = text.rfind('=').unwrap();
            let (range, new) = anew(text, at).unwrap();
            assert_eq!(new, format!("decltype(__cdp_value({to}))"), "{text}");
            assert!(range.is_empty() && text[range.start..].starts_with('{'), "{text}");
        }
        for text in ["x = {1};", "x = y;", "= {};", "x == {}", "v<T>::x = {};"] {
            assert_eq!(anew(text, text.find('=').unwrap()), None, "{text}");
        }
    }

    #[test]
    fn clang_says_that_braces_have_no_type() {
        let said = "use of overloaded operator '=' is ambiguous (with operand types 'half2' (aka '__half2') and 'void')";
        assert!(is_of_braces(said));
        assert!(!is_of_braces(&said.replace("void", "int")));
    }
}
