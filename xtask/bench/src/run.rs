//! `cargo xtask bench run`: how fast the CPU device is, and how soon a small program is done.
//!
//! The kernels are those of the emulator's own benchmark, which is started as a process for each, so
//! that its memory is known too. With one host thread and with as many as there are cores, in turn in
//! every round.

use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};

use clap::Args;
use xtask::Common;
use xtask::cargo::{build_cdpc, build_example, root, target_dir};
use xtask::demo::with_cuda_path;
use xtask::failure::{Failure, Outcome};
use xtask::table::{Align, bytes, markdown, milliseconds, table};
use xtask::ui::Ui;

use super::measure::{Sample, capture, median, run, summary};
use super::{machine, reference, today};

/// Options of the benchmark.
#[derive(Args)]
pub struct RunOptions {
    /// Rounds; everything is run once in each
    #[arg(long, default_value_t = 7)]
    rounds: usize,
    /// Host threads to compare one with [default: as many as the machine has cores]
    #[arg(long)]
    threads: Option<usize>,
    /// Only kernels whose name contains this
    #[arg(long)]
    kernel: Option<String>,
    /// Write the result to compiler/docs/bench-run.md
    #[arg(long)]
    write: bool,
}

/// The kernels, by what they are bound by: arithmetic, launches, calls.
const KERNELS: [&str; 10] = [
    "matmul",
    "matmul_tiled",
    "mandelbrot",
    "saxpy",
    "reduce",
    "working_tree",
    "tree",
    "forked_tree",
    "calls",
    "recursion",
];

/// What one run of a kernel said.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Speed {
    /// Thread-instructions, in millions.
    instructions_millions: f64,
    /// Thread-instructions a second, in millions.
    rate_millions: f64,
    /// Grids a second.
    grids: f64,
}

/// How a kernel is run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// By the interpreter.
    Interpreted,
    /// With machine code that is made beside it, as `cdpc run` has it.
    Beside,
    /// With machine code that is there.
    Ready,
    /// As with `cdpc run --check race`.
    Checked,
}

impl Mode {
    /// What the benchmark is told by its environment.
    fn variable(self) -> Option<(&'static str, &'static str)> {
        match self {
            Mode::Interpreted => None,
            Mode::Beside => Some(("NATIVE", "often")),
            Mode::Ready => Some(("NATIVE", "ready")),
            Mode::Checked => Some(("CHECK_RACES", "1")),
        }
    }
}

/// The runs of a kernel with one number of host threads.
#[derive(Default)]
struct Runs {
    speeds: Vec<Speed>,
    peak_bytes: u64,
}

impl Runs {
    fn rate_millions(&self) -> f64 {
        median(self.speeds.iter().map(|speed| speed.rate_millions).collect())
    }

    fn grids(&self) -> f64 {
        median(self.speeds.iter().map(|speed| speed.grids).collect())
    }
}

