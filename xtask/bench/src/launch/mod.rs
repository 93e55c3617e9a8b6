//! `cargo xtask bench launch`: nested parallelism as people write it, by nvcc and by us, against loops and
//! against code tuned by hand.
//!
//! The programs of `samples/nested` are compiled by nvcc and by cdpc at every level of the launch optimiser,
//! and with each transformation left out. A folder is made with these executables and a `run.sh`, which runs
//! here when there is a GPU, or is copied to a machine that has one; what it printed comes back with
//! `--results`, from several machines or in several parts if need be.

mod build;
mod chart;
mod page;
mod results;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use clap::Args;
use xtask::Common;
use xtask::cargo::{build_cdpc, build_shared_runtime, root, target_dir};
use xtask::failure::{Failure, Outcome};
use xtask::table::table;
use xtask::ui::Ui;

use super::measure::capture;

use build::Builder;
use results::Results;

/// Options of the benchmark.
#[derive(Args)]
pub struct LaunchOptions {
    /// Only programs whose name contains one of these
    #[arg(long, value_name = "NAME")]
    program: Vec<String>,
    /// Where to make the folder [default: bench-launch in cargo's target folder]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Measure this compiler, with the libcdp_runtime.so beside it, instead of building both
    #[arg(long, value_name = "FILE")]
    cdpc: Option<PathBuf>,
    /// What `run.sh` printed on a machine with a GPU; nothing is built or run then
    #[arg(long, value_name = "FILE", num_args = 1..)]
    results: Vec<PathBuf>,
    /// Write the result to compiler/docs/launch-optimiser.md
    #[arg(long)]
    write: bool,
}

/// A program with an input.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Row {
    pub program: &'static str,
    /// The size: a power of two, or of the board.
    pub scale: &'static str,
    /// The kind of a graph; empty where there is one input only.
    pub input: &'static str,
}

const fn row(program: &'static str, scale: &'static str, input: &'static str) -> Row {
    Row { program, scale, input }
}

/// All that is measured.
const ROWS: [Row; 22] = [
    row("bezier", "16", ""),
    row("bfs", "16", "rmat"),
    row("bfs", "16", "power"),
    row("bfs", "16", "road"),
    row("colouring", "12", "rmat"),
    row("colouring", "12", "power"),
    row("join", "16", ""),
    row("mandelbrot", "10", ""),
    row("pagerank", "14", "rmat"),
    row("quadtree", "17", ""),
    row("queens", "12", ""),
    row("quicksort", "12", ""),
    row("refine", "12", ""),
    row("scatter", "16", "power"),
    row("scatter", "16", "road"),
    row("spanning", "14", "rmat"),
    row("spmv", "16", "power"),
    row("sssp", "16", "rmat"),
    row("sssp", "16", "power"),
    row("sssp", "14", "road"),
    row("survey", "14", ""),
    row("triangles", "14", "rmat"),
];

impl Row {
    /// `bfs-16-power`, as the folder and the results name it.
    pub fn name(&self) -> String {
        let input = if self.input.is_empty() { String::new() } else { format!("-{}", self.input) };
        format!("{}-{}{input}", self.program, self.scale)
    }
}

/// A way to compile a program.
pub struct Contender {
    pub name: &'static str,
    /// Words for cdpc; `None` is nvcc.
    pub flags: Option<&'static [&'static str]>,
    /// Whether the flat and the tuned variant run too.
    pub all_variants: bool,
    /// Of an ablation: what is left out.
    pub without: Option<&'static str>,
}

const fn contender(name: &'static str, flags: &'static [&'static str]) -> Contender {
    Contender { name, flags: Some(flags), all_variants: false, without: None }
}

const fn ablation(
    name: &'static str,
    without: &'static str,
    flags: &'static [&'static str],
) -> Contender {
    Contender { name, flags: Some(flags), all_variants: false, without: Some(without) }
}

