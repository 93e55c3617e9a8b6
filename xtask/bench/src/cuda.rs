//! `cargo xtask bench cuda`: `.cu` files to PTX and to executables, against nvcc, as whole processes.
//!
//! What cdpc takes depends on what its cache folder holds: it is measured the first, the second and the third
//! time that it sees a file, with the precompiled wrapper of CUDA's headers there, which any file before has
//! had made. All commands run in turn in every round, so that a slow moment of the machine meets all of them.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use clap::Args;
use xtask::Common;
use xtask::cargo::{build_cdpc, nvcc, output, root, target_dir};
use xtask::demo::with_cuda_path;
use xtask::failure::{Failure, Outcome};
use xtask::table::{Align, markdown, milliseconds, table};
use xtask::ui::Ui;

use super::measure::{Sample, median, run, summary};
use super::{machine, today};

/// Options of the benchmark.
#[derive(Args)]
pub struct CudaOptions {
    /// Rounds; every command runs once in each
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Only programs whose name contains this
    #[arg(long)]
    case: Option<String>,
    /// The cdpc to measure, with libcdp_runtime.a beside it, instead of one that is built for release
    #[arg(long, value_name = "PATH")]
    cdpc: Option<PathBuf>,
    /// Write the result to compiler/docs/bench-cuda.md
    #[arg(long)]
    write: bool,
}

/// How often cdpc sees a file.
const TIMES: usize = 3;

/// What is made.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Goal {
    Ptx,
    Executable,
}

const GOALS: [Goal; 2] = [Goal::Ptx, Goal::Executable];

/// A program and what was measured of it.
struct Row {
    name: String,
    /// By goal: nvcc's time, and those of cdpc.
    times: [(f64, [f64; TIMES]); 2],
}

struct Bench {
    cdpc: PathBuf,
    nvcc: PathBuf,
    common: Common,
    work: PathBuf,
    /// Files of the cache folder that are there before a program is seen.
    kept: HashSet<PathBuf>,
}

/// Measures and shows.
///
/// # Errors
/// When the compiler does not build or does not compile a program, and without nvcc.
pub fn cuda(ui: &Ui, common: &Common, options: &CudaOptions) -> Outcome<ExitCode> {
    let work = target_dir()?.join("bench-cuda");
    let _ = fs::remove_dir_all(&work);
    fs::create_dir_all(&work).map_err(|error| Failure::io("make the folder", &work, &error))?;
    let cdpc = match &options.cdpc {
        Some(cdpc) => cdpc.clone(),
        None => build_cdpc()?,
    };
    let nvcc = nvcc(common)
        .ok_or_else(|| Failure::new("the benchmark compares with nvcc, which is not here"))?;
    let mut bench = Bench { cdpc, nvcc, common: common.clone(), work, kept: HashSet::new() };
    bench.warm_up()?;
    let mut rows = Vec::new();
    for source in programs()? {
        let name = source.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if options.case.as_ref().is_some_and(|filter| !name.contains(filter)) {
            continue;
        }
        let step = ui.step(&format!("measuring {name}"));
        rows.push(bench.measure(&name, &source, options.rounds)?);
        step.done();
    }
    if rows.is_empty() {
        return Err(Failure::new("nothing was measured"));
    }
    let (aligns, cells) = cells(&rows);
    for line in table(&aligns, &cells) {
        ui.line(&line);
    }
    for line in conclusions(&rows) {
        ui.line(&line);
    }
    if options.write {
        let path = root().join("compiler/docs/bench-cuda.md");
        let text = document(&bench.nvcc, options.rounds, &markdown(&aligns, &cells), &rows)?;
        fs::write(&path, text).map_err(|error| Failure::io("write", &path, &error))?;
        ui.line(&format!("written to {}", path.display()));
    }
    let _ = fs::remove_dir_all(&bench.work);
    Ok(ExitCode::SUCCESS)
}

/// The programs of the tests but those that ask for options.
fn programs() -> Outcome<Vec<PathBuf>> {
    let folder = root().join("tests/cases/cuda");
    let entries =
        fs::read_dir(&folder).map_err(|error| Failure::io("read the folder", &folder, &error))?;
    let mut found: Vec<PathBuf> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "cu"))
        .filter(|path| !fs::read_to_string(path).unwrap_or_default().contains("\n// flags:"))
        .collect();
    found.sort();
    Ok(found)
}

/// Whether kernels wait for their children (`//@ cdp: 1`), which they can do below sm_90 only.
fn is_cdp1(source: &Path) -> bool {
    let text = fs::read_to_string(source).unwrap_or_default();
    text.lines().any(|line| line.trim_start_matches(['/', '@', ' ']) == "cdp: 1")
}

impl Bench {
    fn cache(&self) -> PathBuf {
        self.work.join("cache")
    }

    fn cdpc(&self, source: &Path, goal: Goal) -> Command {
        let mut command = Command::new(&self.cdpc);
        command.arg("build").arg(source).env("CDP_CACHE_DIR", self.cache()).arg("-o");
        match goal {
            Goal::Ptx => command.arg(self.work.join("cdpc.ptx")),
            Goal::Executable => command.arg(self.work.join("cdpc.exe")),
        };
        if is_cdp1(source) {
            command.args(["--cdp", "1"]);
        }
        let beside = self.cdpc.with_file_name("libcdp_runtime.a");
        if beside.is_file() {
            command.env("CDP_RUNTIME_LIB", beside);
        }
        with_cuda_path(&mut command, &self.common);
        if self.common.cuda_path.is_none()
            && let Some(kit) = self.nvcc.parent().and_then(Path::parent)
        {
            command.arg("--cuda-path").arg(kit);
        }
        command
    }

