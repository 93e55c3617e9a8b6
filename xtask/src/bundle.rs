//! `cargo xtask gpu-bundle`: everything that a machine with a GPU needs to run the samples and run
//! cases, in one folder with one command. Nothing is compiled there; neither LLVM nor CUDA is needed,
//! only the driver.
//!
//! The folder: `run.sh`, the runner `cdp-gpu-runner`, `manifest.json`, and per case a cubin, its PTX,
//! the source and the expected output.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use clap::Args;
use serde::Serialize;

use crate::Common;
use crate::cargo::{build_cdpc, output, root, target_dir};
use crate::demo::{Program, programs, with_cuda_path};
use crate::failure::{Failure, Outcome};
use crate::table::bytes;
use crate::ui::{Step, Ui};

/// Options of the bundle.
#[derive(Args)]
pub struct BundleOptions {
    /// Where to make it [default: gpu-bundle in cargo's target folder]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Architecture to compile for
    #[arg(long, default_value = "sm_90")]
    arch: String,
}

/// What the runner reads: `manifest.json`. All paths are relative to its folder.
#[derive(Serialize)]
struct Manifest {
    /// Version of this format.
    format: u32,
    /// Architecture of the cubins.
    arch: String,
    /// The commit they were made from; empty outside a repository.
    commit: String,
    /// The cases in order.
    cases: Vec<Case>,
}

/// A whole program, whose standard output and exit code are its result.
#[derive(Serialize)]
struct Case {
    /// `samples/bfs`, `run/atomics`.
    name: String,
    /// The source, to read.
    source: Vec<String>,
    /// The linked device code.
    cubin: String,
    /// The program itself: host code linked with the runtime, the cubin inside.
    executable: String,
    /// Arguments of `main`.
    args: Vec<String>,
    /// File with the standard output wanted, byte for byte.
    expected_stdout: String,
    /// The exit code wanted.
    expected_exit_code: i32,
    /// Time that it may take.
    time_limit_ms: u64,
}

/// The one command on the GPU machine.
const RUN_SH: &str = "#!/usr/bin/env bash
# Runs every case on this machine's GPU and writes report.md beside this file.
set -euo pipefail
cd \"$(dirname \"${BASH_SOURCE[0]}\")\"
exec ./cdp-gpu-runner --manifest manifest.json --report report.md \"$@\"
";

/// Makes the folder and a `.tar.gz` of it.
///
/// # Errors
/// When a case does not compile, the runner does not build or files cannot be written.
pub fn gpu_bundle(ui: &Ui, common: &Common, options: &BundleOptions) -> Outcome<ExitCode> {
    let cdpc = build_cdpc()?;
    let runner = cdpc.with_file_name(format!("cdp-gpu-runner{}", std::env::consts::EXE_SUFFIX));
    let out = match &options.out {
        Some(dir) => dir.clone(),
        None => target_dir()?.join("gpu-bundle"),
    };
    // A file of an earlier bundle must not be taken for one of this.
    if out.exists() && !out.join("manifest.json").is_file() {
        return Err(Failure::new(format!(
            "{} exists and is no bundle; it is left alone",
            out.display()
        )));
    }
    if out.exists() {
        fs::remove_dir_all(&out).map_err(|error| Failure::io("remove", &out, &error))?;
    }
    let step = ui.step("compiling the cases");
    let mut cases = Vec::new();
    for (kind, dir) in
        [("samples", root().join("samples")), ("run", root().join("tests/cases/run"))]
    {
        for program in programs(&dir)? {
            let Some(expected) = program.expected.clone() else { continue };
            step.detail(&format!("{kind}/{}", program.name));
            cases.push(add_case(&cdpc, common, options, &out, kind, &program, &expected)?);
        }
    }
    let count = cases.len();
    if count == 0 {
        return Err(Failure::new("no sample or run case has an expected output (.out)"));
    }
    write_frame(options, &out, &runner, cases)?;
    pack(&out, &step)?;
    step.done();
    let archive = out.with_extension("tar.gz");
    let size = archive.metadata().map_or(0, |meta| meta.len());
    ui.line(&format!(
        "{count} cases in {}, packed as {} ({})",
        out.display(),
        archive.display(),
        bytes(size)
    ));
    ui.line("on the machine with the GPU: unpack it and run ./run.sh");
    Ok(ExitCode::SUCCESS)
}