/// The compilers and levels, then `fast` with a transformation left out.
pub const CONTENDERS: [Contender; 10] = [
    Contender { name: "nvcc", flags: None, all_variants: true, without: None },
    Contender {
        name: "off",
        flags: Some(&["-flaunch-opt=off"]),
        all_variants: true,
        without: None,
    },
    contender("safe", &["-flaunch-opt=safe"]),
    contender("fast", &["-flaunch-opt=fast"]),
    ablation(
        "no-own",
        "a lane's own small children",
        &["-flaunch-opt=fast", "--launch-tuning", "own=0"],
    ),
    ablation(
        "no-warp",
        "children run by the warp",
        &["-flaunch-opt=fast", "--launch-tuning", "threshold=16"],
    ),
    ablation(
        "no-gather",
        "launches of a warp made one",
        &["-flaunch-opt=fast", "--launch-tuning", "gather=0"],
    ),
    ablation(
        "no-queue",
        "launches of a grid made few",
        &["-flaunch-opt=fast", "--launch-tuning", "queue=0"],
    ),
    ablation(
        "no-late",
        "launches at the parent's end",
        &["-flaunch-opt=fast", "--launch-tuning", "late=0"],
    ),
    ablation("no-sums", "sums in registers", &["-flaunch-opt=fast", "--launch-tuning", "sums=0"]),
];

/// Builds and runs, or reads what ran elsewhere, and shows.
///
/// # Errors
/// When a program does not compile, results cannot be read, or a program's contenders disagree.
pub fn launch(ui: &Ui, common: &Common, options: &LaunchOptions) -> Outcome<ExitCode> {
    let out = match &options.out {
        Some(dir) => dir.clone(),
        None => target_dir()?.join("bench-launch"),
    };
    let wanted = |row: &&Row| {
        options.program.is_empty() || options.program.iter().any(|part| row.program.contains(part))
    };
    let rows: Vec<Row> = ROWS.iter().filter(wanted).copied().collect();
    if rows.is_empty() {
        return Err(Failure::new("no such program in samples/nested"));
    }
    let mut texts = Vec::new();
    if options.results.is_empty() {
        make(ui, common, options, &rows, &out)?;
        if !Path::new("/dev/nvidia0").exists() {
            ui.line(&format!("no GPU here: copy {} to a machine with one,", out.display()));
            ui.line("run `run.sh FILE` there, and give the file with --results");
            return Ok(ExitCode::SUCCESS);
        }
        texts.push(capture(Command::new("bash").arg(out.join("run.sh")))?.0);
    }
    for path in &options.results {
        let text = fs::read_to_string(path).map_err(|error| Failure::io("read", path, &error))?;
        texts.push(text);
    }
    let results = Results::read(&texts)?;
    for (aligns, cells) in page::tables(&results) {
        table(&aligns, &cells).iter().for_each(|line| ui.line(line));
        ui.line("");
    }
    for problem in &results.problems {
        ui.note(problem);
    }
    if options.write {
        let path = root().join("compiler/docs/launch-optimiser.md");
        page::write(&path, &results)?;
        let chart = path.with_extension("svg");
        fs::write(&chart, chart::svg(&results))
            .map_err(|error| Failure::io("write", &chart, &error))?;
        ui.line(&format!("written to {} and {}", path.display(), chart.display()));
    }
    match results.disagreements() {
        none if none.is_empty() => Ok(ExitCode::SUCCESS),
        some => Err(Failure::new(format!("sums differ: {}", some.join(", ")))),
    }
}

/// Makes the folder.
fn make(
    ui: &Ui,
    common: &Common,
    options: &LaunchOptions,
    rows: &[Row],
    out: &Path,
) -> Outcome<()> {
    let (cdpc, runtime) = match &options.cdpc {
        Some(path) => (path.clone(), path.with_file_name("libcdp_runtime.so")),
        None => (build_cdpc()?, build_shared_runtime(&target_dir()?.join("release"))?),
    };
    let builder = Builder::new(common, cdpc, runtime, out)?;
    let step = ui.step("compiling the programs of samples/nested");
    let mut programs: Vec<&str> = rows.iter().map(|row| row.program).collect();
    programs.dedup();
    let mut facts = String::new();
    for program in programs {
        for contender in &CONTENDERS {
            step.detail(&format!("{program}, {}", contender.name));
            facts += &builder.build(program, contender)?;
        }
    }
    step.done();
    builder.finish(rows, &facts)
}
