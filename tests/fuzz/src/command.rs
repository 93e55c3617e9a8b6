//! The words of a command line, in nvcc's spellings and ours, and options by name.

use std::ffi::OsString;

use cdp::{CompileOptions, OPTIONS};
use cdpc::args::{Cli, normalise};
use clap::Parser;

/// Reads a word a line as `cdpc`'s arguments, and the same as values of every option of the library.
pub fn command(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let mut options = CompileOptions::default();
    for line in text.lines() {
        for (name, _) in OPTIONS {
            let _ = options.set(name, line);
        }
    }
    let words = std::iter::once("cdpc").chain(text.lines()).map(OsString::from).collect::<Vec<_>>();
    if let Ok(words) = normalise(Cli::with_verb(words))
        && let Err(error) = Cli::try_parse_from(words)
    {
        assert!(!error.to_string().is_empty(), "{text}");
    }
}
