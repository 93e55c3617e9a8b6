//! `cargo xtask fuzz ...`: tests that go on for as long as one likes. The work is done by `cdp-differential`.

use std::ffi::OsString;
use std::process::{Command, ExitCode, Stdio};

use clap::{Args, Subcommand};

use crate::Common;
use crate::cargo::{binary, build_cdpc, build_release, in_path, target_dir};
use crate::failure::{Failure, Outcome};
use crate::ui::Ui;

/// What is fuzzed.
#[derive(Subcommand)]
pub enum Fuzz {
    /// Random programs, compiled at several levels, by nvcc, clang and the host's compiler
    #[command(disable_help_flag = true)]
    Differential(Passed),
    /// The same for a machine with a GPU: cubins of cdpc and nvcc, and a script that runs them there
    #[command(disable_help_flag = true)]
    GpuBundle(Passed),
}

/// Options of `cdp-differential`, which describes them itself (`--help`).
#[derive(Args)]
pub struct Passed {
    /// Passed on: `--seed N`, `--count N` and others, see `--help`
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    options: Vec<OsString>,
}

/// Runs one kind of fuzzing.
///
/// # Errors
/// When something does not build or does not start.
pub fn fuzz(ui: &Ui, common: &Common, fuzz: &Fuzz) -> Outcome<ExitCode> {
    let (verb, options) = match fuzz {
        Fuzz::Differential(Passed { options }) => ("differential", options),
        Fuzz::GpuBundle(Passed { options }) => ("gpu-bundle", options),
    };
    let judges = binary(&build_release(&["cdp-differential"])?, "cdp-differential")?;
    let mut command = Command::new(judges);
    command.arg(verb);
    let asks = |what: &str| {
        options.iter().any(|option| option.to_str().is_some_and(|text| text.starts_with(what)))
    };
    if !asks("--cdpc") && !asks("--help") && !asks("-h") {
        command.arg("--cdpc").arg(build_cdpc()?);
    }
    // One that is absent is left out, and that is said.
    let tools = [
        ("--nvcc", crate::bench::nvcc(common)),
        ("--clang", in_path("clang-22")),
        ("--cxx", in_path("c++")),
    ];
    for (name, path) in tools {
        match path {
            Some(path) => drop(command.arg(name).arg(path)),
            None => ui.note(&format!("{} is not here", &name[2..])),
        }
    }
    command.arg("--work").arg(target_dir()?.join("differential")).args(options);
    let status = command.stdin(Stdio::null()).status();
    let status = status
        .map_err(|error| Failure::new(format!("could not start cdp-differential: {error}")))?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
