//! `cargo xtask fuzz ...`: tests that go on for as long as one likes.

use std::path::PathBuf;
use std::process::ExitCode;

use cdp_differential::{Judge, Program, Verdict, generate, reduce};
use clap::{Args, Subcommand};

use crate::Common;
use crate::cargo::{build_cdpc, in_path, target_dir};
use crate::failure::{Failure, Outcome};
use crate::ui::Ui;

/// What is fuzzed.
#[derive(Subcommand)]
pub enum Fuzz {
    /// Random programs, compiled at several levels, by nvcc and by the host's compiler
    Differential(DifferentialOptions),
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
    /// Make programs on which compilers disagree as small as they can be
    #[arg(long)]
    reduce: bool,
    /// A `cdpc` that is built already, with `libcdp_runtime.a` beside it
    #[arg(long, value_name = "FILE")]
    cdpc: Option<PathBuf>,
}

/// Runs one kind of fuzzing.
///
/// # Errors
/// When something does not build or a tool does not start.
pub fn fuzz(ui: &Ui, common: &Common, fuzz: &Fuzz) -> Outcome<ExitCode> {
    let Fuzz::Differential(options) = fuzz;
    let cdpc = match &options.cdpc {
        Some(path) => path.clone(),
        None => build_cdpc()?,
    };
    let work = target_dir()?.join("differential");
    std::fs::create_dir_all(&work)
        .map_err(|error| Failure::io("make the folder", &work, &error))?;
    let judge = Judge {
        runtime: cdpc.with_file_name("libcdp_runtime.a"),
        cdpc,
        nvcc: crate::bench::nvcc(common),
        cxx: in_path("c++"),
        work: work.clone(),
    };
    let verdict = |program: &Program| judge.judge(program).map_err(Failure::new);
    let mut found = 0;
    for seed in options.seed..options.seed + options.count {
        let program = generate(seed);
        let Verdict::Disagree { first, other } = verdict(&program)? else { continue };
        found += 1;
        ui.line(&format!("seed {seed}: {} and {} disagree", first.0, other.0));
        let shown = if options.reduce {
            reduce(&program, |smaller| matches!(verdict(smaller), Ok(Verdict::Disagree { .. })))
        } else {
            program
        };
        let path = work.join(format!("{seed}.cdp"));
        std::fs::write(&path, shown.source())
            .map_err(|error| Failure::io("write", &path, &error))?;
        ui.line(&format!(
            "  {}\n--- {}\n{}--- {}\n{}",
            path.display(),
            first.0,
            first.1,
            other.0,
            other.1
        ));
    }
    ui.line(&format!(
        "{} programs from seed {}, {found} with disagreements",
        options.count, options.seed
    ));
    Ok(if found == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
