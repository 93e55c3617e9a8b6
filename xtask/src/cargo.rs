//! Running cargo and other programs, and knowing where things lie.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use cdp_toolchain::{SearchOptions, Toolchain};

use crate::Common;
use crate::failure::{Failure, Outcome};

/// cdpc depends on the runtime, but only asking for the package puts its static library beside the
/// binary.
const COMPILER: [&str; 2] = ["cdpc", "cdp-runtime"];

/// The repository's root folder.
pub fn root() -> PathBuf {
    // Set by `cargo run`; the path of the build is right when the binary is started by hand.
    let manifest = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let manifest = manifest.unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")));
    manifest.parent().map_or_else(|| manifest.clone(), Path::to_owned)
}

/// cargo, in the repository's root.
pub fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    command
}

/// The folder that cargo builds into, as cargo itself says.
pub fn target_dir() -> Outcome<PathBuf> {
    let mut command = cargo();
    command.args(["metadata", "--no-deps", "--format-version", "1"]);
    let text = output(&mut command)?;
    let metadata: serde_json::Value = serde_json::from_str(&text)
        .map_err(|error| Failure::new(format!("`cargo metadata` printed no JSON: {error}")))?;
    let dir = metadata["target_directory"].as_str().map(PathBuf::from);
    dir.ok_or_else(|| Failure::new("`cargo metadata` names no target_directory"))
}

/// Builds packages in release mode, with cargo's own progress, and returns the folder that their
/// binaries lie in.
pub fn build_release(packages: &[&str]) -> Outcome<PathBuf> {
    build_release_with(packages, &[])
}

/// As [`build_release`], with variables that build scripts read.
pub fn build_release_with(packages: &[&str], variables: &[(&str, &str)]) -> Outcome<PathBuf> {
    let mut command = cargo();
    command.envs(variables.iter().copied()).args(["build", "--release"]);
    build(&mut command, packages)?;
    Ok(target_dir()?.join("release"))
}

/// Builds the compiler as it is developed, in a third of the time that [`build_cdpc`] takes, and returns
/// its path.
pub fn build_quick_cdpc() -> Outcome<PathBuf> {
    build(cargo().arg("build"), &COMPILER)?;
    binary(&target_dir()?.join("debug"), "cdpc")
}

/// Builds a package without optimising it and returns the path of its binary.
pub fn build_quick(package: &str) -> Outcome<PathBuf> {
    build(cargo().arg("build"), &[package])?;
    binary(&target_dir()?.join("debug"), package)
}

fn build(command: &mut Command, packages: &[&str]) -> Outcome<()> {
    command.args(packages.iter().flat_map(|package| ["--package", package]));
    let status = command.stdin(Stdio::null()).status();
    let status = status.map_err(|error| Failure::new(format!("could not start cargo: {error}")))?;
    if !status.success() {
        return Err(Failure::new(format!("{} failed ({status})", shown(command))));
    }
    Ok(())
}

/// Builds the release compiler and what it links programs with, and returns the path of `cdpc`.
pub fn build_cdpc() -> Outcome<PathBuf> {
    binary(&build_release(&COMPILER)?, "cdpc")
}

/// Builds an example of a package in release mode and returns its path.
pub fn build_example(package: &str, example: &str) -> Outcome<PathBuf> {
    build(cargo().args(["build", "--release", "--example", example]), &[package])?;
    binary(&target_dir()?.join("release/examples"), example)
}

/// The runtime as a shared library that programs find by its bare name.
///
/// # Errors
/// When it does not build.
pub fn build_shared_runtime(release: &Path) -> Outcome<PathBuf> {
    let mut command = cargo();
    command.args([
        "rustc",
        "--release",
        "--package",
        "cdp-runtime",
        "--lib",
        "--crate-type",
        "cdylib",
    ]);
    command.args(["--", "-C", "link-arg=-Wl,-soname,libcdp_runtime.so"]);
    output(&mut command)?;
    let path = release.join("libcdp_runtime.so");
    if path.is_file() {
        Ok(path)
    } else {
        Err(Failure::new(format!("cargo built no {}", path.display())))
    }
}

/// A binary that was built into a folder.
pub fn binary(dir: &Path, name: &str) -> Outcome<PathBuf> {
    let path = dir.join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    if path.is_file() {
        Ok(path)
    } else {
        Err(Failure::new(format!("cargo built no {}", path.display())))
    }
}

/// Runs a program to its end and returns its standard output; a failure carries all it printed.
pub fn output(command: &mut Command) -> Outcome<String> {
    let result = command.stdin(Stdio::null()).output();
    let result = result.map_err(|error| {
        Failure::new(format!(
            "could not start {}: {error}",
            command.get_program().to_string_lossy()
        ))
    })?;
    let stdout = String::from_utf8_lossy(&result.stdout).into_owned();
    if result.status.success() {
        return Ok(stdout);
    }
    let stderr = String::from_utf8_lossy(&result.stderr);
    Err(Failure::new(format!(
        "{} failed ({})\n{}{}",
        shown(command),
        result.status,
        indent(&stdout),
        indent(&stderr)
    )))
}

/// A command as a person would type it.
pub fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words: Vec<String> = words.map(|word| word.to_string_lossy().into_owned()).collect();
    format!("`{}`", words.join(" "))
}

fn indent(text: &str) -> String {
    text.trim_end().lines().map(|line| format!("    {line}\n")).collect()
}

/// nvcc of the toolkit that would be used, if there is one.
pub fn nvcc(common: &Common) -> Option<PathBuf> {
    let options = SearchOptions {
        cuda_path: common.cuda_path.clone(),
        start_dirs: vec![root()],
        ..SearchOptions::from_process()
    };
    Some(Toolchain::find(&options).ok()?.nvcc()?.to_path_buf())
}

/// The first executable file of this name in `PATH`.
pub fn in_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|dir| dir.join(name))
        .find(|candidate| is_executable(candidate))
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(path: &Path) -> bool {
    path.is_file()
}
