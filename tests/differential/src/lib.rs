//! Differential testing: random programs that have one meaning, compiled in several ways.
//!
//! [`mod@generate`] makes a program from a number; it has no undefined behaviour, so that every compiler must
//! make the same output of it. [`judge`] compiles and runs it by `cdpc` at several levels, in small codegen
//! units, by nvcc, whose PTX runs on the CPU device, and, when it is plain C++, by the host's compiler.
//! [`mod@reduce`] makes a program on which they disagree as small as it can.
//!
//! What is absent: anything that knows how `cdpc` works. It is started as users start it.

#![forbid(unsafe_code)]

pub mod generate;
pub mod judge;
mod random;
pub mod reduce;

pub use generate::{Program, generate};
pub use judge::{Judge, Verdict};
pub use reduce::reduce;
