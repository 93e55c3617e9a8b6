//! `cargo xtask gpu-bundle`: everything that a machine with a GPU needs to run the samples, the run
//! cases, the interoperability programs and the generated signature programs, in one folder with one
//! command. Nothing is compiled there; neither LLVM nor CUDA is needed, only the driver.
//!
//! The folder: `run.sh`, the runner `cdp-gpu-runner`, `manifest.json`, `lib/libcdp_runtime.so`, and
//! below `cases/` one folder a case with its sources, its program and the output wanted. Programs
//! are linked with the shared runtime, so that a case is little more than its cubin.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use clap::Args;
use serde::Serialize;

use crate::Common;
use crate::cargo::{binary, build_release, build_shared_runtime, output, root, target_dir};
use crate::demo::{Program, programs, with_cuda_path};
use crate::failure::{Failure, Outcome};
use crate::interop::{self, Builder};
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
    /// Generated signature programs for each launch ABI
    #[arg(long, default_value_t = 20, value_name = "N")]
    signature_files: u32,
    /// Kernel signatures in each of these programs
    #[arg(long, default_value_t = 100, value_name = "N")]
    signatures: u32,
    /// Leave out cases that do not compile, instead of stopping
    #[arg(long)]
    keep_going: bool,
}

/// The launch ABIs, as `cdpc --launch-abi` names them.
const ABIS: [&str; 4] = ["documented", "documented-v2", "cdp2", "cdp2-v2"];

/// The largest alignment attribute in generated signatures.
const MAX_ALIGN: u32 = 128;

/// `manifest.json`, as the runner reads it (module `bundle` of `cdp-run`) with some more for people.
/// All paths are relative to its folder.
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
    /// Cases that are not in the bundle, and why.
    left_out: Vec<LeftOut>,
}

/// A case that cannot run on the GPU that the bundle is for.
#[derive(Serialize)]
struct LeftOut {
    name: String,
    reason: String,
}

/// A whole program, whose standard output and exit code are its result, or launches of a cubin's
/// kernels, whose buffers are.
#[derive(Serialize)]
struct Case {
    /// `samples/bfs`, `run/atomics`, `signatures/cdp2/signatures_000`.
    name: String,
    /// The source, to read.
    source: Vec<String>,
    /// The program: host code linked with the shared runtime, the cubin inside.
    #[serde(skip_serializing_if = "Option::is_none")]
    executable: Option<String>,
    /// Arguments of `main`.
    args: Vec<String>,
    /// File with the standard output wanted, byte for byte.
    #[serde(skip_serializing_if = "Option::is_none")]
    expected_stdout: Option<String>,
    /// The exit code wanted.
    expected_exit_code: i32,
    /// Time that it may take.
    time_limit_ms: u64,
    /// A cubin whose kernels the runner launches, instead of a program.
    #[serde(skip_serializing_if = "Option::is_none")]
    cubin: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    launches: Vec<serde_json::Value>,
}

impl Case {
    fn new(name: impl Into<String>, source: Vec<String>) -> Case {
        Case {
            name: name.into(),
            source,
            executable: None,
            args: Vec::new(),
            expected_stdout: None,
            expected_exit_code: 0,
            time_limit_ms: 60_000,
            cubin: None,
            launches: Vec::new(),
        }
    }
}

/// The one command on the GPU machine.
const RUN_SH: &str = "#!/usr/bin/env bash
# Runs every case on this machine's GPU and writes report.md beside this file.
set -euo pipefail
cd \"$(dirname \"${BASH_SOURCE[0]}\")\"
export LD_LIBRARY_PATH=\"$PWD/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}\"
exec ./cdp-gpu-runner --manifest manifest.json --report report.md \"$@\"
";

/// Makes the folder and a `.tar.gz` of it.
///
/// # Errors
/// When a case does not compile, the runner does not build or files cannot be written.
pub fn gpu_bundle(ui: &Ui, common: &Common, options: &BundleOptions) -> Outcome<ExitCode> {
    let release = build_release(&["cdpc", "cdp-runtime", "cdp-run", "cdp-tests"])?;
    let runtime = build_shared_runtime(&release)?;
    let out = match &options.out {
        // Tools are started in other folders.
        Some(dir) => std::path::absolute(dir).map_err(|error| Failure::io("find", dir, &error))?,
        None => target_dir()?.join("gpu-bundle"),
    };
    // A file of an earlier bundle must not be taken for one of this.
    if out.exists() && !out.join("manifest.json").is_file() {
        let message = format!("{} exists and is no bundle; it is left alone", out.display());
        return Err(Failure::new(message));
    }
    if out.exists() {
        fs::remove_dir_all(&out).map_err(|error| Failure::io("remove", &out, &error))?;
    }
    let cdpc = binary(&release, "cdpc")?;
    let mut bundle =
        Bundle { cdpc, runtime, common, options, out, cases: vec![], left_out: vec![] };
    let step = ui.step("compiling the cases");
    bundle.add_folder("samples", &root().join("samples"), None, &step)?;
    bundle.add_folder("run", &root().join("tests/cases/run"), None, &step)?;
    bundle.add_interop(&step)?;
    bundle.add_signatures(&binary(&release, "signatures")?, &step)?;
    if bundle.cases.is_empty() {
        return Err(Failure::new("no sample or run case has an expected output (.out)"));
    }
    for left_out in &bundle.left_out {
        ui.note(&format!("left out: {}: {}", left_out.name, left_out.reason));
    }
    let (count, out) = (bundle.cases.len(), bundle.out.clone());
    bundle.finish(&binary(&release, "cdp-gpu-runner")?)?;
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

/// A bundle in the making.
struct Bundle<'a> {
    cdpc: PathBuf,
    runtime: PathBuf,
    common: &'a Common,
    options: &'a BundleOptions,
    out: PathBuf,
    cases: Vec<Case>,
    left_out: Vec<LeftOut>,
}

