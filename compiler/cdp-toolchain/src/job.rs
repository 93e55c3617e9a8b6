//! One build: where its files lie, how long a tool may take, and the one function that starts a
//! process. No shell is involved anywhere.
//!
//! Tools run inside the job's folder with bare file names, since ptxas and nvlink record parts of
//! their command line in their outputs: outputs must not depend on where the folder is.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use crate::error::ToolError;
use crate::explain::explain_failure;
use crate::running::{Leftover, Running};
use crate::tool::{Tool, ToolCommand};

/// How a build runs its tools.
#[derive(Clone, Debug)]
pub struct JobOptions {
    /// Time that one tool run may take before it is killed.
    pub time_limit: Duration,
    /// Keep every intermediate file in this folder (made if absent) instead of a temporary one.
    pub keep: Option<PathBuf>,
    /// Start nothing: commands are only collected, and stages return empty outputs.
    pub dry_run: bool,
    /// Where the temporary folder is made; `None` for the system's.
    pub temp_dir: Option<PathBuf>,
    /// The most bytes of each output stream of a tool that are kept.
    pub output_limit_bytes: usize,
    /// Files in the folder of `keep` that are not to be overwritten: the build's inputs.
    pub spared: Vec<PathBuf>,
    /// Set by another thread to end the tool that runs, and to start no other.
    pub cancelled: Arc<AtomicBool>,
}

impl Default for JobOptions {
    fn default() -> Self {
        JobOptions {
            time_limit: Duration::from_secs(600),
            keep: None,
            dry_run: false,
            temp_dir: None,
            output_limit_bytes: 1 << 20,
            spared: Vec::new(),
            cancelled: Arc::default(),
        }
    }
}

/// One build. The temporary folder goes when the value is dropped.
#[derive(Debug)]
pub struct Job {
    options: JobOptions,
    work_dir: PathBuf,
    /// Holds the temporary folder alive; `None` with `keep` and in a dry run.
    _temp: Option<(tempfile::TempDir, Leftover)>,
    commands: Mutex<Vec<ToolCommand>>,
    names: Mutex<Names>,
}

#[derive(Debug, Default)]
struct Names {
    taken: HashSet<String>,
    next: HashMap<String, u32>,
}

/// What a finished tool left behind.
#[derive(Debug)]
pub(crate) struct ToolOutput {
    pub stdout: String,
    pub stderr: String,
}

impl Job {
    /// Prepares the folder.
    ///
    /// # Errors
    /// [`ToolError::Io`] when the folder cannot be made.
    pub fn new(options: JobOptions) -> Result<Job, ToolError> {
        let (work_dir, temp) = match (&options.keep, options.dry_run) {
            (Some(keep), _) => {
                if !options.dry_run {
                    std::fs::create_dir_all(keep).map_err(|e| {
                        ToolError::io("make the folder for kept files", keep.clone(), e)
                    })?;
                }
                // Tools run in this folder, so it must stay right whatever their current folder is.
                let absolute = std::path::absolute(keep).unwrap_or_else(|_| keep.clone());
                (absolute, None)
            }
            (None, true) => (PathBuf::from("."), None),
            (None, false) => {
                let base = options.temp_dir.clone().unwrap_or_else(std::env::temp_dir);
                let make = || tempfile::Builder::new().prefix("cdp-").tempdir_in(&base);
                let temp = Leftover::make(make, tempfile::TempDir::path)
                    .map_err(|e| ToolError::io("make a temporary folder", base.clone(), e))?;
                (temp.0.path().to_owned(), Some(temp))
            }
        };
        let here = work_dir.canonicalize().unwrap_or_else(|_| work_dir.clone());
        let spared = options.spared.iter().filter_map(|path| path.canonicalize().ok());
        let taken = spared
            .filter(|path| path.parent() == Some(&here))
            .filter_map(|path| path.file_name().map(|name| name.to_string_lossy().into_owned()));
        let names = Names { taken: taken.collect(), next: HashMap::new() };
        Ok(Job {
            options,
            work_dir,
            _temp: temp,
            commands: Mutex::default(),
            names: Mutex::new(names),
        })
    }

    /// The folder that tools run in.
    pub fn work_dir(&self) -> &Path {
        &self.work_dir
    }

    /// Whether commands are only collected.
    pub fn is_dry_run(&self) -> bool {
        self.options.dry_run
    }