    fn nvcc(&self, source: &Path, goal: Goal) -> Command {
        let mut command = Command::new(&self.nvcc);
        command.args(["-rdc=true", "-std=c++17", "--extended-lambda", "-w", "-I"]);
        // The helpers of NVIDIA's samples, which nvcc has not.
        command.arg(root().join("compiler/cdp/src/cuda/headers"));
        match is_cdp1(source) {
            true => command.args(["-arch=sm_75", "-DCUDA_FORCE_CDP1_IF_SUPPORTED"]),
            false => command.arg("-arch=sm_90"),
        };
        match goal {
            Goal::Ptx => command.arg("-ptx").arg("-o").arg(self.work.join("nvcc.ptx")),
            // CUDA's wheels have no library to link calls of the driver with; a driver brings it.
            Goal::Executable => command
                .args(["-Xlinker", "--unresolved-symbols=ignore-all", "-o"])
                .arg(self.work.join("nvcc.exe")),
        };
        command.arg(source);
        command
    }

    /// Has the wrapper of CUDA's headers made, as any file does for those after it.
    fn warm_up(&mut self) -> Outcome<()> {
        for cdp1 in ["", "//@ cdp: 1\n"] {
            let source = self.work.join("empty.cu");
            fs::write(&source, format!("{cdp1}int main() {{}}\n"))
                .map_err(|error| Failure::io("write", &source, &error))?;
            for goal in GOALS {
                run(&mut [self.cdpc(&source, goal)])?;
            }
        }
        self.kept = self.precompiled().into_iter().collect();
        Ok(())
    }

    fn precompiled(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.cache().join("pch")).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).collect()
    }

    /// Makes every file one that was never seen.
    fn forget(&self) -> Outcome<()> {
        for path in self.precompiled().iter().filter(|path| !self.kept.contains(*path)) {
            fs::remove_file(path).map_err(|error| Failure::io("remove", path, &error))?;
        }
        Ok(())
    }

    fn measure(&self, name: &str, source: &Path, rounds: usize) -> Outcome<Row> {
        let mut samples: [Vec<Sample>; 2 * (TIMES + 1)] = Default::default();
        // One round before counting: files come into memory.
        for round in 0..=rounds {
            for (index, goal) in GOALS.into_iter().enumerate() {
                let mut commands = vec![self.nvcc(source, goal)];
                commands.extend((0..TIMES).map(|_| self.cdpc(source, goal)));
                self.forget()?;
                for (number, command) in commands.into_iter().enumerate() {
                    let sample = run(&mut [command])?;
                    if round > 0 {
                        samples[index * (TIMES + 1) + number].push(sample);
                    }
                }
            }
        }
        let seconds = |index: usize| summary(&samples[index]).seconds;
        let times = [0, 1].map(|goal| {
            let first = goal * (TIMES + 1);
            (seconds(first), std::array::from_fn(|number| seconds(first + 1 + number)))
        });
        Ok(Row { name: name.to_owned(), times })
    }
}

fn cells(rows: &[Row]) -> (Vec<Align>, Vec<Vec<String>>) {
    let mut heading = vec!["program".to_owned()];
    for goal in ["PTX", "program"] {
        heading.push(format!("nvcc, {goal}"));
        heading.extend(["1st", "2nd", "3rd"].map(|time| format!("cdpc, {time}")));
    }
    let mut aligns = vec![Align::Right; heading.len()];
    aligns[0] = Align::Left;
    let mut cells = vec![heading];
    for row in rows {
        let mut line = vec![row.name.clone()];
        for (nvcc, cdpc) in &row.times {
            line.push(milliseconds(*nvcc));
            let times =
                |seconds: &f64| format!("{} ({:.1})", milliseconds(*seconds), nvcc / seconds);
            line.extend(cdpc.iter().map(times));
        }
        cells.push(line);
    }
    (aligns, cells)
}

/// How many times as fast as nvcc: the least and the median of all programs.
fn conclusions(rows: &[Row]) -> Vec<String> {
    let mut lines = Vec::new();
    for (index, goal) in ["PTX", "programs"].into_iter().enumerate() {
        for (number, time) in ["first", "second", "third"].into_iter().enumerate() {
            let ratio = |row: &Row| row.times[index].0 / row.times[index].1[number];
            let ratios: Vec<f64> = rows.iter().map(ratio).collect();
            let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
            lines.push(format!(
                "{goal}, the {time} time: {least:.2} times as fast as nvcc at least, {:.2} at the median",
                median(ratios)
            ));
        }
    }
    lines
}

fn document(nvcc: &Path, rounds: usize, table: &str, rows: &[Row]) -> Outcome<String> {
    let version = output(Command::new(nvcc).arg("--version"))?;
    let version = version.lines().find(|line| line.contains("release")).unwrap_or_default().trim();
    let conclusions: Vec<_> =
        conclusions(rows).into_iter().map(|line| format!("- {line}\n")).collect();
    Ok(format!(
        "# Compile time of `.cu` files\n\n\
         `cargo xtask bench cuda --write`, {}. Whole processes for sm_90 of the programs of `tests/cases/cuda`, median of\n\
         {rounds} rounds in which all commands ran in turn, after one uncounted round; in brackets how many times as fast\n\
         as nvcc. cdpc sees each file for the first, second and third time, with what any other file before has left in\n\
         the cache folder ([precompiled headers](cuda.md#precompiled-headers)).\n\n\
         Machine: {}. nvcc: {version}.\n\n{}\n{table}",
        today()?,
        machine(),
        conclusions.concat()
    ))
}
