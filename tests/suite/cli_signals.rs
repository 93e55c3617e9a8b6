//! Signals and time limits: tools and programs end with `cdpc`, and nothing temporary stays.
#![cfg(unix)]

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use libtest_mimic::{Failed, Trial};

use crate::cli::{HELLO, contains, folder, path, text, write};
use crate::support::{Outcome, cdpc, run_limited, trial, wait_limited};

pub fn trials() -> Vec<Trial> {
    let tests: Vec<(&str, fn() -> Outcome)> = vec![
        ("signals_end_tools", tools_end),
        ("signals_end_programs", programs_end),
        ("ignored_signals_stay_ignored", ignored),
        ("timeout_stops_host_code", timeout),
    ];
    tests.into_iter().map(|(name, test)| trial(format!("cli::{name}"), test)).collect()
}

const SIGNALS: [(&str, i32); 4] = [("INT", 2), ("TERM", 15), ("HUP", 1), ("QUIT", 3)];

/// Those that are not ignored here, as `nohup` has it, since `cdpc` goes on to ignore them then.
fn signals() -> impl Iterator<Item = (&'static str, i32)> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    SIGNALS.into_iter().filter(move |(_, number)| ignored >> (number - 1) & 1 == 0)
}

fn send(signal: &str, id: u32) -> Outcome {
    let done = Command::new("kill").args([&format!("-{signal}"), &id.to_string()]).status();
    match done {
        Ok(status) if status.success() => Ok(()),
        other => Err(format!("kill: {other:?}").into()),
    }
}

fn wait_until(what: &str, mut done: impl FnMut() -> bool) -> Outcome {
    let begun = Instant::now();
    while !done() {
        if begun.elapsed() > Duration::from_secs(60) {
            return Err(format!("waited in vain for {what}").into());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}

/// Waits for the end of `cdpc`, which is to come within seconds and by this signal.
fn ends_by(mut child: Child, signal: i32) -> Outcome {
    match wait_limited(&mut child, Duration::from_secs(10))? {
        Some(status) if status.signal() == Some(signal) => Ok(()),
        Some(status) => Err(format!("{status}, not signal {signal}").into()),
        None => Err("cdpc goes on".into()),
    }
}

fn is_alive(id: &str) -> bool {
    // A process that nobody has waited for yet is dead all the same.
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    !stat.is_empty() && !stat.contains(") Z ")
}

fn is_empty(folder: &Path) -> Outcome {
    let left: Vec<PathBuf> =
        std::fs::read_dir(folder).map_err(|e| e.to_string())?.flatten().map(|e| e.path()).collect();
    if left.is_empty() { Ok(()) } else { Err(format!("{left:?} stayed").into()) }
}

/// A toolkit whose ptxas never ends, and whose own child does not either.
fn slow_toolkit(folder: &tempfile::TempDir) -> Result<String, Failed> {
    let root = folder.path().join("kit");
    std::fs::create_dir_all(root.join("bin")).map_err(|e| e.to_string())?;
    let version = "{\"cuda_nvcc\" : { \"version\" : \"13.0.88\" }}";
    std::fs::write(root.join("version.json"), version).map_err(|e| e.to_string())?;
    let ids = path(folder, "ids");
    let script =
        format!("#!/bin/sh\nsleep 300 &\necho $$ $! > {ids}.new\nmv {ids}.new {ids}\nwait\n");
    let ptxas = root.join("bin/ptxas");
    std::fs::write(&ptxas, script).map_err(|e| e.to_string())?;
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&ptxas, mode).map_err(|e| e.to_string())?;
    Ok(root.display().to_string())
}

fn tools_end() -> Outcome {
    for (name, number) in signals() {
        let folder = folder()?;
        let kit = slow_toolkit(&folder)?;
        let (temp, ids) = (folder.path().join("temp"), path(&folder, "ids"));
        std::fs::create_dir(&temp).map_err(|e| e.to_string())?;
        let out = path(&folder, "a.cubin");
        let child = cdpc()
            .args(["build", HELLO, "-o", &out, "--cuda-path", &kit])
            .env("TMPDIR", &temp)
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| error.to_string())?;
        wait_until("ptxas", || Path::new(&ids).exists())?;
        send(name, child.id())?;
        ends_by(child, number)?;
        let ids = std::fs::read_to_string(&ids).map_err(|e| e.to_string())?;
        wait_until("the end of ptxas", || !ids.split_whitespace().any(is_alive))?;
        is_empty(&temp)?;
    }
    Ok(())
}

const ENDLESS: &str = "#include <stdio.h>\nint main() { volatile int go = 1; printf(\"begun\\n\"); \
    fflush(stdout); while (go) { } return 0; }\n";

fn endless(folder: &tempfile::TempDir, more: &[&str]) -> Result<Command, Failed> {
    let temp = folder.path().join("temp");
    std::fs::create_dir_all(&temp).map_err(|e| e.to_string())?;
    let source = write(folder, "a.cdp", ENDLESS)?;
    let mut command = cdpc();
    if let Some(library) = crate::run::runtime_archive() {
        command.env("CDP_RUNTIME_LIB", library);
    }
    command.args(["run", "--device", "cpu", &source]).args(more).env("TMPDIR", temp);
    Ok(command)
}

fn programs_end() -> Outcome {
    for (name, number) in signals() {
        let folder = folder()?;
        let mut command = endless(&folder, &[])?;
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(|error| error.to_string())?;
        let mut begun = [0; 5];
        let mut stdout = child.stdout.take().ok_or("no output")?;
        std::io::Read::read_exact(&mut stdout, &mut begun).map_err(|e| e.to_string())?;
        let id = child.id();
        let children = std::fs::read_dir(format!("/proc/{id}/task")).map_err(|e| e.to_string())?;
        let children: String = children
            .flatten()
            .filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok())
            .collect();
        if children.split_whitespace().count() == 0 {
            return Err("cdpc runs no program".into());
        }
        send(name, id)?;
        ends_by(child, number)?;
        if let Some(alive) = children.split_whitespace().find(|id| is_alive(id)) {
            return Err(format!("process {alive} lives on after {name}").into());
        }
        is_empty(&folder.path().join("temp"))?;
    }
    Ok(())
}

/// As under `nohup`.
fn ignored() -> Outcome {
    let folder = folder()?;
    let executable = std::env::current_exe().map_err(|error| error.to_string())?;
    let out = path(&folder, "a.ptx");
    let script = format!(
        "trap '' HUP; {} build - --emit ptx -o {out} & cdpc=$!; sleep 0.5; kill -HUP $cdpc; wait $cdpc",
        executable.display()
    );
    let mut command = Command::new("sh");
    command.args(["-c", &script]).env("CDP_TESTS_AS_CDPC", "1");
    let done = run_limited(&mut command, Duration::from_secs(60))?;
    if done.status.code() == Some(0) && Path::new(&out).exists() {
        return Ok(());
    }
    Err(format!("{}\n{}", done.status, text(&done.stderr)).into())
}

fn timeout() -> Outcome {
    let folder = folder()?;
    let begun = Instant::now();
    let done = run_limited(&mut endless(&folder, &["--timeout", "1"])?, Duration::from_secs(60))?;
    if done.status.code() != Some(124) || begun.elapsed() > Duration::from_secs(20) {
        return Err(format!("{}\n{}", done.status, text(&done.stderr)).into());
    }
    contains(&text(&done.stderr), &["stopped after 1 s", "--timeout"])?;
    is_empty(&folder.path().join("temp"))
}
