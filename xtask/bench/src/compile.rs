//! `cargo xtask bench compile`: from source to PTX, to a linked cubin and to a program, as whole processes.
//!
//! All compilers run in turn in every round, so that a slow moment of the machine meets all of them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use clap::Args;
use xtask::Common;
use xtask::cargo::{output, root, target_dir};
use xtask::demo::{has_main, programs, with_cuda_path};
use xtask::failure::{Failure, Outcome};
use xtask::table::{Align, bytes, markdown, milliseconds, table};
use xtask::ui::Ui;

use super::measure::{Sample, run, summary};
use super::tools::{ARCH, Tools};
use super::{generate, machine, today};

/// What is made, in the order of the table.
const GOALS: [&str; 3] = ["PTX", "cubin", "program"];

/// Options of the benchmark.
#[derive(Args)]
pub struct CompileOptions {
    /// Rounds; every compiler runs once in each
    #[arg(long, default_value_t = 11)]
    rounds: usize,
    /// Only cases whose name contains this
    #[arg(long)]
    case: Option<String>,
    /// Write the result to compiler/docs/bench-compile.md
    #[arg(long)]
    write: bool,
}

/// A way from a source file to an output.
struct Contender {
    name: &'static str,
    /// `PTX`, `cubin` or `program`.
    goal: &'static str,
    commands: Vec<Command>,
}

/// A measured way.
struct Row {
    case: String,
    name: &'static str,
    goal: &'static str,
    sample: Sample,
}

/// Measures and shows.
///
/// # Errors
/// When the compiler does not build or does not compile a case, and without nvcc.
pub fn compile(ui: &Ui, common: &Common, options: &CompileOptions) -> Outcome<ExitCode> {
    let tools = Tools::find(common)?;
    let work = target_dir()?.join("bench-compile");
    fs::create_dir_all(&work).map_err(|error| Failure::io("make the folder", &work, &error))?;
    let mut rows = Vec::new();
    for (name, source) in cases(&work)? {
        if options.case.as_ref().is_some_and(|filter| !name.contains(filter)) {
            continue;
        }
        let step = ui.step(&format!("measuring {name}"));
        match measure(&tools, &work, &name, &source, options.rounds) {
            Ok(measured) => rows.extend(measured),
            // One case that a compiler does not take must not hide the others' numbers.
            Err(failure) => ui.note(&format!("{name} was left out: {failure}")),
        }
        step.done();
    }
    if rows.is_empty() {
        return Err(Failure::new("nothing was measured"));
    }
    let (aligns, cells) = cells(&rows);
    for line in table(&aligns, &cells) {
        ui.line(&line);
    }
    if options.write {
        let path = root().join("compiler/docs/bench-compile.md");
        let text = document(&tools, options.rounds, &markdown(&aligns, &cells))?;
        fs::create_dir_all(root().join("compiler/docs"))
            .and_then(|()| fs::write(&path, text))
            .map_err(|error| Failure::io("write", &path, &error))?;
        ui.line(&format!("written to {}", path.display()));
    }
    Ok(ExitCode::SUCCESS)
}

/// The commands that are measured.
impl Tools {
    fn cdpc(&self, source: &Path, emit: &str, out: &Path) -> Command {
        let mut command = Command::new(&self.cdpc);
        command
            .arg("build")
            .arg(source)
            .args(["--emit", emit, "--arch", &ARCH.to_string(), "-o"])
            .arg(out);
        with_cuda_path(&mut command, &self.common);
        command
    }

    fn nvcc(&self, source: &Path, args: &[&str], out: &Path) -> Command {
        let mut command = Command::new(&self.nvcc);
        command.args(["-x", "cu", &format!("-arch={ARCH}"), "-rdc=true"]).args(args).arg(source);
        command.arg("-o").arg(out);
        command
    }

    fn clang(&self, clang: &Path, stubs: &Path, source: &Path, out: &Path) -> Command {
        let mut command = Command::new(clang);
        command.args([
            "-x",
            "cuda",
            "--cuda-device-only",
            &format!("--cuda-gpu-arch={ARCH}"),
            "-fgpu-rdc",
            "-O3",
            "-S",
        ]);
        command
            .arg(format!("--cuda-path={}", self.cuda_root.display()))
            .arg("-I")
            .arg(stubs)
            .arg(source);
        command.arg("-o").arg(out);
        command
    }

    /// ptxas and then nvlink.
    fn assemble_and_link(&self, ptx: &Path, out: &Path) -> Vec<Command> {
        let object = out.with_extension("o");
        let mut ptxas = Command::new(&self.ptxas);
        ptxas.arg(format!("-arch={ARCH}")).arg("-c").arg(ptx).arg("-o").arg(&object);
        let mut nvlink = Command::new(&self.nvlink);
        nvlink.arg(format!("-arch={ARCH}")).arg(object).arg(&self.cudadevrt).arg("-o").arg(out);
        vec![ptxas, nvlink]
    }
}

/// The cases, smallest first: samples of one file, then generated programs.
fn cases(work: &Path) -> Outcome<Vec<(String, PathBuf)>> {
    let mut cases: Vec<(String, PathBuf)> = programs(&root().join("samples"))?
        .into_iter()
        .filter(|program| program.files.len() == 1)
        .map(|program| (program.name, program.files[0].clone()))
        .collect();
    for (name, kernels) in
        [("generated-small", 1), ("generated-medium", 20), ("generated-large", 200)]
    {
        let path = work.join(format!("{name}.cdp"));
        fs::write(&path, generate::program(kernels))
            .map_err(|error| Failure::io("write", &path, &error))?;
        cases.push((format!("{name} ({kernels} kernels)"), path));
    }
    Ok(cases)
}

