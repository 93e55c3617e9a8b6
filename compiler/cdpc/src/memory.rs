//! Lack of memory ends `cdpc` with a sentence and exit code 3, where Rust would abort: the program's
//! allocator says so before it gives up. What LLVM cannot get is told by LLVM's guard (`cdp-llvm`).

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use crate::EXIT_TOOL;

/// The system's allocator, which does not return without memory.
struct Allocator;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

/// Bytes of the request that failed.
static WANTED: AtomicUsize = AtomicUsize::new(0);
/// Whether messages are JSON.
static JSON: AtomicBool = AtomicBool::new(false);

thread_local! {
    static CLEANS_UP: Cell<bool> = const { Cell::new(false) };
}

// SAFETY: the system's allocator does all the work.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promises about the layout are the system allocator's own.
        or_stop(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as for `alloc`.
        or_stop(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the memory came from the system's allocator with this layout, because all does.
        or_stop(unsafe { System.realloc(memory, layout, size) }, size)
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as for `realloc`.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[inline]
fn or_stop(memory: *mut u8, size: usize) -> *mut u8 {
    if memory.is_null() {
        out_of_memory(size);
    }
    memory
}

/// What the compiler's stacks take of the address space; hardly any of it becomes memory.
const STACKS_BYTES: u64 = 600 << 20;

/// A number of a file of `/proc`, behind a word at the start of a line.
fn number_behind(file: &str, word: &str) -> Option<u64> {
    let text = std::fs::read_to_string(file).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(word))?;
    line.split_whitespace().next()?.parse().ok()
}

/// The bytes of `ulimit -v`; `None` without such a limit.
fn limit() -> Option<u64> {
    number_behind("/proc/self/limits", "Max address space")
}

/// Whether the address space is limited, so that stacks and threads for the sake of speed would take what the
/// program needs.
pub fn is_limited() -> bool {
    limit().is_some()
}

/// What `ulimit -v` leaves; `None` without such a limit.
fn left_of_limit() -> Option<u64> {
    let most = limit()?;
    let taken = number_behind("/proc/self/status", "VmSize:")? << 10;
    Some(most.saturating_sub(taken + STACKS_BYTES))
}

/// Bytes that a process can get without others being pushed out: what the system says, or the limit of
/// the control group or of the process if that is lower. `None` where nobody says.
pub fn available_bytes() -> Option<u64> {
    let kilobytes = number_behind("/proc/meminfo", "MemAvailable:")?;
    let number = |name: &str| -> Option<u64> {
        let text = std::fs::read_to_string(format!("/sys/fs/cgroup/{name}")).ok()?;
        text.trim().parse().ok()
    };
    let group =
        number("memory.max").and_then(|most| Some(most.saturating_sub(number("memory.current")?)));
    let lower = group.unwrap_or(u64::MAX).min(left_of_limit().unwrap_or(u64::MAX));
    Some(lower.min(kilobytes << 10))
}

/// Gives memory that was freed back to the system, so that the next pass over a large program does not come
/// on top of it. glibc keeps what many small requests took.
pub fn give_back() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        // SAFETY: any thread may call it at any time.
        unsafe { libc::malloc_trim(0) };
    }
}

/// Has large requests mapped by themselves for good: glibc otherwise begins to take them from the common heap once one
/// was freed, where a vector that grows is copied and leaves a hole. Checking a large program took a third more memory.
/// glibc then no longer adapts how much it keeps of what was freed at a heap's end, 128 KiB, and each of LLVM's passes had
/// the same pages made anew; so it is told.
pub fn map_large() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        // SAFETY: any thread may call it at any time.
        unsafe {
            libc::mallopt(libc::M_MMAP_THRESHOLD, 1 << 20);
            libc::mallopt(libc::M_TRIM_THRESHOLD, 64 << 20);
        }
    }
}

/// The form of messages from now on.
pub fn set_json(json: bool) {
    JSON.store(json, Ordering::Relaxed);
}

/// Whether an allocation has failed: the process is about to end.
pub fn ran_out() -> bool {
    WANTED.load(Ordering::Acquire) != 0
}

/// The calling thread is the one that cleans up.
pub fn this_thread_cleans_up() {
    CLEANS_UP.set(true);
}

/// Ends the process without looking back.
pub fn leave() -> ! {
    #[cfg(unix)]
    signal_hook::low_level::exit(EXIT_TOOL);
    #[cfg(not(unix))]
    std::process::abort();
}

/// Says it and ends the process. Nothing here allocates, and locks may be held by this very thread, so
/// that temporary files are left to the thread that waits for signals.
#[cold]
fn out_of_memory(size: usize) -> ! {
    let first = WANTED.swap(size.max(1), Ordering::AcqRel) == 0;
    if first {
        say(size);
    }
    if !CLEANS_UP.get() && crate::signals::is_watching() {
        #[cfg(unix)]
        let _ = signal_hook::low_level::raise(signal_hook::consts::SIGTERM);
        std::thread::sleep(Duration::from_secs(5));
    }
    leave()
}

fn say(size: usize) {
    let mut buffer = [0u8; 256];
    let mut text = &mut buffer[..];
    let written = match JSON.load(Ordering::Relaxed) {
        true => writeln!(
            text,
            "{{\"severity\": \"error\", \"message\": \"out of memory: {size} bytes more were not to be had\"}}"
        ),
        false => writeln!(
            text,
            "error: out of memory: {size} bytes more were not to be had\n  help: raise the \
             memory limit (`ulimit -v`), or give a smaller input"
        ),
    };
    let left = text.len();
    if written.is_ok() {
        let length = buffer.len() - left;
        // Standard error has no buffer; its lock may be this thread's, which may take it again.
        let _ = std::io::stderr().write_all(&buffer[..length]);
    }
}