impl Bundle<'_> {
    /// Adds the programs of a folder whose output is on file.
    fn add_folder(
        &mut self,
        kind: &str,
        dir: &Path,
        abi: Option<&str>,
        step: &Step<'_>,
    ) -> Outcome<()> {
        for program in programs(dir)? {
            let Some(expected) = program.expected.clone() else { continue };
            let name = format!("{kind}/{}", program.name);
            step.detail(&name);
            if let Some(reason) = self.unfit(&program)? {
                self.left_out.push(LeftOut { name, reason });
                continue;
            }
            match self.add_case(&name, &program, &expected, abi) {
                Ok(case) => self.cases.push(case),
                Err(failure) if self.options.keep_going => {
                    // Half a case is no use to anyone.
                    let _ = fs::remove_dir_all(self.out.join("cases").join(&name));
                    self.left_out.push(LeftOut { name, reason: failure.to_string() });
                }
                Err(failure) => return Err(failure),
            }
        }
        Ok(())
    }

    /// Generates the signature programs and adds them under every ABI.
    fn add_signatures(&mut self, generator: &Path, step: &Step<'_>) -> Outcome<()> {
        if self.options.signature_files == 0 {
            return Ok(());
        }
        step.detail("generating signatures");
        let dir = target_dir()?.join("gpu-bundle-signatures");
        // What an earlier run with other numbers left must not be added.
        if dir.exists() {
            fs::remove_dir_all(&dir).map_err(|error| Failure::io("remove", &dir, &error))?;
        }
        let numbers = [self.options.signature_files, self.options.signatures, MAX_ALIGN];
        output(Command::new(generator).arg(&dir).args(numbers.map(|number| number.to_string())))?;
        for abi in ABIS {
            self.add_folder(&format!("signatures/{abi}"), &dir, Some(abi), step)?;
        }
        Ok(())
    }

    /// Why a case cannot run on the bundle's architecture, from the directives in its first lines
    /// (`// arch: sm_75`, `// cdp: 1`, `// skip: gpu`).
    fn unfit(&self, program: &Program) -> Outcome<Option<String>> {
        let path = &program.files[0];
        let text = fs::read_to_string(path).map_err(|error| Failure::io("read", path, &error))?;
        Ok(unfit(&text, &self.options.arch))
    }

    /// Copies a program's sources and what it prints into a folder of the bundle; gives their names there.
    fn copied<P: AsRef<Path>>(
        &self,
        folder: &str,
        sources: impl IntoIterator<Item = P>,
        expected: &Path,
    ) -> Outcome<(Vec<String>, String)> {
        let copy = |from: &Path, name: &str| {
            fs::copy(from, self.out.join(folder).join(name))
                .map_err(|error| Failure::io("copy", from, &error))
                .map(|_| format!("{folder}/{name}"))
        };
        let name_of =
            |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let sources = sources.into_iter().map(|path| copy(path.as_ref(), &name_of(path.as_ref())));
        Ok((sources.collect::<Outcome<Vec<String>>>()?, copy(expected, "expected.out")?))
    }

    fn add_case(
        &self,
        name: &str,
        program: &Program,
        expected: &Path,
        abi: Option<&str>,
    ) -> Outcome<Case> {
        let folder = format!("cases/{name}");
        let place = self.out.join(&folder);
        fs::create_dir_all(&place)
            .map_err(|error| Failure::io("make the folder", &place, &error))?;
        let mut command = Command::new(&self.cdpc);
        command.arg("build").args(&program.files).args(["--arch", &self.options.arch]);
        command.args(["--emit", "exe", "-o"]).arg(place.join("program"));
        if let Some(abi) = abi {
            command.args(["--launch-abi", abi]);
        }
        command.env("CDP_RUNTIME_LIB", &self.runtime);
        output(with_cuda_path(&mut command, self.common))?;
        let (sources, expected) = self.copied(&folder, &program.files, expected)?;
        Ok(Case {
            executable: Some(format!("{folder}/program")),
            expected_stdout: Some(expected),
            ..Case::new(name, sources)
        })
    }

    /// Adds the programs of two compilers, each linked in every way.
    fn add_interop(&mut self, step: &Step<'_>) -> Outcome<()> {
        let builder = Builder::new(&self.cdpc, &self.runtime, &self.options.arch, self.common)?;
        let mut cases = Vec::new();
        for program in interop::programs()? {
            step.detail(&format!("interop/{}", program.name));
            let folder = format!("cases/interop/{}", program.name);
            let place = self.out.join(&folder);
            let objects = target_dir()?.join("gpu-bundle-interop").join(&program.name);
            for dir in [&place, &objects] {
                fs::create_dir_all(dir)
                    .map_err(|error| Failure::io("make the folder", dir, &error))?;
            }
            let (sources, expected) =
                self.copied(&folder, program.sources(), &program.expected())?;
            let case =
                |how: &str| Case::new(format!("interop/{}/{how}", program.name), sources.clone());
            let whole = |how: &str| Case {
                executable: Some(format!("{folder}/{how}")),
                expected_stdout: Some(expected.clone()),
                ..case(how)
            };
            builder.link_by_nvcc(&program, &objects, &place.join("nvcc"))?;
            cases.push(whole("nvcc"));
            if program.is_ours() {
                builder.link_by_cdpc(&program, &objects, &place.join("cdpc"))?;
                cases.push(whole("cdpc"));
            }
            let launches = program.launches()?;
            if !launches.is_empty() {
                builder.link_cubin(&program, &objects, &place.join("linked.cubin"))?;
                let cubin = Some(format!("{folder}/linked.cubin"));
                cases.push(Case { cubin, launches, ..case("cubin") });
            }
        }
        self.cases.extend(cases);
        Ok(())
    }

    /// Writes what is not a case.
    fn finish(self, runner: &Path) -> Outcome<()> {
        let mut git = Command::new("git");
        let commit =
            output(git.args(["rev-parse", "HEAD"]).current_dir(root())).unwrap_or_default();
        let manifest = Manifest {
            format: 1,
            arch: self.options.arch.clone(),
            commit: commit.trim().to_owned(),
            cases: self.cases,
            left_out: self.left_out,
        };
        let text = serde_json::to_string_pretty(&manifest).map_err(|error| {
            Failure::new(format!("the manifest cannot be written as JSON: {error}"))
        })?;
        let write = |name: &str, bytes: &[u8]| {
            let path = self.out.join(name);
            let written = fs::write(&path, bytes);
            written.map_err(|error| Failure::io("write", &path, &error)).map(|()| path)
        };
        write("manifest.json", text.as_bytes())?;
        let script = write("run.sh", RUN_SH.as_bytes())?;
        let lib = self.out.join("lib");
        fs::create_dir_all(&lib).map_err(|error| Failure::io("make the folder", &lib, &error))?;
        let copy = |from: &Path, to: PathBuf| {
            fs::copy(from, &to).map_err(|error| Failure::io("copy", from, &error)).map(|_| to)
        };
        copy(&self.runtime, lib.join("libcdp_runtime.so"))?;
        let copied = copy(runner, self.out.join("cdp-gpu-runner"))?;
        output(Command::new("chmod").arg("755").args([script, copied]))?;
        Ok(())
    }
}

