//! `cargo xtask bench lines`: how compile time and memory grow with the length of a program, from
//! source to PTX at -O3, as whole processes.
//!
//! It compares cdpc with itself alone; `bench compile` compares with other compilers.

use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};

use cdp_toolchain::Arch;
use clap::Args;
use xtask::Common;
use xtask::cargo::{build_cdpc, root, target_dir};
use xtask::demo::with_cuda_path;
use xtask::failure::{Failure, Outcome};
use xtask::table::{Align, bytes, markdown, milliseconds, table};
use xtask::ui::Ui;

use super::measure::{Sample, run, summary};
use super::{generate, machine, today};

/// Options of the benchmark.
#[derive(Args)]
pub struct LinesOptions {
    /// Rounds of each length; the longest program has one
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// The longest program, in lines; shorter ones of the series are measured too
    #[arg(long, default_value_t = 100_000)]
    longest: usize,
    /// Write the result to compiler/docs/bench-lines.md
    #[arg(long)]
    write: bool,
}

const ARCH: Arch = Arch::SM_90;

/// The lengths, in lines.
const LENGTHS: [usize; 5] = [1_000, 3_000, 10_000, 30_000, 100_000];

/// A length from which one round has to do.
const ONCE_FROM: usize = 100_000;

/// A measured program.
struct Row {
    lines: usize,
    kernels: usize,
    launches: usize,
    source_bytes: u64,
    sample: Sample,
}

/// Measures and shows.
///
/// # Errors
/// When the compiler does not build or does not compile a program.
pub fn lines(ui: &Ui, common: &Common, options: &LinesOptions) -> Outcome<ExitCode> {
    let cdpc = build_cdpc()?;
    let work = target_dir()?.join("bench-lines");
    fs::create_dir_all(&work).map_err(|error| Failure::io("make the folder", &work, &error))?;
    let mut rows = Vec::new();
    for wanted in LENGTHS.into_iter().filter(|length| *length <= options.longest) {
        let step = ui.step(&format!("measuring {wanted} lines"));
        rows.push(measure(&cdpc, common, options, &work, wanted)?);
        step.done();
    }
    if rows.is_empty() {
        return Err(Failure::new(format!("the shortest program has {} lines", LENGTHS[0])));
    }
    let (aligns, cells) = cells(&rows);
    for line in table(&aligns, &cells) {
        ui.line(&line);
    }
    if options.write {
        let path = root().join("compiler/docs/bench-lines.md");
        fs::write(&path, document(options, &markdown(&aligns, &cells))?)
            .map_err(|error| Failure::io("write", &path, &error))?;
        ui.line(&format!("written to {}", path.display()));
    }
    Ok(ExitCode::SUCCESS)
}

fn measure(
    cdpc: &Path,
    common: &Common,
    options: &LinesOptions,
    work: &Path,
    wanted: usize,
) -> Outcome<Row> {
    let text = generate::lines(wanted);
    let source = work.join(format!("lines-{wanted}.cdp"));
    fs::write(&source, &text).map_err(|error| Failure::io("write", &source, &error))?;
    let mut command = Command::new(cdpc);
    command.args(["build", "--emit", "ptx", "-O3", "--arch", &ARCH.to_string()]);
    command.arg(&source).arg("-o").arg(source.with_extension("ptx"));
    with_cuda_path(&mut command, common);
    let mut commands = [command];
    let rounds = if wanted >= ONCE_FROM { 1 } else { options.rounds.max(1) };
    let samples: Vec<Sample> =
        (0..rounds).map(|_| run(&mut commands)).collect::<Outcome<Vec<Sample>>>()?;
    Ok(Row {
        lines: text.lines().count(),
        kernels: text.matches("__global__").count(),
        launches: text.matches("<<<").count(),
        source_bytes: text.len() as u64,
        sample: summary(&samples),
    })
}

/// A table. Growth is the time or memory of one line as a multiple of what it was one length before: 1.00
/// is linear.
fn cells(rows: &[Row]) -> (Vec<Align>, Vec<Vec<String>>) {
    let heading = [
        "lines",
        "kernels",
        "launches",
        "source",
        "median",
        "lines a second",
        "growth of time",
        "CPU time",
        "growth of CPU time",
        "peak memory",
        "growth of memory",
    ];
    let mut cells = vec![heading.map(str::to_owned).to_vec()];
    for (index, row) in rows.iter().enumerate() {
        let above = index.checked_sub(1).map(|above| &rows[above]);
        let growth = |of: fn(&Row) -> f64| {
            let a_line = |row: &Row| of(row) / row.lines as f64;
            above.map_or(String::new(), |above| format!("{:.2}", a_line(row) / a_line(above)))
        };
        cells.push(vec![
            row.lines.to_string(),
            row.kernels.to_string(),
            row.launches.to_string(),
            bytes(row.source_bytes),
            milliseconds(row.sample.seconds),
            format!("{:.0}", row.lines as f64 / row.sample.seconds),
            growth(|row| row.sample.seconds),
            milliseconds(row.sample.cpu_seconds),
            growth(|row| row.sample.cpu_seconds),
            bytes(row.sample.peak_bytes),
            growth(|row| row.sample.peak_bytes as f64),
        ]);
    }
    (vec![Align::Right; heading.len()], cells)
}

fn document(options: &LinesOptions, table: &str) -> Outcome<String> {
    Ok(format!(
        "# Compile time by length\n\n\
         `cargo xtask bench lines --write`, {}. Whole processes of\n\
         `cdpc build --emit ptx -O3 --arch {ARCH}`, median of {} rounds (one for {ONCE_FROM} lines). The programs\n\
         are generated: structures, constants, device functions, kernels that launch others, host functions that\n\
         launch the first, comments and blank lines; no two parts are alike. Growth is the time or memory of one\n\
         line as a multiple of the row above: 1.00 is linear. CPU time is that of all threads together.\n\n\
         Machine: {}.\n\n{table}",
        today()?,
        options.rounds.max(1),
        machine(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(lines: usize, seconds: f64, peak_bytes: u64) -> Row {
        let sample = Sample { seconds, peak_bytes, cpu_seconds: seconds * 2.0 };
        Row { lines, kernels: 2, launches: 1, source_bytes: 10, sample }
    }

    #[test]
    fn growth_is_that_of_a_line() {
        let (aligns, cells) = cells(&[row(1000, 0.1, 1000), row(3000, 0.6, 1500)]);
        assert!(cells.iter().all(|row| row.len() == aligns.len()));
        assert_eq!(cells[1][4..], ["100 ms", "10000", "", "200 ms", "", "1000 B", ""]);
        assert_eq!(cells[2][4..], ["600 ms", "5000", "2.00", "1200 ms", "2.00", "1.5 KiB", "0.50"]);
    }
}
