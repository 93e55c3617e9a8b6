//! Signals that end `cdpc`: the tools and the program that it runs end too, and nothing temporary stays.
//! After that the process ends by the same signal, so that shells and `make` see what happened.
//!
//! A thread of its own waits for them, since little may be done in a handler.

#[cfg(unix)]
pub use unix::{is_watching, watch};

#[cfg(not(unix))]
pub fn watch() {}

#[cfg(not(unix))]
pub fn is_watching() -> bool {
    false
}

#[cfg(unix)]
mod unix {
    use std::ffi::c_int;
    use std::io::IsTerminal;
    use std::sync::Once;
    use std::sync::atomic::{AtomicBool, Ordering};

    use cdp_toolchain::stop_everything;
    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::emulate_default_handler;

    use crate::memory;

    static WATCHING: AtomicBool = AtomicBool::new(false);

    /// Starts to wait, once.
    pub fn watch() {
        static ONCE: Once = Once::new();
        ONCE.call_once(|| {
            let ignored = ignored();
            // What was ignored stays so: `nohup`, and jobs in the background of a script.
            let wanted = [SIGINT, SIGTERM, SIGHUP, SIGQUIT];
            let wanted = wanted.iter().filter(|signal| ignored & (1 << (**signal - 1)) == 0);
            let Ok(signals) = Signals::new(wanted) else { return };
            let thread = std::thread::Builder::new().name("cdpc-signals".into());
            WATCHING.store(thread.spawn(move || wait(signals)).is_ok(), Ordering::Release);
        });
    }

    /// Whether a signal will be noticed.
    pub fn is_watching() -> bool {
        WATCHING.load(Ordering::Acquire)
    }

    fn wait(mut signals: Signals) {
        memory::this_thread_cleans_up();
        for signal in signals.forever() {
            if memory::ran_out() {
                stop_everything(SIGTERM, false);
                memory::leave();
            }
            stop_everything(signal, from_terminal(signal));
            let _ = emulate_default_handler(signal);
        }
    }

    /// Whether the signal is one that a terminal sends, to the whole group, and there is one.
    fn from_terminal(signal: c_int) -> bool {
        matches!(signal, SIGINT | SIGQUIT) && std::io::stdin().is_terminal()
    }

    /// The signals that are ignored, a bit each, as Linux tells; none elsewhere.
    fn ignored() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        line.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
    }
}
