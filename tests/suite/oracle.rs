//! Other compilers, as judges: nvcc from the toolkit, clang where it is installed.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

use cdp::{CdpVersion, CompileOptions};
use cdp_toolchain::Toolkit;
use libtest_mimic::{Failed, Trial};

use crate::support::{compiler, run_limited, trial};

/// Either takes about two seconds for a case; the rest is for a busy machine.
const TIME_LIMIT: Duration = Duration::from_secs(120);

pub fn has_nvcc() -> bool {
    compiler().is_ok_and(|compiler| compiler.toolchain().nvcc().is_some())
}

/// The toolkit that has nvcc.
pub fn nvcc_toolkit() -> Result<&'static Toolkit, Failed> {
    let kits = compiler()?.toolchain().toolkits();
    kits.iter().find(|kit| kit.nvcc.is_some()).ok_or_else(|| "there is no nvcc".into())
}

/// Clang of the LLVM that we are built with, beside a toolkit whose headers it reads: an older one
/// refuses some of CUDA 13's.
pub fn has_clang() -> bool {
    static FOUND: OnceLock<bool> = OnceLock::new();
    *FOUND.get_or_init(|| {
        let works = || run_limited(Command::new("clang-22").arg("--version"), TIME_LIMIT);
        has_nvcc() && works().is_ok_and(|output| output.status.success())
    })
}

/// The judges must be there, or the cases that they judge would be left out without a word.
/// `CDP_TESTS_WITHOUT=nvcc,clang` says that they are known to be missing.
pub fn trials() -> Vec<Trial> {
    let judges: [(&str, fn() -> bool); 2] = [("nvcc", has_nvcc), ("clang", has_clang)];
    let without = std::env::var("CDP_TESTS_WITHOUT").unwrap_or_default();
    let trials = judges.into_iter().map(|(name, is_there)| {
        let is_known_missing = without.split(',').any(|word| word.trim() == name);
        let test = move || {
            if is_there() {
                return Ok(());
            }
            let cure = "`cargo xtask setup` installs it; CDP_TESTS_WITHOUT leaves its cases out";
            Err(Failed::from(format!("{name} was not found, so its cases did not run: {cure}")))
        };
        trial(format!("oracle::{name}"), test).with_ignored_flag(is_known_missing)
    });
    trials.collect()
}

fn copy_as_cu(path: &Path, folder: &Path) -> Result<PathBuf, Failed> {
    let copy = folder.join("case.cu");
    std::fs::copy(path, &copy).map_err(|error| error.to_string())?;
    Ok(copy)
}

fn finish(command: &mut Command, output: &Path) -> Result<Vec<u8>, Failed> {
    let ran = run_limited(command, TIME_LIMIT)?;
    if !ran.status.success() {
        let message = String::from_utf8_lossy(&ran.stderr);
        return Err(format!("{command:?} failed:\n{message}").into());
    }
    std::fs::read(output).map_err(|error| error.to_string().into())
}

fn text(bytes: Vec<u8>) -> Result<String, Failed> {
    String::from_utf8(bytes).map_err(|error| error.to_string().into())
}

/// PTX that nvcc makes of a file, as relocatable device code.
pub fn nvcc_ptx(path: &Path, options: &CompileOptions) -> Result<String, Failed> {
    let nvcc = compiler()?.toolchain().nvcc().ok_or("no nvcc")?;
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let input = copy_as_cu(path, folder.path())?;
    let output = folder.path().join("case.ptx");
    let mut command = Command::new(nvcc);
    command.args(["-ptx", "-rdc=true", "-w"]).arg(format!("-arch={}", options.archs()[0]));
    // Headers beside the case, of which this is a copy.
    command.arg("-I").arg(path.parent().unwrap_or(Path::new(".")));
    if options.cdp == Some(CdpVersion::Cdp1) {
        command.arg("-DCUDA_FORCE_CDP1_IF_SUPPORTED");
    }
    text(finish(command.arg(&input).arg("-o").arg(&output), &output)?)
}

/// PTX that clang makes of a file.
pub fn clang_ptx(path: &Path, options: &CompileOptions) -> Result<String, Failed> {
    text(clang(path, options, &["-S"])?)
}

/// LLVM bitcode of a file's device code by clang, in which launches are calls of the device runtime.
pub fn clang_bitcode(path: &Path, options: &CompileOptions) -> Result<Vec<u8>, Failed> {
    clang(path, options, &["-c", "-emit-llvm"])
}

fn clang(path: &Path, options: &CompileOptions, kind: &[&str]) -> Result<Vec<u8>, Failed> {
    let nvcc = compiler()?.toolchain().nvcc().ok_or("no toolkit")?;
    let toolkit = nvcc.parent().and_then(Path::parent).ok_or("no toolkit")?;
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let input = copy_as_cu(path, folder.path())?;
    let output = folder.path().join("case.out");
    // Clang's CUDA wrapper includes a header that the wheels lack and no case needs.
    std::fs::write(folder.path().join("curand_mtgp32_kernel.h"), "")
        .map_err(|error| error.to_string())?;
    let mut command = Command::new("clang-22");
    command
        .arg("-I")
        .arg(folder.path())
        .arg("-I")
        .arg(path.parent().unwrap_or(Path::new(".")))
        // Where CUDA 13 keeps `nv/target`; nvcc looks there by itself.
        .arg("-isystem")
        .arg(toolkit.join("include/cccl"))
        // Without it `new` in device code calls functions that nothing defines.
        .args(["-include", "new"])
        .args(["-x", "cuda", "--cuda-device-only", "-O2", "-fgpu-rdc", "-w"])
        .args(kind)
        .arg(format!("--cuda-path={}", toolkit.display()))
        .arg(format!("--cuda-gpu-arch={}", options.archs()[0]));
    finish(command.arg(&input).arg("-o").arg(&output), &output)
}
