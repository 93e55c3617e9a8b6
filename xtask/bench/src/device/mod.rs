//! `cargo xtask bench device`: speed of device code, against nvcc and clang.
//!
//! The programs of `tests/speed` are compiled by every compiler to cubins, whose registers, stack and
//! instructions are counted here. A folder is made with these cubins and one host program for each
//! source, which times every kernel of all cubins in turn; it runs here when there is a GPU, or is copied
//! to a machine that has one, and what it printed comes back with `--results`.

mod sass;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use clap::Args;
use xtask::Common;
use xtask::cargo::{output, root, target_dir};
use xtask::demo::with_cuda_path;
use xtask::failure::{Failure, Outcome};
use xtask::table::{Align, markdown, table};
use xtask::ui::Ui;

use super::measure::capture;
use super::today;
use super::tools::{ARCH, Tools};

use sass::Size;

/// Options of the benchmark.
#[derive(Args)]
pub struct DeviceOptions {
    /// Only programs whose name contains this
    #[arg(long)]
    program: Option<String>,
    /// What `run.sh` printed on a machine with a GPU, instead of running here
    #[arg(long, value_name = "FILE")]
    results: Option<PathBuf>,
    /// Write the result to compiler/docs/device-speed.md
    #[arg(long)]
    write: bool,
}

/// Who is compared, the second with all others; the last is cdpc with the same source named `.cu`, which clang reads.
const CONTENDERS: [&str; 4] = ["cdpc", "nvcc", "clang", "cdpc .cu"];

/// On the machine with the GPU.
const RUN_SH: &str = "#!/usr/bin/env bash
# Times every kernel of every cubin; what this prints is for `cargo xtask bench device --results FILE`.
cd \"$(dirname \"${BASH_SOURCE[0]}\")\"
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
for program in */host; do \"$program\" \"${program%host}\"*.cubin; done
";

/// What is known of a kernel, by contender.
#[derive(Default)]
struct Kernel {
    sizes: BTreeMap<usize, Size>,
    times: BTreeMap<usize, Time>,
    /// Sums of what it wrote.
    sums: BTreeMap<usize, f64>,
}

/// The best and the median of its rounds, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Time {
    best_ms: f64,
    median_ms: f64,
}

/// Builds, measures and shows.
///
/// # Errors
/// When a program does not compile, results cannot be read, or kernels of two compilers disagree.
pub fn device(ui: &Ui, common: &Common, options: &DeviceOptions) -> Outcome<ExitCode> {
    let tools = Tools::find(common)?;
    let out = target_dir()?.join("bench-device");
    let mut kernels = BTreeMap::new();
    for source in sources(options)? {
        let step = ui.step(&format!("compiling {}", source.display()));
        build(ui, &tools, &source, &out, &mut kernels)?;
        step.done();
    }
    let script = out.join("run.sh");
    fs::write(&script, RUN_SH).map_err(|error| Failure::io("write", &script, &error))?;
    let text = match &options.results {
        Some(path) => {
            fs::read_to_string(path).map_err(|error| Failure::io("read", path, &error))?
        }
        None if Path::new("/dev/nvidia0").exists() => capture(Command::new("bash").arg(&script))?.0,
        None => {
            ui.line(&format!("no GPU here: copy {} to a machine with one,", out.display()));
            ui.line("run run.sh there, and give its output with --results");
            String::new()
        }
    };
    read_results(&text, &mut kernels);
    let (aligns, cells) = cells(&kernels);
    for line in table(&aligns, &cells) {
        ui.line(&line);
    }
    let disagreeing = disagreements(&kernels);
    if !disagreeing.is_empty() {
        return Err(Failure::new(format!("kernels disagree: {}", disagreeing.join(", "))));
    }
    if options.write {
        let path = root().join("compiler/docs/device-speed.md");
        let machine = text.lines().next().unwrap_or("no GPU");
        let document = document(&path, machine, &kernels, &markdown(&aligns, &cells))?;
        fs::write(&path, document).map_err(|error| Failure::io("write", &path, &error))?;
        let chart = path.with_extension("svg");
        fs::write(&chart, svg(&kernels)).map_err(|error| Failure::io("write", &chart, &error))?;
        ui.line(&format!("written to {} and {}", path.display(), chart.display()));
    }
    Ok(ExitCode::SUCCESS)
}