/// Measures and shows.
///
/// # Errors
/// When something does not build or a benchmark fails.
pub fn bench_run(ui: &Ui, common: &Common, options: &RunOptions) -> Outcome<ExitCode> {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let threads = options.threads.unwrap_or(cores);
    let benchmark = build_example("cdp-llvm", "bench")?;
    let cdpc = build_cdpc()?;
    let kernels = kernels(ui, &benchmark, options, threads)?;
    let against = reference::table(ui, &benchmark, options.rounds)?;
    let programs = programs(ui, common, &cdpc, options.rounds)?;
    for (aligns, cells) in [&kernels, &against, &programs] {
        for line in table(aligns, cells) {
            ui.line(&line);
        }
        ui.line("");
    }
    if options.write {
        let path = root().join("compiler/docs/bench-run.md");
        let text = format!(
            "# Speed of the CPU device\n\n\
             `cargo xtask bench run --write`, {}; median of {} rounds, with the default checks on. A kernel is launched\n\
             again and again for a tenth of a second. Rates are millions of thread-instructions a second of wall time.\n\
             Peak memory is the process's with {threads} host threads.\n\n\
             `working_tree`, `tree` and `forked_tree` launch their children themselves: the first gives each thread\n\
             some hundred instructions, the others nothing but the launch, so that their measure is grids a second.\n\
             `tree` launches both children of a block into one stream, so that no two grids may run at once on\n\
             any number of threads; `forked_tree` launches them with `cudaStreamFireAndForget`.\n\n\
             The column `{threads} processes` is what the machine gives: that many processes of one thread at once, their\n\
             rates added and divided by that of one alone.\n\n\
             The rates before that are the interpreter's alone. The others are those of one host thread with machine code:\n\
             made beside the kernel on another core as `cdpc run` does it, what is interpreted until then included, and made\n\
             before the kernel is measured.\n\n\
             The column `race` says how many times as long a kernel takes with `--check race` as with `code beside`, which is\n\
             what `cdpc run` does without checks, and the last column the peak memory of that. The kernel of `saxpy` touches\n\
             32 MiB of the device's memory, that of `reduce` 16.\n\n\
             Machine: {}.\n\n{}\n\
             Against a C compiler: the same in C (`examples/bench/reference.c`), on one thread; the least processor time\n\
             of as many rounds. First the interpreter alone, then with machine code that is there.\n\n{}\nWhole processes:\n\n{}",
            today()?,
            options.rounds,
            machine(),
            markdown(&kernels.0, &kernels.1),
            markdown(&against.0, &against.1),
            markdown(&programs.0, &programs.1)
        );
        fs::write(&path, text).map_err(|error| Failure::io("write", &path, &error))?;
        ui.line(&format!("written to {}", path.display()));
    }
    Ok(ExitCode::SUCCESS)
}

/// Columns and rows, heading first.
type Table = (Vec<Align>, Vec<Vec<String>>);

fn kernels(ui: &Ui, benchmark: &Path, options: &RunOptions, threads: usize) -> Outcome<Table> {
    let heading = ["kernel".to_owned(), "M instructions".to_owned(), "M/s, 1 thread".to_owned()];
    let rest =
        [format!("M/s, {threads} threads"), "ratio".to_owned(), format!("{threads} processes")];
    let native = ["code beside", "code ready", "grids/s", "peak memory", "race", "its memory"]
        .map(str::to_owned);
    let mut cells = vec![Vec::from_iter(heading.into_iter().chain(rest).chain(native))];
    let wanted = |name: &&str| options.kernel.as_ref().is_none_or(|part| name.contains(part));
    for kernel in KERNELS.into_iter().filter(wanted) {
        let step = ui.step(&format!("measuring {kernel}"));
        let (mut one, mut many) = (Runs::default(), Runs::default());
        let (mut beside, mut ready) = (Runs::default(), Runs::default());
        let mut checked = Runs::default();
        let mut apart = Vec::new();
        // One round before counting, in which files come into memory.
        for round in 0..=options.rounds {
            let measures = [
                (1, Mode::Interpreted, &mut one),
                (threads, Mode::Interpreted, &mut many),
                (1, Mode::Beside, &mut beside),
                (1, Mode::Ready, &mut ready),
                (1, Mode::Checked, &mut checked),
            ];
            for (count, mode, runs) in measures {
                let (speed, sample) = measure(benchmark, kernel, count, mode)?;
                if round > 0 {
                    runs.speeds.push(speed);
                    runs.peak_bytes = runs.peak_bytes.max(sample.peak_bytes);
                }
            }
            if round > 0 {
                apart.push(side_by_side(benchmark, kernel, threads)?);
            }
        }
        step.done();
        let instructions = one.speeds.first().map_or(0.0, |speed| speed.instructions_millions);
        cells.push(vec![
            kernel.to_owned(),
            format!("{instructions:.1}"),
            format!("{:.0}", one.rate_millions()),
            format!("{:.0}", many.rate_millions()),
            format!("{:.2}", many.rate_millions() / one.rate_millions()),
            format!("{:.2}", median(apart) / one.rate_millions()),
            format!("{:.0}", beside.rate_millions()),
            format!("{:.0}", ready.rate_millions()),
            format!("{:.0}", one.grids()),
            bytes(many.peak_bytes),
            format!("{:.1}", beside.rate_millions() / checked.rate_millions()),
            bytes(checked.peak_bytes),
        ]);
    }
    if cells.len() == 1 {
        return Err(Failure::new("nothing was measured"));
    }
    let mut aligns = vec![Align::Left];
    aligns.resize(cells[0].len(), Align::Right);
    Ok((aligns, cells))
}

