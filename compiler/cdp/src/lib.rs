//! cdp as a library: CUDA dynamic parallelism for `.cdp` sources and for other compilers' LLVM IR.
//!
//! One idea: each stage is a function from one proved thing to the next, and every way to use the
//! compiler (the command line, the C API, an embedder in Rust) is a few of these calls:
//!
//! - [`analyse`] reads a source for one pass and architecture: diagnostics, launch graph, parameter
//!   layouts, and the verified IR if the program is right;
//! - [`Compiler::emit_ptx`] (and `emit_llvm_ir`) makes PTX of it;
//! - [`Compiler::assemble`] and [`Compiler::link`] make objects and cubins with CUDA's tools;
//! - [`Compiler::build`] does all of it for a list of inputs, which is what `cdpc build` is.
//!
//! Nothing here prints, exits, reads the environment, or keeps state between calls; a [`Compiler`]
//! may be used by many threads at once.
//!
//! Failures: the program's are [`Report`]s with spans; the machine's and the embedder's are
//! [`Error`]; ours are [`Error::Bug`], which names the stage and asks for a report.

pub mod analysis;
pub mod build;
pub mod compiler;
pub mod describe;
pub mod error;
pub mod graph;
pub mod mend;
pub mod options;

pub use analysis::{Analysis, Pass, Report, SourceInput, analyse, render_reports};
pub use build::{BuildOutput, BuildRequest, Goal, Input, InputKind, Timings};
pub use compiler::{Compiler, DeviceCode};
pub use describe::{KernelDescription, ParamDescription, layout_table};
pub use error::{Error, Failure};
pub use graph::{LaunchEdge, LaunchGraph};
pub use options::{
    AddressSize, Arch, CdpVersion, CompileOptions, Cudadevrt, DebugInfo, FastMath, LaunchAbi,
    OptLevel, RequestedAbi,
};

pub use cdp_frontend as frontend;
pub use cdp_ir as ir;
pub use cdp_launch as launch;
pub use cdp_llvm as llvm;
pub use cdp_toolchain as toolchain;
