//! Joins the PTX texts of codegen units. Top-level items only: what is between braces is not read,
//! except for the names in it.

use std::collections::{HashMap, HashSet};

/// A top-level item with the comments before it.
struct Item<'t> {
    text: &'t str,
    name: &'t str,
    is_function: bool,
    /// A function with its body, or a variable that is not `.extern`.
    is_definition: bool,
}

/// One text of all. `promoted` has the names that are visible for the units' sake alone, and whether
/// an item of that name may go when nothing mentions it.
pub(super) fn merge(texts: &[String], promoted: &HashMap<String, bool>) -> String {
    let mut header = "";
    let mut items = Vec::new();
    for text in texts {
        let (head, rest) = split_header(text);
        header = if header.is_empty() { head } else { header };
        items.extend(split(rest));
    }
    let definitions: HashMap<&str, &Item<'_>> =
        items.iter().filter(|item| item.is_definition).map(|item| (item.name, item)).collect();
    let live = live(&items, promoted);
    let mut out = String::with_capacity(texts.iter().map(String::len).sum());
    out.push_str(header);
    let mut declared = HashSet::new();
    for item in items.iter().filter(|item| item.is_function && !item.is_definition) {
        if !live.contains(item.name) || !declared.insert(item.name) {
            continue;
        }
        match definitions.get(item.name) {
            Some(definition) => {
                out.push_str(&signature(&visible_as_before(definition, promoted)));
                out.push_str("\n;\n\n");
            }
            None => out.push_str(item.text),
        }
    }
    let is_variable = |item: &&Item<'_>| !item.is_function;
    for item in items.iter().filter(is_variable) {
        let elsewhere = !item.is_definition && definitions.contains_key(item.name);
        if !elsewhere && live.contains(item.name) && declared.insert(item.name) {
            out.push_str(&visible_as_before(item, promoted));
        }
    }
    out.push('\n');
    for item in items.iter().filter(|item| item.is_function && item.is_definition) {
        if live.contains(item.name) {
            out.push_str(&visible_as_before(item, promoted));
        }
    }
    out
}

/// The directives that open a module, and the rest.
fn split_header(text: &str) -> (&str, &str) {
    let directive = text.find("\n.address_size").map_or(0, |at| at + 1);
    let end = text[directive..].find('\n').map_or(text.len(), |at| directive + at + 1);
    text.split_at(end)
}

fn split(text: &str) -> Vec<Item<'_>> {
    let mut items = Vec::new();
    let (mut start, mut at, mut depth) = (0, 0, 0);
    for line in text.split_inclusive('\n') {
        at += line.len();
        if ends_item(line, &mut depth) {
            items.extend(item(&text[start..at]));
            start = at;
        }
    }
    items
}

/// Bytes that open or close something.
const OPENING: [bool; 256] = bytes(b"{}\"\\/");
/// Bytes of words: names, directives, instructions.
const IN_WORDS: [bool; 256] =
    bytes(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_$");

/// Which bytes are among these.
const fn bytes(these: &[u8]) -> [bool; 256] {
    let mut among = [false; 256];
    let mut at = 0;
    while at < these.len() {
        among[these[at] as usize] = true;
        at += 1;
    }
    among
}

/// Whether an item ends with a line, whose braces are counted. Comments and what strings hold are passed over.
fn ends_item(line: &str, depth: &mut usize) -> bool {
    if !line.bytes().any(|byte| OPENING[usize::from(byte)]) {
        return *depth == 0 && line.trim_end().ends_with(';');
    }
    let (mut last, mut in_string) = (b' ', false);
    let mut bytes = line.bytes().peekable();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => in_string = !in_string,
            b'\\' if in_string => drop(bytes.next()),
            _ if in_string => {}
            b'/' if bytes.peek() == Some(&b'/') => break,
            b'{' => *depth += 1,
            b'}' => *depth = depth.saturating_sub(1),
            _ => {}
        }
        if !in_string && !byte.is_ascii_whitespace() {
            last = byte;
        }
    }
    *depth == 0 && matches!(last, b';' | b'}')
}

fn item(text: &str) -> Option<Item<'_>> {
    let head_end = text.find(['{', '=', ';']).unwrap_or(text.len());
    let mut head = &text[..head_end];
    while let Some(comment) = head.trim_start().strip_prefix("//") {
        head = comment.split_once('\n')?.1;
    }
    let directive = [".entry", ".func"]
        .iter()
        .find_map(|word| head.find(word).map(|at| &head[at + word.len()..]));
    let Some(mut rest) = directive else {
        let declarator = head.split('[').next()?;
        let name = declarator.split_ascii_whitespace().next_back()?;
        let is_definition = !head.contains(".extern");
        return Some(Item { text, name, is_function: false, is_definition });
    };
    rest = rest.trim_start();
    if rest.starts_with('(') {
        rest = rest.split_once(')')?.1;
    }
    let name = rest.trim_start().split(|c: char| c == '(' || c.is_ascii_whitespace()).next()?;
    let is_definition = text.trim_end().ends_with('}');
    Some(Item { text, name, is_function: true, is_definition })
}

/// A function's head up to its parameters' end, and `.noreturn`: what a declaration repeats.
fn signature(text: &str) -> String {
    let head = text.split_once('{').map_or(text, |(head, _)| head);
    let end = head.rfind(')').map_or(head.len(), |at| at + 1);
    let noreturn = if head[end..].contains(".noreturn") { "\n.noreturn" } else { "" };
    let lines = head[..end].lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.collect::<Vec<_>>().join("\n").trim_start().to_string() + noreturn
}

