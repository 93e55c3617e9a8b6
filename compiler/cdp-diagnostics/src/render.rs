//! Diagnostics as text: for people, for editors' problem matchers, and for programs.
//!
//! Renderers only format; sorting, warning options and counting happen before.

use std::collections::HashSet;

use codespan_reporting::diagnostic as cs;
use codespan_reporting::files::{Error as FilesError, Files};
use codespan_reporting::term::{self, termcolor};

use crate::intern::Interner;
use crate::source::{FileId, SourceMap, Span, raw};
use crate::{Diagnostic, Diagnostics, Severity};

/// The form of the output.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Format {
    /// Source excerpts with labels.
    #[default]
    Human,
    /// The same in a terminal's colours.
    Colored,
    /// `file:line:col: error[E0203]: message`
    Short,
    /// One JSON object a line.
    Json,
}

/// Renders what several passes or files found as one list, each finding once, and for people how many there are.
pub fn render<'a>(
    found: impl IntoIterator<Item = (&'a Diagnostics, &'a SourceMap, &'a Interner)>,
    format: Format,
) -> String {
    let mut seen = HashSet::new();
    let mut out = String::new();
    let (mut errors, mut warnings, mut dropped) = (0, 0, 0);
    for (diagnostics, sources, names) in found {
        dropped += diagnostics.dropped_count();
        for diagnostic in diagnostics {
            let key = short(diagnostic, sources);
            if !seen.insert(key.clone()) {
                continue;
            }
            match diagnostic.severity {
                Severity::Error => errors += 1,
                Severity::Warning => warnings += 1,
            }
            match format {
                Format::Human => out += &human(diagnostic, sources, names, false),
                Format::Colored => out += &human(diagnostic, sources, names, true),
                Format::Short => out += &key,
                Format::Json => out += &format!("{}\n", json(diagnostic, sources, names)),
            }
        }
    }
    if format != Format::Json {
        out += &count_line(errors, warnings, dropped);
    }
    out
}

/// `1 argument`, `2 arguments`
pub fn counted(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

/// `2 errors, 1 warning`, or nothing when there was nothing.
fn count_line(errors: usize, warnings: usize, dropped: usize) -> String {
    let kinds = [(errors, "error"), (warnings, "warning")].into_iter();
    let parts: Vec<_> = kinds
        .filter(|(number, _)| *number > 0)
        .map(|(number, what)| counted(number, what))
        .collect();
    match (parts.is_empty(), dropped) {
        (true, _) => String::new(),
        (_, 0) => format!("{}\n", parts.join(", ")),
        _ => format!("{} ({dropped} errors more are not shown)\n", parts.join(", ")),
    }
}

fn severity_word(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    }
}

/// The note that names the option behind a warning.
fn option_note(diagnostic: &Diagnostic) -> Option<String> {
    let name = diagnostic.code.info().name?;
    Some(match diagnostic.severity {
        Severity::Warning => format!("`-Wno-{name}` turns this warning off"),
        Severity::Error => {
            let why =
                if diagnostic.code.info().denied { "by default" } else { "because of `-Werror`" };
            format!("an error {why}; `-Wno-error={name}` makes it a warning")
        }
    })
}

/// `file:line:col: error[E0203]: message`, and one line for each macro use around it.
pub fn short(diagnostic: &Diagnostic, sources: &SourceMap) -> String {
    let site = sources.call_site(diagnostic.primary.span);
    let word = severity_word(diagnostic.severity);
    let place = match sources.location(site) {
        Some(at) => format!("{}:{}:{}: ", at.name, at.line, at.column),
        None => String::new(),
    };
    raw::shown(format!("{place}{word}[{}]: {}\n", diagnostic.code, diagnostic.message))
}

/// Where the labels of a diagnostic go once macro uses are taken apart: the user's text first.
struct Placed {
    primary: Span,
    secondary: Vec<(Span, String)>,
    notes: Vec<String>,
}

