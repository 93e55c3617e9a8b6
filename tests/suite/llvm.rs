//! The LLVM IR door: every file of `cases/llvm` is a module of another front end.
//!
//! A module becomes a cubin for every architecture and launch ABI that it names, straight and by way
//! of `cdpc lower`, and what it computes on the CPU device is on file. One of `cases/llvm/bad` is
//! refused with the texts that it names. Directives are comments at the beginning of a file:
//!
//! `; arch: sm_75 sm_90`, `; abi: all` (or names), `; flags: ...` for cdpc, `; emit: obj` (no link),
//! `; contains: TEXT` of the PTX, `; run: KERNEL GRID BLOCK` with an `; arg: ...` for each parameter
//! and an `; out: ...` for each line printed, `; error: TEXT` of the message.

use std::path::{Path, PathBuf};
use std::time::Duration;

use cdp::{
    Arch, BuildRequest, CompileOptions, Goal, Input, InputKind, LaunchAbi, OptLevel, RequestedAbi,
};
use libtest_mimic::{Failed, Trial};

use crate::support::{
    Outcome, cases, cdpc, compiler, explain, files, job, read, run_limited, same, stem, trial,
};

const TIME_LIMIT: Duration = Duration::from_secs(120);

pub fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for path in files(&cases("llvm"), "ll") {
        trials.push(trial(format!("llvm::{}", stem(&path)), move || good(&path)));
    }
    for path in files(&cases("llvm/bad"), "ll") {
        trials.push(trial(format!("llvm::bad::{}", stem(&path)), move || bad(&path)));
    }
    trials.push(trial("llvm::bitcode_and_standard_input".into(), bitcode));
    trials
}

/// The directives of a file, in order.
struct Directives(Vec<(String, String)>);

impl Directives {
    fn of(path: &Path) -> Result<Directives, Failed> {
        let text = read(path)?;
        let lines = text.lines().map_while(|line| line.strip_prefix("; "));
        let pairs = lines.filter_map(|line| line.split_once(": "));
        Ok(Directives(pairs.map(|(key, value)| (key.into(), value.trim().into())).collect()))
    }

    fn all(&self, key: &str) -> Vec<&str> {
        self.0.iter().filter(|(found, _)| found == key).map(|(_, value)| value.as_str()).collect()
    }

    fn words(&self, key: &str) -> Vec<&str> {
        self.all(key).into_iter().flat_map(str::split_whitespace).collect()
    }

    fn archs(&self) -> Result<Vec<Arch>, Failed> {
        let words = self.words("arch");
        let words = if words.is_empty() { vec!["sm_90"] } else { words };
        words.iter().map(|word| Arch::parse(word).map_err(|e| e.to_string().into())).collect()
    }

    fn abis(&self) -> Vec<LaunchAbi> {
        let words = self.words("abi");
        let wanted = |abi: &LaunchAbi| words.contains(&"all") || words.contains(&abi.name());
        LaunchAbi::ALL.into_iter().filter(wanted).collect()
    }
}

fn good(path: &Path) -> Outcome {
    let directives = Directives::of(path)?;
    let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
    let goal = match directives.words("emit").first() {
        Some(&"obj") => Goal::Object,
        _ => Goal::Cubin,
    };
    for arch in directives.archs()? {
        for abi in directives.abis() {
            // The documented names are CDP1 below sm_90.
            if arch.number() < 90 && !abi.is_prefixed() {
                continue;
            }
            for level in [OptLevel::O0, OptLevel::O3] {
                let options = CompileOptions::default().with(|options| {
                    options.archs = vec![arch];
                    options.launch_abi = RequestedAbi::Exactly(abi);
                    options.opt_level = level;
                });
                let lowered = compiler()?.lower_foreign("case.ll", &bytes, arch, &options);
                let lowered = lowered.map_err(|error| error.to_string())?;
                if lowered.contains("@cdp.launch") {
                    return Err(format!("{abi}: launches are left in\n{lowered}").into());
                }
                for text in [bytes.as_slice(), lowered.as_bytes()] {
                    build(path, text, &options, goal).map_err(|failed| {
                        format!("{arch} {abi} {level:?}: {}", failed.message().unwrap_or(""))
                    })?;
                    let ptx = build(path, text, &options, Goal::Ptx)?;
                    let ptx = String::from_utf8_lossy(&ptx).into_owned();
                    for part in directives.all("contains") {
                        if !ptx.contains(part) {
                            return Err(format!("no `{part}` in\n{ptx}").into());
                        }
                    }
                }
            }
            run(path, &directives, abi)?;
        }
    }
    Ok(())
}

