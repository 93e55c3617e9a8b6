//! Parses files and says how long each stage took: `cargo run --release --example parse_speed FILE...`.
//! With `--ast` it prints the trees, with `-E` the preprocessed text.

use std::path::Path;
use std::time::Instant;

use cdp_frontend::diagnostics::WarningOptions;
use cdp_frontend::diagnostics::render::{Format, render};
use cdp_frontend::preprocess::predefined::{Target, macros};
use cdp_frontend::preprocess::{DiskLoader, PreprocessOptions, preprocess, print_tokens};
use cdp_frontend::{Session, ast_print, parse};

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let options =
        PreprocessOptions { predefined: macros(&Target::device(90)), ..Default::default() };
    for file in words.iter().filter(|word| !word.starts_with('-')) {
        let mut session = Session::new();
        let start = Instant::now();
        let tokens = match preprocess(&mut session, Path::new(file), &DiskLoader, &options) {
            Ok(tokens) => tokens,
            Err(error) => {
                eprintln!("{file}: {error}");
                continue;
            }
        };
        let preprocessed = start.elapsed();
        if words.iter().any(|word| word == "-E") {
            print!("{}", print_tokens(&tokens.tokens, &session));
        }
        let count = tokens.tokens.len();
        let output = parse::parse_tokens(&mut session, tokens);
        let parsed = start.elapsed();
        let diagnostics = output.diagnostics.finish(&WarningOptions::default(), &session.sources);
        eprint!("{}", render(&diagnostics, &session.sources, &session.names, Format::Human, false));
        if words.iter().any(|word| word == "--ast") {
            print!("{}", ast_print::print(&output.unit, &session));
        }
        eprintln!(
            "{file}: {count} tokens, preprocessed {preprocessed:?}, parsed {:?}",
            parsed - preprocessed
        );
    }
}