/// A finding in a macro's body is shown at the outermost use, with the body's text as a second
/// label and one note for each use between.
fn place(diagnostic: &Diagnostic, sources: &SourceMap, names: &Interner) -> Placed {
    let span = diagnostic.primary.span;
    let mut placed =
        Placed { primary: sources.call_site(span), secondary: Vec::new(), notes: Vec::new() };
    let expansions = sources.expansions_of(span);
    if let Some(innermost) = expansions.first() {
        if sources.file_of(span.lo).is_some() {
            let text = format!("in this expansion of `{}`", names.resolve(innermost.name));
            let own = Span { expansion: Default::default(), ..span };
            placed.secondary.push((own, text));
        }
        for between in expansions.iter().take(8).skip(1) {
            let at = sources.location(Span { expansion: Default::default(), ..between.definition });
            if let Some(at) = at {
                let name = names.resolve(between.name);
                placed.notes.push(format!(
                    "expanded from macro `{name}` at {}:{}:{}",
                    at.name, at.line, at.column
                ));
            }
        }
    }
    for label in &diagnostic.secondary {
        placed.secondary.push((sources.call_site(label.span), label.text.clone()));
    }
    placed.notes.extend(include_chain(placed.primary, sources));
    placed
}

/// `included from a.cdp:3` for a place in an included file.
fn include_chain(span: Span, sources: &SourceMap) -> Vec<String> {
    let mut notes = Vec::new();
    let mut file = sources.file_of(span.lo).filter(|_| !span.is_none());
    while let Some(id) = file {
        let crate::source::FileOrigin::Included(from) = sources.file(id).origin else { break };
        let from = sources.call_site(from);
        let Some(at) = sources.location(from) else { break };
        if notes.len() == 6 {
            notes.push("included from further files".to_owned());
            break;
        }
        notes.push(format!("included from {}:{}", at.name, at.line));
        file = Some(at.file);
    }
    notes
}

/// A source excerpt with labels, by codespan-reporting.
pub fn human(
    diagnostic: &Diagnostic,
    sources: &SourceMap,
    names: &Interner,
    color: bool,
) -> String {
    let placed = place(diagnostic, sources, names);
    let severity = match diagnostic.severity {
        Severity::Error => cs::Severity::Error,
        Severity::Warning => cs::Severity::Warning,
    };
    let mut out = cs::Diagnostic::new(severity)
        .with_code(diagnostic.code.info().code)
        .with_message(shorten(&diagnostic.message));
    let mut labels = Vec::new();
    if let Some((file, range)) = file_range(placed.primary, sources) {
        labels
            .push(cs::Label::primary(file, range).with_message(shorten(&diagnostic.primary.text)));
    }
    for (span, text) in &placed.secondary {
        if let Some((file, range)) = file_range(*span, sources) {
            labels.push(cs::Label::secondary(file, range).with_message(shorten(text)));
        }
    }
    out = out.with_labels(labels);
    let mut notes: Vec<String> =
        diagnostic.notes.iter().map(|note| format!("note: {note}")).collect();
    for help in &diagnostic.helps {
        notes.push(match &help.suggestion {
            Some(suggestion)
                if !suggestion.replacement.is_empty()
                    && !help.text.contains(&format!("`{}`", suggestion.replacement)) =>
            {
                format!("help: {}: `{}`", help.text, suggestion.replacement)
            }
            _ => format!("help: {}", help.text),
        });
    }
    notes.extend(placed.notes.iter().map(|note| format!("note: {note}")));
    notes.extend(option_note(diagnostic).map(|note| format!("note: {note}")));
    let config = term::Config::default();
    let files = MapFiles(sources);
    let mut buffer = if color { termcolor::Buffer::ansi() } else { termcolor::Buffer::no_color() };
    // Writing to memory fails only on an inconsistent span, and then the short form still says it.
    match term::emit_to_write_style(&mut buffer, &config, &files, &out.with_notes(notes)) {
        Ok(()) => raw::shown(String::from_utf8_lossy(buffer.as_slice()).into_owned()),
        Err(_) => short(diagnostic, sources),
    }
}

/// Messages that quote a megabyte token are cut.
fn shorten(text: &str) -> String {
    const LIMIT: usize = 2000;
    match text.char_indices().nth(LIMIT) {
        Some((cut, _)) => format!("{}...", &text[..cut]),
        None => text.to_owned(),
    }
}

