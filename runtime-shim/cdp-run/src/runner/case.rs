//! One case: a child process, its time limit, and the comparison of what it did.

use std::io::{PipeReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use super::Options;
use super::launches::{CheckResult, DEVICE_LOST};
use crate::bundle::Case;
use cdp_runtime::DeviceKind;
use cdp_toolchain::Ended;

/// What a case came to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outcome {
    /// Why it failed; empty if it passed.
    pub problems: Vec<String>,
    /// Launches that were as expected, and all launches; for programs both are 0.
    pub checks: (usize, usize),
    /// How long it took.
    pub time: Duration,
}

impl Outcome {
    /// Nothing was wrong.
    pub fn passed(&self) -> bool {
        self.problems.is_empty()
    }

    /// A case that could not be run.
    pub fn failed(problem: String) -> Outcome {
        Outcome { problems: vec![problem], ..Outcome::default() }
    }
}

/// What a child process did.
#[derive(Default)]
struct Finished {
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    status: Option<ExitStatus>,
    time: Duration,
}

/// Runs a case. `index` is its place in the manifest.
pub(crate) fn run(options: &Options, case: &Case, index: usize) -> Outcome {
    let folder = options.manifest.parent().unwrap_or(Path::new("")).to_owned();
    if case.launches.is_empty() {
        run_program(options, case, &folder)
    } else {
        run_launches(options, case, index, &folder)
    }
}

fn run_program(options: &Options, case: &Case, folder: &Path) -> Outcome {
    let path = folder.join(case.executable.as_deref().unwrap_or_default());
    // A bare name would be looked up in PATH.
    let path = path.canonicalize().unwrap_or(path);
    let mut command = Command::new(&path);
    command.args(&case.args).env("CDP_DEVICE", options.device.to_string());
    let finished = match wait(command, case.time_limit_ms) {
        Ok(finished) => finished,
        Err(error) => return Outcome::failed(format!("{}: {error}", path.display())),
    };
    let mut outcome = Outcome { time: finished.time, ..Outcome::default() };
    check_output(case, folder, &finished, &mut outcome);
    check_status(case, &finished, &mut outcome);
    outcome
}

fn run_launches(options: &Options, case: &Case, index: usize, folder: &Path) -> Outcome {
    let file = scratch_file(index);
    let (finished, results) = match make_launches(options, case, index, &file) {
        Ok(made) => made,
        Err(error) => return Outcome::failed(format!("the runner does not start: {error}")),
    };
    let _ = std::fs::remove_file(&file);
    let mut outcome = Outcome { time: finished.time, ..Outcome::default() };
    outcome.checks = (0, case.launches.len());
    for result in &results {
        match &result.problem {
            None => outcome.checks.0 += 1,
            Some(problem) => outcome.problems.push(format!("{}: {problem}", result.title)),
        }
    }
    check_output(case, folder, &finished, &mut outcome);
    if results.len() < case.launches.len() {
        check_status(case, &finished, &mut outcome);
        let missing = case.launches.len() - results.len();
        outcome.problems.push(format!("{missing} launches were not made"));
    }
    outcome
}

/// Makes a case's launches in child processes: one, and another after each fault.
fn make_launches(
    options: &Options,
    case: &Case,
    index: usize,
    file: &Path,
) -> std::io::Result<(Finished, Vec<CheckResult>)> {
    let runner = std::env::current_exe()?;
    let mut all = Finished::default();
    loop {
        let results = read_results(file);
        let mut command = Command::new(&runner);
        command.arg("--manifest").arg(&options.manifest).arg("--child").arg(index.to_string());
        command.arg("--first").arg(results.len().to_string());
        command.arg("--device").arg(options.device.to_string()).arg("--results").arg(file);
        let finished = wait(command, case.time_limit_ms)?;
        all.stdout.extend(finished.stdout);
        all.stderr = finished.stderr;
        all.status = finished.status;
        all.time += finished.time;
        let made = read_results(file);
        let lost = all.status.and_then(|status| status.code()) == Some(i32::from(DEVICE_LOST));
        if !lost || made.len() == results.len() || made.len() >= case.launches.len() {
            return Ok((all, made));
        }
    }
}

/// The results that children have written so far.
fn read_results(file: &Path) -> Vec<CheckResult> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// A file for a child's results; the process's own number keeps runners apart.
fn scratch_file(index: usize) -> PathBuf {
    std::env::temp_dir().join(format!("cdp-gpu-runner-{}-{index}.json", std::process::id()))
}

