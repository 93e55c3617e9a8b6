//! `cargo xtask bench ...`: measurements, never part of the tests.

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

use clap::Subcommand;

use crate::Common;
use crate::cargo::output;
use crate::failure::Outcome;
use crate::ui::Ui;

/// The benchmarks.
#[derive(Subcommand)]
pub enum Bench {
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

/// Runs one benchmark.
///
/// # Errors
/// When a tool that the benchmark cannot do without is missing or fails.
pub fn bench(ui: &Ui, common: &Common, bench: &Bench) -> Outcome<ExitCode> {
    match bench {
        Bench::Compile(options) => compile::compile(ui, common, options),
        Bench::Cuda(options) => cuda::cuda(ui, common, options),
        Bench::Device(options) => device::device(ui, common, options),
        Bench::Launch(options) => launch::launch(ui, common, options),
        Bench::Lines(options) => lines::lines(ui, common, options),
        Bench::Memory(options) => memory::memory(ui, options),
        Bench::Run(options) => run::bench_run(ui, common, options),
    }
}

/// nvcc of the toolkit that would be used, if there is one.
pub fn nvcc(common: &Common) -> Option<std::path::PathBuf> {
    let options = cdp_toolchain::SearchOptions {
        cuda_path: common.cuda_path.clone(),
        start_dirs: vec![crate::cargo::root()],
        ..cdp_toolchain::SearchOptions::from_process()
    };
    Some(cdp_toolchain::Toolchain::find(&options).ok()?.nvcc()?.to_path_buf())
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
