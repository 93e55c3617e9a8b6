//! A line on the terminal that says what takes so long, from the third second of silence on. It is gone
//! when anything else is written.

use std::io::{IsTerminal, Write};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

const SILENCE: Duration = Duration::from_secs(2);

/// Whether the line stands there.
static SHOWN: Mutex<bool> = Mutex::new(false);

/// Shows the line until it is dropped.
pub struct Progress {
    _stop: Option<mpsc::Sender<()>>,
}

impl Progress {
    /// Begins to wait. Without a terminal nothing is ever shown.
    pub fn start(what: String) -> Progress {
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        if dumb || !std::io::stderr().is_terminal() {
            return Progress { _stop: None };
        }
        let (stop, stopped) = mpsc::channel::<()>();
        let begun = Instant::now();
        let show = move || {
            let mut pause = SILENCE;
            while stopped.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                let mut shown = SHOWN.lock().unwrap_or_else(PoisonError::into_inner);
                let seconds = begun.elapsed().as_secs();
                let _ = write!(std::io::stderr(), "\r\x1b[K{what}: {seconds} s");
                *shown = true;
                pause = Duration::from_secs(1);
            }
        };
        // Without a thread there is no line.
        let _ = std::thread::Builder::new().name("cdpc-progress".into()).spawn(show);
        Progress { _stop: Some(stop) }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self._stop = None;
        clear();
    }
}

/// Takes the line away, before something else is written.
pub fn clear() {
    let mut shown = SHOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if std::mem::take(&mut *shown) {
        let _ = write!(std::io::stderr(), "\r\x1b[K");
    }
}