    /// Whether the files stay for somebody to look at.
    pub fn keeps_files(&self) -> bool {
        self.options.keep.is_some()
    }

    /// Every command so far, in the order of starting.
    pub fn commands(&self) -> Vec<ToolCommand> {
        lock(&self.commands).clone()
    }

    /// A file name in the work folder that no other file of this job has: `stem` made harmless, with
    /// a counter if taken, then `.extension`.
    pub fn file_name(&self, stem: &str, extension: &str) -> String {
        let mut clean: String = stem
            .chars()
            .take(80)
            .map(|c| if c.is_ascii_alphanumeric() || "_-.".contains(c) { c } else { '_' })
            .collect();
        // A leading dash would read as an option, a leading dot would hide the file.
        if clean.is_empty() || clean.starts_with(['-', '.']) {
            clean.insert(0, '_');
        }
        let mut names = lock(&self.names);
        let mut candidate = format!("{clean}.{extension}");
        while !names.taken.insert(candidate.clone()) {
            let next = names.next.entry(format!("{clean}.{extension}")).or_insert(1);
            *next += 1;
            candidate = format!("{clean}-{next}.{extension}");
        }
        candidate
    }

    /// Puts a file that a tool is to read into the job's folder; a dry run writes nothing.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<(), ToolError> {
        if self.options.dry_run {
            return Ok(());
        }
        let path = self.work_dir.join(name);
        std::fs::write(&path, bytes).map_err(|e| ToolError::io("write a tool's input", path, e))
    }

    pub(crate) fn read(&self, name: &str) -> Result<Vec<u8>, ToolError> {
        if self.options.dry_run {
            return Ok(Vec::new());
        }
        let path = self.work_dir.join(name);
        std::fs::read(&path).map_err(|e| ToolError::io("read a tool's output", path, e))
    }

    /// Runs one tool in the work folder, or only records it in a dry run.
    pub(crate) fn run(
        &self,
        tool: Tool,
        program: &Path,
        args: Vec<OsString>,
    ) -> Result<ToolOutput, ToolError> {
        self.run_in(self.work_dir.clone(), tool, program, args)
    }

    /// As [`Job::run`], in a folder of its own inside the work folder.
    pub(crate) fn run_in(
        &self,
        work_dir: PathBuf,
        tool: Tool,
        program: &Path,
        args: Vec<OsString>,
    ) -> Result<ToolOutput, ToolError> {
        let command = Box::new(ToolCommand { tool, program: program.to_owned(), args, work_dir });
        lock(&self.commands).push(ToolCommand::clone(&command));
        if self.options.dry_run {
            return Ok(ToolOutput { stdout: String::new(), stderr: String::new() });
        }
        let is_cancelled = || self.options.cancelled.load(Ordering::Relaxed);
        if is_cancelled() {
            return Err(ToolError::Cancelled);
        }
        let child = self
            .start(&command)
            .map_err(|source| ToolError::Start { command: command.clone(), source })?;
        let finished =
            wait(child, self.options.time_limit, self.options.output_limit_bytes, &is_cancelled)
                .map_err(|source| ToolError::Start { command: command.clone(), source })?;
        match finished.status {
            None if is_cancelled() => Err(ToolError::Cancelled),
            None => Err(ToolError::TimedOut {
                command,
                limit: self.options.time_limit,
                output: joined(&finished.stdout, &finished.stderr),
            }),
            Some(status) if status.success() => {
                Ok(ToolOutput { stdout: finished.stdout, stderr: finished.stderr })
            }
            Some(status) => {
                let output = joined(&finished.stdout, &finished.stderr);
                let explanation = explain_failure(&command, &output).map(Box::new);
                Err(ToolError::Failed { command, status: status.to_string(), output, explanation })
            }
        }
    }

    fn start(&self, command: &ToolCommand) -> io::Result<Running> {
        // A relative program path would be looked up in the work folder.
        let program = if command.program.components().count() > 1 {
            std::path::absolute(&command.program)?
        } else {
            command.program.clone()
        };
        Running::tool(
            Command::new(program)
                .args(&command.args)
                .current_dir(&command.work_dir)
                .env("LC_ALL", "C")
                .env("TMPDIR", &command.work_dir)
                .stdin(Stdio::null())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped()),
        )
    }
}

/// How often a running tool is looked after, whether it is still wanted.
const CANCEL_POLL: Duration = Duration::from_millis(20);

