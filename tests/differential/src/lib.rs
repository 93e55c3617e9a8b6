//! Differential testing: random programs that have one meaning, compiled in several ways.
//!
//! [`mod@generate`] makes a program from a number; it has no undefined behaviour, so that every compiler must
//! make the same output of it. [`pack`] makes one source of many programs. [`judge`] compiles it by `cdpc` at
//! several levels and by nvcc and clang, whose PTX [`run`] on the CPU device as ours does, and, as far as it
//! is plain C++, by the host's compiler. [`mod@reduce`] makes a program on which they disagree as small as it
//! can. [`gpu`] does the same with cubins on a GPU. [`ptx`] asks ptxas alone.
//!
//! What is absent: anything that knows how `cdpc` works. It is started as users start it.

pub mod generate;
pub mod gpu;
pub mod judge;
pub mod pack;
pub mod ptx;
mod random;
pub mod reduce;
pub mod run;

pub use generate::{Program, generate};
pub use judge::{Disagreement, Judge, Way};
pub use reduce::reduce;
