//! `cargo xtask bench memory`: compiling the same small module from memory many times in one process, by
//! the library: time of a call, its stages, whether threads scale and memory stays flat.
//!
//! The measuring is done by crate `cdp`'s example `compile_many`; this shows its numbers.

use std::fs;
use std::process::{Command, ExitCode};

use clap::Args;
use xtask::cargo::{build_example, output, root};
use xtask::failure::{Failure, Outcome};
use xtask::table::{Align, bytes, markdown, table};
use xtask::ui::Ui;

use super::{machine, today};

/// Options of the benchmark.
#[derive(Args)]
pub struct MemoryOptions {
    /// Calls of each measurement
    #[arg(long, default_value_t = 1000)]
    count: usize,
    /// The most threads
    #[arg(long, default_value_t = 8)]
    threads: usize,
    /// Write the result to compiler/docs/bench-memory.md
    #[arg(long)]
    write: bool,
}

/// Rows of cells, the first row being the heading.
type Rows = Vec<Vec<String>>;

/// Measures and shows.
///
/// # Errors
/// When the library does not build or does not compile the module.
pub fn memory(ui: &Ui, options: &MemoryOptions) -> Outcome<ExitCode> {
    let example = build_example("cdp", "compile_many")?;
    let load = load();
    let step = ui.step("compiling from memory");
    let mut command = Command::new(example);
    let text = output(command.args([options.count, options.threads].map(|n| n.to_string())))?;
    step.done();
    let tables = tables(&text, options.count).ok_or_else(|| {
        Failure::new(format!("the benchmark printed what is not understood:\n{text}"))
    })?;
    let mut document = heading(options, &load)?;
    for rows in tables {
        let aligns: Vec<Align> = (0..rows[0].len())
            .map(|column| if column == 0 { Align::Left } else { Align::Right })
            .collect();
        for line in table(&aligns, &rows) {
            ui.line(&line);
        }
        ui.line("");
        document += &format!("\n{}", markdown(&aligns, &rows));
    }
    if options.write {
        let path = root().join("compiler/docs/bench-memory.md");
        fs::write(&path, document).map_err(|error| Failure::io("write", &path, &error))?;
        ui.line(&format!("written to {}", path.display()));
    }
    Ok(ExitCode::SUCCESS)
}

/// The three tables: calls, stages, threads. `None` for lines of another form.
fn tables(text: &str, count: usize) -> Option<[Rows; 3]> {
    let heading = |words: &[&str]| vec![words.iter().map(|word| (*word).to_owned()).collect()];
    let late = format!("after {count}");
    let early = format!("memory after {}", count.div_ceil(10));
    let mut cases: Rows = heading(&["from", "median", "mean", "worst", "CPU time", &early, &late]);
    let mut stages: Rows = heading(&["stage", "median"]);
    let mut threads: Rows = heading(&["threads", "calls a second", "times one thread"]);
    let mut one_thread = None;
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["case", name, median, mean, worst, cpu, early, late] => {
                let mut row = vec![name.replace('-', " ")];
                for time in [median, mean, worst, cpu] {
                    row.push(milliseconds(time)?);
                }
                for memory in [early, late] {
                    row.push(bytes(memory.parse().ok()?));
                }
                cases.push(row);
            }
            ["stage", name, median] => stages.push(vec![name.to_owned(), milliseconds(median)?]),
            ["threads", number, rate] => {
                let rate: f64 = rate.parse().ok()?;
                let ratio = rate / *one_thread.get_or_insert(rate);
                threads.push(vec![number.to_owned(), format!("{rate:.0}"), format!("{ratio:.2}")]);
            }
            _ => return None,
        }
    }
    Some([cases, stages, threads])
}

/// From nanoseconds; two digits after the point, since a call takes a few.
fn milliseconds(nanoseconds: &str) -> Option<String> {
    Some(format!("{:.2} ms", nanoseconds.parse::<f64>().ok()? / 1e6))
}

/// How many programs wanted to run in the minute before: what else the machine is doing shows in times.
fn load() -> String {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().unwrap_or_default().to_owned()
}

fn heading(options: &MemoryOptions, load: &str) -> Outcome<String> {
    Ok(format!(
        "# Compiling from memory\n\n\
         `cargo xtask bench memory --write`, {}. The same module (two kernels, one launch) to PTX for sm_90\n\
         {} times in one process by `Compiler::compile`: from source, and what a front end would hand over as\n\
         LLVM IR text and bitcode. One thread, except where threads are counted. From source the launch optimiser is at\n\
         work too (`safe`), whose code for the one launch takes LLVM longer than the rest of the module; the IR has its launch\n\
         lowered, and so has the module whose stages are timed.\n\n\
         Machine: {}; load before the measurement: {load}.\n",
        today()?,
        options.count,
        machine(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_lines_of_the_benchmark() {
        let text = "case LLVM-IR 2500000 2600000 9000000 2400000 40000000 41000000\n\
                    stage optimize 1234567\n\
                    threads 1 200\nthreads 2 390\n";
        let [cases, stages, threads] = tables(text, 1000).unwrap();
        assert_eq!(cases[0][5..], ["memory after 100", "after 1000"]);
        assert_eq!(cases[1][..3], ["LLVM IR", "2.50 ms", "2.60 ms"]);
        assert_eq!(stages[1], ["optimize", "1.23 ms"]);
        assert_eq!(threads[2], ["2", "390", "1.95"]);
        assert!(tables("case a b\n", 10).is_none() && tables("stage a b\n", 10).is_none());
    }
}