fn sources(options: &DeviceOptions) -> Outcome<Vec<PathBuf>> {
    let folder = root().join("tests/speed");
    let entries =
        fs::read_dir(&folder).map_err(|error| Failure::io("read the folder", &folder, &error))?;
    let mut all: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    let wanted = |path: &PathBuf| {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        path.extension().is_some_and(|extension| extension == "cdp")
            && options.program.as_ref().is_none_or(|part| name.contains(part))
    };
    all.retain(wanted);
    all.sort();
    if all.is_empty() { Err(Failure::new("no such program in tests/speed")) } else { Ok(all) }
}

impl Tools {
    /// The commands that make a contender's cubin; none when it is not here.
    fn cubin(&self, contender: &str, source: &Path, cuda: &Path, out: &Path) -> Vec<Command> {
        match (contender, &self.clang) {
            ("cdpc .cu", None) => Vec::new(),
            ("cdpc" | "cdpc .cu", _) => {
                let mut command = Command::new(&self.cdpc);
                let source = if contender == "cdpc" { source } else { cuda };
                command.arg("build").arg(source).args(["--emit", "cubin", "--arch"]);
                command.arg(ARCH.to_string()).arg("-o").arg(out);
                with_cuda_path(&mut command, &self.common);
                vec![command]
            }
            ("nvcc", _) => {
                let mut command = Command::new(&self.nvcc);
                command.args(["-O3", "-cubin", &format!("-arch={ARCH}")]).arg(cuda);
                command.arg("-o").arg(out);
                vec![command]
            }
            (_, Some(clang)) => {
                let ptx = out.with_extension("ptx");
                let mut compile = Command::new(clang);
                compile
                    .args(["-x", "cuda", "--cuda-device-only", "-O3", "-S"])
                    .arg("-Wno-unknown-cuda-version")
                    .arg(format!("--cuda-gpu-arch={ARCH}"))
                    .arg(format!("--cuda-path={}", self.cuda_root.display()))
                    .arg("-I")
                    .arg(out.with_file_name("stubs"))
                    .arg(cuda)
                    .arg("-o")
                    .arg(&ptx);
                let mut assemble = Command::new(&self.ptxas);
                assemble.arg(format!("-arch={ARCH}")).arg(ptx).arg("-o").arg(out);
                vec![compile, assemble]
            }
            _ => Vec::new(),
        }
    }
}

/// Cubins and host program of one source, and what the cubins tell.
fn build(
    ui: &Ui,
    tools: &Tools,
    source: &Path,
    out: &Path,
    kernels: &mut BTreeMap<String, Kernel>,
) -> Outcome<()> {
    let name = source.file_stem().unwrap_or_default();
    let folder = out.join(name);
    let stubs = folder.join("stubs");
    fs::create_dir_all(&stubs).map_err(|error| Failure::io("make the folder", &folder, &error))?;
    let cuda = folder.join(name).with_extension("cu");
    let frame = source.with_file_name("speed.h");
    // clang's CUDA wrapper includes this header, which is no part of the compiler wheels.
    fs::write(stubs.join("curand_mtgp32_kernel.h"), "")
        .and_then(|()| fs::copy(source, &cuda))
        .and_then(|_| fs::copy(&frame, folder.join("speed.h")))
        .map_err(|error| Failure::io("write", &folder, &error))?;
    let mut host = Command::new(&tools.nvcc);
    host.args(["-O2", "-std=c++17", "-cudart", "static", "-DSPEED_LOADED"]);
    host.arg(format!("-arch={ARCH}")).arg(&cuda).arg("-o").arg(folder.join("host"));
    output(&mut host)?;
    for (index, contender) in CONTENDERS.into_iter().enumerate() {
        // The host program takes the cubins in the order of their names.
        let cubin = folder.join(format!("{index}-{}.cubin", contender.replace(" .", "-")));
        let mut commands = tools.cubin(contender, source, &cuda, &cubin);
        if commands.is_empty() {
            ui.note(&format!("{contender} is not here"));
        }
        for command in &mut commands {
            output(command)?;
        }
        if cubin.is_file() {
            for (kernel, size) in sass::sizes(tools, &cubin)? {
                kernels.entry(kernel).or_default().sizes.insert(index, size);
            }
        }
    }
    Ok(())
}