fn measure(
    tools: &Tools,
    work: &Path,
    case: &str,
    source: &Path,
    rounds: usize,
) -> Outcome<Vec<Row>> {
    let mut contenders = contenders(tools, work, source)?;
    let mut samples: Vec<Vec<Sample>> = vec![Vec::new(); contenders.len()];
    // One round before counting: files come into memory, and a contender that fails is found early.
    for round in 0..=rounds {
        for (contender, samples) in contenders.iter_mut().zip(&mut samples) {
            let sample = run(&mut contender.commands)?;
            if round > 0 {
                samples.push(sample);
            }
        }
    }
    let row = |(contender, samples): (&Contender, &Vec<Sample>)| Row {
        case: case.to_owned(),
        name: contender.name,
        goal: contender.goal,
        sample: summary(samples),
    };
    Ok(contenders.iter().zip(&samples).map(row).collect())
}

fn contenders(tools: &Tools, work: &Path, source: &Path) -> Outcome<Vec<Contender>> {
    let out = |name: &str| work.join(name);
    let one = |name, goal, command| Contender { name, goal, commands: vec![command] };
    let ptx = out("cdpc.ptx");
    run(&mut [tools.cdpc(source, "ptx", &ptx)])?;
    let linked_libraries = format!("-L{}", tools.cudadevrt.parent().unwrap_or(work).display());
    let mut all = vec![
        one("cdpc", "PTX", tools.cdpc(source, "ptx", &out("cdpc-out.ptx"))),
        one("nvcc", "PTX", tools.nvcc(source, &["-ptx"], &out("nvcc.ptx"))),
        one("cdpc", "cubin", tools.cdpc(source, "cubin", &out("cdpc.cubin"))),
        one(
            "nvcc",
            "cubin",
            tools.nvcc(
                source,
                &["-dlink", "-cubin", &linked_libraries, "-lcudadevrt"],
                &out("nvcc.cubin"),
            ),
        ),
        Contender {
            name: "ptxas + nvlink alone",
            goal: "cubin",
            commands: tools.assemble_and_link(&ptx, &out("bare.cubin")),
        },
    ];
    if has_main(source) {
        all.push(one("cdpc", "program", tools.cdpc(source, "exe", &out("cdpc.exe"))));
        all.push(one("nvcc", "program", tools.nvcc(source, &["-lcudadevrt"], &out("nvcc.exe"))));
    }
    if let Some(clang) = &tools.clang {
        // clang's CUDA wrapper includes this header, which is no part of the compiler wheels.
        let stubs = out("stubs");
        let stub = stubs.join("curand_mtgp32_kernel.h");
        fs::create_dir_all(&stubs)
            .and_then(|()| fs::write(&stub, ""))
            .map_err(|error| Failure::io("write", &stub, &error))?;
        let to_ptx = || tools.clang(clang, &stubs, source, &out("clang.ptx"));
        let mut to_cubin = vec![to_ptx()];
        to_cubin.extend(tools.assemble_and_link(&out("clang.ptx"), &out("clang.cubin")));
        // A case that clang does not compile is still measured for the others.
        if run(&mut to_cubin).is_ok() {
            all.push(one("clang 22", "PTX", to_ptx()));
            all.push(Contender {
                name: "clang 22, ptxas, nvlink",
                goal: "cubin",
                commands: to_cubin,
            });
        }
    }
    all.sort_by_key(|contender| GOALS.iter().position(|goal| *goal == contender.goal));
    Ok(all)
}

/// A table with each contender's time as a multiple of cdpc's for the same case and goal.
fn cells(rows: &[Row]) -> (Vec<Align>, Vec<Vec<String>>) {
    let heading = ["case", "to", "with", "median", "times cdpc", "peak memory"];
    let mut cells = vec![heading.map(str::to_owned).to_vec()];
    for row in rows {
        let ours =
            rows.iter().find(|r| r.case == row.case && r.goal == row.goal && r.name == "cdpc");
        let ratio = ours.map_or(f64::NAN, |ours| row.sample.seconds / ours.sample.seconds);
        cells.push(vec![
            row.case.clone(),
            row.goal.to_owned(),
            row.name.to_owned(),
            milliseconds(row.sample.seconds),
            format!("{ratio:.2}"),
            bytes(row.sample.peak_bytes),
        ]);
    }
    (vec![Align::Left, Align::Left, Align::Left, Align::Right, Align::Right, Align::Right], cells)
}

fn document(tools: &Tools, rounds: usize, table: &str) -> Outcome<String> {
    let nvcc = output(Command::new(&tools.nvcc).arg("--version"))?;
    let nvcc = nvcc
        .lines()
        .find(|line| line.contains("release"))
        .unwrap_or("nvcc of unknown version")
        .trim();
    Ok(format!(
        "# Compile time\n\n\
         `cargo xtask bench compile --write`, {}. Whole processes for {ARCH}, median of {rounds} rounds in which all\n\
         compilers ran in turn, after one uncounted round. Peak memory is that of the largest single process.\n\
         \"ptxas + nvlink alone\" assembles and links the PTX that cdpc made.\n\n\
         Machine: {}. nvcc: {nvcc}.\n\n{table}",
        today()?,
        machine()
    ))
}
