//! PTX text to [`Module`] and back, every instruction known or refused.
//!
//! What an executor needs is data: instructions are an enum with typed modifiers and resolved
//! operands ([`Inst`]), and functions know their registers, labels and variables by number ([`module`]).
//!
//! Each instruction stands in one row of the table ([`table`]), which is its variant of [`Inst`], its
//! grammar, what ptxas refuses of it, and how it prints.
//!
//! Those who want names and places alone take the tokens ([`lexer`]).
//!
//! This crate runs nothing and opens no files. Its only dependency makes its lexer.

#![deny(missing_docs)]
#![forbid(unsafe_code)]

#[macro_use]
pub mod error;
#[macro_use]
mod rows;

mod conditions;
mod forms;
pub mod inst;
pub mod lexer;
mod limits;
pub mod matrix;
pub mod module;
mod parse;
mod print;
mod syntax;
pub mod table;
pub mod types;
pub mod warpgroup;

pub use error::{ErrorKind, ParseError};
pub use inst::{Address, AddressBase, Inst, Operand};
pub use limits::Limits;
pub use module::*;
pub use types::*;

/// Parses a PTX translation unit.
///
/// # Errors
/// The first problem found, with its place. Whatever the text, this ends in time and memory
/// proportional to its length.
pub fn parse(text: &str) -> Result<Module, ParseError> {
    parse::parse_module(text, false)
}

/// As [`parse()`], but an instruction that is not known stands in the module as [`Inst::Unknown`], so
/// that the rest of the text can be run.
///
/// # Errors
/// As [`parse()`], for everything else.
pub fn parse_lenient(text: &str) -> Result<Module, ParseError> {
    parse::parse_module(text, true)
}

/// The text of a module: PTX that ptxas accepts and that parses to an equal module.
///
/// Comments, layout and nested scopes of an original text are not kept.
pub fn print(module: &Module) -> String {
    print::print_module(module)
}
