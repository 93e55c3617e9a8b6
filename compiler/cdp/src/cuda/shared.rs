//! `__shared__` variables whose type has a constructor or destructor, such as `cuda::barrier`.
//!
//! nvcc takes them and runs neither; clang refuses them. Where clang has refused some, their
//! declarations are written again ([`super::again`]) as storage of the type's size and alignment with a reference to
//! it. What else a declaration may be stays as it is, so that clang's refusal stands.
//!
//! ```text
//! __shared__ cuda::barrier<scope> bar[2];
//! using __cdp_type_bar = cuda::barrier<scope> [2]; __shared__
//!     __attribute__((aligned(alignof(__cdp_type_bar)))) unsigned char __cdp_place_bar[sizeof(__cdp_type_bar)]; __cdp_type_bar &bar =
//!     reinterpret_cast<__cdp_type_bar &>(__cdp_place_bar);                          // on one line
//! ```
//!
//! Most are seen before clang reads the file at all ([`super::foreseen`]).
//!
//! This is no parser of C++: it splits one declaration whose place is known.

use std::ops::Range;

/// The part of clang's message that asks for this.
pub(super) const REFUSED: &str = "initialization is not supported for __shared__ variables";

/// The declaration of the variable that is named at `at`, and what is to stand there; `None` for one of another form.
pub(super) fn anew(text: &str, at: usize) -> Option<(Range<usize>, String)> {
    let range = declaration(text, at)?;
    let new = storage_and_reference(&text[range.clone()])?;
    Some((range, new))
}

/// The declaration around a name: behind the last `;`, `{`, `}` or label before it, to its `;`.
pub(super) fn declaration(text: &str, at: usize) -> Option<Range<usize>> {
    let from = text[..at].rfind("__shared__")?;
    if text[from..at].contains([';', '{', '}']) {
        return None;
    }
    let before = text[..from].trim_end();
    // `static __shared__`, or an alignment in front of it.
    let word = before.rfind(|c: char| !c.is_alphanumeric() && c != '_').map_or(0, |at| at + 1);
    let start = match &before[word..] {
        "static" => word,
        "extern" => return None,
        _ => from,
    };
    let end = at + text[at..].find([';', '{', '}'])?;
    text[end..].starts_with(';').then_some(start..end + 1)
}

/// The declaration as storage with references; `None` for one of another form.
pub(super) fn storage_and_reference(declaration: &str) -> Option<String> {
    let body = declaration.strip_suffix(';')?;
    // What directives and comments do to it is not looked into.
    if body.contains(['#', '=', '"', '\'']) || body.contains("//") || body.contains("/*") {
        return None;
    }
    let declarators = split_at_commas(body);
    let (first, more) = declarators.split_first()?;
    let (specifiers, first) = split_name(first)?;
    let mut rest = specifiers.replace("__shared__", " ");
    if let Some(at) = find_word(&rest, "static") {
        rest.replace_range(at..at + "static".len(), " ");
    }
    let (attributes, of_type) = split_attributes(&rest)?;
    let mut made = String::new();
    let mut names = vec![first];
    for declarator in more {
        let (pointer, name) = split_name(declarator)?;
        if !pointer.trim().is_empty() {
            return None;
        }
        names.push(name);
    }
    for (name, bounds) in names {
        let of_type = of_type.split_whitespace().collect::<Vec<_>>().join(" ");
        made.push_str(&format!(
            "using __cdp_type_{name} = {of_type} {bounds}; {attributes}__shared__ \
             __attribute__((aligned(alignof(__cdp_type_{name})))) unsigned char \
             __cdp_place_{name}[sizeof(__cdp_type_{name})]; __cdp_type_{name} &{name} = \
             reinterpret_cast<__cdp_type_{name} &>(__cdp_place_{name}); "
        ));
    }
    // Lines behind the declaration keep their numbers.
    made.extend(body.matches('\n'));
    Some(made)
}

/// The type of a declaration's first variable.
pub(super) fn type_of(declaration: &str) -> Option<String> {
    let (specifiers, _) = split_name(split_at_commas(declaration.strip_suffix(';')?).first()?)?;
    let rest = specifiers.replace("__shared__", " ").replace("static ", " ");
    split_attributes(&rest).map(|(_, of_type)| of_type.to_owned())
}