fn add_case(
    cdpc: &Path,
    common: &Common,
    options: &BundleOptions,
    out: &Path,
    kind: &str,
    program: &Program,
    expected: &Path,
) -> Outcome<Case> {
    let folder = format!("cases/{kind}/{}", program.name);
    let place = out.join(&folder);
    fs::create_dir_all(&place).map_err(|error| Failure::io("make the folder", &place, &error))?;
    for (file, goal) in [("program.cubin", "cubin"), ("program.ptx", "ptx"), ("program", "exe")] {
        // PTX is for reading, and is made of one file at a time.
        if goal == "ptx" && program.files.len() > 1 {
            continue;
        }
        let mut command = Command::new(cdpc);
        command.arg("build").args(&program.files).args([
            "--arch",
            &options.arch,
            "--emit",
            goal,
            "-o",
        ]);
        command.arg(place.join(file));
        output(with_cuda_path(&mut command, common))?;
    }
    let copy = |from: &Path, name: &str| {
        fs::copy(from, place.join(name))
            .map_err(|error| Failure::io("copy", from, &error))
            .map(|_| format!("{folder}/{name}"))
    };
    let name_of = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let source = program
        .files
        .iter()
        .map(|file| copy(file, &name_of(file)))
        .collect::<Outcome<Vec<String>>>()?;
    Ok(Case {
        name: format!("{kind}/{}", program.name),
        source,
        cubin: format!("{folder}/program.cubin"),
        executable: format!("{folder}/program"),
        args: Vec::new(),
        expected_stdout: copy(expected, "expected.out")?,
        expected_exit_code: 0,
        time_limit_ms: 60_000,
    })
}

fn write_frame(
    options: &BundleOptions,
    out: &Path,
    runner: &Path,
    cases: Vec<Case>,
) -> Outcome<()> {
    let commit = output(Command::new("git").args(["rev-parse", "HEAD"]).current_dir(root()))
        .unwrap_or_default();
    let manifest =
        Manifest { format: 1, arch: options.arch.clone(), commit: commit.trim().to_owned(), cases };
    let text = serde_json::to_string_pretty(&manifest).map_err(|error| {
        Failure::new(format!("the manifest cannot be written as JSON: {error}"))
    })?;
    let write = |name: &str, bytes: &[u8]| {
        let path = out.join(name);
        fs::write(&path, bytes).map_err(|error| Failure::io("write", &path, &error)).map(|()| path)
    };
    write("manifest.json", text.as_bytes())?;
    let script = write("run.sh", RUN_SH.as_bytes())?;
    let copied = out.join("cdp-gpu-runner");
    fs::copy(runner, &copied).map_err(|error| Failure::io("copy", runner, &error))?;
    output(Command::new("chmod").arg("755").args([script, copied]))?;
    Ok(())
}

fn pack(out: &Path, step: &Step<'_>) -> Outcome<()> {
    step.detail("packing");
    let parent = out.parent().unwrap_or(Path::new("."));
    let name = out.file_name().unwrap_or_default();
    let archive = out.with_extension("tar.gz");
    let mut command = Command::new("tar");
    // The same bundle gives the same archive.
    command.args([
        "--sort=name",
        "--mtime=@0",
        "--owner=0",
        "--group=0",
        "--numeric-owner",
        "-czf",
    ]);
    output(command.arg(archive).arg("-C").arg(parent).arg(name)).map(|_| ())
}