/// What a tool may take to say its version.
const PROBE_LIMIT: Duration = Duration::from_secs(5);

/// Runs `program` with `args` outside any job and returns what it prints, for version questions.
pub(crate) fn probe(program: &Path, args: &[&str]) -> io::Result<String> {
    let child = Running::tool(
        Command::new(program)
            .args(args)
            .env("LC_ALL", "C")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped()),
    )?;
    let finished = wait(child, PROBE_LIMIT, 64 << 10, &|| false)?;
    match finished.status {
        Some(status) if status.success() => Ok(finished.stdout),
        Some(status) => Err(io::Error::other(format!("{status}: {}", finished.stderr.trim()))),
        None => Err(io::Error::from(io::ErrorKind::TimedOut)),
    }
}

/// A poisoned lock only means that another thread panicked between two whole updates.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

fn joined(stdout: &str, stderr: &str) -> String {
    match (stdout.is_empty(), stderr.is_empty()) {
        (false, false) => format!("{stdout}\n{stderr}"),
        _ => format!("{stdout}{stderr}"),
    }
}

struct Finished {
    /// `None` when it was killed: at the limit, or because it was cancelled.
    status: Option<ExitStatus>,
    stdout: String,
    stderr: String,
}

/// A stream being read on its own thread, so that a tool which prints much never blocks.
struct Capture {
    bytes: Arc<Mutex<(Vec<u8>, u64)>>,
}

impl Capture {
    fn start(
        mut stream: impl Read + Send + 'static,
        limit_bytes: usize,
        done: mpsc::Sender<()>,
    ) -> io::Result<Capture> {
        let bytes = Arc::new(Mutex::new((Vec::new(), 0u64)));
        let shared = Arc::clone(&bytes);
        let read = move || {
            let mut chunk = [0u8; 8192];
            while let Ok(count @ 1..) = stream.read(&mut chunk) {
                let mut kept = lock(&shared);
                let room = limit_bytes.saturating_sub(kept.0.len()).min(count);
                kept.0.extend_from_slice(&chunk[..room]);
                kept.1 += (count - room) as u64;
            }
            // The receiver is gone when the wait gave up; nothing is owed then.
            let _ = done.send(());
        };
        thread::Builder::new().name("cdp-tool".into()).spawn(read)?;
        Ok(Capture { bytes })
    }

    fn text(&self) -> String {
        let kept = lock(&self.bytes);
        let mut text = String::from_utf8_lossy(&kept.0).into_owned();
        if kept.1 > 0 {
            text.push_str(&format!("\n[{} more bytes of output left out]", kept.1));
        }
        text
    }
}

fn wait(
    mut tool: Running,
    limit: Duration,
    output_limit_bytes: usize,
    is_cancelled: &dyn Fn() -> bool,
) -> io::Result<Finished> {
    let deadline = Instant::now() + limit;
    let (done, finished) = mpsc::channel();
    let (out, err) = (tool.child.stdout.take(), tool.child.stderr.take());
    let stdout = out.map(|s| Capture::start(s, output_limit_bytes, done.clone())).transpose()?;
    let stderr = err.map(|s| Capture::start(s, output_limit_bytes, done)).transpose()?;
    let status = wait_for_exit(&mut tool, &finished, deadline, is_cancelled)?;
    let text = |capture: Option<Capture>| capture.map(|c| c.text()).unwrap_or_default();
    Ok(Finished { status, stdout: text(stdout), stderr: text(stderr) })
}

