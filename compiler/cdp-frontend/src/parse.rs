//! From a file to its syntax tree: preprocess, leave out what no one uses of the compiler's
//! headers, balance brackets, classify, parse.
//!
//! Parsing never fails: there is always a tree, with error nodes where something was refused or
//! could not be understood, and a diagnostic for each of them. Each external declaration is parsed
//! on its own by the grammar (`grammar.lalrpop`); after a syntax error `recover` repairs the
//! declaration's tokens and it is parsed again, so that every error of a file is found. What this
//! is not: name resolution, types, or any check of meaning.

mod brackets;
mod build;
mod build_expr;
mod classify;
mod context;
mod groups;
mod names;
mod namespaces;
mod recover;
mod refuse;
mod refuse_declarations;
mod scopes;
#[cfg(test)]
mod tests;
mod token;
mod unused;
mod vocabulary;
pub(crate) mod words;

#[allow(clippy::all, unused, missing_docs)]
mod grammar {
    include!(concat!(env!("OUT_DIR"), "/parse/grammar.rs"));
}

use std::path::{Path, PathBuf};

use crate::ast::{Decl, DeclKind, LinkageDecl, NamespaceDecl, TranslationUnit};
use crate::diagnostics::Diagnostics;
use crate::preprocess::{FileLoader, MemoryLoader, PreprocessOptions, Preprocessed, preprocess};
use crate::session::Session;
use crate::source::Span;
use classify::Unit;
use token::Tok;
pub(crate) use vocabulary::Vocabulary;

/// What comes of a file.
pub struct ParseOutput {
    /// The tree, whatever the diagnostics say.
    pub unit: TranslationUnit,
    /// Findings of the preprocessor and the parser, in the order they were made; the caller adds
    /// the checker's and calls [`Diagnostics::finish`].
    pub diagnostics: Diagnostics,
    /// Every file that was read, the main file first, headers of the compiler left out.
    pub dependencies: Vec<PathBuf>,
}

/// Preprocesses and parses the file at `path`.
///
/// # Errors
/// The main file cannot be read. Everything that is wrong inside it, included files that are
/// missing among it, is in the diagnostics.
pub fn parse(
    session: &mut Session,
    path: &Path,
    loader: &dyn FileLoader,
    options: &PreprocessOptions,
) -> std::io::Result<ParseOutput> {
    let preprocessed = preprocess(session, path, loader, options)?;
    Ok(parse_tokens(session, preprocessed))
}

/// Parses a text under a name, with no other files.
pub fn parse_text(
    session: &mut Session,
    name: &str,
    text: &str,
    options: &PreprocessOptions,
) -> ParseOutput {
    let loader = MemoryLoader::single(name, text);
    match parse(session, Path::new(name), &loader, options) {
        Ok(output) => output,
        // The one file there is cannot be missing.
        Err(_) => ParseOutput {
            unit: TranslationUnit::default(),
            diagnostics: Diagnostics::new(),
            dependencies: Vec::new(),
        },
    }
}

/// Parses what the preprocessor made.
pub fn parse_tokens(session: &mut Session, preprocessed: Preprocessed) -> ParseOutput {
    let Preprocessed { tokens, mut diagnostics, dependencies, end } = preprocessed;
    let tokens = unused::leave_out(tokens, session);
    let balanced = brackets::balance(tokens, end, session, &mut diagnostics);
    let classified = classify::classify(&balanced, session, &mut diagnostics);
    drop(balanced);
    let decls = parse_units(&classified.tokens, &classified.units, session, end, &mut diagnostics);
    ParseOutput { unit: TranslationUnit { decls }, diagnostics, dependencies }
}

/// A namespace or linkage block being filled.
struct OpenUnit<'u> {
    unit: Option<&'u Unit>,
    decls: Vec<Decl>,
}

fn parse_units(
    tokens: &[Tok],
    units: &[Unit],
    session: &Session,
    end: Span,
    diagnostics: &mut Diagnostics,
) -> Vec<Decl> {
    let mut open = vec![OpenUnit { unit: None, decls: Vec::new() }];
    let add = |open: &mut Vec<OpenUnit>, decl: Decl| {
        if let Some(inner) = open.last_mut() {
            inner.decls.push(decl);
        }
    };
    for unit in units {
        match unit {
            Unit::Decl { start, end: stop } => {
                let decl = recover::parse_decl(&tokens[*start..*stop], session, end, diagnostics);
                add(&mut open, decl);
                // `extern "C"` without braces holds one declaration.
                if let Some(Unit::OpenLinkage { braces: false, .. }) =
                    open.last().and_then(|inner| inner.unit)
                {
                    close(&mut open, session, None, diagnostics);
                }
            }
            Unit::Close { span } => close(&mut open, session, Some(*span), diagnostics),
            Unit::OpenNamespace { .. } | Unit::OpenLinkage { .. } => {
                open.push(OpenUnit { unit: Some(unit), decls: Vec::new() });
            }
        }
    }
    while open.len() > 1 {
        close(&mut open, session, None, diagnostics);
    }
    open.pop().map(|file| file.decls).unwrap_or_default()
}

/// Ends the innermost namespace or linkage block.
fn close(
    open: &mut Vec<OpenUnit>,
    session: &Session,
    brace: Option<Span>,
    diagnostics: &mut Diagnostics,
) {
    if open.len() < 2 {
        return;
    }
    let Some(OpenUnit { unit: Some(unit), decls }) = open.pop() else { return };
    let last = brace.or(decls.last().map(|decl| decl.span)).unwrap_or(Span::NONE);
    let decl = match unit {
        Unit::OpenNamespace { inline, names, span } => Decl {
            kind: DeclKind::Namespace(NamespaceDecl {
                inline: *inline,
                names: names.clone(),
                decls,
            }),
            span: session.sources.join(*span, last),
        },
        Unit::OpenLinkage { language, braces, span } => {
            let one = [*language];
            let builder = build::Builder::new(&one, session);
            let language = builder.string(0, 1);
            diagnostics.extend(builder.diagnostics.into_inner());
            Decl {
                kind: DeclKind::Linkage(LinkageDecl { language, decls, braces: *braces }),
                span: session.sources.join(*span, last),
            }
        }
        _ => return,
    };
    if let Some(outer) = open.last_mut() {
        outer.decls.push(decl);
    }
}
