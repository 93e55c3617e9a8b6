//! `cargo xtask ...`: set-up, demo, tests, expectations, benchmarks, and the bundle for a GPU
//! machine. Run without a verb for the list.
//!
//! It starts cargo and the built `cdpc`; it contains nothing of the compiler and does not link LLVM. The benchmarks are
//! a crate of their own (`xtask/bench`), which is built when one is asked for and uses what is public here.

mod bundle;
pub mod cargo;
pub mod demo;
pub mod failure;
mod files;
mod fuzz;
mod install;
mod interop;
mod lints;
mod order;
mod report;
mod setup;
mod shape;
mod suite;
pub mod table;
pub mod ui;
mod wheel;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use clap::{Args, Parser, Subcommand};

use crate::failure::{Failure, Outcome};
use crate::ui::Ui;

/// Set-up, demo, tests, expectations, benchmarks and the bundle for a GPU machine.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", disable_version_flag = true)]
struct Cli {
    #[command(flatten)]
    common: Common,
    #[command(subcommand)]
    verb: Verb,
}

/// Options of every verb.
#[derive(Args, Clone)]
pub struct Common {
    /// Root of the CUDA toolkit to use before all others
    #[arg(long, global = true, value_name = "DIR")]
    pub cuda_path: Option<PathBuf>,
}

#[derive(Subcommand)]
enum Verb {
    /// Install what is missing: LLVM 22 (apt packages), CUDA tools (into .toolchain)
    Setup,
    /// Build the release compiler, compile every sample and show what was made
    Demo,
    /// Run the whole test suite
    Test(suite::TestOptions),
    /// Run the tests and rewrite the expectations that changed
    Bless(suite::TestOptions),
    /// Measure; `cargo xtask bench --help` lists the benchmarks
    #[command(disable_help_flag = true)]
    Bench(Passed),
    /// Test with random programs; `cargo xtask fuzz --help` lists the kinds
    #[command(subcommand)]
    Fuzz(fuzz::Fuzz),
    /// Show lines by crate, and what is too large: files, circles between modules
    Shape(shape::ShapeOptions),
    /// Write compiler/cdpc/functions.order anew: which of LLVM's functions the linker puts side by side
    Order,
    /// Build and install the command, the libraries, the header and a pkg-config file
    Install(install::InstallOptions),
    /// Make an archive with all that `install` installs, for another machine
    Dist,
    /// Make the Python package and test it in a virtual environment
    Wheel(wheel::WheelOptions),
    /// Make a folder to copy to a machine with a GPU, which runs every sample and run case there
    GpuBundle(bundle::BundleOptions),
}

/// Options of another program, which describes them itself (`--help`).
#[derive(Args)]
struct Passed {
    /// Passed on, see `--help`
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    options: Vec<OsString>,
}

/// The command, with the process's arguments.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    let ui = Ui::default();
    match run(&cli, &ui) {
        Ok(code) => code,
        Err(failure) => {
            ui.error(&failure.to_string());
            ExitCode::FAILURE
        }
    }
}

/// What a verb is going to do, for who waits for the first time.
fn plan(verb: &Verb) -> Option<&'static str> {
    Some(match verb {
        Verb::Setup => {
            "set-up: LLVM 22 from apt, CUDA's tools into .toolchain, where they are missing"
        }
        Verb::Demo => {
            "demo: set up what is missing, build the compiler (minutes the first time), compile and run \
             every sample"
        }
        Verb::Test(_) => {
            "test: set up what is missing, build everything (minutes the first time), run the tests, \
             then clippy and rustdoc"
        }
        _ => return None,
    })
}

fn run(cli: &Cli, ui: &Ui) -> Outcome<ExitCode> {
    if let Some(plan) = plan(&cli.verb) {
        ui.note(plan);
    }
    // Counting takes no tools.
    if !matches!(cli.verb, Verb::Shape(_)) {
        setup::setup(ui, &cli.common)?;
    }
    match &cli.verb {
        Verb::Setup => {
            ui.line("set-up is complete");
            Ok(ExitCode::SUCCESS)
        }
        Verb::Demo => demo::demo(ui, &cli.common),
        Verb::Test(options) => suite::test(ui, options, suite::Expectations::Check),
        Verb::Bless(options) => suite::test(ui, options, suite::Expectations::Rewrite),
        Verb::Fuzz(fuzz) => fuzz::fuzz(ui, &cli.common, fuzz),
        Verb::Bench(passed) => bench(&cli.common, passed),
        Verb::Shape(options) => shape::shape(ui, options),
        Verb::Order => order::order(ui),
        Verb::Install(options) => install::install(ui, options),
        Verb::Dist => install::dist(ui),
        Verb::Wheel(options) => wheel::wheel(ui, options),
        Verb::GpuBundle(options) => bundle::gpu_bundle(ui, &cli.common, options),
    }
}

/// Builds the benchmarks and runs one.
fn bench(common: &Common, passed: &Passed) -> Outcome<ExitCode> {
    let mut command = Command::new(cargo::build_quick("cdp-bench")?);
    let status = demo::with_cuda_path(&mut command, common).args(&passed.options).status();
    let status =
        status.map_err(|error| Failure::new(format!("could not start cdp-bench: {error}")))?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