/// Waits until both streams are closed, which for a tool means that it is done; then for the exit
/// itself. A tool that closes its streams and lives on is looked after.
fn wait_for_exit(
    tool: &mut Running,
    streams: &Receiver<()>,
    deadline: Instant,
    is_cancelled: &dyn Fn() -> bool,
) -> io::Result<Option<ExitStatus>> {
    let mut open = 2;
    while open > 0 && !is_cancelled() {
        let left = deadline.saturating_duration_since(Instant::now());
        match streams.recv_timeout(left.min(CANCEL_POLL)) {
            Err(mpsc::RecvTimeoutError::Timeout) if left > CANCEL_POLL => {}
            Err(mpsc::RecvTimeoutError::Timeout) => break,
            _ => open -= 1,
        }
    }
    let status = tool.wait_until(deadline, is_cancelled)?;
    if status.is_none() {
        tool.kill()?;
    }
    Ok(status)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(options: JobOptions) -> Job {
        Job::new(options).unwrap()
    }

    fn sh(job: &Job, script: &str) -> Result<ToolOutput, ToolError> {
        job.run(Tool::Cc, Path::new("/bin/sh"), vec!["-c".into(), script.into()])
    }

    #[test]
    fn captures_both_streams_and_status() {
        let job = job(JobOptions::default());
        let ok = sh(&job, "echo out; echo err >&2").unwrap();
        assert_eq!((ok.stdout.as_str(), ok.stderr.as_str()), ("out\n", "err\n"));
        let error = sh(&job, "echo why >&2; exit 7").unwrap_err();
        let ToolError::Failed { status, output, .. } = &error else { panic!("{error}") };
        assert!(status.contains('7') && output == "why\n");
        assert!(error.to_string().contains("command: /bin/sh -c 'echo why"), "{error}");
    }

    #[test]
    fn a_cancelled_job_ends_its_tool_and_starts_no_other() {
        let cancelled = Arc::new(AtomicBool::new(false));
        let job = job(JobOptions { cancelled: cancelled.clone(), ..JobOptions::default() });
        for script in ["echo before; exec sleep 30", "exec sleep 30 >&- 2>&-"] {
            cancelled.store(false, Ordering::Relaxed);
            let begun = Instant::now();
            thread::scope(|scope| {
                let run = scope.spawn(|| sh(&job, script));
                thread::sleep(Duration::from_millis(100));
                cancelled.store(true, Ordering::Relaxed);
                assert!(matches!(run.join().unwrap(), Err(ToolError::Cancelled)));
            });
            assert!(begun.elapsed() < Duration::from_secs(10));
        }
        assert!(matches!(sh(&job, "true"), Err(ToolError::Cancelled)));
    }

    #[test]
    fn kills_at_the_limit_even_when_streams_are_closed() {
        let job =
            job(JobOptions { time_limit: Duration::from_millis(200), ..JobOptions::default() });
        for script in ["echo before; exec sleep 30", "exec sleep 30 >&- 2>&-"] {
            let begun = Instant::now();
            let error = sh(&job, script).unwrap_err();
            assert!(matches!(error, ToolError::TimedOut { .. }), "{error}");
            assert!(begun.elapsed() < Duration::from_secs(10));
        }
    }

    #[test]
    fn bounds_what_it_keeps_of_the_output() {
        let job = job(JobOptions { output_limit_bytes: 1000, ..JobOptions::default() });
        let output = sh(&job, "head -c 1000000 /dev/zero | tr '\\0' x").unwrap();
        assert!(output.stdout.len() < 1100 && output.stdout.contains("999000 more bytes"));
    }

    #[test]
    fn file_names_are_harmless_and_unique() {
        let job = job(JobOptions::default());
        assert_eq!(job.file_name("a", "ptx"), "a.ptx");
        assert_eq!(job.file_name("a", "ptx"), "a-2.ptx");
        assert_eq!(job.file_name("a", "ptx"), "a-3.ptx");
        assert_eq!(job.file_name("a-2", "ptx"), "a-2-2.ptx");
        assert_eq!(job.file_name("../x y", "o"), "_.._x_y.o");
        assert_eq!(job.file_name("-o", "o"), "_-o.o");
        assert_eq!(job.file_name("", "o"), "_.o");
    }

    #[test]
    fn a_dry_run_starts_and_writes_nothing() {
        let temp = tempfile::tempdir().unwrap();
        let keep = temp.path().join("kept");
        let job =
            job(JobOptions { dry_run: true, keep: Some(keep.clone()), ..JobOptions::default() });
        job.write("a.ptx", b"x").unwrap();
        job.run(Tool::Ptxas, Path::new("/nonexistent/ptxas"), vec!["a b".into()]).unwrap();
        assert!(!keep.exists());
        assert_eq!(job.commands()[0].to_string(), "/nonexistent/ptxas 'a b'");
    }

    #[test]
    fn a_missing_program_is_a_start_error() {
        let job = job(JobOptions::default());
        let error = job.run(Tool::Ptxas, Path::new("/nonexistent/ptxas"), vec![]).err().unwrap();
        assert!(
            matches!(error, ToolError::Start { .. })
                && error.to_string().contains("/nonexistent/ptxas")
        );
    }
}
