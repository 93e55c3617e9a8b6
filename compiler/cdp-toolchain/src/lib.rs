//! Everything that happens outside our own process: finding CUDA, running ptxas, nvlink, fatbinary
//! and the host's C compiler, and reading the cubins that come back.
//!
//! This is the only crate of the project that starts processes. It knows PTX text, object bytes and
//! tool names; it knows nothing of `.cdp` sources or of LLVM, and of our IR's crate the table of the device
//! runtime's functions alone.
//!
//! The order of use:
//!
//! 1. [`Toolchain::find`] looks for CUDA with a [`SearchOptions`] (no environment variable is read
//!    behind the caller's back; [`SearchOptions::from_process`] is the caller's way to ask for it).
//! 2. A [`Job`] is one build: its temporary folder, time limit, `--keep` and `--dry-run`.
//! 3. [`assemble`], [`link`], [`fatbinary`] and [`host_link`] are the stages.
//! 4. [`Cubin::read`] reads back what they made; it also takes hostile bytes.
//!
//! All functions may be called from several threads at once.

#![deny(missing_docs)]

mod arch;
mod assemble;
mod clang;
mod contents;
mod cubin;
mod device_runtime;
mod doctor;
mod elf;
mod error;
mod explain;
mod fatbin;
mod frame;
mod host;
mod inputs;
mod job;
mod late;
mod link;
mod mend;
mod offload;
mod origin;
mod package;
mod parts;
mod prelink;
mod room;
mod running;
mod search;
mod tool;

pub use arch::{
    AddressSize, Arch, ArchError, ArchFacts, ArchSuffix, LAUNCH_LIMITS, LaunchLimits, ToolVersion,
};
pub use assemble::{
    AssembleOptions, Assembled, FunctionUsage, assemble, is_whole_program, parse_usage, ptx_version,
};
pub use clang::{CLANG_MAJOR, ClangOutput, ClangRequest, clang, clang_object};
pub use cubin::{Cubin, CubinError, CubinKind, KernelInfo, KernelParam};
pub use device_runtime::{CdpFlavor, DeviceRuntimeUse, cdp_flavor, is_device_runtime_symbol};
pub use doctor::{ArchSupport, DoctorReport, GpuPresence, LinkSupport, ToolkitReport, doctor};
pub use error::ToolError;
pub use explain::{Explanation, FailureKind, explain_failure};
pub use fatbin::{FatbinImage, ImageKind, is_archive, is_fatbin, list_images};
pub use host::{HostLinkOptions, host_link};
pub use job::{Job, JobOptions};
pub use late::{BUILD_ID_BYTES, LATE_BUILD_ID, LATE_SECTION, empty_code, put_code, set_build_id};
pub use link::{Cudadevrt, DeviceObject, LinkOptions, Linked, link};
pub use origin::{SearchedPlace, ToolkitOrigin};
pub use package::{FatbinInput, FatbinOptions, fatbinary};
pub use parts::{ObjectParts, UNIT_REGISTRATION, launch_stub_names};
pub use prelink::{prelinked, prelinked_shared};
pub use running::{Ended, Leftover, go_on, run_program, stop_everything};
pub use search::{CudadevrtLibrary, Environment, LinkTools, SearchOptions, Toolchain, Toolkit};
pub use tool::{Tool, ToolCommand};
