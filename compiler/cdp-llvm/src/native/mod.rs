//! Machine code of this processor for runs of instructions of the CPU device, from what the device says of
//! them ([`make`]).
//!
//! A run becomes one function: [`read`] takes the text apart, [`graph`] cuts it into stretches that may be
//! computed a few lanes at a time, [`emit`] writes LLVM IR for them ([`arith`]: arithmetic, [`memory`]: accesses
//! and their checks; [`worth`]: whether that is worth it), [`code`] has LLVM make code of that and puts it into a piece.
//!
//! What is absent: when code is made and who calls it (`cdp_emulator::native`), and how it comes from one process
//! to another (`cdpc`).

mod arith;
mod code;
mod context;
mod emit;
mod graph;
mod memory;
mod read;
mod worth;
mod write;

use crate::error::{Result, bug};
use crate::guard::guarded;

/// The code of a run, as `cdp_emulator::native::Maker::make` wants it. `None` for a text that is no run, and for
/// a run that the interpreter does as well.
///
/// # Errors
/// What LLVM refuses, which is a mistake of ours, and [`crate::LowerError::Backend`].
pub fn make(run: &str) -> Result<Option<Vec<u8>>> {
    let Some(text) = ir(run) else { return Ok(None) };
    guarded(move || code::make(&text))
        .map_err(|stopped| bug("native code", format!("{stopped:?}")))?
        .map(Some)
}

/// Whether [`make`] gives what is sooner done than the interpreter does it. False for a text that is no run.
pub fn is_worth_it(run: &str) -> bool {
    read::read(run).is_some_and(|run| worth::is_worth(&run, &graph::parts(&run)))
}

/// The LLVM IR of a run, for people.
pub fn ir(run: &str) -> Option<String> {
    let run = read::read(run)?;
    emit::module(&run, &graph::parts(&run))
}
