//! Which threads of the process are not host code's.
//!
//! Host code that waits for the device in its only thread writes nothing meanwhile. So threads that a device begins
//! are counted: those of the process less these are host code's.

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

static COUNT: AtomicUsize = AtomicUsize::new(0);
/// The process that they were counted in: a child of it has none of them.
static PROCESS: AtomicU32 = AtomicU32::new(0);

thread_local! {
    static IS_OWN: Cell<bool> = const { Cell::new(false) };
}

/// Counts the thread that makes it, for as long as it lives.
#[derive(Debug)]
pub struct OwnThread {
    process: u32,
}

impl OwnThread {
    /// The thread that calls is a device's.
    #[allow(clippy::new_without_default)]
    pub fn new() -> OwnThread {
        let process = std::process::id();
        if PROCESS.swap(process, Ordering::Relaxed) != process {
            COUNT.store(0, Ordering::Relaxed);
        }
        COUNT.fetch_add(1, Ordering::Relaxed);
        IS_OWN.set(true);
        OwnThread { process }
    }
}

impl Drop for OwnThread {
    fn drop(&mut self) {
        IS_OWN.set(false);
        if PROCESS.load(Ordering::Relaxed) == self.process {
            COUNT.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// Whether the thread that calls is known to be the only one of host code. Threads that just begin or end count as
/// host code's.
pub fn host_is_alone() -> bool {
    if IS_OWN.get() {
        return false;
    }
    let Ok(threads) = std::fs::read_dir("/proc/self/task") else { return false };
    let own = match PROCESS.load(Ordering::Relaxed) == std::process::id() {
        true => COUNT.load(Ordering::Relaxed),
        false => 0,
    };
    threads.count() == own + 1
}