/// Reads `time KERNEL CONTENDER BEST MEDIAN` and `check KERNEL CONTENDER BITS SUM ...`.
fn read_results(text: &str, kernels: &mut BTreeMap<String, Kernel>) {
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let number = |at: usize| words.get(at).and_then(|word| word.parse::<f64>().ok());
        let (Some(kind), Some(name)) = (words.first(), words.get(1)) else { continue };
        let contender = words.get(2).and_then(|word| word.parse().ok());
        let (Some(contender), Some(kernel)) = (contender, kernels.get_mut(*name)) else {
            continue;
        };
        match (*kind, number(3), number(4)) {
            ("time", Some(best_ms), Some(median_ms)) => {
                kernel.times.insert(contender, Time { best_ms, median_ms });
            }
            ("check", _, Some(sum)) => {
                kernel.sums.insert(contender, sum);
            }
            _ => {}
        }
    }
}

/// Kernels whose sums are not nvcc's, but for what other roundings explain.
fn disagreements(kernels: &BTreeMap<String, Kernel>) -> Vec<String> {
    let far = |kernel: &&Kernel| {
        let Some(wanted) = kernel.sums.get(&1) else { return false };
        let close = |sum: &f64| (sum - wanted).abs() <= 1e-3 * sum.abs().max(wanted.abs());
        !kernel.sums.values().all(close)
    };
    kernels.iter().filter(|(_, kernel)| far(kernel)).map(|(name, _)| name.clone()).collect()
}

/// nvcc's best time over a contender's.
fn ratio(kernel: &Kernel, contender: usize) -> Option<f64> {
    Some(kernel.times.get(&1)?.best_ms / kernel.times.get(&contender)?.best_ms)
}

/// The geometric mean and the least of nvcc's times over a contender's.
fn mean_and_worst(kernels: &BTreeMap<String, Kernel>, contender: usize) -> Option<(f64, f64)> {
    let all: Vec<f64> = kernels.values().filter_map(|kernel| ratio(kernel, contender)).collect();
    let sum: f64 = all.iter().map(|ratio| ratio.ln()).sum();
    let worst = all.iter().copied().reduce(f64::min)?;
    Some(((sum / all.len() as f64).exp(), worst))
}

fn cells(kernels: &BTreeMap<String, Kernel>) -> (Vec<Align>, Vec<Vec<String>>) {
    let heading = [
        "kernel",
        "cdpc µs",
        "median",
        "nvcc µs",
        "nvcc / cdpc",
        "nvcc / clang",
        "nvcc / cdpc .cu",
    ];
    let mut rows = vec![heading.map(str::to_owned).to_vec()];
    rows[0].extend(CONTENDERS.map(|name| format!("{name}: instructions, registers, stack")));
    let micro = |ms: Option<f64>| ms.map_or(String::new(), |ms| format!("{:.1}", ms * 1000.0));
    let two = |ratio: Option<f64>| ratio.map_or(String::new(), |ratio| format!("{ratio:.2}"));
    for (name, kernel) in kernels {
        let time = |index: usize| kernel.times.get(&index);
        let mut row = vec![
            name.clone(),
            micro(time(0).map(|time| time.best_ms)),
            micro(time(0).map(|time| time.median_ms)),
            micro(time(1).map(|time| time.best_ms)),
            two(ratio(kernel, 0)),
            two(ratio(kernel, 2)),
            two(ratio(kernel, 3)),
        ];
        row.extend((0..CONTENDERS.len()).map(|index| {
            kernel.sizes.get(&index).map_or(String::new(), |size| {
                format!("{}, {}, {}", size.instructions, size.registers, size.stack_bytes)
            })
        }));
        rows.push(row);
    }
    let mut aligns = vec![Align::Right; rows[0].len()];
    aligns[0] = Align::Left;
    (aligns, rows)
}

