//! What a compiled program meets at run time: one [`Device`] trait with a GPU ([`gpu`], the CUDA
//! driver, loaded at run time) and the CPU device ([`cpu`], the emulator) behind it, and the CUDA
//! runtime's calls of host code as C functions ([`capi`]).
//!
//! As a static library it is linked into the executables that the compiler makes. As a Rust library
//! it is under cdp-run, which runs single kernels. It compiles nothing: no LLVM, no CUDA
//! toolkit, and no GPU is needed to build or to use it.

#![deny(missing_docs)]

pub mod abi;
pub mod array;
pub mod capi;
mod choice;
pub mod cpu;
mod device;
mod driver_array;
mod driver_copy;
mod driver_state;
mod error;
pub mod gpu;
mod graph;
mod image;
pub mod names;
pub mod process;
pub mod properties;
mod registry;
mod stdio;

pub use choice::*;
pub use device::*;
pub use error::*;

/// `cudaRuntimeGetVersion`: the CUDA version whose runtime API this is.
pub const RUNTIME_VERSION: i32 = 13_000;
