//! A thread on which compilation may fail in every way without the caller's process noticing: it has
//! the stack that deep programs need, a panic on it becomes an error, and so does LLVM's fatal error,
//! after which LLVM would otherwise end the process.
//!
//! Such threads wait a while for the next work, because making and ending one takes a tenth of the time
//! that a small module does.
//!
//! LLVM's handler for fatal errors belongs to the process; it is set once, when the first guard runs.
//! On threads that are not guarded it prints the message and lets LLVM end the process, as LLVM does
//! without a handler. Crashes of LLVM are caught on request only ([`crate::crash`]).

use std::any::Any;
use std::cell::RefCell;
use std::ffi::{CStr, c_char};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};
use std::time::Duration;

use inkwell::llvm_sys::error_handling::LLVMInstallFatalErrorHandler;

use crate::crash::{Watch, signal_text};

/// Stack of a guarded thread: programs may nest as deep as the front end's limits allow. The memory
/// is taken only as far as it is used.
pub const STACK_BYTES: usize = 512 << 20;

/// How long a thread waits for work before it ends and gives its stack back.
const IDLE: Duration = Duration::from_secs(2);

/// The most threads that wait.
const MAX_IDLE: usize = 16;

/// Why guarded work did not come to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// A panic, with its message: a mistake of cdp.
    Panic(String),
    /// LLVM met something that it ends processes for: code that it cannot select, for example.
    LlvmFatal(String),
    /// LLVM crashed, in words; only after [`crate::catch_crashes`].
    Crash(String),
    /// No thread could be started.
    NoThread(String),
}

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stopped::Panic(message) => write!(f, "a panic: {message}"),
            Stopped::LlvmFatal(message) => write!(f, "LLVM gave up: {message}"),
            Stopped::Crash(message) => write!(f, "LLVM crashed: {message}"),
            Stopped::NoThread(message) => write!(f, "a thread could not be started: {message}"),
        }
    }
}

impl std::error::Error for Stopped {}

enum Event {
    Done,
    Panic(String),
    Fatal(String),
}

thread_local! {
    /// Where this thread reports to, while it does guarded work.
    static REPORT: RefCell<Option<Sender<Event>>> = const { RefCell::new(None) };
}

/// Work, and where to report how it ended.
struct Job {
    work: Box<dyn FnOnce() + Send>,
    report: Sender<Event>,
}

/// A guarded thread, as its user sees it. Without a user the thread ends.
struct Worker {
    id: u64,
    jobs: Sender<Job>,
    /// The signal that the thread crashed with.
    crash: Arc<AtomicI32>,
    /// Threads do not follow into a forked process.
    process: u32,
}

/// Threads that wait for work.
static WAITING: Mutex<Vec<Worker>> = Mutex::new(Vec::new());

fn waiting() -> MutexGuard<'static, Vec<Worker>> {
    WAITING.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Worker {
    /// One that waits, or a new one.
    fn take() -> Result<Worker, Stopped> {
        let process = std::process::id();
        loop {
            let Some(worker) = waiting().pop() else { return Worker::start(process) };
            if worker.process == process {
                return Ok(worker);
            }
        }
    }

    fn start(process: u32) -> Result<Worker, Stopped> {
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
        Ok(Worker { id, jobs, crash, process })
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
                REPORT.with_borrow_mut(|slot| *slot = Some(report));
                let event = match catch_unwind(AssertUnwindSafe(work)) {
                    Ok(()) => Event::Done,
                    Err(panic) => Event::Panic(panic_text(panic.as_ref())),
                };
                if let Some(report) = REPORT.with_borrow_mut(Option::take) {
                    let _ = report.send(event);
                }
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

/// Runs `work` on a guarded thread and waits for it; on a thread that is guarded already, at once.
///
/// After a fatal error of LLVM the guarded thread stays behind, asleep, with what it had allocated:
/// LLVM's frames can be neither left nor unwound.
///
/// # Errors
/// [`Stopped`], when `work` did not return.
pub fn guarded<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, Stopped> {
    if REPORT.with_borrow(Option::is_some) {
        return Ok(work());
    }
    install_handler();
    let result = Mutex::new(None);
    let (report, receiver) = channel();
    let slot = &result;
    let work: Box<dyn FnOnce() + Send + '_> = Box::new(move || {
        let value = work();
        *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
    });
    // SAFETY: this function returns only when the work has returned or unwound, so that everything
    // borrowed outlives it, or when the thread sleeps forever in `on_fatal` or in the handler of its
    // crash, where it touches nothing more.
    let work: Box<dyn FnOnce() + Send + 'static> = unsafe { std::mem::transmute(work) };
    let worker = Worker::take()?;
    if worker.jobs.send(Job { work, report }).is_err() {
        return Err(Stopped::NoThread("the thread has ended".into()));
    }
    let event = event(&receiver, &worker.crash)?;
    match event {
        Event::Fatal(message) => return Err(Stopped::LlvmFatal(message)),
        Event::Panic(message) => {
            worker.give_back();
            return Err(Stopped::Panic(message));
        }
        Event::Done => worker.give_back(),
    }
    let value = result.into_inner().unwrap_or_else(PoisonError::into_inner);
    value.ok_or_else(|| Stopped::Panic("the work left no result".into()))
}

