//! What this process has going on outside itself: tools and programs that run, and files and folders that
//! are to be gone when it ends. Who ends the process before its time (a signal, lack of memory) calls
//! [`stop_everything`] first.
//!
//! No signal is handled here: that is for the command line to decide.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::sync::{Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

/// How long a program has to end after the signal that was sent on to it.
const GRACE: Duration = Duration::from_secs(2);

#[derive(Debug)]
struct State {
    /// Set for good when the process is about to end.
    stopped: bool,
    /// Tools (leaders of process groups) and programs.
    children: Vec<(u32, ChildKind)>,
    leftovers: Vec<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ChildKind {
    /// Ours to kill, with all that it started.
    Tool,
    /// The user's, in our own process group, so that it may read the terminal.
    Program,
}

static STATE: Mutex<State> =
    Mutex::new(State { stopped: false, children: Vec::new(), leftovers: Vec::new() });

/// The state, for a thread that may go on; once everything is stopped, none may.
fn state() -> MutexGuard<'static, State> {
    let state = STATE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    if state.stopped {
        drop(state);
        loop {
            thread::park();
        }
    }
    state
}

/// Waits for ever if the process is about to end: nothing more is to be said or written then.
pub fn go_on() {
    drop(state());
}

/// A file or folder that [`stop_everything`] removes, until this value is dropped.
#[derive(Debug)]
pub struct Leftover(PathBuf);

impl Leftover {
    /// Makes something temporary, and notes it before anybody can stop the process.
    ///
    /// # Errors
    /// Those of `make`.
    pub fn make<T>(
        make: impl FnOnce() -> io::Result<T>,
        path: impl FnOnce(&T) -> &Path,
    ) -> io::Result<(T, Leftover)> {
        let mut state = state();
        let made = make()?;
        let path = path(&made).to_owned();
        state.leftovers.push(path.clone());
        Ok((made, Leftover(path)))
    }
}

impl Drop for Leftover {
    fn drop(&mut self) {
        let mut state = state();
        if let Some(at) = state.leftovers.iter().position(|path| *path == self.0) {
            state.leftovers.swap_remove(at);
        }
    }
}

/// A child process. It is killed when it is dropped before its end.
#[derive(Debug)]
pub(crate) struct Running {
    pub child: Child,
    kind: ChildKind,
    status: Option<ExitStatus>,
}

impl Running {
    /// Starts a tool, in a process group of its own.
    pub fn tool(command: &mut Command) -> io::Result<Running> {
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(command, 0);
        Running::start(command, ChildKind::Tool)
    }

    fn start(command: &mut Command, kind: ChildKind) -> io::Result<Running> {
        let mut state = state();
        let child = command.spawn()?;
        state.children.push((child.id(), kind));
        Ok(Running { child, kind, status: None })
    }

    /// Whether it has ended. Its number is free for other processes from then on, so that nobody may
    /// send signals to it while this is found out.
    pub fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        if self.status.is_none() {
            let mut state = state();
            self.status = self.child.try_wait()?;
            if self.status.is_some() {
                let id = self.child.id();
                state.children.retain(|(known, _)| *known != id);
            }
        }
        Ok(self.status)
    }

    /// Sends it a signal if it still runs, and to a tool's own children.
    fn send(&self, signal: i32) {
        if self.status.is_none() {
            let _state = state();
            send(self.child.id(), self.kind, signal);
        }
    }

    /// Ends it at once, and a tool's own children with it.
    pub fn kill(&mut self) -> io::Result<ExitStatus> {
        self.send(system::KILL);
        self.wait()
    }

    /// Waits for its end until then, or until nobody wants it any more: `None` if it still runs.
    pub fn wait_until(
        &mut self,
        deadline: Instant,
        is_cancelled: &dyn Fn() -> bool,
    ) -> io::Result<Option<ExitStatus>> {
        let mut pause = Duration::from_micros(50);
        loop {
            let status = self.try_wait()?;
            if status.is_some() || Instant::now() >= deadline || is_cancelled() {
                return Ok(status);
            }
            thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(20));
        }
    }

    /// Waits for its end.
    fn wait(&mut self) -> io::Result<ExitStatus> {
        loop {
            if let Some(status) = self.try_wait()? {
                return Ok(status);
            }
            system::wait_without_reaping(self.child.id());
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.status.is_none() {
            let _ = self.kill();
        }
    }
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// By itself, or by somebody else's signal.
    Status(ExitStatus),
    /// It was stopped at the time limit.
    TimedOut,
}

/// Runs a user's program with this process's streams until it ends, or until the time limit.
///
/// # Errors
/// It cannot be started.
pub fn run_program(command: &mut Command, limit: Option<Duration>) -> io::Result<Ended> {
    let mut running = Running::start(command, ChildKind::Program)?;
    let Some(limit) = limit else { return running.wait().map(Ended::Status) };
    if let Some(status) = running.wait_until(Instant::now() + limit, &|| false)? {
        return Ok(Ended::Status(status));
    }
    running.send(system::TERM);
    if running.wait_until(Instant::now() + GRACE, &|| false)?.is_none() {
        running.kill()?;
    }
    Ok(Ended::TimedOut)
}

fn send(id: u32, kind: ChildKind, signal: i32) {
    system::send(id, kind == ChildKind::Tool, signal);
}

