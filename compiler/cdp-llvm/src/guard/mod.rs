//! A place where compilation may fail in every way without the caller's process noticing: it has the
//! stack that deep programs need, a panic there becomes an error, and so does LLVM's fatal error, after
//! which LLVM would otherwise end the process.
//!
//! That place is another stack on the caller's thread (`stack`), or another thread once crashes are
//! caught too, which is on request only ([`crate::crash`], `thread`).
//!
//! LLVM's handlers for fatal errors and for lack of memory belong to the process; they are set once, when
//! the first guard runs. Outside of guards they print the message and let LLVM end the process, as LLVM
//! does without them.

mod stack;
mod thread;

use std::any::Any;
use std::cell::RefCell;
use std::ffi::{CStr, c_char};
use std::fmt;
use std::sync::{Mutex, Once, PoisonError};

use inkwell::llvm_sys::error_handling::LLVMInstallFatalErrorHandler;

use crate::crash;

/// Stack of guarded work: programs may nest as deep as the front end's limits allow. The memory is taken
/// only as far as it is used.
pub const STACK_BYTES: usize = 512 << 20;

/// Why guarded work did not come to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// A panic, with its message: a mistake of cdp.
    Panic(String),
    /// LLVM met something that it ends processes for: code that it cannot select, for example.
    LlvmFatal(String),
    /// LLVM crashed, in words; only after [`crate::catch_crashes`].
    Crash(String),
    /// LLVM asked for memory and got none.
    OutOfMemory,
    /// No thread could be started, or no stack made.
    NoThread(String),
}

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stopped::Panic(message) => write!(f, "a panic: {message}"),
            Stopped::LlvmFatal(message) => write!(f, "LLVM gave up: {message}"),
            Stopped::Crash(message) => write!(f, "LLVM crashed: {message}"),
            Stopped::OutOfMemory => f.write_str("out of memory"),
            Stopped::NoThread(message) => write!(f, "a thread could not be started: {message}"),
        }
    }
}

impl std::error::Error for Stopped {}

/// How guarded work ended.
enum Ending {
    Done,
    Panic(String),
    Fatal(String),
}

/// Leaves guarded work for good, with LLVM's message; does not return.
type Abandon = Box<dyn FnOnce(String)>;

thread_local! {
    /// How to leave the guarded work that this thread does, if it does any.
    static ABANDON: RefCell<Option<Abandon>> = const { RefCell::new(None) };
}

/// Runs `work` guarded and waits for it; where work is guarded already, at once.
///
/// After a fatal error of LLVM the work's stack stays behind with what was allocated: LLVM's frames can be
/// neither left nor unwound.
///
/// # Errors
/// [`Stopped`], when `work` did not return.
pub fn guarded<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, Stopped> {
    guarded_by(if crash::are_caught() { thread::run } else { stack::run }, work)
}

/// What the handler for lack of memory says.
const NO_MEMORY: &str = "out of memory";

/// What runs work.
type Run = fn(Box<dyn FnOnce() + Send>) -> Result<Ending, Stopped>;

fn guarded_by<T: Send>(run: Run, work: impl FnOnce() -> T + Send) -> Result<T, Stopped> {
    if ABANDON.with_borrow(Option::is_some) {
        return Ok(work());
    }
    install_handlers();
    let result = Mutex::new(None);
    let slot = &result;
    let work: Box<dyn FnOnce() + Send + '_> = Box::new(move || {
        let value = work();
        *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
    });
    // SAFETY: this function returns only when the work has returned or unwound, so that everything
    // borrowed outlives it, or when the work was abandoned for good, in `on_fatal` or in the handler of
    // its crash, and touches nothing more.
    let work: Box<dyn FnOnce() + Send + 'static> = unsafe { std::mem::transmute(work) };
    match run(work)? {
        Ending::Fatal(message) if message == NO_MEMORY => return Err(Stopped::OutOfMemory),
        Ending::Fatal(message) => return Err(Stopped::LlvmFatal(message)),
        Ending::Panic(message) => return Err(Stopped::Panic(message)),
        Ending::Done => {}
    }
    let value = result.into_inner().unwrap_or_else(PoisonError::into_inner);
    value.ok_or_else(|| Stopped::Panic("the work left no result".into()))
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message").to_string()
}