/// Waits for the thread's event. A crash leaves no more than a number in its slot, since a signal handler
/// may do no more, so that is looked at from time to time.
fn event(receiver: &Receiver<Event>, crash: &AtomicI32) -> Result<Event, Stopped> {
    const LOOK: Duration = Duration::from_millis(20);
    loop {
        match receiver.recv_timeout(LOOK) {
            Ok(event) => return Ok(event),
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

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message").to_string()
}

fn install_handler() {
    static ONCE: Once = Once::new();
    // SAFETY: the handler lives as long as the process, and does not unwind.
    ONCE.call_once(|| unsafe { LLVMInstallFatalErrorHandler(Some(on_fatal)) });
}

/// LLVM calls this on the thread that met the error; when it returns, LLVM ends the process.
extern "C" fn on_fatal(reason: *const c_char) {
    // SAFETY: LLVM passes a live string.
    let reason = unsafe { CStr::from_ptr(reason) }.to_string_lossy().into_owned();
    let report = REPORT.try_with(|report| report.try_borrow_mut().ok().and_then(|mut r| r.take()));
    let Ok(Some(report)) = report else {
        eprintln!("LLVM ERROR: {reason}");
        return;
    };
    let _ = report.send(Event::Fatal(reason));
    loop {
        std::thread::park();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_and_borrows_pass_through() {
        let text = String::from("text");
        let length = guarded(|| text.len());
        assert_eq!(length, Ok(4));
        let inner = guarded(|| guarded(|| text.clone()));
        assert_eq!(inner, Ok(Ok(text)));
    }

    #[test]
    fn a_panic_is_an_error() {
        let stopped = guarded(|| -> u32 { panic!("on purpose") });
        assert_eq!(stopped, Err(Stopped::Panic("on purpose".into())));
    }

    #[test]
    fn deep_recursion_has_room() {
        fn deep(depth: u32) -> u64 {
            let local = [u64::from(depth); 32];
            if depth == 0 { 0 } else { deep(depth - 1) + std::hint::black_box(local)[3] % 2 }
        }
        assert_eq!(guarded(|| deep(200_000)), Ok(100_000));
    }

    /// Panics do not spoil a thread, and nothing of one work is seen by the next.
    #[test]
    fn threads_are_used_again() {
        let names: Vec<_> = (0..50)
            .map(|round| {
                guarded(move || {
                    assert!(round % 3 != 0, "on purpose");
                    std::thread::current().id()
                })
            })
            .collect();
        let ran: Vec<_> = names.iter().filter_map(|name| name.as_ref().ok()).collect();
        assert_eq!(ran.len(), 33);
        let mut different = ran.clone();
        different.sort_by_key(|id| format!("{id:?}"));
        different.dedup();
        // Other tests take threads from the same pool.
        assert!(different.len() < ran.len() / 2, "{different:?}");
    }

    #[test]
    fn many_at_once() {
        let sum: u64 = std::thread::scope(|scope| {
            let threads: Vec<_> =
                (0..40u64).map(|n| scope.spawn(move || guarded(|| n * 2).unwrap())).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert_eq!(sum, 40 * 39);
        assert!(waiting().len() <= MAX_IDLE);
    }

    #[cfg(unix)]
    #[test]
    fn a_crash_is_an_error() {
        crate::catch_crashes();
        let crashed = guarded(|| {
            let nowhere = std::hint::black_box(std::ptr::without_provenance_mut::<u32>(64));
            // SAFETY: it is not; this is what is tested.
            unsafe { nowhere.write_volatile(1) };
        });
        assert!(
            matches!(&crashed, Err(Stopped::Crash(text)) if text.contains("memory")),
            "{crashed:?}"
        );
        let aborted = guarded(|| -> u32 { std::process::abort() });
        assert!(
            matches!(&aborted, Err(Stopped::Crash(text)) if text.contains("abort")),
            "{aborted:?}"
        );
        fn endless(depth: u64) -> u64 {
            let local = std::hint::black_box([depth; 64]);
            if depth == u64::MAX { 0 } else { endless(depth + 1) + local[5] }
        }
        assert!(matches!(guarded(|| endless(0)), Err(Stopped::Crash(_))));
        assert_eq!(guarded(|| 5), Ok(5));
    }
}
