//! `cargo xtask bench ...`: measurements, never part of the tests. They start cargo and the programs that they measure;
//! nothing of the compiler is linked.

mod compile;
mod cuda;
mod device;
mod generate;
mod launch;
mod lines;
mod measure;
mod memory;
mod reference;
mod run;
mod tools;

use std::process::{Command, ExitCode};

use clap::{Parser, Subcommand};
use xtask::Common;
use xtask::cargo::output;
use xtask::failure::Outcome;
use xtask::ui::Ui;

/// Measurements
#[derive(Parser)]
#[command(name = "cargo xtask bench", bin_name = "cargo xtask bench", disable_version_flag = true)]
struct Cli {
    #[command(flatten)]
    common: Common,
    #[command(subcommand)]
    bench: Bench,
}

/// The benchmarks.
#[derive(Subcommand)]
enum Bench {
    /// Whole-process time and memory of compiling, against nvcc, clang and the bare CUDA tools
    Compile(compile::CompileOptions),
    /// `.cu` files to PTX and to executables, against nvcc, the first, second and third time
    Cuda(cuda::CudaOptions),
    /// Speed of device code on a GPU, against nvcc and clang, with registers and instructions
    Device(device::DeviceOptions),
    /// Nested parallelism on a GPU: by nvcc, by cdpc at every level of the launch optimiser, flat and by hand
    Launch(launch::LaunchOptions),
    /// How compile time and memory grow with the length of a program, up to 100,000 lines
    Lines(lines::LinesOptions),
    /// Compiling from memory by the library: time of a call, threads, resident memory
    Memory(memory::MemoryOptions),
    /// Speed of the CPU device, and time and memory of a process that runs hello world
    Run(run::RunOptions),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let ui = Ui::default();
    bench(&ui, &cli).unwrap_or_else(|failure| {
        ui.error(&failure.to_string());
        ExitCode::FAILURE
    })
}

fn bench(ui: &Ui, cli: &Cli) -> Outcome<ExitCode> {
    let common = &cli.common;
    match &cli.bench {
        Bench::Compile(options) => compile::compile(ui, common, options),
        Bench::Cuda(options) => cuda::cuda(ui, common, options),
        Bench::Device(options) => device::device(ui, common, options),
        Bench::Launch(options) => launch::launch(ui, common, options),
        Bench::Lines(options) => lines::lines(ui, common, options),
        Bench::Memory(options) => memory::memory(ui, options),
        Bench::Run(options) => run::bench_run(ui, common, options),
    }
}

/// The date, for a document.
fn today() -> Outcome<String> {
    let date = output(Command::new("date").args(["--utc", "+%Y-%m-%d"]))?;
    Ok(date.trim().to_owned())
}

/// The processor and how many cores of it there are, for a document.
fn machine() -> String {
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = cpu.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    format!("{}, {cores} cores", name.map_or("unknown", |(_, name)| name))
}
