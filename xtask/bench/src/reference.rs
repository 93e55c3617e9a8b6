//! The CPU device against a C compiler: kernels of its benchmark on one host thread, and the same
//! written in C as `gcc -O2` makes it. Both in processor time, the least of all rounds: what else the machine
//! does hardly counts.

use std::path::Path;
use std::process::Command;

use xtask::cargo::{in_path, output, root, target_dir};
use xtask::failure::{Failure, Outcome};
use xtask::table::Align;
use xtask::ui::Ui;

use super::measure::capture;

/// The kernels that `reference.c` has.
const KERNELS: [&str; 4] = ["matmul", "matmul_tiled", "mandelbrot", "saxpy"];

/// Columns and rows, heading first; nothing where there is no `gcc`.
pub fn table(ui: &Ui, benchmark: &Path, rounds: usize) -> Outcome<(Vec<Align>, Vec<Vec<String>>)> {
    let heading = ["kernel", "interpreter", "machine code", "gcc -O2", "ratios"];
    let mut cells = vec![heading.map(str::to_owned).to_vec()];
    let mut aligns = vec![Align::Left];
    aligns.resize(heading.len(), Align::Right);
    let Some(reference) = build()? else {
        ui.line("no gcc, nothing to compare with");
        return Ok((aligns, cells));
    };
    for kernel in KERNELS {
        let step = ui.step(&format!("comparing {kernel}"));
        let interpreted = least(benchmark, kernel, rounds, None)?;
        let native = least(benchmark, kernel, rounds, Some("ready"))?;
        let c = least(&reference, kernel, rounds, None)?;
        step.done();
        let mut row = vec![kernel.to_owned()];
        row.extend([interpreted, native, c].map(|value| format!("{value:.1} ms")));
        row.push(format!("{:.1}, {:.1}", interpreted / c, native / c));
        cells.push(row);
    }
    Ok((aligns, cells))
}

fn build() -> Outcome<Option<std::path::PathBuf>> {
    let Some(gcc) = in_path("gcc") else { return Ok(None) };
    let work = target_dir()?.join("bench-run");
    std::fs::create_dir_all(&work)
        .map_err(|error| Failure::io("make the folder", &work, &error))?;
    let program = work.join("reference");
    let source = root().join("compiler/cdp-llvm/examples/bench/reference.c");
    let mut command = Command::new(gcc);
    command.arg("-O2").arg(source).arg("-o").arg(&program);
    output(&mut command)?;
    Ok(Some(program))
}

/// The least processor time of the rounds, in milliseconds. `native`: as the benchmark's variable `NATIVE`.
fn least(program: &Path, kernel: &str, rounds: usize, native: Option<&str>) -> Outcome<f64> {
    let mut least = f64::INFINITY;
    for _ in 0..rounds.max(1) {
        let mut command = Command::new(program);
        command.arg(kernel).env("HOST_THREADS", "1").env_remove("NATIVE");
        let (text, _) = capture(command.envs(native.map(|word| ("NATIVE", word))))?;
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
