//! Makes machine code for the program of `cdpc run`, whose CPU device asks for it when runs of instructions are
//! executed often. The program is a process of its own, and has no LLVM; what is said between the two heads
//! `cdp-runtime/src/cpu/native.rs`.
//!
//! The program may be anybody's: requests are bounded and read with care (`cdp_llvm::native`), and what comes of
//! them goes back to who asked.

use std::io::{self, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, TryLockError};
use std::thread;

use cdp_runtime::cpu::NativeCode;
use cdp_runtime::cpu::native::{receive, send};

/// The text of a run is never longer.
const MOST_BYTES: u32 = 1 << 20;

/// Processes that are served at once, for a program may fork; others are interpreted.
const MOST_PROCESSES: usize = 16;

/// Listens in a folder of ours until the process ends. `None` where that is not to be had: then the program is
/// interpreted.
pub fn offer(folder: &Path) -> Option<PathBuf> {
    let path = folder.join("native");
    let listener = UnixListener::bind(&path).ok()?;
    let listen = move || {
        let served = Arc::new(());
        for stream in listener.incoming().flatten() {
            let one = served.clone();
            // One that cannot be served is as one that nobody answers.
            if Arc::strong_count(&one) <= MOST_PROCESSES + 1 {
                let _ = thread::Builder::new().spawn(move || (serve(stream), drop(one)));
            }
        }
    };
    thread::Builder::new().name("native code".to_string()).spawn(listen).ok()?;
    Some(path)
}

/// Answers until the other side goes.
fn serve(mut stream: UnixStream) -> io::Result<()> {
    loop {
        let text = receive(&mut stream, MOST_BYTES)?;
        let code = std::str::from_utf8(&text).ok().and_then(make).unwrap_or_default();
        send(&mut stream, &code)?;
    }
}

/// Held while code is made.
static MAKING: Mutex<()> = Mutex::new(());

/// Ends the process. What LLVM works with goes when a process ends in the usual way, whatever other threads do;
/// so it ends at once where code is being made that nobody waits for any more.
pub fn leave(code: i32) -> ! {
    match MAKING.try_lock() {
        Err(TryLockError::WouldBlock) => {
            let _ = io::stdout().flush();
            signal_hook::low_level::exit(code)
        }
        // Nothing begins any more.
        nobody => {
            std::mem::forget(nobody);
            std::process::exit(code)
        }
    }
}

/// A mistake of the compiler costs speed and nothing else, so that it is said to who asks for it.
fn make(run: &str) -> Option<Vec<u8>> {
    let wanted = std::env::var("CDP_NATIVE").ok();
    let always = wanted.as_deref().and_then(NativeCode::parse) == Some(NativeCode::Always);
    if !always && !cdp_llvm::native::is_worth_it(run) {
        return None;
    }
    let _one = MAKING.lock().unwrap_or_else(PoisonError::into_inner);
    match cdp_llvm::native::make(run) {
        Ok(code) => code,
        Err(error) => {
            if wanted.is_some() {
                eprintln!("cdpc: a run stays interpreted: {error}");
            }
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn requests_are_answered_in_order_and_wrong_ones_with_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let mut stream = UnixStream::connect(offer(folder.path()).unwrap()).unwrap();
        let mut ask = |text: &[u8]| {
            stream.write_all(&(text.len() as u32).to_ne_bytes()).unwrap();
            stream.write_all(text).unwrap();
            let mut length = [0; 4];
            stream.read_exact(&mut length).unwrap();
            let mut code = vec![0; u32::from_ne_bytes(length) as usize];
            stream.read_exact(&mut code).unwrap();
            code
        };
        let long = "alu Add32 0 nnn- 0 32 64 0 0\n".repeat(20);
        assert!(ask(format!("run 3 20\n{long}").as_bytes()).len() > 16);
        // Not worth it.
        assert!(ask(b"run 3 1\nalu Add32 0 nnn- 0 32 64 0 0\n").is_empty());
        assert!(ask(b"walk 1 1\n").is_empty());
        assert!(ask(&[0xff, 0xfe]).is_empty());
        assert!(ask(format!("run 3 20\n{long}").as_bytes()).len() > 16);
        // Nothing is read of what is too long.
        stream.write_all(&u32::MAX.to_ne_bytes()).unwrap();
        assert_eq!(stream.read(&mut [0]).unwrap(), 0);
    }

    #[test]
    fn a_program_cannot_have_any_number_of_threads() {
        let folder = tempfile::tempdir().unwrap();
        let path = offer(folder.path()).unwrap();
        let mut all: Vec<_> =
            (0..=MOST_PROCESSES).map(|_| UnixStream::connect(&path).unwrap()).collect();
        let mut last = all.pop().unwrap();
        // The others are answered still.
        assert_eq!(last.read(&mut [0]).unwrap_or(0), 0);
        for mut stream in all {
            stream.write_all(&[0; 4]).unwrap();
            stream.read_exact(&mut [1; 4]).unwrap();
        }
    }
}