/// What stands before a declarator's name, and the name with its array bounds.
fn split_name(declarator: &str) -> Option<(&str, (&str, &str))> {
    let text = declarator.trim_end();
    let bounds_at = bounds_of(text)?;
    let (head, bounds) = text.split_at(bounds_at);
    let head = head.trim_end();
    let start = head.rfind(|c: char| !c.is_alphanumeric() && c != '_').map_or(0, |at| at + 1);
    let name = &head[start..];
    let starts = name.chars().next().is_some_and(|c| c.is_alphabetic() || c == '_');
    starts.then_some((&head[..start], (name, bounds)))
}

/// Where the array bounds at the end of a declarator begin; its end if there are none.
fn bounds_of(text: &str) -> Option<usize> {
    let mut end = text.len();
    while text[..end].trim_end().ends_with(']') {
        let mut depth = 0;
        let open = text[..end].char_indices().rev().find(|&(_, c)| {
            depth += i32::from(c == ']') - i32::from(c == '[');
            c == '[' && depth == 0
        });
        end = open?.0;
    }
    Some(end)
}

/// The attributes before a type (`alignas(16)`, `__align__(16)`, `__attribute__((...))`), and the type.
fn split_attributes(specifiers: &str) -> Option<(String, &str)> {
    let mut rest = specifiers.trim_start();
    let mut attributes = String::new();
    for _ in 0..8 {
        let begins = ["alignas", "__align__", "__attribute__"].iter().any(|word| {
            rest.strip_prefix(word).is_some_and(|rest| rest.trim_start().starts_with('('))
        });
        if !begins {
            break;
        }
        let mut depth = 0;
        let close = rest.char_indices().find(|&(_, c)| {
            depth += i32::from(c == '(') - i32::from(c == ')');
            c == ')' && depth == 0
        });
        let (word, behind) = rest.split_at(close?.0 + 1);
        attributes.push_str(word);
        attributes.push(' ');
        rest = behind.trim_start();
    }
    let of_type = rest.trim_end();
    // A pointer or a reference has no constructor: clang spoke of something else.
    (!of_type.is_empty() && !of_type.ends_with(['*', '&'])).then_some((attributes, of_type))
}

/// Parts between commas that stand in no brackets. `<` opens one, but not inside of others, where it
/// compares.
fn split_at_commas(text: &str) -> Vec<&str> {
    let (mut brackets, mut angles, mut start, mut parts) = (0, 0, 0, Vec::new());
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' | '{' => brackets += 1,
            ')' | ']' | '}' => brackets -= 1,
            '<' if brackets == 0 => angles += 1,
            '>' if brackets == 0 => angles -= 1,
            ',' if brackets == 0 && angles == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

fn find_word(text: &str, word: &str) -> Option<usize> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word)
        .map(|(at, _)| at)
        .find(|&at| !text[..at].ends_with(is_word) && !text[at + word.len()..].starts_with(is_word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rewritten(text: &str, name: &str) -> Option<String> {
        let (range, new) = anew(text, text.find(name).unwrap())?;
        Some(format!("{}{new}{}", &text[..range.start], &text[range.end..]))
    }

    #[test]
    fn declarations_become_storage_and_references() {
        let text = "void k() {\n  int a; static __shared__ alignas(64) ns::B<1, (2 > 1)>\n    bar[N][2], c; f(bar);\n}\n";
        let made = rewritten(text, "bar[").unwrap();
        assert!(made.starts_with("void k() {\n  int a; using __cdp_type_bar = ns::B<1, (2 > 1)> [N][2]; alignas(64) __shared__ "), "{made}");
        assert!(made.contains("; using __cdp_type_c = ns::B<1, (2 > 1)> ; "), "{made}");
        assert!(made.ends_with("\n f(bar);\n}\n"), "{made}");
        assert_eq!(text.lines().count(), made.lines().count());
    }

    #[test]
    fn other_forms_are_left_to_clang() {
        for text in [
            "extern __shared__ B bar[];",
            "__shared__ B bar = B(1);",
            "__shared__ B bar{1};",
            "__shared__ B *bar;",
            "SHARED(B, bar);",
            "__shared__ B other; B bar;",
            "__shared__ B // why\n bar;",
        ] {
            assert_eq!(rewritten(text, "bar"), None, "{text}");
        }
    }
}
