//! From a file to its syntax tree: preprocess, make ready the tokens (`tokens`, where brackets match), parse.
//!
//! Parsing never fails: there is always a tree, with error nodes where something was refused or
//! could not be understood, and a diagnostic for each of them. What this is not: types, overloads, or
//! any check of meaning; of each name the parser knows only whether it is a type, a template, a
//! namespace or a value (`symbols`).
//!
//! A reader learns the language here: each production is a function with its rule above it. Reading
//! order: `parser` (the state, brackets, going on after an error), `declarations`, `specifiers`,
//! `records`, `attributes`, `declarators`, `statements`, `expression`, `operands`, `literals`. Where
//! C++ needs more than the next token, `lookahead` decides; what the subset leaves out in many places
//! is in `refuse`, other refusals stand where the construct would be parsed. Keywords and refused words are
//! rows of `crate::words`.

mod attributes;
mod declarations;
mod declarators;
mod expression;
mod literals;
mod lookahead;
mod operands;
mod parser;
mod records;
mod refuse;
mod specifiers;
mod statements;
mod symbols;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

use crate::ast::*;
use crate::check::builtins::outside;
use crate::diagnostics::{Code, Diagnostics, NAME_IT_CU};
use crate::headers::declaring_type;
use crate::intern::{FastSet, Symbol};
use crate::lex::TokenKind as T;
use crate::preprocess::{FileLoader, MemoryLoader, PreprocessOptions, Preprocessed, preprocess};
use crate::scopes::ScopeId;
use crate::session::Session;
use crate::source::Span;
use crate::words::{Refusal, Word};
use crate::{literal, tokens};
use lookahead::Path;
use parser::{Fault, Parsed, Parser, Rule};
use specifiers::{Context, Specifiers};
use symbols::Meaning;
pub(crate) use symbols::Vocabulary;

/// What comes of a file.
#[derive(Default)]
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
    path: &std::path::Path,
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
    // The one file there is cannot be missing.
    parse(session, name.as_ref(), &MemoryLoader::single(name, text), options).unwrap_or_default()
}

/// Parses what the preprocessor made.
pub fn parse_tokens(session: &mut Session, mut preprocessed: Preprocessed) -> ParseOutput {
    let mut diagnostics = std::mem::take(&mut preprocessed.diagnostics);
    let dependencies = std::mem::take(&mut preprocessed.dependencies);
    let unread = diagnostics.iter().any(|found| matches!(found.code, Code::E0106 | Code::E0243));
    let (end, vocabulary) = (preprocessed.end, session.vocabulary());
    let tokens = tokens::prepare(preprocessed, &vocabulary.words, session, &mut diagnostics);
    let mut parser = Parser {
        session,
        diagnostics: &mut diagnostics,
        symbols: vocabulary.symbols.clone(),
        vocabulary: &vocabulary,
        tokens: &tokens,
        at: 0,
        end,
        lost: FastSet::default(),
        unread,
        record: None,
        depth: 0,
        launches: Vec::new(),
        unclosed: false,
    };
    let decls = parser.declarations(Context::File, tokens.len());
    let unit = TranslationUnit { decls, lost: parser.lost, unread };
    ParseOutput { unit, diagnostics, dependencies }
}
