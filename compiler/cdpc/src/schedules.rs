//! `cdpc run --schedules N`: the same program under N schedules of the CPU device, and how many
//! outcomes there were. An outcome is what a program writes to standard output and how it ends.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use cdp::{Error, Failure};
use cdp_toolchain::{Ended, run_program as run_limited};

use crate::EXIT_PROGRAM;
use crate::output::print;

/// Lines of an outcome that are shown.
const SHOWN_LINES: usize = 4;

/// An outcome, and the schedules that led to it.
struct Outcome {
    stdout: Vec<u8>,
    ended: String,
    success: bool,
    seeds: Vec<u64>,
    /// What the first of them said on standard error.
    complaint: String,
}

/// Runs a program under seeds 1 to `count`. `prepare` makes the command for a seed; `folder` is for
/// what it writes.
pub fn run(
    count: u64,
    limit: Option<Duration>,
    folder: &Path,
    prepare: impl Fn(u64) -> Command,
) -> Result<i32, Failure> {
    let (out, err) = (folder.join("stdout"), folder.join("stderr"));
    let io = |action: &str, path: &Path, source| {
        Failure::from(Error::Io { action: action.into(), path: path.to_owned(), source })
    };
    let create = |path: &Path| File::create(path).map_err(|source| io("write", path, source));
    let read = |path: &Path| std::fs::read(path).map_err(|source| io("read", path, source));
    let mut outcomes: Vec<Outcome> = Vec::new();
    for seed in 1..=count {
        let mut command = prepare(seed);
        command.stdin(Stdio::null()).stdout(create(&out)?).stderr(create(&err)?);
        let (ended, success) = match run_limited(&mut command, limit) {
            Ok(Ended::Status(status)) => match status.code() {
                Some(code) => (format!("exit code {code}"), code == 0),
                None => (status.to_string(), false),
            },
            Ok(Ended::TimedOut) => ("stopped at its time limit".to_string(), false),
            Err(source) => return Err(io("run", folder, source)),
        };
        let stdout = read(&out)?;
        match outcomes.iter_mut().find(|known| known.stdout == stdout && known.ended == ended) {
            Some(known) => known.seeds.push(seed),
            None => {
                let complaint = String::from_utf8_lossy(&read(&err)?).into_owned();
                outcomes.push(Outcome { stdout, ended, success, seeds: vec![seed], complaint });
            }
        }
    }
    outcomes.sort_by_key(|outcome| std::cmp::Reverse(outcome.seeds.len()));
    print(summary(count, &outcomes).as_bytes())?;
    let fine = matches!(outcomes.as_slice(), [only] if only.success) || outcomes.is_empty();
    Ok(if fine { 0 } else { EXIT_PROGRAM })
}

fn summary(count: u64, outcomes: &[Outcome]) -> String {
    let plural = |n: usize| if n == 1 { "outcome" } else { "outcomes" };
    let mut text = format!("{count} schedules, {} {}\n", outcomes.len(), plural(outcomes.len()));
    for outcome in outcomes {
        let seeds: Vec<String> = outcome.seeds.iter().take(8).map(u64::to_string).collect();
        let more = if outcome.seeds.len() > seeds.len() { ", ..." } else { "" };
        let (times, seeds) = (outcome.seeds.len(), seeds.join(", "));
        text.push_str(&format!("  {times} of {count}: {} (seeds {seeds}{more})\n", outcome.ended));
        let stdout = String::from_utf8_lossy(&outcome.stdout);
        let complaint = outcome.complaint.lines().filter(|line| line.contains("error"));
        let lines: Vec<&str> = stdout.lines().chain(complaint).collect();
        for line in lines.iter().take(SHOWN_LINES) {
            text.push_str(&format!("    {line}\n"));
        }
        if lines.len() > SHOWN_LINES {
            text.push_str(&format!("    ({} more lines)\n", lines.len() - SHOWN_LINES));
        }
    }
    if let Some(first) = outcomes.iter().find(|outcome| !outcome.success || outcomes.len() > 1) {
        let seed = first.seeds[0];
        text.push_str(&format!("  --schedule-seed {seed} repeats the first of these exactly\n"));
    }
    text
}