/// Why a case with these first lines cannot run on an architecture.
fn unfit(text: &str, arch: &str) -> Option<String> {
    let directives =
        text.lines().take(20).filter_map(|line| line.strip_prefix("// ")?.split_once(':'));
    for (key, value) in directives {
        let words: Vec<&str> = value.split_whitespace().collect();
        match key {
            "arch" if !words.contains(&arch) => {
                return Some(format!("it is for {}", words.join(", ")));
            }
            "cdp" if words.first() == Some(&"1") => {
                return Some("it needs the CDP1 device runtime".to_owned());
            }
            "skip" if words.first() == Some(&"gpu") => return Some(words[1..].join(" ")),
            _ => {}
        }
    }
    None
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directives_leave_cases_out() {
        assert_eq!(unfit("// Adds numbers: slowly.\nint main() {}", "sm_90"), None);
        assert_eq!(unfit("// arch: sm_75 sm_90\n", "sm_90"), None);
        assert_eq!(unfit("// arch: sm_75 sm_80\n", "sm_90").unwrap(), "it is for sm_75, sm_80");
        assert!(unfit("// cdp: 1\n", "sm_90").unwrap().contains("CDP1"));
        assert_eq!(unfit("// skip: gpu takes an hour\n", "sm_90").unwrap(), "takes an hour");
        assert_eq!(unfit("// skip: nvcc lambda\n", "sm_90"), None);
    }
}
