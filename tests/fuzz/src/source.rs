//! `.cdp` text: through the preprocessor, to checked IR, to PTX that the reader knows.

use std::sync::Arc;

use cdp::Format;
use cdp::{
    Arch, CompileOptions, Compiler, Failure, Goal, Input, LaunchOpt, OptLevel, Pass, Report,
    SourceInput, analyse, analyse_with_tree, render_reports,
};
use cdp_diagnostics::Severity;
use cdp_diagnostics::source::Span;

use crate::{choice, ptx, unless_refused};

const PASSES: [Pass; 2] = [Pass::Device(Arch::SM_90), Pass::Host];

/// Checks a source for both passes: findings lie inside the files and can be shown, IR can be printed.
pub fn source(data: &[u8]) {
    for pass in PASSES {
        let analysis = analyse(&input(data), pass, &options(data));
        let Some(analysis) = unless_refused(analysis) else { continue };
        spans_are_inside(&analysis.report).unwrap_or_else(|wrong| panic!("{pass:?}: {wrong}"));
        // The other way of a check, which keeps the tree.
        let whole = analyse_with_tree(&input(data), pass, &options(data));
        if let Some(whole) = unless_refused(whole) {
            let _ = cdp_frontend::ast_print::print(&whole.unit, &whole.report.session);
        }
        if let Some(module) = &analysis.module {
            let _ = cdp_ir::print::print_module(module);
            let _ = cdp::describe_kernels(module);
        }
        let _ = render_reports(&[analysis.report], Format::Colored);
    }
}

/// Preprocesses a source, with marks of lines and without.
pub fn preprocess(data: &[u8]) {
    for pass in PASSES {
        let made = cdp::preprocess(&input(data), pass, &options(data));
        let Some(made) = unless_refused(made) else { continue };
        spans_are_inside(&made.report).unwrap_or_else(|wrong| panic!("{pass:?}: {wrong}"));
        let _ = render_reports(&[made.report], Format::Human);
    }
}

/// Compiles a source to PTX, and to a host object. The reader knows the PTX, unless some of it is the source's.
pub fn compile(data: &[u8]) {
    let is_ours = !data.windows(3).any(|word| word == b"asm");
    let compiler = Compiler::without_tools();
    let options = options(data);
    for goal in [Goal::Ptx, Goal::HostObject] {
        match compiler.compile(&[Input::Source(input(data))], goal, &options) {
            Ok(made) if goal == Goal::Ptx && is_ours => ptx::own(&made.text()),
            Err(Failure::Error { error, .. }) => drop(unless_refused::<()>(Err(error))),
            Ok(_) | Err(Failure::Program(_)) => {}
        }
    }
}

/// Text includes nothing but the compiler's own headers; other bytes take the way of files.
fn input(data: &[u8]) -> SourceInput {
    match std::str::from_utf8(data) {
        Ok(text) => SourceInput::text("fuzz.cdp", text),
        Err(_) => SourceInput::Read { path: "fuzz.cdp".into(), bytes: Arc::from(data) },
    }
}

fn options(data: &[u8]) -> CompileOptions {
    let mut options = CompileOptions::default();
    let choice = choice(data);
    options.opt_level = [OptLevel::O3, OptLevel::O0, OptLevel::O2, OptLevel::O1][choice % 4];
    options.launch_opt = [LaunchOpt::Off, LaunchOpt::Fast, LaunchOpt::Safe][choice / 4 % 3];
    // A thread for each would be another stack for each.
    options.threads = 1;
    options.memory_bytes = Some(1 << 30);
    options
}

/// Every error stands somewhere, and every label within one file.
///
/// # Errors
/// The finding that does not, in words.
pub fn spans_are_inside(report: &Report) -> Result<(), String> {
    let sources = &report.session.sources;
    for found in report.diagnostics.iter() {
        let labels = std::iter::once(&found.primary).chain(&found.secondary);
        for span in labels.map(|label| label.span).filter(|span| !span.is_none()) {
            let inside = |at: u32| sources.file_of(at);
            let end = span.hi.max(span.lo + 1) - 1;
            let whole = span.lo <= span.hi && inside(span.lo).is_some();
            if !whole || (inside(end) != inside(span.lo) && inside(span.hi) != inside(span.lo)) {
                return Err(format!(
                    "{}: {}: the span {span:?} is no place",
                    found.code, found.message
                ));
            }
        }
        let nowhere = found.primary.span == Span::NONE && found.severity == Severity::Error;
        if nowhere {
            return Err(format!("{}: {}: the error stands nowhere", found.code, found.message));
        }
    }
    Ok(())
}
