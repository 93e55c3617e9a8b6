//! `cargo xtask test` and `cargo xtask bless`: the whole suite with one line at the end.
//!
//! cargo builds with its own progress; then its test run is read line by line, so that only what
//! failed is shown in full and everything is counted.

use std::io::{BufRead, BufReader};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use clap::Args;

use crate::cargo::{cargo, output, shown, target_dir};
use crate::failure::{Failure, Outcome};
use crate::lints::lints;
use crate::ui::{Step, Ui};

/// Options of `test` and `bless`.
#[derive(Args)]
pub struct TestOptions {
    /// Test these packages only
    #[arg(long, short, value_name = "PACKAGE")]
    package: Vec<String>,
    /// Run only tests whose name contains this
    filter: Option<String>,
    /// Further arguments for the test binaries
    #[arg(last = true)]
    args: Vec<String>,
}

impl TestOptions {
    /// Whether everything is tested.
    fn is_whole(&self) -> bool {
        self.package.is_empty() && self.filter.is_none()
    }
}

/// Whether the tests compare with the expectations or rewrite them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Expectations {
    /// Compare.
    Check,
    /// Rewrite.
    Rewrite,
}

/// Runs the suite and prints the closing line.
///
/// # Errors
/// When cargo cannot be started or the build fails. Failing tests are no error but an exit code.
pub fn test(ui: &Ui, options: &TestOptions, expectations: Expectations) -> Outcome<ExitCode> {
    let begun = Instant::now();
    let mut complaints = Vec::new();
    if expectations == Expectations::Check
        && options.filter.is_none()
        && let Err(failure) = check_format()
    {
        ui.note(&failure.to_string());
        complaints.push("formatting differs (cargo fmt)");
    }
    build(options)?;
    let counts = run(ui, options, expectations)?;
    if expectations == Expectations::Check && options.is_whole() {
        complaints.extend(lints(ui)?);
    }
    if counts.passed + counts.failed + counts.skipped == 0 {
        complaints.push("no test ran");
    }
    let mut line = counts.to_string();
    for complaint in &complaints {
        line.push_str(", ");
        line.push_str(complaint);
    }
    ui.line(&format!("{line} ({:.0} s)", begun.elapsed().as_secs_f64()));
    let good = complaints.is_empty() && counts.failed == 0;
    Ok(if good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Whether all files are formatted; the failure lists those that are not.
fn check_format() -> Outcome<()> {
    output(cargo().args(["fmt", "--all", "--", "--check", "--files-with-diff"])).map(|_| ())
}

fn packages(command: &mut Command, options: &TestOptions) {
    if options.package.is_empty() {
        command.arg("--workspace");
    }
    for package in &options.package {
        command.args(["--package", package]);
    }
}

/// The package of the tests that link whole programs, which takes the runtime's static library.
const SUITE: &str = "cdp-tests";

/// Builds before testing, with cargo's progress on the terminal, so that what is read later is tests
/// alone.
fn build(options: &TestOptions) -> Outcome<()> {
    let mut command = cargo();
    command.args(["build", "--all-targets"]);
    packages(&mut command, options);
    if options.package.iter().any(|package| package == SUITE) {
        command.args(["--package", "cdp-runtime"]);
    }
    let status = command.stdin(Stdio::null()).status();
    let status = status.map_err(|error| Failure::new(format!("could not start cargo: {error}")))?;
    if status.success() {
        Ok(())
    } else {
        Err(Failure::new("the workspace does not build, so no test ran"))
    }
}

fn run(ui: &Ui, options: &TestOptions, expectations: Expectations) -> Outcome<Counts> {
    let mut command = cargo();
    command.args(["test", "--no-fail-fast"]);
    packages(&mut command, options);
    command.arg("--");
    command.args(options.filter.iter().chain(&options.args));
    command.env("CDP_RUNTIME_LIB", target_dir()?.join("debug/libcdp_runtime.a"));
    if expectations == Expectations::Rewrite {
        command.env("INSTA_UPDATE", "always").env("CDP_BLESS", "1");
    } else {
        // An inherited wish to rewrite must not turn a test run into a blessing.
        command.env("INSTA_UPDATE", "no").env_remove("CDP_BLESS");
    }
    // One pipe for both streams: cargo's headings on one, the tests' lines on the other, in order.
    let failed =
        |error: std::io::Error| Failure::new(format!("could not run {}: {error}", shown(&command)));
    let (reader, writer) = std::io::pipe().map_err(failed)?;
    let writer_too = writer.try_clone().map_err(failed)?;
    let step = ui.step("testing");
    command.env("CARGO_TERM_COLOR", "never").stdin(Stdio::null()).stdout(writer).stderr(writer_too);
    let mut child =
        command.spawn().map_err(|error| Failure::new(format!("could not start cargo: {error}")))?;
    // The command holds the pipe's other ends; they must go for the reading to end.
    drop(command);
    let mut log = Log::default();
    for line in BufReader::new(reader).split(b'\n') {
        let line =
            line.map_err(|error| Failure::new(format!("reading the tests' output: {error}")))?;
        let line = String::from_utf8_lossy(&line);
        for event in log.line(&line) {
            report(ui, &step, &log, &event);
        }
    }
    for event in log.end() {
        report(ui, &step, &log, &event);
    }
    let status =
        child.wait().map_err(|error| Failure::new(format!("waiting for cargo: {error}")))?;
    step.done();
    if !status.success() && log.counts.failed == 0 {
        // cargo itself complains of something that no test binary reported.
        ui.note(&log.outside.join("\n"));
        log.counts.failed += 1;
    }
    Ok(log.counts)
}

fn report(ui: &Ui, step: &Step<'_>, log: &Log, event: &Event) {
    match event {
        Event::Progress => step.detail(&format!("{} ({})", log.name, log.counts)),
        Event::Passed(name) => step.detail(&format!("{name} passed ({})", log.counts)),
        Event::Failed(text) => ui.note(text),
    }
}

/// What the suite came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    passed: u64,
    failed: u64,
    skipped: u64,
}

impl std::fmt::Display for Counts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} passed, {} failed, {} skipped", self.passed, self.failed, self.skipped)
    }
}

