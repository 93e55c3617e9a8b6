//! Guarded work on a thread of its own, which is what crashes need: a thread that crashed inside the
//! memory allocator holds the allocator's lock for ever, so it must not be the caller's.
//!
//! Threads wait a while for the next work, because making and ending one takes a tenth of the time that
//! a small module does.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::ThreadId;
use std::time::Duration;

use super::{ABANDON, Ending, STACK_BYTES, Stopped, panic_text};
use crate::crash::{Watch, signal_text};

/// How long a thread waits for work before it ends and gives its stack back.
const IDLE: Duration = Duration::from_secs(2);

/// The most threads that wait.
const MAX_IDLE: usize = 16;

/// Work, and where to report how it ended.
struct Job {
    work: Box<dyn FnOnce() + Send>,
    report: Sender<Ending>,
}

/// A guarded thread, as its user sees it. Without a user the thread ends.
struct Worker {
    id: u64,
    jobs: Sender<Job>,
    /// The signal that the thread crashed with.
    crash: Arc<AtomicI32>,
    /// Threads do not follow into a forked process.
    process: u32,
    /// Its last user, whose caches may still hold what it left there.
    user: ThreadId,
}

/// Threads that wait for work.
static WAITING: Mutex<Vec<Worker>> = Mutex::new(Vec::new());

fn waiting() -> MutexGuard<'static, Vec<Worker>> {
    WAITING.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Worker {
    /// One that waits, the one that this thread had last if possible, or a new one.
    fn take() -> Result<Worker, Stopped> {
        let (process, user) = (std::process::id(), std::thread::current().id());
        let mut waiting = waiting();
        waiting.retain(|worker| worker.process == process);
        let own = waiting.iter().rposition(|worker| worker.user == user);
        match own.or_else(|| waiting.len().checked_sub(1)) {
            Some(at) => Ok(Worker { user, ..waiting.remove(at) }),
            None => {
                drop(waiting);
                Worker::start(process, user)
            }
        }
    }

    fn start(process: u32, user: ThreadId) -> Result<Worker, Stopped> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        let (jobs, receiver) = channel();
        let crash = Arc::new(AtomicI32::new(0));
        let slot = Arc::clone(&crash);
        std::thread::Builder::new()
            .name("cdp".into())
            .stack_size(STACK_BYTES)
            .spawn(move || serve(id, &receiver, &slot))
            .map_err(|error| Stopped::NoThread(error.to_string()))?;
        Ok(Worker { id, jobs, crash, process, user })
    }

    /// Lets the thread wait for the next work.
    fn give_back(self) {
        let mut waiting = waiting();
        if waiting.len() < MAX_IDLE {
            waiting.push(self);
        }
    }
}

/// The guarded thread.
fn serve(id: u64, jobs: &Receiver<Job>, crash: &AtomicI32) {
    let mut watch = None;
    loop {
        match jobs.recv_timeout(IDLE) {
            Ok(Job { work, report }) => {
                if watch.is_none() {
                    // SAFETY: the slot lives as long as this function runs, and the watch less long.
                    watch = unsafe { Watch::start(crash) };
                }
                let fatal = report.clone();
                let abandon = Box::new(move |message| {
                    let _ = fatal.send(Ending::Fatal(message));
                    loop {
                        std::thread::park();
                    }
                });
                ABANDON.set(Some(abandon));
                let ending = match catch_unwind(AssertUnwindSafe(work)) {
                    Ok(()) => Ending::Done,
                    Err(panic) => Ending::Panic(panic_text(panic.as_ref())),
                };
                ABANDON.set(None);
                let _ = report.send(ending);
            }
            Err(RecvTimeoutError::Disconnected) => return,
            Err(RecvTimeoutError::Timeout) => {
                let mut waiting = waiting();
                // One that is not found was taken just now, and work is coming.
                if let Some(at) = waiting.iter().position(|worker| worker.id == id) {
                    waiting.swap_remove(at);
                    return;
                }
            }
        }
    }
}

/// Runs `work` on a thread and waits for it.
pub(super) fn run(work: Box<dyn FnOnce() + Send>) -> Result<Ending, Stopped> {
    let worker = Worker::take()?;
    let (report, receiver) = channel();
    if worker.jobs.send(Job { work, report }).is_err() {
        return Err(Stopped::NoThread("the thread has ended".into()));
    }
    let ending = ending(&receiver, &worker.crash)?;
    if !matches!(ending, Ending::Fatal(_)) {
        worker.give_back();
    }
    Ok(ending)
}

/// Waits for the work's end. A crash leaves no more than a number in its slot, since a signal handler
/// may do no more, so that is looked at from time to time.
fn ending(receiver: &Receiver<Ending>, crash: &AtomicI32) -> Result<Ending, Stopped> {
    const LOOK: Duration = Duration::from_millis(20);
    loop {
        match receiver.recv_timeout(LOOK) {
            Ok(ending) => return Ok(ending),
            Err(RecvTimeoutError::Disconnected) => {
                return Err(Stopped::Panic("the thread ended without a word".into()));
            }
            Err(RecvTimeoutError::Timeout) => match crash.load(Ordering::Acquire) {
                0 => {}
                signal => return Err(Stopped::Crash(signal_text(signal).into())),
            },
        }
    }
}