fn check_output(case: &Case, folder: &Path, finished: &Finished, outcome: &mut Outcome) {
    let Some(file) = &case.expected_stdout else { return };
    match std::fs::read(folder.join(file)) {
        Ok(expected) if expected == finished.stdout => {}
        Ok(expected) => outcome.problems.push(difference(&expected, &finished.stdout)),
        Err(error) => outcome.problems.push(format!("{file}: {error}")),
    }
}

fn check_status(case: &Case, finished: &Finished, outcome: &mut Outcome) {
    let stderr = String::from_utf8_lossy(&finished.stderr);
    let said = stderr.trim();
    let said = if said.is_empty() { String::new() } else { format!("; it said: {said}") };
    match finished.status {
        None => outcome.problems.push(format!("stopped after {} ms{said}", case.time_limit_ms)),
        Some(status) if status.code() == Some(case.expected_exit_code) => {}
        Some(status) => {
            let wanted = case.expected_exit_code;
            outcome.problems.push(format!("{status} where exit code {wanted} is expected{said}"));
        }
    }
}

/// Where two outputs part, by line.
fn difference(expected: &[u8], found: &[u8]) -> String {
    let (expected, found) = (String::from_utf8_lossy(expected), String::from_utf8_lossy(found));
    let (mut wanted, mut got) = (expected.lines(), found.lines());
    for line in 1.. {
        match (wanted.next(), got.next()) {
            (None, None) => break,
            (wanted, got) if wanted == got => {}
            (wanted, got) => {
                let show = |text: Option<&str>| match text {
                    Some(text) => format!("`{}`", text.chars().take(120).collect::<String>()),
                    None => "the end".to_owned(),
                };
                return format!(
                    "output line {line}: expected {}, found {}",
                    show(wanted),
                    show(got)
                );
            }
        }
    }
    "the outputs differ in how lines end".to_owned()
}

/// Runs a command; stops it after its time.
fn wait(mut command: Command, time_limit_ms: u64) -> std::io::Result<Finished> {
    let start = Instant::now();
    let limit = Duration::from_millis(time_limit_ms);
    let (stdout, out) = std::io::pipe()?;
    let (stderr, err) = std::io::pipe()?;
    command.stdin(Stdio::null()).stdout(out).stderr(err);
    // Pipes are emptied while the child runs, so that it never waits for us.
    let [stdout, stderr] = [stdout, stderr].map(reader);
    let ended = cdp_toolchain::run_program(&mut command, Some(limit));
    let time = start.elapsed();
    // The readers end when nobody can write any more, the command included.
    drop(command);
    let status = match ended? {
        Ended::Status(status) => Some(status),
        Ended::TimedOut => None,
    };
    let collect = |thread: std::thread::JoinHandle<Vec<u8>>| thread.join().unwrap_or_default();
    Ok(Finished { stdout: collect(stdout), stderr: collect(stderr), status, time })
}

fn reader(mut pipe: PipeReader) -> std::thread::JoinHandle<Vec<u8>> {
    /// More output than any case has; the rest is read and dropped.
    const MOST_BYTES: usize = 64 << 20;
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let mut chunk = [0u8; 1 << 16];
        while let Ok(count @ 1..) = pipe.read(&mut chunk) {
            let room = MOST_BYTES.saturating_sub(bytes.len());
            bytes.extend(&chunk[..count.min(room)]);
        }
        bytes
    })
}

/// What the report says a case is run on.
pub(crate) fn device_word(device: DeviceKind) -> &'static str {
    match device {
        DeviceKind::Gpu => "GPU",
        DeviceKind::Cpu => "CPU device",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_shown_by_line() {
        assert_eq!(difference(b"a\nb\n", b"a\nc\n"), "output line 2: expected `b`, found `c`");
        assert_eq!(difference(b"a\nb\n", b"a\n"), "output line 2: expected `b`, found the end");
        assert_eq!(difference(b"a\n", b"a"), "the outputs differ in how lines end");
    }

    #[test]
    fn a_child_that_takes_too_long_is_stopped() {
        let shell = |line: &str| {
            let mut command = Command::new("sh");
            command.args(["-c", line]);
            command
        };
        let finished = wait(shell("echo hi; exec sleep 60"), 3_000).unwrap();
        assert!(finished.status.is_none() && finished.time < Duration::from_secs(20));
        assert_eq!(finished.stdout, b"hi\n");
        let finished = wait(shell("exit 3"), 20_000).unwrap();
        assert_eq!(finished.status.and_then(|status| status.code()), Some(3));
    }
}