/// Ends all tools and programs and removes all temporary files, and holds every thread that would start
/// or make others. The process is to end after this. A program gets `signal`, and a moment to obey;
/// `from_terminal` says that it has got it already, because the terminal sends it to every process of the
/// group.
pub fn stop_everything(signal: i32, from_terminal: bool) {
    let Some(children) = stop_starting() else { return };
    let programs: Vec<u32> = children
        .iter()
        .filter(|(_, kind)| *kind == ChildKind::Program)
        .map(|(id, _)| *id)
        .collect();
    for (id, kind) in &children {
        match kind {
            ChildKind::Tool => send(*id, ChildKind::Tool, system::KILL),
            ChildKind::Program if from_terminal => {}
            ChildKind::Program => send(*id, ChildKind::Program, signal),
        }
    }
    let deadline = Instant::now() + GRACE;
    for id in programs {
        while !system::has_ended(id) {
            if Instant::now() >= deadline {
                send(id, ChildKind::Program, system::KILL);
                break;
            }
            thread::sleep(Duration::from_millis(5));
        }
    }
    for (id, _) in &children {
        let patience = Instant::now() + Duration::from_secs(1);
        while !system::has_ended(*id) && Instant::now() < patience {
            thread::sleep(Duration::from_millis(1));
        }
    }
    remove_leftovers();
}

/// Marks the state, and gives the children, which from now on nobody else waits for. `None` when another
/// thread is at it, or holds the state for long.
fn stop_starting() -> Option<Vec<(u32, ChildKind)>> {
    let patience = Instant::now() + Duration::from_secs(1);
    loop {
        match STATE.try_lock() {
            Ok(state) if state.stopped => return None,
            Ok(mut state) => {
                state.stopped = true;
                return Some(state.children.clone());
            }
            Err(std::sync::TryLockError::Poisoned(poisoned)) => {
                let mut state = poisoned.into_inner();
                state.stopped = true;
                return Some(state.children.clone());
            }
            Err(std::sync::TryLockError::WouldBlock) if Instant::now() >= patience => return None,
            Err(std::sync::TryLockError::WouldBlock) => thread::sleep(Duration::from_millis(1)),
        }
    }
}

fn remove_leftovers() {
    let leftovers = match STATE.lock() {
        Ok(mut state) => std::mem::take(&mut state.leftovers),
        Err(poisoned) => std::mem::take(&mut poisoned.into_inner().leftovers),
    };
    for path in leftovers {
        // Another thread may be writing a file into the folder just now.
        for _ in 0..20 {
            let removed = match std::fs::symlink_metadata(&path) {
                Ok(about) if about.is_dir() => std::fs::remove_dir_all(&path),
                Ok(_) => std::fs::remove_file(&path),
                Err(_) => break,
            };
            if removed.is_ok() {
                break;
            }
            thread::sleep(Duration::from_millis(5));
        }
    }
}

#[cfg(unix)]
mod system {
    use rustix::process::{
        Pid, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, waitid,
    };

    pub const KILL: i32 = 9;
    pub const TERM: i32 = 15;

    /// The numbers are those of children that were not waited for, so that they are nobody else's.
    pub fn send(id: u32, group: bool, signal: i32) {
        let (Some(id), Some(signal)) = (pid(id), Signal::from_named_raw(signal)) else { return };
        // It may have ended, which is what is wanted.
        let _ = if group { kill_process_group(id, signal) } else { kill_process(id, signal) };
    }

    pub fn has_ended(id: u32) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        let Some(id) = pid(id) else { return true };
        !matches!(waitid(WaitId::Pid(id), options), Ok(None))
    }

    pub fn wait_without_reaping(id: u32) {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        if let Some(id) = pid(id) {
            let _ = waitid(WaitId::Pid(id), options);
        }
    }

    fn pid(id: u32) -> Option<Pid> {
        Pid::from_raw(i32::try_from(id).ok()?)
    }
}

#[cfg(not(unix))]
mod system {
    pub const KILL: i32 = 9;
    pub const TERM: i32 = 15;

    /// Without signals nothing is ended before its time.
    pub fn send(_id: u32, _group: bool, _signal: i32) {}

    pub fn has_ended(_id: u32) -> bool {
        true
    }

    pub fn wait_without_reaping(_id: u32) {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn sh(script: &str) -> Command {
        let mut command = Command::new("/bin/sh");
        command.arg("-c").arg(script);
        command
    }

    #[test]
    fn a_program_ends_by_itself_or_at_the_limit() {
        let Ended::Status(status) = run_program(&mut sh("exit 7"), None).unwrap() else { panic!() };
        assert_eq!(status.code(), Some(7));
        let limit = Some(Duration::from_millis(100));
        let begun = Instant::now();
        assert_eq!(run_program(&mut sh("exec sleep 30"), limit).unwrap(), Ended::TimedOut);
        // Also one that does not listen.
        let deaf = "trap '' TERM; while :; do sleep 0.05; done";
        assert_eq!(run_program(&mut sh(deaf), limit).unwrap(), Ended::TimedOut);
        assert!(begun.elapsed() < Duration::from_secs(8));
    }

    /// What a tool started goes with it.
    #[test]
    fn a_tool_takes_its_children_along() {
        let folder = tempfile::tempdir().unwrap();
        let alive = folder.path().join("alive");
        let script = format!("(sleep 1; touch {}) & sleep 30", alive.display());
        let mut tool = Running::tool(&mut sh(&script)).unwrap();
        thread::sleep(Duration::from_millis(100));
        tool.kill().unwrap();
        thread::sleep(Duration::from_millis(1500));
        assert!(!alive.exists());
    }
}
