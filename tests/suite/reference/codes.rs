//! Warnings and diagnostic codes.
use cdp_diagnostics::codes::{ALL, GROUPS};
use cdp_diagnostics::{Code, Severity};

use super::{Doc, code};

/// A code with a link to its page.
pub fn link(code: Code) -> String {
    format!("[{code}](codes/{code}.md)")
}

/// Warnings by name.
pub fn warnings(doc: &mut Doc) {
    doc.heading(2, "Warnings");
    doc.text(
        "`-Wname` turns one on, `-Wno-name` off, `-Werror=name` makes it an error; `-Werror` does so \
         with all. `-A name`, `-W name` and `-D name` allow, warn of and deny one, and so does a \
         pragma from its place to the end of the block or file: `#pragma cdp allow(name)`, \
         `warn(name)`, `deny(name)`. `-Wall` asks for unused variables and unchecked launches, \
         `-Wextra` for everything.",
    );
    let mut warnings: Vec<Code> = ALL.iter().copied().filter(|code| code.is_lint()).collect();
    warnings.sort_by_key(|code| code.info().name);
    let rows: Vec<Vec<String>> = warnings
        .iter()
        .map(|warning| {
            let info = warning.info();
            let default = match (info.default_on, info.denied) {
                (_, true) => "error",
                (true, _) => "on",
                (false, _) => "off",
            };
            let name = code(info.name.unwrap_or_default());
            vec![name, default.to_owned(), link(*warning), info.title.to_owned()]
        })
        .collect();
    doc.table(&["Warning", "Default", "Code", "What it finds"], &rows);
}

/// Every code, by what it is about.
pub fn all(doc: &mut Doc) {
    doc.heading(2, "Diagnostic codes");
    doc.text("`cdpc explain E0403` shows a code's page: what it means, an example, and the cure.");
    for (prefix, title) in GROUPS {
        let rows: Vec<Vec<String>> = ALL
            .iter()
            .filter(|code| {
                code.info().code.starts_with(prefix)
                    && (code.info().severity == Severity::Error || code.info().denied)
            })
            .map(|code| vec![link(*code), code.info().title.to_owned()])
            .collect();
        if !rows.is_empty() {
            doc.heading(3, title);
            doc.table(&["Code", "What is wrong"], &rows);
        }
    }
}
