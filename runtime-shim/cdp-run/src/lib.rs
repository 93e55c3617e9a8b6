//! Running kernels by name, without a `main`: arguments from text, a launch, results
//! ([`run_kernel`]), and whole [`bundle`]s of cases on a machine with a GPU ([`runner`]).
//!
//! The kernels run on a [`Device`](cdp_runtime::Device) of cdp-runtime. Nothing here compiles, and
//! outside [`runner`] nothing prints or opens a device: `cdpc run --kernel`, the GPU runner and embedders
//! bring one and do with the results what they like. Programs that the compiler makes do not link this.

#![deny(missing_docs)]

mod arg;
pub mod bundle;
mod element;
mod npy;
mod run;
pub mod runner;
mod show;

pub use self::arg::{Arg, ArgError, BufferInit, Destination};
pub use self::element::Element;
pub use self::npy::{Array, NpyError, read_npy, write_npy};
pub use self::run::{BufferResult, KernelRun, RunError, parse_dimensions, run_kernel};
pub use self::show::{deliver, format_array};
