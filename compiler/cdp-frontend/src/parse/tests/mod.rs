//! Tests of the parser: trees, refusals, recovery, hostile input.

mod hostile;
mod pages;
mod recovery;
mod refusals;
mod trees;
mod unused;

use super::{ParseOutput, parse_text};
use crate::ast_print;
use crate::preprocess::PreprocessOptions;
use crate::preprocess::predefined::{Target, macros};
use crate::session::Session;

/// Parses a text as the device pass for sm_90 would.
fn parse(text: &str) -> (Session, ParseOutput) {
    let mut session = Session::new();
    let options =
        PreprocessOptions { predefined: macros(&Target::device(90)), ..Default::default() };
    let output = parse_text(&mut session, "test.cdp", text, &options);
    (session, output)
}

/// The tree of a text that has no errors.
fn tree(text: &str) -> String {
    let (session, output) = parse(text);
    let found: Vec<String> = output
        .diagnostics
        .iter()
        .map(|found| format!("{}: {}", found.code, found.message))
        .collect();
    assert!(found.is_empty(), "{found:#?} in {text}");
    ast_print::print(&output.unit, &session)
}

/// `line:code: message` of each finding, in source order.
fn findings(text: &str) -> Vec<String> {
    let (session, output) = parse(text);
    let diagnostics = output.diagnostics.finish(&Default::default(), &session.sources);
    diagnostics
        .iter()
        .map(|found| {
            let site = session.sources.call_site(found.primary.span);
            let line = session.sources.location(site).map_or(0, |at| at.line);
            format!("{line}:{}: {}", found.code, found.message)
        })
        .collect()
}

/// The codes alone.
fn codes(text: &str) -> Vec<String> {
    let (session, output) = parse(text);
    let diagnostics = output.diagnostics.finish(&Default::default(), &session.sources);
    diagnostics.iter().map(|found| found.code.to_string()).collect()
}

/// Runs a test on a stack as large as the compiler gives its stages.
fn on_large_stack<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let thread =
        std::thread::Builder::new().stack_size(64 << 20).spawn(work).expect("a thread starts");
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
