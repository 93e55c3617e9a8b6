//! Joins the PTX texts of codegen units. Top-level items only, as [`crate::outline`] finds them: of what is between
//! braces the names count alone.

use std::collections::{HashMap, HashSet};

use cdp_ptx::ParseError;
use cdp_ptx::lexer::Tok;

use crate::outline::{self, ItemKind, items};

/// A top-level item.
struct Item<'t> {
    /// The comments before it, and the rest of the line before.
    before: &'t str,
    item: outline::Item<'t>,
    /// What is left of its last line: a comment at most.
    after: &'t str,
}

impl Item<'_> {
    /// A function with its body, or a variable that is not `.extern`.
    fn is_definition(&self) -> bool {
        if self.item.is_function() { self.item.has_body } else { !self.item.is_extern }
    }

    fn put(&self, out: &mut String, promoted: &HashMap<String, bool>) {
        if !promoted.contains_key(self.item.name) {
            out.extend([self.before, self.item.text, self.after]);
            return;
        }
        // Without the visibility that it had for the units' sake.
        let lines = self.before.split_inclusive('\n');
        out.extend(lines.filter(|line| !line.contains("// .globl")));
        let text = self.item.text;
        out.extend([text.strip_prefix(".visible ").unwrap_or(text), self.after]);
    }
}

/// One text of all. `promoted` has the names that are visible for the units' sake alone, and whether
/// an item of that name may go when nothing mentions it.
///
/// # Errors
/// Somebody's inline assembly cannot be read.
pub(super) fn merge(
    texts: &[String],
    promoted: &HashMap<String, bool>,
) -> Result<String, ParseError> {
    let mut header = "";
    let mut items = Vec::new();
    for text in texts {
        let head = split(text, &mut items)?;
        header = if header.is_empty() { head } else { header };
    }
    let definitions: HashMap<&str, &Item<'_>> = items
        .iter()
        .filter(|item| item.is_definition())
        .map(|item| (item.item.name, item))
        .collect();
    let live = live(&items, promoted);
    let mut out = String::with_capacity(texts.iter().map(String::len).sum());
    out.push_str(header);
    let mut declared = HashSet::new();
    for item in items.iter().filter(|item| item.item.is_function() && !item.is_definition()) {
        if !live.contains(item.item.name) || !declared.insert(item.item.name) {
            continue;
        }
        match definitions.get(item.item.name) {
            Some(definition) => {
                out.push_str(&signature(&definition.item, promoted));
                out.push_str("\n;\n\n");
            }
            None => item.put(&mut out, &HashMap::new()),
        }
    }
    for item in items.iter().filter(|item| !item.item.is_function()) {
        let elsewhere = !item.is_definition() && definitions.contains_key(item.item.name);
        if !elsewhere && live.contains(item.item.name) && declared.insert(item.item.name) {
            item.put(&mut out, promoted);
        }
    }
    out.push('\n');
    for item in items.iter().filter(|item| item.item.is_function() && item.is_definition()) {
        if live.contains(item.item.name) {
            item.put(&mut out, promoted);
        }
    }
    Ok(out)
}

/// The directives that open a module; its items come behind those of others. An item begins where the line of the
/// one before it ends.
fn split<'t>(text: &'t str, all: &mut Vec<Item<'t>>) -> Result<&'t str, ParseError> {
    let end_of_line =
        |at: usize| text[at..].find('\n').map_or(text.len(), |length| at + length + 1);
    let (mut header, mut begin) = (0, 0);
    for item in items(text)? {
        let end = end_of_line(item.place.end).max(begin);
        if item.kind == ItemKind::Header {
            header = end;
        } else {
            let before = &text[begin.min(item.place.start)..item.place.start];
            let after = &text[item.place.end..end];
            all.push(Item { before, item, after });
        }
        begin = end;
    }
    Ok(&text[..header])
}

/// A function's head up to its parameters' end, and `.noreturn`: what a declaration repeats.
fn signature(function: &outline::Item<'_>, promoted: &HashMap<String, bool>) -> String {
    let (mut end, mut noreturn) = (0, "");
    for token in function.tokens().take_while(|token| token.tok != Tok::Punct(b'{')) {
        match token.tok {
            Tok::Punct(b')') => end = token.end as usize,
            Tok::Dot if token.text == "noreturn" => noreturn = "\n.noreturn",
            _ => {}
        }
    }
    let head = &function.text[..end];
    let hidden = head.strip_prefix(".visible ").filter(|_| promoted.contains_key(function.name));
    hidden.unwrap_or(head).to_owned() + noreturn
}

/// The names of all items that are mentioned from outside or, over any number of steps, by those
/// that are.
fn live<'t>(items: &[Item<'t>], promoted: &HashMap<String, bool>) -> HashSet<&'t str> {
    let mut by_name: HashMap<&str, Vec<&Item<'t>>> = HashMap::new();
    // Most words of a text are no item's name, which their first letters tell.
    let mut begins = [false; 256];
    for item in items {
        let name = item.item.name;
        by_name.entry(name).or_default().extend(item.is_definition().then_some(item));
        name.bytes().take(1).for_each(|first| begins[usize::from(first)] = true);
    }
    let stays = |item: &&Item<'_>| promoted.get(item.item.name) != Some(&true);
    let mut live = HashSet::new();
    let mut work: Vec<&Item<'t>> =
        items.iter().filter(|item| item.is_definition()).filter(stays).collect();
    live.extend(work.iter().map(|item| item.item.name));
    while let Some(item) = work.pop() {
        for name in item.item.names().filter(|name| begins[usize::from(name.as_bytes()[0])]) {
            if let Some(definitions) = by_name.get(name)
                && live.insert(name)
            {
                work.extend(definitions);
            }
        }
    }
    live
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "//\n// made\n//\n\n.version 9.0\n.target sm_90\n.address_size 64\n\n";

    fn joined(texts: &[&str], promoted: &[(&str, bool)]) -> String {
        let texts: Vec<String> = texts.iter().map(|text| format!("{HEADER}{text}")).collect();
        let promoted = promoted.iter().map(|(name, gone)| (name.to_string(), *gone)).collect();
        merge(&texts, &promoted).unwrap()
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
