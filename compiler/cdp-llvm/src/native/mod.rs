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
mod made;
mod memory;
mod read;
mod steps;
mod worth;
mod write;

use crate::error::{Result, bug};
use crate::guard::guarded;

/// What vectors a processor has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vectors {
    /// Of 256 bits, as the CPU device's own loops for whole warps.
    Avx2,
    /// Of 512 bits.
    Avx512,
}

impl Vectors {
    /// Those of this processor, which has the first at least.
    pub fn of_this() -> Vectors {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl")
        {
            return Vectors::Avx512;
        }
        Vectors::Avx2
    }

    /// Values of 32 bits that one has.
    fn lanes(self) -> usize {
        match self {
            Vectors::Avx2 => 8,
            Vectors::Avx512 => 16,
        }
    }
}

/// The code of a run, as `cdp_emulator::native::Maker::make` wants it. `None` for a text that is no run, and for
/// a run that the interpreter does as well.
///
/// # Errors
/// What LLVM refuses, which is a mistake of ours, and [`crate::LowerError::Backend`].
pub fn make(run: &str) -> Result<Option<Vec<u8>>> {
    make_for(run, Vectors::of_this())
}

/// The same for a processor that has these vectors.
///
/// # Errors
/// As [`make`].
pub fn make_for(run: &str, vectors: Vectors) -> Result<Option<Vec<u8>>> {
    let Some(text) = ir(run, vectors) else { return Ok(None) };
    guarded(move || code::make(&text, vectors))
        .map_err(|stopped| bug("native code", format!("{stopped:?}")))?
        .map(Some)
}

/// Whether [`make`] gives what is sooner done than the interpreter does it. False for a text that is no run.
pub fn is_worth_it(run: &str) -> bool {
    let lanes = Vectors::of_this().lanes();
    read::read(run).is_some_and(|run| worth::is_worth(&run, &graph::parts(&run), lanes))
}

/// The LLVM IR of a run, for people.
pub fn ir(run: &str, vectors: Vectors) -> Option<String> {
    let run = read::read(run)?;
    emit::module(&run, &graph::parts(&run), vectors.lanes())
}
