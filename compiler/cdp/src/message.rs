//! Diagnostics as data that stands alone: no spans to look up, no source map to keep.

use std::collections::HashSet;

use cdp_diagnostics::Severity;
use cdp_diagnostics::render;
use cdp_diagnostics::source::Span;
use cdp_frontend::Session;
use serde::Serialize;

use crate::analysis::Report;

/// A place in a source. Lines and columns count from 1, columns in Unicode scalar values; 0 where
/// there is no place.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Place {
    /// The file's name as `#line` has it; empty for a finding without a place.
    pub file: String,
    /// Where the text begins.
    pub line: u32,
    /// Where the text begins.
    pub column: u32,
    /// The place just after the text.
    pub end_line: u32,
    /// The place just after the text.
    pub end_column: u32,
    /// A few words about the place; may be empty.
    pub label: String,
}

/// One finding about a program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Message {
    /// `E0412`, `W0701`; `cdpc explain` and `compiler/docs/codes` have a page for each.
    pub code: String,
    /// An error, and not a warning.
    pub is_error: bool,
    /// One line, no full stop.
    pub text: String,
    /// The narrowest guilty text.
    pub place: Place,
    /// Other places that matter.
    pub others: Vec<Place>,
    /// Facts and reasons.
    pub notes: Vec<String>,
    /// Cures.
    pub helps: Vec<String>,
    /// The whole finding as text for a terminal without colours, with the source lines.
    pub rendered: String,
}

/// The findings of several passes or files, each once.
pub fn messages(reports: &[Report]) -> Vec<Message> {
    let mut seen = HashSet::new();
    let mut out = Vec::new();
    for Report { diagnostics, session } in reports {
        for diagnostic in diagnostics.iter() {
            if !seen.insert(render::short(diagnostic, &session.sources)) {
                continue;
            }
            let place = |span: Span, label: &str| place(session, span, label);
            out.push(Message {
                code: diagnostic.code.info().code.to_string(),
                is_error: diagnostic.severity == Severity::Error,
                text: diagnostic.message.clone(),
                place: place(diagnostic.primary.span, &diagnostic.primary.text),
                others: diagnostic
                    .secondary
                    .iter()
                    .map(|label| place(label.span, &label.text))
                    .collect(),
                notes: diagnostic.notes.clone(),
                helps: diagnostic.helps.iter().map(|help| help.text.clone()).collect(),
                rendered: render::human(diagnostic, &session.sources, &session.names, false),
            });
        }
    }
    out
}

fn place(session: &Session, span: Span, label: &str) -> Place {
    let label = label.to_string();
    // A place in a macro's body counts where the macro is used.
    let span = session.sources.call_site(span);
    let Some(start) = session.sources.location(span) else {
        return Place { label, ..Place::default() };
    };
    let end = session.sources.location(span.after()).unwrap_or_else(|| start.clone());
    Place {
        file: start.name,
        line: start.line,
        column: start.column,
        end_line: end.line,
        end_column: end.column,
        label,
    }
}
