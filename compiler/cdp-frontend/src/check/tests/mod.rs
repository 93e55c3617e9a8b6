//! The checker on texts: what must pass and verify, and what must be refused with which code.

use cdp_ir as ir;

use super::{CheckOptions, CheckOutput, check};
use crate::diagnostics::render::{Format, render};
use crate::diagnostics::{Severity, WarningOptions};
use crate::parse::parse_text;
use crate::preprocess::PreprocessOptions;
use crate::preprocess::predefined::{Target, macros};
use crate::session::Session;

mod accepts;
mod names;
mod rejects;
mod symbols;

/// Checks a text for a pass; gives the output and all messages as text.
pub fn check_with(text: &str, options: &CheckOptions) -> (CheckOutput, String, Vec<String>) {
    let mut session = Session::new();
    let target = match options.target {
        ir::Target::Device { .. } => Target::device(options.arch),
        ir::Target::Host => Target::host(options.pointer_bytes),
    };
    let preprocess =
        PreprocessOptions { predefined: macros(&target), ..PreprocessOptions::default() };
    let parsed = parse_text(&mut session, "test.cdp", text, &preprocess);
    let mut output = check(&parsed.unit, &session, options);
    let mut all = parsed.diagnostics;
    let failed = all.has_errors();
    all.extend(std::mem::take(&mut output.diagnostics));
    if failed {
        output.module = None;
    }
    let all = all.finish(&WarningOptions::default(), &session.sources);
    let codes = all.iter().map(|diagnostic| diagnostic.code.to_string()).collect();
    let shown = render([(&all, &session.sources, &session.names)], Format::Short);
    let _ = Severity::Error;
    (output, shown, codes)
}

/// The verified device module of a text that must have no findings.
pub fn accept(text: &str) -> ir::Verified<ir::Module> {
    accept_with(text, &CheckOptions::default())
}

pub fn accept_with(text: &str, options: &CheckOptions) -> ir::Verified<ir::Module> {
    let (output, shown, _) = check_with(text, options);
    assert!(shown.is_empty(), "findings in\n{text}\n{shown}");
    let module = output.module.expect("a module");
    match ir::verify(module) {
        Ok(verified) => verified,
        Err(errors) => {
            let list: Vec<String> = errors.iter().map(ToString::to_string).collect();
            panic!("{text}\n{}", list.join("\n"));
        }
    }
}

/// Options of the host pass.
pub fn host() -> CheckOptions {
    CheckOptions { target: ir::Target::Host, ..CheckOptions::default() }
}

/// The codes that a text raises in the device pass.
pub fn codes(text: &str) -> Vec<String> {
    check_with(text, &CheckOptions::default()).2
}

/// A function of a module by its source name.
pub fn function<'m>(module: &'m ir::Module, name: &str) -> &'m ir::Function {
    module.functions.iter().find(|function| function.name == name).expect("the function")
}
