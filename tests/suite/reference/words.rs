//! Words, attributes, pragmas, predefined macros and headers.
use std::collections::BTreeMap;

use cdp_diagnostics::Code;
use cdp_diagnostics::codes::ALL;
use cdp_diagnostics::intern::Symbol;
use cdp_diagnostics::source::Span;
use cdp_frontend::ast::{Decl, DeclKind, Declarator};
use cdp_frontend::attributes;
use cdp_frontend::headers;
use cdp_frontend::lex::OPERATORS;
use cdp_frontend::parse::parse_text;
use cdp_frontend::preprocess::PreprocessOptions;
use cdp_frontend::preprocess::directives::{IGNORED_PRAGMAS, PRAGMAS};
use cdp_frontend::preprocess::macros::COMPUTED;
use cdp_frontend::preprocess::predefined::{Target, macros as predefined};
use cdp_frontend::session::Session;
use cdp_frontend::words::{KEYWORDS, ONLY_C, REFUSED, Refusal};

use super::codes::link;
use super::{Doc, code, codes_of};

/// The keywords.
pub fn keywords(doc: &mut Doc) {
    doc.heading(2, "Keywords");
    let mut kinds: Vec<(&str, Vec<&str>)> = Vec::new();
    for (spellings, _, kind) in KEYWORDS {
        match kinds.iter_mut().find(|(known, _)| known == kind) {
            Some((_, words)) => words.extend(spellings.split_whitespace()),
            None => kinds.push((kind, spellings.split_whitespace().collect())),
        }
    }
    kinds.push(("Operators as words", OPERATORS.iter().map(|(word, _)| *word).collect()));
    let rows: Vec<Vec<String>> =
        kinds.into_iter().map(|(kind, words)| vec![kind.to_owned(), codes_of(words)]).collect();
    doc.table(&["Kind", "Words"], &rows);
}

/// Words and constructs that are refused by name.
pub fn left_out(doc: &mut Doc) {
    doc.heading(2, "Words and constructs that are refused");
    doc.text("These words are refused by name, and the rest of the program is still read.");
    let mut reasons: Vec<(Code, String, Vec<&str>)> = Vec::new();
    let mut add =
        |code: Code, why: String, words: &mut dyn Iterator<Item = &'static str>| match reasons
            .iter_mut()
            .find(|(known, text, _)| *known == code && *text == why)
        {
            Some((.., list)) => list.extend(words),
            None => reasons.push((code, why, words.collect())),
        };
    for (spellings, refusal) in REFUSED {
        let (code, _, cure) = refusal.report();
        let why = match refusal {
            Refusal::Generic => format!("C only: {cure}"),
            _ => code.info().title.to_owned(),
        };
        add(code, why, &mut spellings.split_whitespace());
    }
    for (word, right) in ONLY_C {
        add(Code::E0239, format!("C only: write `{right}`"), &mut std::iter::once(*word));
    }
    let rows: Vec<Vec<String>> = reasons
        .into_iter()
        .map(|(code, why, words)| vec![codes_of(words), link(code), why])
        .collect();
    doc.table(&["Words", "Code", "Why"], &rows);
    doc.text("What the subset leaves out, words or not; each page shows what to write instead:");
    let rows: Vec<Vec<String>> = ALL
        .iter()
        .filter(|code| code.info().title.contains("outside the `.cdp` subset"))
        .map(|code| vec![link(*code), code.info().title.to_owned()])
        .collect();
    doc.table(&["Code", "What is refused"], &rows);
}

/// Attributes.
pub fn attributes(doc: &mut Doc) {
    doc.heading(2, "Attributes");
    doc.text(
        "In both spellings, `__attribute__((name))` and `[[name]]` or `[[gnu::name]]`, unless the \
         table says otherwise. All other attributes are read and have no effect.",
    );
    let rows: Vec<Vec<String>> = attributes::KNOWN
        .iter()
        .map(|(name, _, summary)| vec![code(name), (*summary).to_owned()])
        .collect();
    doc.table(&["Attribute", "Effect"], &rows);
}

/// Pragmas.
pub fn pragmas(doc: &mut Doc) {
    doc.heading(2, "Pragmas");
    let rows: Vec<Vec<String>> = PRAGMAS
        .iter()
        .map(|(name, _, summary)| vec![format!("`#pragma {name}`"), (*summary).to_owned()])
        .collect();
    doc.table(&["Pragma", "Effect"], &rows);
    doc.text(&format!(
        "Read without effect: {}. Any other pragma has none either; `-Wunknown-pragma` reports it.",
        codes_of(IGNORED_PRAGMAS.split(' '))
    ));
}

type Macros = BTreeMap<String, String>;

fn of(target: &Target) -> Macros {
    let owned = predefined(target).into_iter();
    owned.map(|(name, value)| (name.into_owned(), value.into_owned())).collect()
}

/// How `target` differs from `base`: macros with other values, and those that are not there.
fn beyond(base: &Macros, target: &Target) -> String {
    let target = of(target);
    let show = |(name, value): (&String, &String)| format!("{name}={value}");
    let added: Vec<String> =
        target.iter().filter(|(name, value)| base.get(*name) != Some(value)).map(show).collect();
    let gone: Vec<&str> =
        base.keys().filter(|name| !target.contains_key(*name)).map(String::as_str).collect();
    let mut text = codes_of(added.iter().map(String::as_str));
    if !gone.is_empty() {
        text.push_str(&format!("; without {}", codes_of(gone)));
    }
    text
}

