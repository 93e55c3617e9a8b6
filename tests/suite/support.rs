//! What all tests use: the repository's folders, the tools, threads with room, and failures as text.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use cdp::{Compiler, Failure};
use cdp::{Job, JobOptions, SearchOptions};
use libtest_mimic::{Failed, Trial};

/// A test's outcome.
pub type Outcome = Result<(), Failed>;

/// Whether expectations are rewritten.
pub fn blessing() -> bool {
    std::env::var_os("CDP_BLESS").is_some_and(|value| value == "1")
}

/// The repository's root.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new(".")).to_owned()
}

/// `tests/cases/<family>`.
pub fn cases(family: &str) -> PathBuf {
    root().join("tests/cases").join(family)
}

/// Files of a folder with an extension, sorted by name.
///
/// # Panics
/// When the folder cannot be read or holds none: a family of cases without cases would pass.
pub fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("cannot read the folder {}: {error}", folder.display()));
    let mut files: Vec<_> = entries
        .map(|entry| entry.unwrap_or_else(|error| panic!("{}: {error}", folder.display())).path())
        .filter(|path| path.extension().is_some_and(|found| found == extension))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "no .{extension} file in {}", folder.display());
    files
}

/// A file's name without its extension.
pub fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

pub fn read(path: &Path) -> Result<String, Failed> {
    std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()).into())
}

/// The compiler with the repository's tools.
pub fn compiler() -> Result<&'static Compiler, Failed> {
    static COMPILER: OnceLock<Result<Compiler, String>> = OnceLock::new();
    let make = || {
        let mut search = SearchOptions::from_process();
        search.start_dirs.push(root());
        Compiler::new(&search).map_err(|error| error.to_string())
    };
    COMPILER.get_or_init(make).as_ref().map_err(|message| message.clone().into())
}

pub fn job() -> Result<Job, Failed> {
    Job::new(JobOptions::default()).map_err(|error| error.to_string().into())
}

/// A failure of the compiler as text.
pub fn explain(failure: Failure) -> Failed {
    match failure {
        Failure::Program(reports) => format!("the program has errors:\n{reports:?}").into(),
        Failure::Error { error, reports } => format!("{error}\n{reports:?}").into(),
    }
}

/// A test that runs on a thread with a compiler's stack.
pub fn trial(name: String, test: impl FnOnce() -> Outcome + Send + 'static) -> Trial {
    Trial::test(name, move || {
        let thread = std::thread::Builder::new().stack_size(256 << 20);
        let handle = thread.spawn(test).map_err(|error| Failed::from(error.to_string()))?;
        handle.join().map_err(|panic| {
            let text = panic
                .downcast_ref::<String>()
                .cloned()
                .or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string));
            Failed::from(text.unwrap_or_else(|| "a panic".into()))
        })?
    })
}

/// Runs a command with no input, and kills it after the limit.
pub fn run_limited(command: &mut Command, limit: Duration) -> Result<Output, Failed> {
    let described = format!("{command:?}");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = spawn(command).map_err(|error| format!("{described}: {error}"))?;
    let id = child.id();
    let (mut stdout, mut stderr) = (child.stdout.take(), child.stderr.take());
    let reader = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(stream) = &mut stderr {
            let _ = std::io::Read::read_to_end(stream, &mut bytes);
        }
        bytes
    });
    let watchdog = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(stream) = &mut stdout {
            let _ = std::io::Read::read_to_end(stream, &mut bytes);
        }
        bytes
    });
    let Some(status) = wait_limited(&mut child, limit)? else {
        return Err(format!("{described} (process {id}) ran longer than {limit:?}").into());
    };
    let stdout = watchdog.join().unwrap_or_default();
    let stderr = reader.join().unwrap_or_default();
    Ok(Output { status, stdout, stderr })
}

/// Waits for a process; one that runs longer is ended, and that is `None`.
pub fn wait_limited(child: &mut Child, limit: Duration) -> Result<Option<ExitStatus>, Failed> {
    let started = Instant::now();
    loop {
        let status = child.try_wait().map_err(|error| error.to_string())?;
        if status.is_some() {
            return Ok(status);
        }
        if started.elapsed() > limit {
            let _ = child.kill();
            let _ = child.wait();
            return Ok(None);
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Starts a command, again while its file is busy: a program that was just written may still be open
/// in a child that another test's thread is starting.
fn spawn(command: &mut Command) -> std::io::Result<std::process::Child> {
    let mut tries = 0;
    loop {
        match command.spawn() {
            Err(error) if error.kind() == ErrorKind::ExecutableFileBusy && tries < 200 => {
                tries += 1;
                std::thread::sleep(Duration::from_millis(10));
            }
            other => return other,
        }
    }
}

/// The command `cdpc`, which is this binary.
pub fn cdpc() -> Command {
    let executable = std::env::current_exe().unwrap_or_else(|_| "cdpc".into());
    let mut command = Command::new(executable);
    command.env("CDP_TESTS_AS_CDPC", "1").env_remove("CDP_BLESS").current_dir(root());
    command
}

/// Names the file into which the command writes the most memory that it had, in kilobytes (Linux).
pub const PEAK_FILE: &str = "CDP_TESTS_PEAK";

/// Writes what `PEAK_FILE` asks for. The number that a parent gets of a child counts its own memory at the start too.
pub fn tell_peak() {
    let Some(file) = std::env::var_os(PEAK_FILE) else { return };
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()).unwrap_or("unknown");
    // The test that reads it says what is missing.
    let _ = std::fs::write(file, kilobytes);
}

/// Fails with both texts when they differ.
pub fn same(what: &str, found: &str, expected: &str) -> Outcome {
    if found == expected {
        return Ok(());
    }
    Err(format!("{what} differs\n--- expected\n{expected}\n--- found\n{found}").into())
}
