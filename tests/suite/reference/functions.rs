//! Functions: the device runtime, the builtin functions by family, and what is refused by name.
use std::collections::BTreeMap;

use cdp_diagnostics::Code;
use cdp_frontend::check::builtins::functions::{GROUPS, Group, rows as rows_of};
use cdp_frontend::check::builtins::{
    BuiltinFn, Lower, all_functions, outside as outside_of, outside_declared, outside_libraries,
    outside_names,
};
use cdp_ir::RuntimeFn;
use cdp_ir::runtime::{Availability, RUNTIME_TABLE};

use super::codes::link;
use super::{Doc, code, codes_of};

/// Advice that more lines share is given once.
const INLINE_ADVICE: usize = 2;

/// The lists of types that stand for `T` are named when they are longer than this.
const INLINE_TYPES: usize = 4;

/// `result name(parameter, ...)`
fn prototype(name: &str, signature: &str) -> String {
    let (result, params) = signature.split_once('(').unwrap_or((signature, ")"));
    let params: Vec<&str> =
        params.trim_end_matches(')').split(',').map(str::trim).filter(|p| !p.is_empty()).collect();
    format!("{} {name}({})", result.trim(), params.join(", "))
}

/// Whether any condition leads to code.
fn has_code(lower: &Lower) -> bool {
    match lower {
        Lower::Refuse(_) => false,
        Lower::IfFtz(a, b) | Lower::IfFast(a, b) | Lower::IfSm(_, a, b) => {
            has_code(a) || has_code(b)
        }
        _ => true,
    }
}

/// What a refused call is told.
fn advice(lower: &Lower) -> &'static str {
    if let Lower::Refuse(text) = lower { text } else { "" }
}

/// Rows of one name that differ by their types only: one line of a table.
struct Line {
    func: &'static BuiltinFn,
    headers: Vec<&'static str>,
    /// Each signature with what `T` stands for.
    forms: Vec<(&'static str, Vec<&'static str>)>,
}

impl Line {
    fn joins(&self, row: &BuiltinFn) -> bool {
        let func = self.func;
        func.name == row.name
            && func.summary == row.summary
            && func.min_sm == row.min_sm
            && func.flags.std == row.flags.std
            && has_code(&func.device) == has_code(&row.device)
            && has_code(&func.host) == has_code(&row.host)
            && advice(&func.device) == advice(&row.device)
            && advice(&func.host) == advice(&row.host)
    }

    fn add(&mut self, row: &'static BuiltinFn) {
        if let Some(file) = row.header.file()
            && !self.headers.contains(&file)
        {
            self.headers.push(file);
        }
        match self.forms.iter_mut().find(|(signature, _)| *signature == row.signature) {
            Some((_, types)) => types.extend(row.types),
            None => self.forms.push((row.signature, row.types.to_vec())),
        }
    }
}

fn lines(rows: impl Iterator<Item = &'static BuiltinFn>) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for row in rows.filter(|row| !row.flags.internal) {
        let place = lines.iter().position(|line| line.joins(row)).unwrap_or_else(|| {
            lines.push(Line { func: row, headers: Vec::new(), forms: Vec::new() });
            lines.len() - 1
        });
        lines[place].add(row);
    }
    lines
}

/// Where a function can be called.
fn sides(func: &BuiltinFn) -> &'static str {
    match (has_code(&func.device), has_code(&func.host)) {
        (true, true) => "both",
        (true, false) => "device",
        (false, true) => "host",
        (false, false) => "none",
    }
}

/// What many lines of one table say, said once before it: long lists of types, and advice.
#[derive(Default)]
struct Shared {
    types: Vec<Vec<&'static str>>,
    advice: Vec<String>,
}

/// The place of a thing in a list, counted from 1; it is added when it is not there.
fn number<T: PartialEq>(list: &mut Vec<T>, thing: T) -> usize {
    let place = list.iter().position(|known| *known == thing).unwrap_or_else(|| {
        list.push(thing);
        list.len() - 1
    });
    place + 1
}