/// Predefined macros, by what defines them.
pub fn macros(doc: &mut Doc) {
    doc.heading(2, "Predefined macros");
    doc.text("Values are nvcc 13.0's; `__CDPC__` is this compiler's own. One architecture stands for all.");
    let host = Target::host(8);
    let device = Target::device(90);
    let base = of(&host);
    let on_device = of(&device);
    let cases: [(&str, String); 9] = [
        ("Both passes", beyond(&Macros::new(), &host)),
        ("Device code for `sm_90`", beyond(&base, &device)),
        (
            "Device code for `sm_90a`",
            beyond(&on_device, &Target { arch_suffix: Some('a'), ..device.clone() }),
        ),
        (
            "Device code for a family, as `sm_100f`",
            beyond(
                &of(&Target::device(100)),
                &Target { arch_suffix: Some('f'), ..Target::device(100) },
            ),
        ),
        ("CDP1 device runtime", beyond(&on_device, &Target { cdp1: true, ..device.clone() })),
        ("`-G`", beyond(&on_device, &Target { debug: true, ..device.clone() })),
        ("`-O0`", beyond(&on_device, &Target { optimised: false, ..device.clone() })),
        ("`-use_fast_math`", beyond(&on_device, &Target { fast_math: true, ..device.clone() })),
        ("32-bit addresses", beyond(&base, &Target::host(4))),
    ];
    let mut rows: Vec<Vec<String>> =
        cases.into_iter().map(|(when, list)| vec![when.to_owned(), list]).collect();
    let computed = codes_of(COMPUTED.iter().map(|(name, _)| *name));
    rows.push(vec!["Computed where they are used".to_owned(), computed]);
    doc.table(&["When", "Macros"], &rows);
}

/// The headers that can be included, and those that are refused by name.
pub fn headers(doc: &mut Doc) {
    doc.heading(2, "Headers");
    doc.text(
        "The system's headers are part of the compiler, which never reads the machine's own. CUDA's \
         functions and types need no header, but those of `cuda_fp16.h` and `cuda_bf16.h`.",
    );
    let mut texts: Vec<(&str, Vec<&str>)> = Vec::new();
    let mut empty = Vec::new();
    for name in headers::NAMES {
        let Some((text, content)) = headers::find(name) else { continue };
        if declares_nothing(content) {
            empty.push(*name);
        } else if let Some((_, names)) = texts.iter_mut().find(|(known, _)| *known == text) {
            names.push(name);
        } else {
            texts.push((text, vec![name]));
        }
    }
    let rows: Vec<Vec<String>> = texts
        .into_iter()
        .map(|(_, names)| {
            let declared = declared_by(names[0]);
            vec![codes_of(names), codes_of(declared.iter().map(String::as_str))]
        })
        .collect();
    doc.table(&["Header", "Functions and types that it declares, beside its macros"], &rows);
    doc.text(&format!(
        "Accepted, and nothing to declare, as their contents are always there: {}.",
        codes_of(empty)
    ));
    doc.text(&format!("Refused by name ({}):", link(Code::E0243)));
    let outside = headers::all_outside();
    let rows: Vec<Vec<String>> = outside
        .map(|(why, names)| vec![codes_of(names.split_whitespace()), why.to_owned()])
        .collect();
    doc.table(&["Headers", "Why"], &rows);
}

/// The names that a header declares itself, in order. Those of the headers that it includes are
/// left to them.
fn declared_by(header: &str) -> Vec<String> {
    let mut session = Session::new();
    let options = PreprocessOptions {
        predefined: predefined(&Target::host(8)),
        ..PreprocessOptions::default()
    };
    let text = format!("#include <{header}>\n");
    let parsed = parse_text(&mut session, "reference.cdp", &text, &options);
    debug_assert!(!parsed.diagnostics.has_errors(), "{header}");
    let mut found = Vec::new();
    names_of(&parsed.unit.decls, &mut found);
    found.extend(&session.unused);
    let text = headers::find(header).map(|(_, text)| text);
    found.retain(|(_, span)| {
        let file = session.sources.file_of(span.lo).map(|id| session.sources.file(id));
        file.map(|file| &*file.text) == text
    });
    found.sort_by_key(|(_, span)| span.lo);
    let mut names: Vec<String> =
        found.iter().map(|(name, _)| session.names.resolve(*name).to_owned()).collect();
    names.dedup();
    names
}

/// What declarations declare, and where.
fn names_of(decls: &[Decl], found: &mut Vec<(Symbol, Span)>) {
    for decl in decls {
        let mut add = |declarator: &Declarator| {
            found.extend(declarator.name.iter().map(|name| (name.base.name, name.span)));
        };
        match &decl.kind {
            DeclKind::Linkage(linkage) => names_of(&linkage.decls, found),
            DeclKind::Namespace(inner) => names_of(&inner.decls, found),
            DeclKind::Function(function) => add(&function.declarator),
            DeclKind::Simple(simple) => {
                simple.declarators.iter().for_each(|each| add(&each.declarator));
            }
            _ => {}
        }
    }
}

/// Nothing but comments and its guard.
fn declares_nothing(text: &str) -> bool {
    text.lines()
        .map(str::trim)
        .all(|line| line.is_empty() || line.starts_with("//") || line == "#pragma once")
}
