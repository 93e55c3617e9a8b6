//! What the compiler and the CPU device do with any bytes at all: a function for each kind of input, which returns
//! unless there is a mistake of ours. libFuzzer calls them (`cargo xtask fuzz target NAME`, the programs in
//! `targets/`), and `tests/corpora.rs` with the files below `corpus/`.
//!
//! No input is made here, and no result is compared with another compiler's: that is `cdp-differential`.

mod argument;
mod capi;
mod command;
mod image;
mod layout;
mod llvm;
mod ptx;
mod source;

use std::panic::PanicHookInfo;
use std::sync::{Mutex, Once, PoisonError};

pub use source::spans_are_inside;

/// A kind of input.
pub struct Target {
    /// As `cargo xtask fuzz target` and the folder of its corpus have it.
    pub name: &'static str,
    /// Takes any bytes.
    pub run: fn(&[u8]),
}

/// All kinds.
pub const TARGETS: &[Target] = &[
    Target { name: "argument", run: argument::argument },
    Target { name: "capi", run: capi::capi },
    Target { name: "command", run: command::command },
    Target { name: "compile", run: source::compile },
    Target { name: "device", run: ptx::device },
    Target { name: "image", run: image::image },
    Target { name: "layout", run: layout::layout },
    Target { name: "llvm", run: llvm::llvm },
    Target { name: "preprocess", run: source::preprocess },
    Target { name: "ptx", run: ptx::ptx },
    Target { name: "source", run: source::source },
];

/// The first panic since the last look, wherever it was.
static PANIC: Mutex<Option<String>> = Mutex::new(None);

/// Gives `data` to a target.
///
/// # Panics
/// When the target finds a mistake of ours. A panic that was caught on its way counts as well: the library and its C
/// interface make an error of one, and libFuzzer would not see it.
pub fn run(name: &str, data: &[u8]) {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| std::panic::set_hook(Box::new(remember)));
    let target = TARGETS.iter().find(|target| target.name == name);
    (target.unwrap_or_else(|| panic!("there is no target `{name}`")).run)(data);
    // A statement of its own: the hook locks again.
    let caught = PANIC.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(caught) = caught {
        panic!("a panic was made an error: {caught}");
    }
}

/// Instead of the hook of libFuzzer's crate, which ends the process: that would look like a crash of LLVM's.
fn remember(panic: &PanicHookInfo<'_>) {
    eprintln!("{panic}");
    let mut first = PANIC.lock().unwrap_or_else(PoisonError::into_inner);
    first.get_or_insert_with(|| panic.to_string());
}

/// What a call made, if it made something; that the input is refused is as good.
///
/// # Panics
/// For [`cdp::Error::Bug`].
fn unless_refused<T>(result: Result<T, cdp::Error>) -> Option<T> {
    match result {
        Err(bug @ cdp::Error::Bug { .. }) => panic!("{bug}"),
        result => result.ok(),
    }
}

/// A number that every byte changes, to choose options by: so that inputs are files of their own kind, without a
/// part that says how they are compiled.
fn choice(data: &[u8]) -> usize {
    data.iter().fold(0, |sum: usize, &byte| sum.wrapping_mul(31).wrapping_add(byte.into()))
}

#[cfg(test)]
mod tests {
    use std::panic::catch_unwind;

    use super::*;

    #[test]
    fn a_panic_that_was_caught_is_told() {
        run("layout", b"");
        assert!(catch_unwind(|| panic!("on purpose")).is_err());
        assert!(catch_unwind(|| run("layout", b"")).is_err());
    }
}
