//! From `.cdp` text to checked IR: preprocess, lex, parse, check.
//!
//! Reading order is the order of the stages, which share a [`Session`] and what `cdp-diagnostics` has:
//! [`preprocess`] makes tokens, `tokens` makes them ready for [`parse`], which makes the tree of `ast`, and `check`
//! makes IR from it. This crate knows nothing of LLVM, PTX or processes, and reads files only through a `FileLoader`.
//!
//! Modules that the documentation leaves out (tree, tokens, literals, the tables of builtin names) are
//! the inside of the front end: visible for tools of this repository, and changed without notice.

#![deny(missing_docs)]
#![forbid(unsafe_code)]

#[doc(hidden)]
pub mod ast;
pub mod ast_print;
#[doc(hidden)]
pub mod attributes;
#[cfg(test)]
mod case_table;
pub mod check;
pub mod headers;
#[doc(hidden)]
pub mod lex;
#[doc(hidden)]
pub mod literal;
mod near;
pub mod parse;
pub mod preprocess;
mod scopes;
pub mod session;
mod spelled;
mod tokens;
#[doc(hidden)]
pub mod words;

pub use session::Session;

use cdp_diagnostics::{self as diagnostics, intern, source};