/// A span as file and byte range, with its end kept inside the file and, so that an excerpt of a
/// hostile file stays small, inside a few thousand bytes.
fn file_range(span: Span, sources: &SourceMap) -> Option<(FileId, std::ops::Range<usize>)> {
    if span.is_none() {
        return None;
    }
    let id = sources.file_of(span.lo)?;
    let file = sources.file(id);
    let start = ((span.lo - file.base) as usize).min(file.text.len());
    let mut end = ((span.hi.max(span.lo) - file.base) as usize).clamp(start, file.text.len());
    if end - start > 4096 {
        end = (start..=start + 4096)
            .rev()
            .find(|&at| file.text.is_char_boundary(at))
            .unwrap_or(start);
    }
    Some((id, start..end))
}

/// The JSON object of a diagnostic: code, severity, warning name, message, spans, notes, helps.
pub fn json(diagnostic: &Diagnostic, sources: &SourceMap, names: &Interner) -> serde_json::Value {
    use serde_json::json;
    let placed = place(diagnostic, sources, names);
    let mut spans = vec![json_span(placed.primary, sources, &diagnostic.primary.text, true)];
    spans
        .extend(placed.secondary.iter().map(|(span, text)| json_span(*span, sources, text, false)));
    let helps: Vec<_> = diagnostic
        .helps
        .iter()
        .map(|help| match &help.suggestion {
            Some(suggestion) => json!({
                "text": help.text,
                "replacement": suggestion.replacement,
                "span": json_span(sources.call_site(suggestion.span), sources, "", false),
            }),
            None => json!({ "text": help.text }),
        })
        .collect();
    let notes: Vec<_> = diagnostic.notes.iter().chain(&placed.notes).collect();
    json!({
        "code": diagnostic.code.info().code,
        "severity": severity_word(diagnostic.severity),
        "warning": diagnostic.code.info().name,
        "message": raw::shown(shorten(&diagnostic.message)),
        "spans": spans,
        "notes": notes,
        "helps": helps,
    })
}

fn json_span(span: Span, sources: &SourceMap, label: &str, primary: bool) -> serde_json::Value {
    use serde_json::json;
    let Some(start) = sources.location(span) else {
        return json!({ "label": label, "primary": primary });
    };
    let end = sources.location(span.after()).unwrap_or_else(|| start.clone());
    let base = sources.file(start.file).base;
    json!({
        "file": start.name,
        "byte_start": span.lo - base,
        "byte_end": span.hi - base,
        "line_start": start.line,
        "column_start": start.column,
        "line_end": end.line,
        "column_end": end.column,
        "label": label,
        "primary": primary,
    })
}

/// The source map as codespan-reporting wants to see it.
struct MapFiles<'a>(&'a SourceMap);

impl<'a> Files<'a> for MapFiles<'a> {
    type FileId = FileId;
    type Name = &'a str;
    type Source = &'a str;

    fn name(&'a self, id: FileId) -> Result<&'a str, FilesError> {
        Ok(&self.0.file(id).name)
    }

    fn source(&'a self, id: FileId) -> Result<&'a str, FilesError> {
        Ok(&self.0.file(id).text)
    }

    fn line_index(&'a self, id: FileId, byte_index: usize) -> Result<usize, FilesError> {
        Ok(self.0.file(id).line_index(byte_index as u32))
    }

    fn line_number(&'a self, id: FileId, line_index: usize) -> Result<usize, FilesError> {
        // `#line 0` is taken, as by nvcc; the renderer counts the digits of numbers from 1 on.
        Ok(self.0.file(id).presumed(line_index).0.max(1) as usize)
    }

    fn line_range(
        &'a self,
        id: FileId,
        line_index: usize,
    ) -> Result<std::ops::Range<usize>, FilesError> {
        let file = self.0.file(id);
        let max = file.line_count();
        file.line_range(line_index).ok_or(FilesError::LineTooLarge { given: line_index, max })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Code;

    #[test]
    fn notes_say_why_a_lint_is_an_error() {
        let note = |code: Code, severity: Severity| {
            option_note(&Diagnostic { severity, ..Diagnostic::new(code, Span::default(), "") })
        };
        let by_default = note(Code::E0406, Severity::Error).expect("a lint");
        assert!(by_default.starts_with("an error by default; `-Wno-error=launch-block`"));
        let asked = note(Code::W0725, Severity::Error).expect("a lint");
        assert!(asked.starts_with("an error because of `-Werror`"));
        assert!(note(Code::W0725, Severity::Warning).expect("a lint").contains("turns this"));
        assert_eq!(note(Code::E0301, Severity::Error), None);
    }
}
