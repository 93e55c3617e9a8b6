//! `cargo xtask demo`: what the compiler makes of every sample.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use crate::Common;
use crate::cargo::{build_quick_cdpc, output, root, target_dir};
use crate::failure::{Failure, Outcome};
use crate::report::{BuildReport, Kernel, Launch};
use crate::table::{Align, bytes, milliseconds, table};
use crate::ui::Ui;

/// A program of `samples/`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// Its name without extension, relative to `samples/`.
    pub name: String,
    /// Its files, the one with `main` first.
    pub files: Vec<PathBuf>,
    /// What it prints, where that is on file.
    pub expected: Option<PathBuf>,
}

/// Builds the compiler, compiles and shows every sample, and runs those whose output is on file.
///
/// # Errors
/// When the compiler does not build. A sample that fails is shown and makes the exit code 1.
pub fn demo(ui: &Ui, common: &Common) -> Outcome<ExitCode> {
    let cdpc = build_quick_cdpc()?;
    let out_dir = target_dir()?.join("demo");
    fs::create_dir_all(&out_dir)
        .map_err(|error| Failure::io("make the folder", &out_dir, &error))?;
    let programs = programs(&root().join("samples"))?;
    let can_run = can_run(&cdpc);
    let mut failures = 0usize;
    for program in &programs {
        let shown = build(&cdpc, common, program, &out_dir).and_then(|report| {
            show(ui, program, &report);
            match &program.expected {
                Some(expected) if can_run => run(ui, &cdpc, program, expected),
                _ => Ok(()),
            }
        });
        if let Err(failure) = shown {
            failures += 1;
            ui.line(&format!("{}: FAILED\n{failure}", program.name));
        }
        ui.line("");
    }
    ui.line(&format!(
        "{} programs compiled by an unoptimised compiler, {failures} failed; cubins are in {}",
        programs.len() - failures,
        out_dir.display()
    ));
    Ok(if failures == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The programs below a folder: every `.cdp` file with a `main` in it, and for a folder with one such
/// file, the folder's other `.cdp` files with it.
pub fn programs(samples: &Path) -> Outcome<Vec<Program>> {
    let mut programs = Vec::new();
    for file in cdp_files(samples)? {
        if has_main(&file) {
            programs.push(program(samples, vec![file]));
        }
    }
    for dir in sorted_entries(samples)?.into_iter().filter(|path| path.is_dir()) {
        let (mains, others): (Vec<PathBuf>, Vec<PathBuf>) =
            cdp_files(&dir)?.into_iter().partition(|file| has_main(file));
        match &mains[..] {
            [main] => {
                programs
                    .push(program(samples, std::iter::once(main.clone()).chain(others).collect()));
            }
            _ => programs.extend(mains.into_iter().map(|main| program(samples, vec![main]))),
        }
    }
    Ok(programs)
}

fn program(samples: &Path, files: Vec<PathBuf>) -> Program {
    let bare = files[0].with_extension("");
    let name = bare.strip_prefix(samples).unwrap_or(&bare).to_string_lossy().into_owned();
    let expected = Some(files[0].with_extension("out")).filter(|path| path.is_file());
    Program { name, files, expected }
}

fn sorted_entries(dir: &Path) -> Outcome<Vec<PathBuf>> {
    let entries = fs::read_dir(dir).map_err(|error| Failure::io("read the folder", dir, &error))?;
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    Ok(paths)
}

fn cdp_files(dir: &Path) -> Outcome<Vec<PathBuf>> {
    let mut files = sorted_entries(dir)?;
    files.retain(|path| {
        path.is_file() && path.extension().is_some_and(|extension| extension == "cdp")
    });
    Ok(files)
}

/// Whether a source file defines `main`, by its words: the demo only lists programs, it does not judge
/// them.
pub fn has_main(file: &Path) -> bool {
    let text = fs::read(file).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    text.lines().any(|line| {
        let line = line.trim_start();
        line.starts_with("int main(") || line.starts_with("int main (")
    })
}

/// Whether this `cdpc` has the verb `run`.
fn can_run(cdpc: &Path) -> bool {
    output(Command::new(cdpc).args(["run", "--help"])).is_ok()
}

/// Adds `--cuda-path` where the person gave one.
pub fn with_cuda_path<'c>(command: &'c mut Command, common: &Common) -> &'c mut Command {
    if let Some(path) = &common.cuda_path {
        command.arg("--cuda-path").arg(path);
    }
    command
}

