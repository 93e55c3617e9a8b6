//! The reference of the language, `compiler/docs/language.md`: what `.cdp` accepts and refuses,
//! written from the tables that the compiler itself works with.
//!
//! What this is not: an explanation of the language (the guides do that) or of a diagnostic (its
//! page does). Nothing is listed here that the compiler does not look up at compile time; what a
//! reader needs besides are a heading and a sentence or two.

mod codes;
mod functions;
mod types;
mod words;

/// The whole document, in Markdown. Links are relative to `compiler/docs`.
pub fn markdown() -> String {
    let mut doc = Doc::default();
    words::keywords(&mut doc);
    words::left_out(&mut doc);
    words::attributes(&mut doc);
    words::pragmas(&mut doc);
    words::macros(&mut doc);
    words::headers(&mut doc);
    types::builtin_variables(&mut doc);
    types::arithmetic(&mut doc);
    types::vectors(&mut doc);
    types::api_types(&mut doc);
    types::enumerations(&mut doc);
    types::constants(&mut doc);
    functions::device_runtime(&mut doc);
    functions::groups(&mut doc);
    functions::removed(&mut doc);
    functions::outside(&mut doc);
    codes::warnings(&mut doc);
    codes::all(&mut doc);
    doc.finish()
}

const OPENING: &str = "\
# The `.cdp` language

What `.cdp` accepts, what it refuses, and by which diagnostic. `.cdp` is C, the part of C++ that CUDA
programs in C style use, and CUDA C++ with launches from device code; whatever is accepted means what
nvcc makes of it.

This file is written from the compiler's own tables: a test fails when it differs from them, and
`cargo xtask bless --package cdp-frontend reference` writes it again.
";

/// A Markdown document being written.
#[derive(Default)]
struct Doc {
    body: String,
    /// Level and text of each heading.
    headings: Vec<(usize, String)>,
}

impl Doc {
    /// A heading of level 2 or 3, which the table of contents lists.
    fn heading(&mut self, level: usize, title: &str) {
        self.headings.push((level, title.to_owned()));
        self.body.push_str(&format!("\n{} {title}\n", "#".repeat(level)));
    }

    /// A paragraph.
    fn text(&mut self, text: &str) {
        self.body.push_str(&format!("\n{}\n", text.trim_end()));
    }

    /// A table; nothing when it has no rows.
    fn table(&mut self, head: &[&str], rows: &[Vec<String>]) {
        if rows.is_empty() {
            return;
        }
        self.body.push_str(&format!("\n| {} |\n|", head.join(" | ")));
        self.body.push_str(&" --- |".repeat(head.len()));
        self.body.push('\n');
        for row in rows {
            debug_assert_eq!(row.len(), head.len());
            let cells: Vec<String> = row.iter().map(|cell| cell.replace('|', "\\|")).collect();
            self.body.push_str(&format!("| {} |\n", cells.join(" | ")));
        }
    }

    fn finish(self) -> String {
        let mut text = OPENING.to_owned();
        text.push('\n');
        for (level, title) in &self.headings {
            let indent = "  ".repeat(level - 2);
            text.push_str(&format!("{indent}- [{title}](#{})\n", anchor(title)));
        }
        text.push_str(&self.body);
        text
    }
}

/// The fragment by which a heading is linked: lower case, hyphens for spaces, no punctuation.
fn anchor(title: &str) -> String {
    let kept = title.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect()
}

/// As code.
fn code(text: &str) -> String {
    format!("`{text}`")
}

/// Several things as code, with commas between.
fn codes_of<'t>(texts: impl IntoIterator<Item = &'t str>) -> String {
    texts.into_iter().map(code).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::path::Path;

    use super::*;

    /// `CDP_BLESS=1` writes the file.
    #[test]
    fn the_committed_document_is_what_the_tables_say() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/language.md");
        let made = markdown();
        if std::env::var_os("CDP_BLESS").is_some_and(|value| value == "1") {
            std::fs::write(&path, &made).expect("compiler/docs is writable");
        }
        let committed = std::fs::read_to_string(&path).unwrap_or_default().replace("\r\n", "\n");
        if committed == made {
            return;
        }
        let same = committed.lines().zip(made.lines()).take_while(|(a, b)| a == b).count();
        panic!(
            "compiler/docs/language.md differs from the tables at line {}:\n  file:   {}\n  \
             tables: {}\nCDP_BLESS=1 cargo test -p cdp-frontend reference writes it again",
            same + 1,
            committed.lines().nth(same).unwrap_or("<end>"),
            made.lines().nth(same).unwrap_or("<end>"),
        );
    }

    #[test]
    fn every_function_code_and_type_is_there() {
        let text = markdown();
        for func in crate::check::builtins::all_functions() {
            if !func.flags.internal {
                assert!(text.contains(&format!("{}(", func.name)), "{}", func.name);
            }
        }
        for row in cdp_ir::runtime::RUNTIME_TABLE {
            assert!(text.contains(row.name), "{}", row.name);
        }
        for code in crate::diagnostics::codes::ALL {
            assert!(text.contains(&format!("[{code}](codes/{code}.md)")), "{code}");
        }
        for def in crate::check::builtins::types::all_types() {
            assert!(text.contains(def.name), "{}", def.name);
        }
        for name in crate::check::builtins::outside_names() {
            assert!(text.contains(&format!("`{name}`")), "{name}");
        }
        for func in crate::check::builtins::all_functions().filter(|func| func.flags.internal) {
            assert!(!text.contains(&format!(" {}(", func.name)), "{} is internal", func.name);
        }
    }

    #[test]
    fn words_of_the_parser_that_the_checker_refuses() {
        for (word, code, text) in crate::parse::words::REFUSED_BY_CHECKER {
            let (_, shown, codes) =
                crate::check::tests::check_with(text, &crate::check::CheckOptions::default());
            assert!(codes.contains(&code.to_string()), "{word}: {shown}");
        }
    }

    #[test]
    fn headings_are_linked_and_tables_are_whole() {
        let text = markdown();
        let mut anchors = HashSet::new();
        for line in text.lines().filter(|line| line.starts_with("##")) {
            let title = line.trim_start_matches('#').trim();
            assert!(anchors.insert(anchor(title)), "two headings: {title}");
            assert!(text.contains(&format!("[{title}](#{})", anchor(title))), "{title}");
        }
        let mut columns = None;
        for line in text.lines() {
            let bars = line.replace("\\|", "").matches('|').count();
            if line.starts_with('|') {
                assert_eq!(*columns.get_or_insert(bars), bars, "{line}");
            } else {
                columns = None;
            }
        }
    }
}
