//! Compile cases: programs of `cases/documents` and `cases/intrinsics`, and the samples, must come
//! out as cubins for each architecture they name, at every optimisation level; the build itself
//! compares each kernel's parameters with the cubin.

use std::path::PathBuf;

use cdp::{BuildRequest, CompileOptions, Goal, Input, OptLevel, SourceInput};
use libtest_mimic::Trial;

use crate::cases::Directives;
use crate::support::{Outcome, cases, compiler, explain, files, job, root, stem, trial};

pub fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for (family, folder) in [
        ("documents", cases("documents")),
        ("intrinsics", cases("intrinsics")),
        ("samples", root().join("samples")),
        ("run", cases("run")),
    ] {
        for path in files(&folder, "cdp") {
            let name = format!("compile::{family}::{}", stem(&path));
            trials.push(trial(name, move || compile(path)));
        }
    }
    trials
}

fn compile(path: PathBuf) -> Outcome {
    let directives = Directives::of(&path)?;
    for arch in directives.archs()? {
        for level in [OptLevel::O0, OptLevel::O3] {
            let options = directives.options(arch).with(|options| options.opt_level = level);
            build(&path, &options, Goal::Cubin).map_err(|failed| {
                format!("{arch} {level:?}: {}", failed.message().unwrap_or(""))
            })?;
        }
    }
    Ok(())
}

/// Builds a file with nothing else on the command line; warnings are failures, since no case and no
/// sample deserves one (a program that a document prints may: it says so with `// warns: W0712`).
pub fn build(
    path: &std::path::Path,
    options: &CompileOptions,
    goal: Goal,
) -> Result<Vec<u8>, libtest_mimic::Failed> {
    let inputs = [Input::Source(SourceInput::File(path.to_owned()))];
    let job = job()?;
    let built = compiler()?
        .build(
            &BuildRequest::new(&inputs, goal, options, &job)
                .with(|request| request.runtime_library = crate::run::runtime_library()),
        )
        .map_err(explain)?;
    let deserved = Directives::of(path)?;
    let deserved = deserved.words("warns");
    let mut findings = built.reports.iter().flat_map(|report| report.diagnostics.iter());
    if findings.any(|finding| !deserved.contains(&finding.code.to_string().as_str())) {
        return Err(format!("unexpected warnings:\n{:?}", built.reports).into());
    }
    Ok(built.bytes)
}
