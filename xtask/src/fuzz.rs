//! `cargo xtask fuzz ...`: tests that go on for as long as one likes. The work is done by `cdp-differential`.

use std::path::PathBuf;
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
    Differential(DifferentialOptions),
    /// The same for a machine with a GPU: cubins of cdpc and nvcc, and a script that runs them there
    GpuBundle {
        #[command(flatten)]
        options: DifferentialOptions,
        /// The folder that is written
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
    },
}

/// Options of differential testing.
#[derive(Args)]
pub struct DifferentialOptions {
    /// The first program's number
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// How many programs
    #[arg(long, default_value_t = 100)]
    count: u64,
    /// How many programs are one source
    #[arg(long, value_name = "N", default_value_t = 40)]
    pack: u64,
    /// Make programs on which compilers disagree as small as they can be
    #[arg(long)]
    reduce: bool,
    /// A `cdpc` that is built already
    #[arg(long, value_name = "FILE")]
    cdpc: Option<PathBuf>,
}

/// Runs one kind of fuzzing.
///
/// # Errors
/// When something does not build or does not start.
pub fn fuzz(ui: &Ui, common: &Common, fuzz: &Fuzz) -> Outcome<ExitCode> {
    let (verb, options, out) = match fuzz {
        Fuzz::Differential(options) => ("differential", options, None),
        Fuzz::GpuBundle { options, out } => ("gpu-bundle", options, Some(out)),
    };
    let judges = binary(&build_release(&["cdp-differential"])?, "cdp-differential")?;
    let cdpc = match &options.cdpc {
        Some(path) => path.clone(),
        None => build_cdpc()?,
    };
    let mut command = Command::new(judges);
    command.arg(verb).arg("--cdpc").arg(cdpc);
    for (name, value) in
        [("--seed", options.seed), ("--count", options.count), ("--pack", options.pack)]
    {
        command.arg(name).arg(value.to_string());
    }
    if options.reduce {
        command.arg("--reduce");
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
    let work = target_dir()?.join(format!("differential/{}", options.seed));
    command.arg("--work").arg(work);
    if let Some(out) = out {
        command.arg("--out").arg(out);
    }
    let status = command.stdin(Stdio::null()).status();
    let status = status
        .map_err(|error| Failure::new(format!("could not start cdp-differential: {error}")))?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
