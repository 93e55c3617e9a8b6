//! The reference of the language, `compiler/docs/language.md`: what `.cdp` accepts and refuses,
//! written from the tables that the compiler itself works with.
//!
//! Not here: an explanation of the language (the guides do that) or of a diagnostic (its
//! page does). Nothing is listed here that the compiler does not look up at compile time; what a
//! reader needs besides are a heading and a sentence or two.

mod codes;
mod functions;
mod types;
mod words;

use std::collections::{BTreeSet, HashSet};

use cdp_diagnostics::codes::ALL;
use cdp_frontend::check::builtins::types::all_types;
use cdp_frontend::check::builtins::{
    all_functions, is_type_name, lookup_constant, outside, outside_declared, outside_libraries,
    outside_names,
};
use cdp_ir::runtime::RUNTIME_TABLE;
use libtest_mimic::Trial;

use crate::oracle::nvcc_toolkit;
use crate::support::{Outcome, blessing, read, root, trial};

pub fn trials() -> Vec<Trial> {
    vec![
        trial("reference::committed".into(), committed),
        trial("reference::complete".into(), complete),
        trial("reference::whole".into(), whole),
        trial("reference::cuda_headers".into(), cuda_headers),
    ]
}

/// The whole document, in Markdown. Links are relative to `compiler/docs`.
fn markdown() -> String {
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
`cargo xtask bless reference` writes it again.
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

/// With `CDP_BLESS=1` it is written.
fn committed() -> Outcome {
    let path = root().join("compiler/docs/language.md");
    let made = markdown();
    if blessing() {
        std::fs::write(&path, &made).map_err(|error| error.to_string())?;
    }
    let committed = read(&path)?.replace("\r\n", "\n");
    let same = committed.lines().zip(made.lines()).take_while(|(a, b)| a == b).count();
    let line = |text: &str| text.lines().nth(same).unwrap_or("<end>").to_owned();
    let what = format!("compiler/docs/language.md:{}", same + 1);
    crate::support::same(&what, &line(&committed), &line(&made))
}

/// Every function, code and type is there.
fn complete() -> Outcome {
    let text = markdown();
    for func in all_functions() {
        let form = format!(" {}(", func.name);
        assert_eq!(text.contains(&form), !func.flags.internal, "{}", func.name);
    }
    let rows = RUNTIME_TABLE.iter().map(|row| row.name.to_owned());
    let codes = ALL.iter().map(|code| format!("[{code}](codes/{code}.md)"));
    let types = all_types().map(|def| def.name.to_owned());
    let left_out = outside_names().chain(outside_declared()).chain(outside_libraries()).map(code);
    let missing: Vec<String> = rows
        .chain(codes)
        .chain(types)
        .chain(left_out)
        .filter(|name| !text.contains(name))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
    Ok(())
}

/// Headers of CUDA's runtime, and how the names in them begin that a program uses.
const CUDA_HEADERS: [(&str, &str); 10] = [
    ("driver_types.h", "cuda"),
    ("cuda_runtime_api.h", "cuda"),
    ("cuda_device_runtime_api.h", "cuda"),
    ("surface_types.h", "cuda"),
    ("texture_types.h", "cuda"),
    ("library_types.h", "cuda"),
    ("channel_descriptor.h", "cuda"),
    ("cuda_fp8.h", "__nv_fp"),
    ("cuda_fp6.h", "__nv_fp"),
    ("cuda_fp4.h", "__nv_fp"),
];

/// Each name that CUDA's headers have is one that is accepted or refused by name, and what is refused is a name of theirs.
fn cuda_headers() -> Outcome {
    let folder = nvcc_toolkit()?.root.join("include");
    let (mut theirs, mut unknown) = (BTreeSet::new(), BTreeSet::new());
    for (header, beginning) in CUDA_HEADERS {
        let names = names_in(&read(&folder.join(header))?, beginning);
        unknown.extend(names.iter().filter(|name| !is_known(name)).cloned());
        theirs.extend(names);
    }
    assert!(theirs.len() > 1000, "{}", theirs.len());
    assert!(unknown.is_empty(), "{unknown:?}");
    for listed in outside_declared() {
        let names = theirs.iter().filter(|name| match listed.strip_suffix('*') {
            Some(beginning) => name.starts_with(beginning),
            None => *name == listed,
        });
        let (ours, others): (Vec<&String>, Vec<&String>) = names.partition(|name| is_ours(name));
        assert!(ours.is_empty() && !others.is_empty(), "{listed}: {ours:?}");
    }
    Ok(())
}

/// Words outside of comments that begin so, but for second names of tags and of functions for streams of a thread's own.
fn names_in(text: &str, beginning: &str) -> BTreeSet<String> {
    let mut code = String::new();
    for (index, part) in text.split("/*").enumerate() {
        code += if index == 0 { part } else { part.split_once("*/").map_or("", |(_, rest)| rest) };
    }
    let lines = code.lines().map(|line| line.split("//").next().unwrap_or_default());
    let words = lines.flat_map(|line| line.split(|c: char| c != '_' && !c.is_ascii_alphanumeric()));
    let names = words.filter(|word| {
        let rest = word.strip_prefix(beginning).and_then(|rest| rest.chars().next());
        let second = ["_st", "_enum", "_ptsz", "_ptds"].iter().any(|end| word.ends_with(end));
        rest.is_some_and(|first| first.is_ascii_uppercase() || first.is_ascii_digit()) && !second
    });
    names.map(str::to_owned).collect()
}

/// Whether `.cdp` has it, as a function, constant or type.
fn is_ours(name: &str) -> bool {
    lookup_constant(name).is_some()
        || is_type_name(name)
        || all_functions().any(|row| row.name == name)
}

fn is_known(name: &str) -> bool {
    is_ours(name) || outside(name, false).is_some()
}

/// Headings are linked, and the rows of a table have as many columns.
fn whole() -> Outcome {
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
    Ok(())
}
