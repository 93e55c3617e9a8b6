//! `cargo xtask fuzz ...`: tests that go on for as long as one likes. The work is done by `cdp-differential`, and by
//! libFuzzer with the targets of `cdp-fuzz`.

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};

use clap::{Args, Subcommand};

use crate::cargo::{binary, build_cdpc, build_release, cargo, in_path, nvcc, root, target_dir};
use crate::failure::{Failure, Outcome};
use crate::ui::Ui;
use crate::{Common, Passed};

/// What is fuzzed.
#[derive(Subcommand)]
pub enum Fuzz {
    /// Random programs, compiled at several levels, by nvcc, clang and the host's compiler
    #[command(disable_help_flag = true)]
    Differential(Passed),
    /// The same for a machine with a GPU: cubins of cdpc and nvcc, and a script that runs them there
    #[command(disable_help_flag = true)]
    GpuBundle(Passed),
    /// Random expressions of PTX, which ptxas assembles without optimisation and with it, on this machine's GPU
    #[command(disable_help_flag = true)]
    Ptx(Passed),
    /// Any bytes into one part of the compiler, by libFuzzer with the address sanitizer (takes cargo-fuzz)
    Target(Target),
}

/// Which target, and for how long.
#[derive(Args)]
pub struct Target {
    /// One of those in tests/fuzz/targets; without it they are listed
    name: Option<String>,
    /// How long it runs
    #[arg(long, default_value_t = 60, value_name = "N")]
    seconds: u32,
    /// Further options of libFuzzer, as `-jobs=4` or a file to try
    #[arg(last = true)]
    options: Vec<OsString>,
}

/// Runs one kind of fuzzing.
///
/// # Errors
/// When something does not build or does not start.
pub fn fuzz(ui: &Ui, common: &Common, fuzz: &Fuzz) -> Outcome<ExitCode> {
    let (verb, options) = match fuzz {
        Fuzz::Differential(Passed { options }) => ("differential", options),
        Fuzz::GpuBundle(Passed { options }) => ("gpu-bundle", options),
        Fuzz::Ptx(Passed { options }) => ("ptx", options),
        Fuzz::Target(target) => return fuzz_target(ui, target),
    };
    let judges = binary(&build_release(&["cdp-differential"])?, "cdp-differential")?;
    let mut command = Command::new(judges);
    command.arg(verb);
    let asks = |what: &str| {
        options.iter().any(|option| option.to_str().is_some_and(|text| text.starts_with(what)))
    };
    if verb == "ptx" {
        if let Some(ptxas) = nvcc(common).map(|nvcc| nvcc.with_file_name("ptxas")) {
            command.arg("--ptxas").arg(ptxas);
        }
        return judge(command, options);
    }
    if !asks("--cdpc") && !asks("--help") && !asks("-h") {
        command.arg("--cdpc").arg(build_cdpc()?);
    }
    // One that is absent is left out, and that is said.
    let tools =
        [("--nvcc", nvcc(common)), ("--clang", in_path("clang-22")), ("--cxx", in_path("c++"))];
    for (name, path) in tools {
        match path {
            Some(path) => drop(command.arg(name).arg(path)),
            None => ui.note(&format!("{} is not here", &name[2..])),
        }
    }
    judge(command, options)
}

/// Starts `cdp-differential` with what it is to be told besides.
fn judge(mut command: Command, options: &[OsString]) -> Outcome<ExitCode> {
    command.arg("--work").arg(target_dir()?.join("differential")).args(options);
    let status = command.stdin(Stdio::null()).status();
    let status = status
        .map_err(|error| Failure::new(format!("could not start cdp-differential: {error}")))?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Where the targets are.
fn targets() -> PathBuf {
    root().join("tests/fuzz")
}

/// The targets' names, sorted.
fn target_names() -> Outcome<Vec<String>> {
    let folder = targets().join("targets");
    let entries =
        fs::read_dir(&folder).map_err(|error| Failure::io("read the folder", &folder, &error))?;
    let stem = |entry: fs::DirEntry| Some(entry.path().file_stem()?.to_str()?.to_owned());
    let mut names: Vec<String> = entries.flatten().filter_map(stem).collect();
    names.sort();
    Ok(names)
}

/// Runs a target by libFuzzer. What it finds new stays below `target/fuzz/NAME`, what breaks it beside that.
fn fuzz_target(ui: &Ui, target: &Target) -> Outcome<ExitCode> {
    let names = target_names()?;
    let Some(name) = target.name.as_ref().filter(|name| names.contains(name)) else {
        let list = names.join(", ");
        return match &target.name {
            Some(name) => Err(Failure::new(format!("there is no target `{name}`: {list}"))),
            None => {
                ui.line(&list);
                Ok(ExitCode::SUCCESS)
            }
        };
    };
    if !has_cargo_fuzz() {
        let message = "cargo-fuzz is not here: `cargo install cargo-fuzz` installs it";
        return Err(Failure::new(message));
    }
    let work = target_dir()?.join("fuzz");
    let found = work.join(name);
    fs::create_dir_all(&found).map_err(|error| Failure::io("make the folder", &found, &error))?;
    let mut command = cargo();
    // Sanitizers and the counters of edges are options that the pinned compiler has, but calls unstable.
    command.env("RUSTC_BOOTSTRAP", "1").args(["fuzz", "run", "--features", "libfuzzer"]);
    command.arg("--fuzz-dir").arg(targets()).arg("--target-dir").arg(work.join("build"));
    command.arg(name).arg(&found).arg(targets().join("corpus").join(name));
    let artifacts = format!("-artifact_prefix={}/{name}-", work.display());
    command.arg("--").args([format!("-max_total_time={}", target.seconds), artifacts]);
    // A call of LLVM that crashed leaves its thread behind, and that is no mistake of ours; nor is one slow input.
    command.args(["-timeout=60", "-rss_limit_mb=6000", "-detect_leaks=0", "-print_final_stats=1"]);
    let status = command.args(&target.options).stdin(Stdio::null()).status();
    let status = status.map_err(|error| Failure::new(format!("could not start cargo: {error}")))?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// cargo finds its subcommands in its own folder as well.
fn has_cargo_fuzz() -> bool {
    let mut asked = cargo();
    asked.args(["fuzz", "--version"]).stdout(Stdio::null()).stderr(Stdio::null());
    asked.status().is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_target_has_a_corpus() {
        let names = target_names().unwrap();
        assert!(names.len() >= 11, "{names:?}");
        for name in names {
            let corpus = targets().join("corpus").join(&name);
            assert!(fs::read_dir(&corpus).is_ok_and(|files| files.count() > 2), "{name}");
        }
    }
}
