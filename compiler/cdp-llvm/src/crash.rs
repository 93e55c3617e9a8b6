//! LLVM's crashes on guarded threads. LLVM is not built for hostile bitcode, and some IR that it accepts
//! makes its passes follow a null pointer. Who takes IR from strangers calls [`catch_crashes`]; from then
//! on a guarded thread that gets SIGSEGV, SIGBUS, SIGILL, SIGFPE or SIGABRT stops where it is, and the
//! guard reports [`crate::Stopped::Crash`]. Signals on other threads go where they went before.
//!
//! This is no repair: the thread stays behind with what it held, as after LLVM's fatal errors, and a crash
//! that has damaged the heap has damaged it for the process.

#[cfg(unix)]
pub(crate) use unix::are_caught;
#[cfg(unix)]
pub use unix::{Watch, catch_crashes};

#[cfg(not(unix))]
pub(crate) use none::are_caught;
#[cfg(not(unix))]
pub use none::{Watch, catch_crashes};

#[cfg(unix)]
mod unix {
    use std::cell::Cell;
    use std::ffi::{c_int, c_void};
    use std::ptr::{null, null_mut};
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicI32, Ordering};

    const SIGNALS: [c_int; 5] =
        [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE, libc::SIGABRT];
    /// Room for the handler below and for whatever it hands the signal on to.
    const HANDLER_STACK_BYTES: usize = 64 << 10;

    /// What was done with each signal before.
    static BEFORE: OnceLock<[libc::sigaction; SIGNALS.len()]> = OnceLock::new();

    thread_local! {
        /// Where this thread's signal goes, if it is watched. (Without destructor, so that the handler
        /// may look at any time.)
        static SLOT: Cell<*const AtomicI32> = const { Cell::new(null()) };
    }

    /// Turns LLVM's crashes into [`crate::Stopped::Crash`] on all threads that are guarded from now on.
    /// Sets the process's signal handlers, once.
    pub fn catch_crashes() {
        BEFORE.get_or_init(|| SIGNALS.map(install));
    }

    /// Whether [`catch_crashes`] was called.
    pub(crate) fn are_caught() -> bool {
        BEFORE.get().is_some()
    }

    fn install(signal: c_int) -> libc::sigaction {
        // SAFETY: all zeros is a value of this plain C structure; both pointers are to live ones. The
        // handler does nothing that a signal handler may not do.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) = on_signal;
            action.sa_sigaction = handler as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            libc::sigemptyset(&mut action.sa_mask);
            let mut before: libc::sigaction = std::mem::zeroed();
            libc::sigaction(signal, &action, &mut before);
            before
        }
    }

    extern "C" fn on_signal(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
        // SAFETY: a slot lives as long as its thread is watched.
        if let Some(slot) = unsafe { SLOT.get().as_ref() } {
            slot.store(signal, Ordering::Release);
            loop {
                // SAFETY: always safe.
                unsafe { libc::pause() };
            }
        }
        let at = SIGNALS.iter().position(|known| *known == signal);
        let before = BEFORE.get().zip(at).map(|(before, at)| before[at]);
        match before {
            Some(before) if before.sa_sigaction == libc::SIG_IGN => {}
            Some(before) if before.sa_sigaction != libc::SIG_DFL => {
                // SAFETY: the handler was installed with this signature, as its flags say.
                unsafe {
                    if before.sa_flags & libc::SA_SIGINFO != 0 {
                        let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) =
                            std::mem::transmute(before.sa_sigaction);
                        handler(signal, info, context);
                    } else {
                        let handler: extern "C" fn(c_int) =
                            std::mem::transmute(before.sa_sigaction);
                        handler(signal);
                    }
                }
            }
            _ => {
                // SAFETY: both may be called in a handler; the signal comes when the handler returns.
                unsafe {
                    libc::signal(signal, libc::SIG_DFL);
                    libc::raise(signal);
                }
            }
        }
    }

    /// Watches the thread it is made on until it is dropped there.
    pub struct Watch {
        /// The stack for the handler, since a crash may be the end of the thread's own.
        _stack: Box<[u8]>,
        before: libc::stack_t,
    }

    impl Watch {
        /// `None` when crashes are not caught. The slot gets the signal.
        ///
        /// # Safety
        /// The slot lives until the watch is dropped, or forever when the thread crashes.
        pub unsafe fn start(slot: &AtomicI32) -> Option<Watch> {
            BEFORE.get()?;
            let mut stack = vec![0u8; HANDLER_STACK_BYTES].into_boxed_slice();
            let mut before =
                libc::stack_t { ss_sp: null_mut(), ss_flags: libc::SS_DISABLE, ss_size: 0 };
            let own = libc::stack_t {
                ss_sp: stack.as_mut_ptr().cast(),
                ss_flags: 0,
                ss_size: HANDLER_STACK_BYTES,
            };
            // SAFETY: the stack lives until `drop`, which takes it back.
            unsafe { libc::sigaltstack(&own, &mut before) };
            SLOT.set(slot);
            Some(Watch { _stack: stack, before })
        }
    }

    impl Drop for Watch {
        fn drop(&mut self) {
            SLOT.set(null());
            // SAFETY: what was set before, or none.
            unsafe { libc::sigaltstack(&self.before, null_mut()) };
        }
    }
}

#[cfg(not(unix))]
mod none {
    use std::sync::atomic::AtomicI32;

    /// Does nothing here.
    pub fn catch_crashes() {}

    /// Never.
    pub(crate) fn are_caught() -> bool {
        false
    }

    /// Watches nothing here.
    pub struct Watch;

    impl Watch {
        /// Always `None`.
        ///
        /// # Safety
        /// Always safe.
        pub unsafe fn start(_: &AtomicI32) -> Option<Watch> {
            None
        }
    }
}

/// A signal in words.
pub(crate) fn signal_text(signal: i32) -> &'static str {
    match signal {
        #[cfg(unix)]
        libc::SIGSEGV => "a memory access that is not allowed, or too deep a recursion",
        #[cfg(unix)]
        libc::SIGBUS => "a memory access that cannot be made",
        #[cfg(unix)]
        libc::SIGILL => "code that must not be reached",
        #[cfg(unix)]
        libc::SIGFPE => "a division by zero",
        #[cfg(unix)]
        libc::SIGABRT => "an abort, or no more memory",
        _ => "a signal",
    }
}
