//! From declarations in CUDA to tables in Rust, when this crate is compiled: functions, types, constants. What
//! this is not: a parser of C; types and bodies are text here, which the crate's tests parse and compile.

mod cursor;
mod functions;
mod types;

pub use functions::rows;
pub use types::types;

/// What is wrong with a file.
#[derive(PartialEq, Debug)]
pub struct Mistake {
    /// From 1.
    pub line: usize,
    pub text: String,
}

type Result<T> = std::result::Result<T, Mistake>;
