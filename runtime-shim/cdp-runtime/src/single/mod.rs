//! Running one kernel without a `main`: arguments from text, a launch, results.
//!
//! Nothing here prints or opens a device: `cdpc run --kernel`, the GPU runner and embedders bring a
//! [`Device`](crate::Device) and do with the results what they like.

mod arg;
mod element;
mod names;
mod npy;
mod run;
mod show;

pub(crate) use self::arg::hex as parse_hex;
pub use self::arg::{Arg, ArgError, BufferInit, Destination};
pub use self::element::Element;
pub use self::names::{find_kernel, kernel_base_name, ptx_kernels};
pub use self::npy::{Array, NpyError, read_npy, write_npy};
pub use self::run::{BufferResult, KernelRun, RunError, parse_dimensions, run_kernel};
pub use self::show::{deliver, format_array};