fn build(cdpc: &Path, common: &Common, program: &Program, out_dir: &Path) -> Outcome<BuildReport> {
    let cubin = out_dir.join(format!("{}.cubin", program.name.replace('/', "-")));
    let mut command = Command::new(cdpc);
    command.arg("build").args(&program.files).arg("-o").arg(&cubin).args(["--report", "json"]);
    let text = output(with_cuda_path(&mut command, common))?;
    serde_json::from_str(&text).map_err(|error| {
        Failure::new(format!("cdpc printed no report for {}: {error}\n{text}", program.name))
    })
}

fn show(ui: &Ui, program: &Program, report: &BuildReport) {
    let seconds = &report.seconds;
    ui.line(&format!(
        "{}: {} cubin in {} (front end {}, LLVM {}, ptxas {}, nvlink {})",
        program.name,
        bytes(report.cubin_bytes),
        milliseconds(seconds.total),
        milliseconds(seconds.frontend),
        milliseconds(seconds.llvm),
        milliseconds(seconds.ptxas),
        milliseconds(seconds.nvlink)
    ));
    for kernel in &report.kernels {
        show_kernel(ui, kernel);
    }
    let launches: Vec<&Launch> =
        report.launches.iter().filter(|launch| launch.from_device).collect();
    if !launches.is_empty() {
        ui.line("  launches");
    }
    let rows: Vec<Vec<String>> = launches
        .into_iter()
        .map(|launch| {
            let parent = format!("    {}", launch.parent);
            vec![parent, format!("-> {}", launch.child), configuration(launch)]
        })
        .collect();
    for line in table(&[Align::Left, Align::Left, Align::Left], &rows) {
        ui.line(&line);
    }
}

/// `<<<grid, block, shared, stream>>>` without what was left out at the end.
fn configuration(launch: &Launch) -> String {
    let mut words = vec![&*launch.grid, &*launch.block, &*launch.shared, &*launch.stream];
    while words.last().is_some_and(|word| word.is_empty()) {
        words.pop();
    }
    let words = words.into_iter().map(|word| if word.is_empty() { "0" } else { word });
    format!("<<<{}>>>", words.collect::<Vec<_>>().join(", "))
}

fn show_kernel(ui: &Ui, kernel: &Kernel) {
    let registers = kernel.registers.map_or("?".to_owned(), |count| count.to_string());
    ui.line(&format!(
        "  kernel {} ({}): {registers} registers, {} shared, {} parameter buffer",
        kernel.name,
        kernel.symbol,
        kernel.shared_bytes.map_or("?".to_owned(), bytes),
        bytes(kernel.buffer_bytes.into())
    ));
    let rows: Vec<Vec<String>> = kernel
        .params
        .iter()
        .map(|param| {
            let place = format!("    [{}] at {}", param.ordinal, param.offset);
            let name = if param.name.is_empty() { "(unnamed)" } else { &param.name };
            let size = format!("{} B, align {}", param.size, param.align);
            vec![place, size, param.type_name.clone(), name.to_owned()]
        })
        .collect();
    for line in table(&[Align::Left, Align::Left, Align::Left, Align::Left], &rows) {
        ui.line(&line);
    }
}

/// Runs a sample and compares its output with the file beside it.
fn run(ui: &Ui, cdpc: &Path, program: &Program, expected: &Path) -> Outcome<()> {
    let found = output(Command::new(cdpc).arg("run").args(&program.files))?;
    let wanted =
        fs::read_to_string(expected).map_err(|error| Failure::io("read", expected, &error))?;
    ui.line("  output");
    for line in found.lines().take(40) {
        ui.line(&format!("    {line}"));
    }
    if found == wanted {
        return Ok(());
    }
    Err(Failure::new(format!("the output differs from {}", expected.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_programs_of_one_and_of_several_files() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("b.cdp", "int main() { }");
        write("a.cdp", "int main(int argc, char **argv)\n{ }");
        write("a.out", "x\n");
        write("part.cdp", "__global__ void k() { }");
        write("two/main.cdp", "int main() { }");
        write("two/child.cdp", "__global__ void k() { }");
        write("README.md", "int main()");
        let found = programs(dir.path()).unwrap();
        let names: Vec<(&str, usize, bool)> =
            found.iter().map(|p| (p.name.as_str(), p.files.len(), p.expected.is_some())).collect();
        assert_eq!(names, [("a", 1, true), ("b", 1, false), ("two/main", 2, false)]);
        assert!(found[2].files[0].ends_with("main.cdp"));
    }
}