impl Shared {
    fn types(&mut self, types: &[&'static str]) -> String {
        if types.len() <= INLINE_TYPES {
            return codes_of(types.iter().copied());
        }
        format!("list {}", number(&mut self.types, types.to_vec()))
    }

    fn advice(&mut self, text: String, lines: &[Line]) -> String {
        let all = lines.iter().flat_map(|line| advices(line.func));
        if all.filter(|known| *known == text).count() <= INLINE_ADVICE {
            return text;
        }
        format!("note {}", number(&mut self.advice, text))
    }

    fn write(&self, doc: &mut Doc) {
        for (index, types) in self.types.iter().enumerate() {
            doc.text(&format!("List {}: {}.", index + 1, codes_of(types.iter().copied())));
        }
        for (index, text) in self.advice.iter().enumerate() {
            doc.text(&format!("Note {}: {text}.", index + 1));
        }
    }
}

/// What a call from the wrong side is told.
fn advices(func: &BuiltinFn) -> impl Iterator<Item = String> {
    [("device", func.device), ("host", func.host)]
        .into_iter()
        .filter(|(_, lower)| !advice(lower).is_empty())
        .map(|(side, lower)| format!("in {side} code: {}", advice(&lower)))
}

/// What else there is to know of a function.
fn notes(line: &Line, lines: &[Line], shared: &mut Shared) -> String {
    let func = line.func;
    let mut notes: Vec<String> = Vec::new();
    for (_, types) in line.forms.iter().filter(|(_, types)| !types.is_empty()) {
        let text = format!("T: {}", shared.types(types));
        if !notes.contains(&text) {
            notes.push(text);
        }
    }
    if func.flags.explicit_type {
        notes.push("T is written at the call".to_owned());
    }
    if func.min_sm > 0 {
        notes.push(format!("from sm_{}", func.min_sm));
    }
    notes.extend(line.headers.iter().copied().map(code));
    if func.flags.std {
        notes.push("also `std::`".to_owned());
    }
    notes.extend(advices(func).map(|text| shared.advice(text, lines)));
    notes.join("; ")
}

/// The signatures, one below the other.
fn forms(line: &Line) -> String {
    let form = |(signature, _): &(&str, _)| code(&prototype(line.func.name, signature));
    line.forms.iter().map(form).collect::<Vec<_>>().join("<br>")
}

fn write(doc: &mut Doc, lines: &[Line]) {
    let mut shared = Shared::default();
    let rows: Vec<Vec<String>> = lines
        .iter()
        .map(|line| {
            let notes = notes(line, lines, &mut shared);
            vec![forms(line), sides(line.func).to_owned(), notes, line.func.summary.to_owned()]
        })
        .collect();
    shared.write(doc);
    doc.table(&["Function", "Where", "Notes", "What it does"], &rows);
}

fn callable(row: &BuiltinFn) -> bool {
    has_code(&row.device) || has_code(&row.host)
}

fn in_runtime_table(name: &str) -> bool {
    RuntimeFn::by_name(name).is_some()
}

/// The functions of the device runtime.
pub fn device_runtime(doc: &mut Doc) {
    doc.heading(2, "Device runtime");
    doc.text(&format!(
        "What device code calls in `libcudadevrt`, whose version CDP1 comes with architectures before \
         sm_90 on request and CDP2 otherwise. *Per thread*: there is a form for the per-thread default \
         stream. Other functions of the CUDA runtime are refused in device code ({}) with what to use \
         instead.",
        link(Code::E0602)
    ));
    let cdp1_only = format!("no: {}", link(Code::E0601));
    let mut rows = Vec::new();
    for row in RUNTIME_TABLE {
        let overloads: Vec<&BuiltinFn> = rows_of(row.name).collect();
        let mut forms: Vec<String> =
            overloads.iter().map(|func| code(&prototype(func.name, func.signature))).collect();
        if forms.is_empty() {
            forms.push(code(&prototype(row.name, row.prototype)));
        }
        forms.dedup();
        let (cdp2, per_thread) = match row.availability {
            Availability::Both | Availability::Plain => ("yes", ""),
            Availability::Stream | Availability::StreamHeader => ("yes", "yes"),
            Availability::Cdp1 => (cdp1_only.as_str(), ""),
        };
        let host = if overloads.iter().any(|func| has_code(&func.host)) { "yes" } else { "no" };
        rows.push(vec![
            forms.join("<br>"),
            "yes".to_owned(),
            cdp2.to_owned(),
            per_thread.to_owned(),
            host.to_owned(),
            row.summary.to_owned(),
        ]);
    }
    doc.table(&["Function", "CDP1", "CDP2", "Per thread", "In host code", "What it does"], &rows);
}

/// The builtin functions by family.
pub fn groups(doc: &mut Doc) {
    doc.heading(2, "Functions");
    doc.text(
        "*Where*: which code can call a function. In signatures, `T` is one of the types under *Notes*, \
         `any` is any type behind a pointer, `kernel` a `__global__` function or a pointer to one, \
         `symbol` a `__device__`, `__constant__` or `__managed__` variable. A header under *Notes* must be \
         included; without one, a function is always there.",
    );
    for group in GROUPS {
        let rows = group.tables.iter().flat_map(|table| table.iter());
        let lines = lines(rows.filter(|row| callable(row) && !in_runtime_table(row.name)));
        doc.heading(3, group.title);
        if has_runtime_rows(group) {
            doc.text("Beside those under [Device runtime](#device-runtime).");
        }
        write(doc, &lines);
    }
}

fn has_runtime_rows(group: &Group) -> bool {
    group.tables.iter().flat_map(|table| table.iter()).any(|row| in_runtime_table(row.name))
}

/// Functions that CUDA had once.
pub fn removed(doc: &mut Doc) {
    doc.heading(2, "Functions that CUDA has removed");
    let rows = all_functions().filter(|row| !callable(row) && !row.flags.internal);
    let rows: Vec<Vec<String>> = rows
        .map(|row| vec![code(&prototype(row.name, row.signature)), advice(&row.device).to_owned()])
        .collect();
    doc.table(&["Function", "What to use instead"], &rows);
}

fn outside_table(doc: &mut Doc, what: &str, names: impl Iterator<Item = &'static str>) {
    let mut families: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
    for name in names {
        let namespace = name.strip_suffix("::");
        if let Some(left) = outside_of(namespace.unwrap_or(name), namespace.is_some()) {
            families.entry((left.library, left.cure)).or_default().push(name);
        }
    }
    let rows: Vec<Vec<String>> = families
        .into_iter()
        .map(|((library, cure), names)| vec![library.to_owned(), codes_of(names), cure.to_owned()])
        .collect();
    doc.table(&["Of", what, "What to use instead"], &rows);
}

/// What CUDA and the C library have that is refused by name.
pub fn outside(doc: &mut Doc) {
    doc.heading(2, "Functions and types outside the subset");
    doc.text(&format!(
        "Known and refused by name ({}), with the same advice. So is every function of CUDA's driver \
         API, known by its name's beginning, `cu` and a capital letter.",
        link(Code::E0603)
    ));
    outside_table(doc, "Functions", outside_names());
    doc.text(
        "So are types, enumerators and macros that CUDA's headers declare; `*` stands for what else \
         their names have.",
    );
    outside_table(doc, "Types and enumerators", outside_declared());
    doc.text("And what libraries beside CUDA's runtime declare, by the beginnings of names and by namespaces.");
    outside_table(doc, "Names", outside_libraries());
}
