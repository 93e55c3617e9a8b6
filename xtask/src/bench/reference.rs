//! The CPU device against a C compiler: kernels of the emulator's benchmark on one host thread, and the same
//! written in C as `gcc -O2` makes it. Both in processor time, the least of all rounds: what else the machine
//! does hardly counts.

use std::path::Path;
use std::process::Command;

use super::measure::capture;
use crate::cargo::{in_path, output, root, target_dir};
use crate::failure::{Failure, Outcome};
use crate::table::Align;
use crate::ui::Ui;

/// The kernels that `reference.c` has.
const KERNELS: [&str; 4] = ["matmul", "matmul_tiled", "mandelbrot", "saxpy"];

/// Columns and rows, heading first; nothing where there is no `gcc`.
pub fn table(ui: &Ui, benchmark: &Path, rounds: usize) -> Outcome<(Vec<Align>, Vec<Vec<String>>)> {
    let mut cells = vec![["kernel", "CPU device", "gcc -O2", "ratio"].map(str::to_owned).to_vec()];
    let aligns = vec![Align::Left, Align::Right, Align::Right, Align::Right];
    let Some(reference) = build()? else {
        ui.line("no gcc, nothing to compare with");
        return Ok((aligns, cells));
    };
    for kernel in KERNELS {
        let step = ui.step(&format!("comparing {kernel}"));
        let (device, c) = (least(benchmark, kernel, rounds)?, least(&reference, kernel, rounds)?);
        step.done();
        let milliseconds = |value: f64| format!("{value:.1} ms");
        let ratio = format!("{:.1}", device / c);
        cells.push(vec![kernel.to_owned(), milliseconds(device), milliseconds(c), ratio]);
    }
    Ok((aligns, cells))
}

fn build() -> Outcome<Option<std::path::PathBuf>> {
    let Some(gcc) = in_path("gcc") else { return Ok(None) };
    let work = target_dir()?.join("bench-run");
    std::fs::create_dir_all(&work)
        .map_err(|error| Failure::io("make the folder", &work, &error))?;
    let program = work.join("reference");
    let source = root().join("runtime-shim/cdp-emulator/examples/bench/reference.c");
    let mut command = Command::new(gcc);
    command.arg("-O2").arg(source).arg("-o").arg(&program);
    output(&mut command)?;
    Ok(Some(program))
}

/// The least processor time of the rounds, in milliseconds.
fn least(program: &Path, kernel: &str, rounds: usize) -> Outcome<f64> {
    let mut least = f64::INFINITY;
    for _ in 0..rounds.max(1) {
        let (text, _) = capture(Command::new(program).arg(kernel).env("HOST_THREADS", "1"))?;
        let found = text.lines().find_map(|line| processor_time(line, kernel));
        let time = found.ok_or_else(|| {
            Failure::new(format!("{} printed no processor time of {kernel}", program.display()))
        })?;
        least = least.min(time);
    }
    Ok(least)
}

/// Reads `NAME ... 1.25 cpu-ms ...`.
fn processor_time(line: &str, kernel: &str) -> Option<f64> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let at = words.iter().position(|word| *word == "cpu-ms")?;
    let time: f64 = words.get(at.checked_sub(1)?)?.parse().ok()?;
    (words.first() == Some(&kernel) && time > 0.0).then_some(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_lines_of_both_programs() {
        let device =
            "saxpy   20.0 ms   83.9 M thread-instructions   4000.0 M/s   50 grids/s   19.52 cpu-ms";
        assert_eq!(processor_time(device, "saxpy"), Some(19.52));
        assert_eq!(processor_time("saxpy 2.455 cpu-ms (57)", "saxpy"), Some(2.455));
        assert_eq!(processor_time("saxpy 2.455 cpu-ms (57)", "matmul"), None);
        assert_eq!(processor_time("saxpy 0.00 cpu-ms", "saxpy"), None);
    }
}