/// The item without the visibility that it had for the units' sake.
fn visible_as_before(item: &Item<'_>, promoted: &HashMap<String, bool>) -> String {
    if !promoted.contains_key(item.name) {
        return item.text.to_string();
    }
    let (head, body) = item.text.split_at(item.text.find('{').unwrap_or(item.text.len()));
    let lines = head.split_inclusive('\n').filter(|line| !line.contains("// .globl"));
    lines.collect::<String>().replacen(".visible ", "", 1) + body
}

/// The names of all items that are mentioned from outside or, over any number of steps, by those
/// that are.
fn live<'t>(items: &[Item<'t>], promoted: &HashMap<String, bool>) -> HashSet<&'t str> {
    let mut by_name: HashMap<&str, Vec<&Item<'t>>> = HashMap::new();
    // Most words of a text are no item's name, which their first letters tell.
    let mut begins = [false; 256];
    for item in items {
        let definitions = by_name.entry(item.name).or_default();
        definitions.extend(item.is_definition.then_some(item));
        item.name.bytes().take(1).for_each(|first| begins[usize::from(first)] = true);
    }
    let stays = |item: &&Item<'_>| promoted.get(item.name) != Some(&true);
    let mut live = HashSet::new();
    let mut work: Vec<&Item<'t>> =
        items.iter().filter(|item| item.is_definition).filter(stays).collect();
    live.extend(work.iter().map(|item| item.name));
    while let Some(item) = work.pop() {
        for word in words(item.text, &begins) {
            if let Some(definitions) = by_name.get(word)
                && live.insert(word)
            {
                work.extend(definitions);
            }
        }
    }
    live
}

/// The words of a text that begin with one of some letters.
fn words<'t>(text: &'t str, begins: &[bool; 256]) -> impl Iterator<Item = &'t str> {
    let bytes = text.as_bytes();
    let mut at = 0;
    let run = |from: usize, in_words: bool| {
        let rest = bytes[from..].iter();
        from + rest.take_while(|&&byte| IN_WORDS[usize::from(byte)] == in_words).count()
    };
    std::iter::from_fn(move || {
        while at < bytes.len() {
            let start = run(at, false);
            at = run(start, true);
            if at > start && begins[usize::from(bytes[start])] {
                return Some(&text[start..at]);
            }
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "//\n// made\n//\n\n.version 9.0\n.target sm_90\n.address_size 64\n\n";

    fn joined(texts: &[&str], promoted: &[(&str, bool)]) -> String {
        let texts: Vec<String> = texts.iter().map(|text| format!("{HEADER}{text}")).collect();
        let promoted = promoted.iter().map(|(name, gone)| (name.to_string(), *gone)).collect();
        merge(&texts, &promoted)
    }

    #[test]
    fn a_declaration_of_another_unit_repeats_the_definition() {
        let first = ".extern .func (.param .b32 r) f\n(\n\t.param .b32 f_param_0\n)\n;\n\
                     .visible .entry k()\n{\n\tcall.uni (r), f, (p);\n}\n";
        let second = "\t// .globl\tf\n.visible .func (.param .b32 r) f(\n\t.param .b32 f_param_0\n)\
                      \n{\n\t{ // callseq }\n\t}\n\tret;\n}\n";
        let text = joined(&[first, second], &[("f", true)]);
        assert_eq!(text.matches(".version").count(), 1);
        let forward = text.find(".func (.param .b32 r) f(\n\t.param .b32 f_param_0\n)\n;");
        assert!(forward.is_some_and(|at| at < text.find(".entry k").unwrap()), "{text}");
        assert!(!text.contains(".visible .func") && !text.contains(".extern"), "{text}");
        assert!(!text.contains(".globl\tf"), "{text}");
    }

    #[test]
    fn what_nobody_mentions_goes_if_it_may() {
        let unit = ".visible .func g()\n{\n\tret;\n}\n.visible .func f()\n{\n\tcall g, ();\n}\n\
                    .visible .func kept()\n{\n\tret;\n}\n.visible .entry k()\n{\n\tret;\n}\n";
        let text = joined(&[unit], &[("f", true), ("g", true), ("kept", false)]);
        assert!(!text.contains(".func f") && !text.contains(".func g"), "{text}");
        assert!(text.contains(".func kept") && text.contains(".visible .entry k"), "{text}");
    }

    #[test]
    fn variables_stand_before_functions_and_once() {
        let first = ".visible .global .align 4 .u32 n = 7;\n.visible .entry a()\n{\n\tld n;\n}\n";
        let second = ".extern .global .align 4 .u32 n;\n.extern .shared .align 4 .b8 s[];\n\
                      .visible .entry b()\n{\n\tld n; ld s; // \"}\n}\n";
        let text = joined(&[first, second, second.replace("b()", "c()").as_str()], &[]);
        assert_eq!(text.matches(".global").count(), 1, "{text}");
        assert_eq!(text.matches(".extern .shared").count(), 1, "{text}");
        assert!(text.find("s[]").unwrap() < text.find(".entry a").unwrap(), "{text}");
        assert_eq!(text.matches(".entry").count(), 3, "{text}");
    }
}
