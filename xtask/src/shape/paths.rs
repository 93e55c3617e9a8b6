//! The paths that a source names, read without a compiler: comments, texts and tests are left out, macros
//! are taken for what their text says.

/// A path with what it was imported for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// Segments, `*` last for all names.
    pub path: Vec<String>,
    /// The name that it has here; none for a path in the code.
    pub name: Option<String>,
    /// Others see the name here.
    pub public: bool,
}

/// What a source says of names.
#[derive(Debug, Default)]
pub struct Names {
    /// Every path, in a `use` or in the code.
    pub imports: Vec<Import>,
    /// Items that it defines.
    pub items: Vec<String>,
    /// Modules that are files of their own.
    pub children: Vec<String>,
}

/// Words before the name of an item.
const DEFINING: [&str; 9] =
    ["fn", "struct", "enum", "trait", "type", "const", "static", "union", "macro_rules"];

/// Reads a source.
pub fn read(source: &str) -> Names {
    let tokens = tokens(source);
    let mut names = Names::default();
    let mut at = 0;
    let word = |at: usize| tokens.get(at).map_or("", String::as_str);
    while at < tokens.len() {
        match word(at) {
            "use" => {
                let public = at > 0 && (word(at - 1) == "pub" || word(at - 1) == ")");
                at += 1;
                tree(&tokens, &mut at, &mut Vec::new(), public, &mut names.imports);
            }
            "mod" if word(at + 2) == ";" => {
                names.children.push(word(at + 1).to_owned());
                at += 3;
            }
            "mod" => {
                names.items.push(word(at + 1).to_owned());
                at += 2;
            }
            defining if DEFINING.contains(&defining) => {
                let name = at + 1 + usize::from(word(at + 1) == "!");
                names.items.push(word(name).to_owned());
                at += 2;
            }
            first if is_name(first) && word(at + 1) == "::" => {
                let mut path = vec![first.to_owned()];
                while word(at + 1) == "::" && is_name(word(at + 2)) {
                    path.push(word(at + 2).to_owned());
                    at += 2;
                }
                names.imports.push(Import { path, name: None, public: false });
                at += 1;
            }
            _ => at += 1,
        }
    }
    names
}

fn is_name(word: &str) -> bool {
    word.starts_with(|first: char| first.is_alphabetic() || first == '_')
}

/// A tree of a `use`, with the path before it.
fn tree(
    tokens: &[String],
    at: &mut usize,
    before: &mut Vec<String>,
    public: bool,
    found: &mut Vec<Import>,
) {
    let depth = before.len();
    while let Some(word) = tokens.get(*at) {
        *at += 1;
        match word.as_str() {
            "::" => {}
            "{" => loop {
                match tokens.get(*at).map(String::as_str) {
                    Some("}") => {
                        *at += 1;
                        before.truncate(depth);
                        return;
                    }
                    // No tree of a `use` has the latter; a macro's text may.
                    Some("," | ";") => *at += 1,
                    Some(_) => tree(tokens, at, before, public, found),
                    None => return,
                }
            },
            "," | "}" | ";" => {
                *at -= 1;
                break;
            }
            "as" => {
                let name = tokens.get(*at).cloned();
                *at += 1;
                found.push(Import { path: before.clone(), name, public });
                before.truncate(depth);
                return;
            }
            segment if is_name(segment) || segment == "*" => before.push(segment.to_owned()),
            _ => {}
        }
    }
    if before.len() > depth {
        let mut path = before.clone();
        if path.last().is_some_and(|last| last == "self") && path.len() > 1 {
            path.pop();
        }
        let name = path.last().cloned();
        found.push(Import { path, name, public });
    }
    before.truncate(depth);
}

/// Words and marks of the code; `::` is one mark.
fn tokens(source: &str) -> Vec<String> {
    let code = without_tests(blank(source));
    let mut tokens: Vec<String> = Vec::new();
    let mut rest = code.as_str();
    while let Some(first) = rest.chars().next() {
        let length = if first.is_alphanumeric() || first == '_' {
            rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len())
        } else if rest.starts_with("::") {
            2
        } else {
            first.len_utf8()
        };
        if !first.is_whitespace() {
            tokens.push(rest[..length].to_owned());
        }
        rest = &rest[length..];
    }
    tokens
}

/// The code with blanks for what comments and texts contain.
fn blank(source: &str) -> String {
    let mut code = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(first) = rest.chars().next() {
        let before = code.ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if first == '"' {
            text_length(rest)
        } else if !before && (rest.starts_with("r\"") || rest.starts_with("r#")) {
            raw_length(rest).unwrap_or(1)
        } else if first == '\'' {
            // A character, or else the mark of a lifetime.
            let mut inside = rest[1..].char_indices();
            match (inside.next().map(|(_, c)| c), inside.next()) {
                (Some('\\'), _) => rest[3..].find('\'').map_or(1, |end| end + 4),
                (_, Some((end, '\''))) => end + 2,
                _ => 1,
            }
        } else {
            code.push(first);
            rest = &rest[first.len_utf8()..];
            continue;
        };
        code.push(' ');
        rest = &rest[length..];
    }
    code
}

/// Bytes of the text literal at the beginning.
fn text_length(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    let mut at = 1;
    while at < bytes.len() && bytes[at] != b'"' {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1).min(rest.len())
}

/// Bytes of the raw text literal at the beginning, if it is one.
fn raw_length(rest: &str) -> Option<usize> {
    let marks = rest[1..].bytes().take_while(|byte| *byte == b'#').count();
    let inside = rest[1 + marks..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(marks));
    Some(inside.find(&end)? + 2 + marks + end.len())
}

/// The code less its items for tests.
fn without_tests(mut code: String) -> String {
    const MARK: &str = "#[cfg(test)]";
    while let Some(from) = code.find(MARK) {
        let end = |close: char| code[from..].find(close).map(|at| from + at);
        let (opens, ends) = (end('{'), end(';'));
        let to = match (opens, ends) {
            (Some(open), ends) if ends.is_none_or(|end| open < end) => {
                let mut depth = 0;
                let close = code[open..].char_indices().find(|(_, c)| {
                    depth += i32::from(*c == '{') - i32::from(*c == '}');
                    depth == 0
                });
                close.map_or(code.len(), |(at, _)| open + at + 1)
            }
            (_, Some(end)) => end + 1,
            _ => code.len(),
        };
        code.replace_range(from..to, "");
    }
    code
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uses_paths_items_and_children() {
        let names = read(
            r##"
            //! `crate::not::this`
            mod child;
            mod within { }
            pub(crate) use child::{self, a::{B, C as D}, *};
            use super::x;
            const TEXT: &str = r#"crate::nor::this "quoted" "#;
            fn f<'a>(c: char) -> &'a str { let _ = ['"', '\'', '\\']; crate::y::z::<u8>(c); "crate::n" }
            #[cfg(test)]
            mod tests { use crate::tested; fn g() { {} } }
            macro_rules! m { () => { self::f() } }
            m! { use { 1; 2 } }
            "##,
        );
        assert_eq!(names.children, ["child"]);
        assert_eq!(names.items, ["within", "TEXT", "f", "m"]);
        let shown: Vec<String> = names
            .imports
            .iter()
            .map(|import| {
                let name = import.name.clone().unwrap_or_default();
                format!("{} {name} {}", import.path.join("::"), import.public)
            })
            .collect();
        assert_eq!(
            shown,
            [
                "child child true",
                "child::a::B B true",
                "child::a::C D true",
                "child::* * true",
                "super::x x false",
                "crate::y::z  false",
                "self::f  false",
            ]
        );
    }
}
