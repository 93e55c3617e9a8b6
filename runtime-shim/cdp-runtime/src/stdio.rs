//! Writing to the C library's standard output, so that what a device prints and what host code
//! prints with `printf` stand in one order; and what the runtime itself has to say.

use std::ffi::{c_int, c_void};

unsafe extern "C" {
    #[cfg_attr(target_os = "macos", link_name = "__stdoutp")]
    static mut stdout: *mut c_void;
    fn fwrite(data: *const c_void, size: usize, count: usize, stream: *mut c_void) -> usize;
    fn fflush(stream: *mut c_void) -> c_int;
    fn atexit(handler: extern "C" fn()) -> c_int;
    fn _exit(code: c_int) -> !;
}

/// Writes bytes to C's `stdout` and flushes it. Write errors are C's to keep (`ferror`).
pub fn write_stdout(bytes: &[u8]) {
    if bytes.is_empty() {
        return;
    }
    // SAFETY: `stdout` is set by the C library before any code of ours runs; the bytes are valid.
    unsafe {
        fwrite(bytes.as_ptr().cast(), 1, bytes.len(), stdout);
        fflush(stdout);
    }
}

/// Flushes C's `stdout`, so that it stands before what is written to other streams next.
pub fn flush_stdout() {
    // SAFETY: as above.
    unsafe { fflush(stdout) };
}

/// Says something about the environment or a refused launch on standard error, in the form that
/// `CDP_MESSAGE_FORMAT` asks for.
pub fn complain(message: &str) {
    flush_stdout();
    if std::env::var_os("CDP_MESSAGE_FORMAT").is_some_and(|format| format == "json") {
        let object = serde_json::json!({
            "reason": "device-message", "severity": "warning", "message": message,
        });
        eprintln!("{object}");
    } else {
        eprintln!("cdp: {message}");
    }
}

/// Ends the process now with this code. C's streams are flushed.
pub fn leave(code: i32) -> ! {
    // SAFETY: null flushes all streams; `_exit` takes any code.
    unsafe {
        fflush(std::ptr::null_mut());
        _exit(code)
    }
}

/// Runs `handler` when the process ends normally, before C's streams are flushed.
pub fn at_exit(handler: extern "C" fn()) {
    // SAFETY: a plain function.
    unsafe { atexit(handler) };
}
