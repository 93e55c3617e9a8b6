//! Run cases: whole programs whose standard output is the expectation. Each file of `cases/run` and
//! each sample runs on the CPU device as compiled by us, and with the device code that nvcc (and
//! clang, where it is installed) makes of the same file.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use cdp::HostLinkOptions;
use cdp::{CompileOptions, Goal, LaunchAbi, OptLevel, Pass, RequestedAbi, SourceInput, analyse};
use cdp_tests::signatures;
use cdp_toolchain::{host_link, prelinked};
use libtest_mimic::{Failed, Trial};

use crate::cases::Directives;
use crate::compile::build;
use crate::oracle;
use crate::support::{
    Outcome, cases, compiler, files, job, read, root, run_limited, same, stem, trial,
};

/// Checks that find nothing in programs that are right.
const CHECKS: &str = "race,init,bounds,sync";
const TIME_LIMIT: Duration = Duration::from_secs(120);

pub fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    let programs =
        files(&cases("run"), "cdp").into_iter().chain(files(&root().join("samples"), "cdp"));
    for path in programs {
        let family = if path.starts_with(cases("run")) { "run" } else { "samples" };
        let name = format!("{family}::{}", stem(&path));
        let skips = |oracle| Directives::of(&path).is_ok_and(|found| found.skips(oracle));
        let (no_nvcc, no_clang) =
            (!oracle::has_nvcc() || skips("nvcc"), !oracle::has_clang() || skips("clang"));
        let (a, b, c) = (path.clone(), path.clone(), path);
        trials.push(trial(format!("{name}::cpu"), move || ours(&a)));
        trials.push(
            trial(format!("{name}::nvcc"), move || foreign(&b, oracle::nvcc_ptx))
                .with_ignored_flag(no_nvcc),
        );
        trials.push(
            trial(format!("{name}::clang"), move || foreign(&c, oracle::clang_ptx))
                .with_ignored_flag(no_clang),
        );
    }
    for (abi, seed) in LaunchAbi::ALL.into_iter().zip(1000..) {
        let name = format!("signatures::{abi}");
        trials.push(trial(name, move || generated(seed, abi)));
    }
    trials
}

/// The runtime of this build: the archive that `cargo xtask test` names, else the one beside the test's own folder.
pub fn runtime_archive() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("CDP_RUNTIME_LIB") {
        return Some(PathBuf::from(path));
    }
    let executable = std::env::current_exe().ok()?;
    let folder = executable.parent()?.parent()?;
    Some(folder.join("libcdp_runtime.a")).filter(|path| path.is_file())
}

/// The same, linked beforehand, which makes linking hundreds of programs fast.
pub fn runtime_library() -> Option<PathBuf> {
    let archive = runtime_archive()?;
    Some(prelinked(&archive, None).unwrap_or(archive))
}

fn expected(path: &Path) -> Result<String, Failed> {
    read(&path.with_extension("out"))
}

/// Runs a program on the CPU device, which must print what is expected and succeed; and once more
/// with the race checker, which must find nothing.
pub fn execute(program: &[u8], what: &str, expected: &str) -> Outcome {
    execute_with(program, &[], &["", CHECKS], what, expected)
}

/// The same with arguments, once for each list of checks.
pub fn execute_with(
    program: &[u8],
    args: &[&str],
    checks: &[&str],
    what: &str,
    expected: &str,
) -> Outcome {
    let installed = Installed::new(program)?;
    checks
        .iter()
        .try_for_each(|checks| installed.prints(args, &[("CDP_CHECK", checks)], what, expected))
}

/// The same once in the usual order of execution, and once in the order of each seed.
pub fn execute_in_orders(
    program: &[u8],
    args: &[&str],
    seeds: &[&str],
    what: &str,
    expected: &str,
) -> Outcome {
    let installed = Installed::new(program)?;
    installed.prints(args, &[], what, expected)?;
    seeds.iter().try_for_each(|seed| {
        let what = format!("{what}, schedule {seed}");
        installed.prints(args, &[("CDP_SCHEDULE_SEED", seed)], &what, expected)
    })
}

/// The same where lanes of a warp that parted meet again only where an instruction says so, in the order of each seed.
pub fn execute_apart(program: &[u8], seeds: &[&str], what: &str, expected: &str) -> Outcome {
    let installed = Installed::new(program)?;
    seeds.iter().try_for_each(|seed| {
        let set = [("CDP_WARP_SCHEDULING", "apart"), ("CDP_SCHEDULE_SEED", seed)];
        installed.prints(&[], &set, &format!("{what}, lanes apart, schedule {seed}"), expected)
    })
}