fn install_handlers() {
    static ONCE: Once = Once::new();
    // SAFETY: the handler lives as long as the process, and does not unwind.
    ONCE.call_once(|| unsafe {
        LLVMInstallFatalErrorHandler(Some(on_fatal));
        cdp_install_bad_alloc_handler(on_no_memory);
    });
}

unsafe extern "C" {
    /// In `guard.cpp`.
    fn cdp_install_bad_alloc_handler(handler: extern "C" fn(*const c_char));
}

/// LLVM calls this on the thread that met the error or got no memory; when it returns, LLVM ends the
/// process.
extern "C" fn on_fatal(reason: *const c_char) {
    // SAFETY: LLVM passes a live string.
    let reason = unsafe { CStr::from_ptr(reason) }.to_string_lossy().into_owned();
    let abandon =
        ABANDON.try_with(|slot| slot.try_borrow_mut().ok().and_then(|mut slot| slot.take()));
    match abandon {
        Ok(Some(abandon)) => abandon(reason),
        _ => eprintln!("LLVM ERROR: {reason}"),
    }
}

/// LLVM calls this when it gets no memory; what it says of it differs.
extern "C" fn on_no_memory(_reason: *const c_char) {
    // A name without an allocation; what follows is short.
    on_fatal(c"out of memory".as_ptr());
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    const BOTH: [Run; 2] = [stack::run, thread::run];

    #[test]
    fn results_and_borrows_pass_through() {
        for run in BOTH {
            let text = String::from("text");
            let length = guarded_by(run, || text.len());
            assert_eq!(length, Ok(4));
            let inner = guarded_by(run, || guarded(|| text.clone()));
            assert_eq!(inner, Ok(Ok(text)));
        }
    }

    #[test]
    fn a_panic_is_an_error() {
        for run in BOTH {
            let stopped = guarded_by(run, || -> u32 { panic!("on purpose") });
            assert_eq!(stopped, Err(Stopped::Panic("on purpose".into())));
            assert_eq!(guarded_by(run, || 5), Ok(5));
        }
    }

    #[test]
    fn a_fatal_error_is_an_error() {
        for run in BOTH {
            let stopped = guarded_by(run, || on_fatal(c"no way".as_ptr()));
            assert_eq!(stopped, Err(Stopped::LlvmFatal("no way".into())));
            let nested = guarded_by(run, || guarded(|| on_fatal(c"inside".as_ptr())).map(|()| 1));
            assert_eq!(nested, Err(Stopped::LlvmFatal("inside".into())));
            assert_eq!(guarded_by(run, || 5), Ok(5));
        }
    }

    #[test]
    fn deep_recursion_has_room() {
        fn deep(depth: u32) -> u64 {
            let local = [u64::from(depth); 32];
            if depth == 0 { 0 } else { deep(depth - 1) + std::hint::black_box(local)[3] % 2 }
        }
        for run in BOTH {
            assert_eq!(guarded_by(run, || deep(200_000)), Ok(100_000));
        }
    }

    #[test]
    fn without_crashes_to_catch_the_thread_is_the_callers() {
        let own = std::thread::current().id();
        assert_eq!(guarded_by(stack::run, || std::thread::current().id()), Ok(own));
        assert_ne!(guarded_by(thread::run, || std::thread::current().id()), Ok(own));
    }

    /// Panics do not spoil a thread, and nothing of one work is seen by the next.
    #[test]
    fn threads_are_used_again() {
        let ran: HashSet<_> = (0..50)
            .filter_map(|round| {
                let work = move || {
                    assert!(round % 3 != 0, "on purpose");
                    std::thread::current().id()
                };
                guarded_by(thread::run, work).ok()
            })
            .collect();
        // Other tests take threads from the same pool.
        assert!(ran.len() < 16, "{ran:?}");
    }

    #[test]
    fn many_at_once() {
        for run in BOTH {
            let sum: u64 = std::thread::scope(|scope| {
                let work = |n: u64| scope.spawn(move || guarded_by(run, || n * 2).unwrap());
                let threads: Vec<_> = (0..40).map(work).collect();
                threads.into_iter().map(|thread| thread.join().unwrap()).sum()
            });
            assert_eq!(sum, 40 * 39);
        }
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