/// The rates of processes of one thread that run at once, added.
fn side_by_side(benchmark: &Path, kernel: &str, processes: usize) -> Outcome<f64> {
    std::thread::scope(|scope| {
        let one = || {
            measure(benchmark, kernel, 1, Mode::Interpreted).map(|(speed, _)| speed.rate_millions)
        };
        let all: Vec<_> = (0..processes).map(|_| scope.spawn(one)).collect();
        let lost = |_| Failure::new(format!("a measurement of {kernel} was lost"));
        all.into_iter().map(|rate| rate.join().map_err(lost)?).sum()
    })
}

fn measure(benchmark: &Path, kernel: &str, threads: usize, mode: Mode) -> Outcome<(Speed, Sample)> {
    let mut command = Command::new(benchmark);
    command.arg(kernel).env("HOST_THREADS", threads.to_string());
    command.env_remove("NATIVE").env_remove("CHECK_RACES").envs(mode.variable());
    let (text, sample) = capture(&mut command)?;
    let speed = text.lines().find_map(|line| speed(line, kernel));
    let speed = speed
        .ok_or_else(|| Failure::new(format!("the benchmark printed no result of {kernel}")))?;
    Ok((speed, sample))
}

/// Reads `NAME 1.0 ms 2.0 M thread-instructions 3.0 M/s 4 grids/s`.
fn speed(line: &str, kernel: &str) -> Option<Speed> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let before = |unit: &[&str]| {
        let at = words.windows(unit.len()).position(|window| window == unit)?;
        words.get(at.checked_sub(1)?)?.parse().ok()
    };
    if words.first() != Some(&kernel) {
        return None;
    }
    Some(Speed {
        instructions_millions: before(&["M", "thread-instructions"])?,
        rate_millions: before(&["M/s"])?,
        grids: before(&["grids/s"])?,
    })
}

/// The hello world of the samples: as a program of its own, and compiled and run by `cdpc run`.
fn programs(ui: &Ui, common: &Common, cdpc: &Path, rounds: usize) -> Outcome<Table> {
    let work = target_dir()?.join("bench-run");
    fs::create_dir_all(&work).map_err(|error| Failure::io("make the folder", &work, &error))?;
    let (source, program) = (root().join("samples/hello.cdp"), work.join("hello"));
    let mut build = Command::new(cdpc);
    build.arg("build").arg(&source).arg("-o").arg(&program);
    with_cuda_path(&mut build, common);
    run(&mut [build])?;
    let step = ui.step("measuring hello world");
    let mut cells = vec![["process", "median", "peak memory"].map(str::to_owned).to_vec()];
    let hello = || {
        let mut command = Command::new(&program);
        command.env("CDP_DEVICE", "cpu");
        command
    };
    let compiled = || {
        let mut command = Command::new(cdpc);
        command.args(["run", "--device", "cpu"]).arg(&source);
        with_cuda_path(&mut command, common);
        command
    };
    let rows: [(&str, &dyn Fn() -> Command); 2] =
        [("hello world", &hello), ("cdpc run hello.cdp", &compiled)];
    for (name, command) in rows {
        run(&mut [command()])?;
        let samples: Vec<Sample> =
            (0..rounds).map(|_| run(&mut [command()])).collect::<Outcome<_>>()?;
        let sample = summary(&samples);
        cells.push(vec![name.into(), milliseconds(sample.seconds), bytes(sample.peak_bytes)]);
    }
    step.done();
    Ok((vec![Align::Left, Align::Right, Align::Right], cells))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_lines_of_the_benchmark() {
        let line = "matmul            103.9 ms      95.0 M thread-instructions     914.6 M/s         10 grids/s";
        let expected = Speed { instructions_millions: 95.0, rate_millions: 914.6, grids: 10.0 };
        assert_eq!(speed(line, "matmul"), Some(expected));
        assert_eq!(speed(line, "matmul_tiled"), None);
        assert_eq!(speed("matmul 3 ms", "matmul"), None);
    }
}