fn build(
    path: &Path,
    bytes: &[u8],
    options: &CompileOptions,
    goal: Goal,
) -> Result<Vec<u8>, Failed> {
    let name = path.display().to_string();
    let inputs = [Input::Bytes(InputKind::Llvm, name, bytes.to_vec())];
    let job = job()?;
    let built = compiler()?.build(&BuildRequest::new(&inputs, goal, options, &job));
    built.map(|built| built.bytes).map_err(explain)
}

/// Runs the kernel on the CPU device.
fn run(path: &Path, directives: &Directives, abi: LaunchAbi) -> Outcome {
    let words = directives.words("run");
    let [kernel, grid, block] = words[..] else { return Ok(()) };
    let mut command = cdpc();
    command.arg("run").arg(path).args(["--device", "cpu", "--launch-abi", abi.name()]);
    command.args(["--kernel", kernel, "--grid", grid, "--block", block]);
    for arg in directives.all("arg") {
        command.args(["--arg", arg]);
    }
    let output = run_limited(&mut command, TIME_LIMIT)?;
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() {
        return Err(format!("{abi}: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    let wanted: String = directives.all("out").iter().map(|line| format!("{line}\n")).collect();
    same(&format!("output under {abi}"), &stdout, &wanted)
}

fn bad(path: &Path) -> Outcome {
    let directives = Directives::of(path)?;
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let out = folder.path().join("out.cubin");
    let mut messages = Vec::new();
    for verb in ["build", "lower"] {
        let mut command = cdpc();
        command.arg(verb).arg(path).args(directives.words("flags")).arg("-o").arg(&out);
        let output = run_limited(&mut command, TIME_LIMIT)?;
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.code() != Some(1) || out.exists() {
            return Err(format!("`cdpc {verb}` ends with {}:\n{message}", output.status).into());
        }
        messages.push(message);
    }
    same("the message of lower", &messages[1], &messages[0])?;
    let missing: Vec<_> =
        directives.all("error").into_iter().filter(|part| !messages[0].contains(part)).collect();
    match directives.all("error").is_empty() || !missing.is_empty() {
        true => Err(format!("no {missing:?} in\n{}", messages[0]).into()),
        false => Ok(()),
    }
}

/// Bitcode is told from text by its contents, also on standard input.
fn bitcode() -> Outcome {
    let text = std::fs::read(cases("llvm").join("simple.ll")).map_err(|error| error.to_string())?;
    let context = cdp::llvm::inkwell::context::Context::create();
    let buffer =
        cdp::llvm::inkwell::memory_buffer::MemoryBuffer::create_from_memory_range_copy(&text, "s");
    let module = context.create_module_from_ir(buffer).map_err(|error| error.to_string())?;
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let file: PathBuf = folder.path().join("simple.bc");
    if !module.write_bitcode_to_path(&file) {
        return Err("the bitcode was not written".into());
    }
    let emit = |command: &mut std::process::Command| -> Result<String, Failed> {
        let output = run_limited(command.args(["--emit", "ptx", "-o", "-"]), TIME_LIMIT)?;
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        Err(message.into())
    };
    let from_file = emit(cdpc().arg("build").arg(&file))?;
    // Bitcode with its launches lowered is bitcode, and makes the same PTX as without the optimiser.
    let plain = emit(cdpc().arg("build").arg(&file).arg("-flaunch-opt=off"))?;
    let lowered = folder.path().join("lowered.bc");
    run_limited(cdpc().arg("lower").arg(&file).arg("-o").arg(&lowered), TIME_LIMIT)?;
    let magic = std::fs::read(&lowered).map_err(|error| error.to_string())?;
    same("the first bytes", &String::from_utf8_lossy(&magic[..2]), "BC")?;
    same("PTX of lowered bitcode", &emit(cdpc().arg("build").arg(&lowered))?, &plain)?;
    // A shell's redirection, since the suite's commands have no input.
    let mut shell = std::process::Command::new("sh");
    let script = "exec \"$0\" build - --emit ptx -o - < \"$1\"";
    let program = cdpc().get_program().to_owned();
    shell.args(["-c", script]).arg(program).arg(&file).env("CDP_TESTS_AS_CDPC", "1");
    let output = run_limited(&mut shell, TIME_LIMIT)?;
    same("PTX of standard input", &String::from_utf8_lossy(&output.stdout), &from_file)?;
    if from_file.contains(".entry child") {
        return Ok(());
    }
    Err(format!("no child in\n{from_file}").into())
}