/// The page: what it says by hand above the marker stays.
fn document(
    path: &Path,
    machine: &str,
    kernels: &BTreeMap<String, Kernel>,
    table: &str,
) -> Outcome<String> {
    const MARK: &str = "<!-- from here on written by `cargo xtask bench device --write` -->\n";
    let old = fs::read_to_string(path).map_err(|error| Failure::io("read", path, &error))?;
    let above = old.split_once(MARK).map_or(old.as_str(), |(above, _)| above);
    let mut text = format!("{above}{MARK}\n{}, {machine}, CUDA 13.0, sm_90.\n\n", today()?);
    for (index, name) in CONTENDERS.iter().enumerate().filter(|(index, _)| *index != 1) {
        if let Some((mean, worst)) = mean_and_worst(kernels, index) {
            let _ = writeln!(
                text,
                "nvcc's time over {name}'s, {} kernels: geometric mean {mean:.3}, worst {worst:.2}.\n",
                kernels.len()
            );
        }
    }
    let _ = write!(text, "![nvcc's time over cdpc's](device-speed.svg)\n\n{table}");
    Ok(text)
}

/// A bar for each kernel: nvcc's time over cdpc's, from the line of equal times.
fn svg(kernels: &BTreeMap<String, Kernel>) -> String {
    let mut bars: Vec<(&String, f64)> = kernels
        .iter()
        .filter_map(|(name, kernel)| ratio(kernel, 0).map(|ratio| (name, ratio)))
        .collect();
    bars.sort_by(|a, b| b.1.total_cmp(&a.1));
    let height = bars.len() * 14 + 10;
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"640\" height=\"{height}\" \
         font-family=\"sans-serif\" font-size=\"10\">\n"
    );
    for (row, (name, ratio)) in bars.iter().enumerate() {
        let y = row * 14 + 4;
        // Half and twice the time are equally far from the middle.
        let length = (ratio.log2() * 200.0).clamp(-200.0, 200.0);
        let (from, width) = if length < 0.0 { (380.0 + length, -length) } else { (380.0, length) };
        let colour = if *ratio < 0.97 { "#c0504d" } else { "#4f81bd" };
        let _ = writeln!(
            text,
            "<text x=\"4\" y=\"{}\">{name}</text><rect x=\"{from:.1}\" y=\"{y}\" width=\"{width:.1}\" \
             height=\"10\" fill=\"{colour}\"/><text x=\"600\" y=\"{}\">{ratio:.2}</text>",
            y + 9,
            y + 9
        );
    }
    text + "</svg>\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(text: &str) -> BTreeMap<String, Kernel> {
        let mut kernels = BTreeMap::from([("sum".to_owned(), Kernel::default())]);
        read_results(text, &mut kernels);
        kernels
    }

    #[test]
    fn results_are_compared_with_those_of_nvcc() {
        let text = "check sum 0 01 10.001 no error\ncheck sum 1 02 10 no error\n\
                    time sum 0 0.5 0.6\ntime sum 1 1.0 1.1\ntime other 0 1 1\nno error\n";
        let kernels = measured(text);
        assert_eq!(ratio(&kernels["sum"], 0), Some(2.0));
        assert_eq!(mean_and_worst(&kernels, 0), Some((2.0, 2.0)));
        assert!(mean_and_worst(&kernels, 2).is_none());
        assert!(disagreements(&kernels).is_empty());
        assert!(svg(&kernels).contains(">2.00</text>"));
    }

    #[test]
    fn kernels_that_disagree_are_named() {
        let kernels = measured("check sum 0 01 10.1 no error\ncheck sum 1 02 10 no error\n");
        assert_eq!(disagreements(&kernels), ["sum"]);
    }
}