/// A program as a file, for as long as this lives.
struct Installed {
    folder: tempfile::TempDir,
}

impl Installed {
    fn new(program: &[u8]) -> Result<Installed, Failed> {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let path = folder.path().join("program");
        std::fs::write(&path, program).map_err(|error| error.to_string())?;
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&path, mode).map_err(|error| error.to_string())?;
        Ok(Installed { folder })
    }

    /// Runs it on the CPU device with variables set: it must succeed and print what is expected.
    fn prints(&self, args: &[&str], set: &[(&str, &str)], what: &str, expected: &str) -> Outcome {
        let mut command = Command::new(self.folder.path().join("program"));
        command.args(args).env("CDP_DEVICE", "cpu").envs(set.iter().copied());
        let output = run_limited(&mut command, TIME_LIMIT)?;
        let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
        // Device code that does not load is told there, and only there.
        let stderr = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() {
            return Err(format!("{what}: {}\n{stdout}\n{stderr}", output.status).into());
        }
        same(what, &stdout, expected).map_err(|failed| {
            let message = failed.message().unwrap_or("");
            Failed::from(format!("{message}\n--- standard error\n{stderr}"))
        })
    }
}

fn ours(path: &Path) -> Outcome {
    let directives = Directives::of(path)?;
    let whole = cdp::CompileOptions::default().unit_instructions;
    // In small codegen units every helper, constant and table is another unit's.
    for (level, unit_instructions) in
        [(OptLevel::O3, whole), (OptLevel::O3, 20), (OptLevel::O0, whole)]
    {
        let arch = directives.archs()?[0];
        let options = directives.options(arch).with(|options| {
            options.opt_level = level;
            // Host code at that level, and with the short pipeline.
            options.host_opt_level = (unit_instructions != whole).then_some(level);
            options.unit_instructions = unit_instructions;
        });
        let program = build(path, &options, Goal::Executable)?;
        let what = format!("output at {level:?}, units of {unit_instructions} instructions");
        execute(&program, &what, &expected(path)?)?;
    }
    Ok(())
}

/// Our host code with another compiler's device code.
fn foreign(path: &Path, ptx: impl Fn(&Path, &CompileOptions) -> Result<String, Failed>) -> Outcome {
    execute(&foreign_program(path, ptx)?, "output", &expected(path)?)
}

/// An executable of our host code and another compiler's device code.
pub fn foreign_program(
    path: &Path,
    ptx: impl FnOnce(&Path, &CompileOptions) -> Result<String, Failed>,
) -> Result<Vec<u8>, Failed> {
    let directives = Directives::of(path)?;
    let options = directives.options(directives.archs()?[0]);
    let ptx = ptx(path, &options)?;
    let source = SourceInput::File(path.to_owned());
    let analysis = analyse(&source, Pass::Host, &options).map_err(|error| error.to_string())?;
    let compiler = compiler()?;
    let text = |error: cdp::Error| Failed::from(error.to_string());
    let host = compiler.emit_host(&analysis, &options).map_err(text)?;
    let image = compiler.emit_image(&[], &[ptx]).map_err(text)?;
    let objects = [("host.o".to_string(), host), ("image.o".to_string(), image)];
    let link = HostLinkOptions {
        files: runtime_library().into_iter().collect(),
        libraries: ["m", "dl", "pthread"].map(String::from).to_vec(),
        ..HostLinkOptions::default()
    };
    host_link(&job()?, "foreign", &objects, &link).map_err(|error| error.to_string().into())
}

/// Generated signatures under one ABI, on the CPU device.
fn generated(seed: u64, abi: LaunchAbi) -> Outcome {
    let text = signatures::program(seed, 25, 128);
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let path = folder.path().join("signatures.cdp");
    std::fs::write(&path, &text).map_err(|error| error.to_string())?;
    let options =
        CompileOptions::default().with(|options| options.launch_abi = RequestedAbi::Exactly(abi));
    let program = build(&path, &options, Goal::Executable)?;
    execute(&program, "output", &signatures::expected_output(&text))?;
    // The cubin's parameter offsets are compared by the build itself.
    build(&path, &options, Goal::Cubin).map(|_| ())
}