/// Something to tell while reading.
#[derive(Debug, PartialEq, Eq)]
enum Event {
    /// A test has ended.
    Progress,
    /// A test binary has ended well; its name.
    Passed(String),
    /// A test binary has failed; all that it printed about its failures.
    Failed(String),
}

/// Reads what cargo and the test binaries print.
#[derive(Default)]
struct Log {
    /// The test binary at work, as cargo names it.
    name: String,
    /// What it has printed, less the lines of passed tests.
    lines: Vec<String>,
    /// Its result line has come.
    ended: bool,
    /// What came outside of any test binary.
    outside: Vec<String>,
    counts: Counts,
}

impl Log {
    fn line(&mut self, line: &str) -> Vec<Event> {
        if let Some(name) = heading(line) {
            let events = self.end();
            self.name = name.to_owned();
            self.ended = false;
            return events;
        }
        if let Some(result) = line.strip_prefix("test result: ") {
            return self.result(result);
        }
        if self.name.is_empty() || self.ended {
            self.outside.push(line.to_owned());
            return Vec::new();
        }
        if line.starts_with("test ") && line.ends_with("... ok") {
            return vec![Event::Progress];
        }
        self.lines.push(line.to_owned());
        Vec::new()
    }

    /// `ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s`
    fn result(&mut self, result: &str) -> Vec<Event> {
        self.ended = true;
        let count = |what: &str| -> u64 {
            let number =
                result.split([';', '.']).map(str::trim).find_map(|part| part.strip_suffix(what));
            number.and_then(|number| number.trim().parse().ok()).unwrap_or(0)
        };
        self.counts.passed += count("passed");
        self.counts.skipped += count("ignored");
        let failed = count("failed");
        self.counts.failed += failed;
        let lines = std::mem::take(&mut self.lines);
        if failed == 0 && result.starts_with("ok") {
            return vec![Event::Passed(self.name.clone())];
        }
        // A binary may fail without a failed test, and must then still count.
        self.counts.failed += u64::from(failed == 0);
        vec![Event::Failed(format!("---- {} ----\n{}\n", self.name, lines.join("\n").trim()))]
    }

    /// The end of a test binary. Without a result line it has crashed, which counts as one failure.
    fn end(&mut self) -> Vec<Event> {
        if self.name.is_empty() || self.ended {
            return Vec::new();
        }
        self.ended = true;
        self.counts.failed += 1;
        let lines = std::mem::take(&mut self.lines);
        let text = lines.join("\n");
        vec![Event::Failed(format!(
            "---- {} ended without a result ----\n{}\n",
            self.name,
            text.trim()
        ))]
    }
}

/// cargo's line before each test binary: `Running unittests src/lib.rs (target/...)`, `Doc-tests name`.
fn heading(line: &str) -> Option<&str> {
    let text = line.trim_start();
    if text.len() == line.len() {
        return None;
    }
    if let Some(rest) = text.strip_prefix("Running ") {
        let (_, binary) = rest.split_once('(')?;
        let file = binary.strip_suffix(')')?.rsplit('/').next()?;
        return Some(file.rsplit_once('-').map_or(file, |(name, _)| name));
    }
    text.strip_prefix("Doc-tests ").map(|_| text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Counts, Vec<String>) {
        let mut log = Log::default();
        let mut events: Vec<Event> = text.lines().flat_map(|line| log.line(line)).collect();
        events.extend(log.end());
        let failures = events.into_iter().filter_map(|event| match event {
            Event::Failed(text) => Some(text),
            _ => None,
        });
        (log.counts, failures.collect())
    }

    #[test]
    fn counts_over_all_binaries_and_shows_failures_only() {
        let (counts, failures) = read(
            "    Finished `test` profile\n     Running unittests src/lib.rs (target/debug/deps/cdp_ir-0a)\n\n\
             running 2 tests\ntest a ... ok\ntest b ... ignored\n\n\
             test result: ok. 1 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\n\
             \u{20}    Running tests/suite.rs (target/debug/deps/suite-1b)\n\nrunning 2 tests\n\
             test x ... ok\ntest y ... FAILED\n\nfailures:\n\n---- y stdout ----\nleft is not right\n\n\
             test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\n\
             error: test failed, to rerun pass `-p suite`\n   Doc-tests cdp_ir\n\nrunning 0 tests\n\n\
             test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n",
        );
        assert_eq!(counts, Counts { passed: 2, failed: 1, skipped: 1 });
        assert_eq!(failures.len(), 1);
        assert!(
            failures[0].contains("left is not right") && failures[0].contains("suite"),
            "{}",
            failures[0]
        );
        assert!(!failures[0].contains("test x"), "{}", failures[0]);
    }

    #[test]
    fn a_binary_that_dies_is_a_failure() {
        let (counts, failures) = read(
            "     Running unittests src/lib.rs (target/debug/deps/one-0a)\n\nrunning 2 tests\ntest a ... ok\n\
             error: test failed (signal: 6, SIGABRT)\n     Running unittests src/lib.rs (target/debug/deps/two-0b)\n\
             test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n",
        );
        assert_eq!(counts, Counts { passed: 1, failed: 1, skipped: 0 });
        assert!(
            failures[0].contains("one ended without a result") && failures[0].contains("SIGABRT")
        );
    }
}
