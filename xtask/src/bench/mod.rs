//! `cargo xtask bench ...`: measurements, never part of the tests.

mod compile;
mod generate;
mod measure;

use std::process::ExitCode;

use clap::Subcommand;

use crate::Common;
use crate::failure::Outcome;
use crate::ui::Ui;

/// The benchmarks.
#[derive(Subcommand)]
pub enum Bench {
    /// Whole-process time and memory of compiling, against nvcc, clang and the bare CUDA tools
    Compile(compile::CompileOptions),
}

/// Runs one benchmark.
///
/// # Errors
/// When a tool that the benchmark cannot do without is missing or fails.
pub fn bench(ui: &Ui, common: &Common, bench: &Bench) -> Outcome<ExitCode> {
    match bench {
        Bench::Compile(options) => compile::compile(ui, common, options),
    }
}
