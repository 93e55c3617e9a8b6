//! What is asked of a build, and what comes of it.

use std::path::PathBuf;

use cdp_toolchain::{HostLinkOptions, Job, ToolCommand};
use serde::Serialize;

use crate::analysis::Report;
use crate::describe::KernelDescription;
use crate::graph::{LaunchEdge, LaunchGraph};
use crate::input::Input;
use crate::message::{Message, messages};
use crate::options::CompileOptions;
use cdp_llvm::LaunchRemark;

/// Where a build ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Goal {
    /// The syntax tree, for those who work on the compiler.
    Ast,
    /// Our IR as text, likewise.
    Ir,
    /// LLVM IR after optimisation, as text.
    LlvmIr,
    /// PTX text for one architecture.
    Ptx,
    /// A relocatable device object.
    Object,
    /// Linked machine code for one architecture.
    Cubin,
    /// Cubins, and PTX where it is asked for, of all architectures.
    Fatbin,
    /// The host pass alone: an object with registrations and without the device image.
    HostObject,
    /// A host object with relocatable device code inside, for a link by nvcc (`nvcc -dc`).
    CudaObject,
    /// A host object with the linked device code of objects, for a link by the system's linker (`nvcc -dlink`).
    LinkedObject,
    /// A program, by the system's linker.
    Executable,
}

impl Goal {
    /// Whether a device link makes the result.
    pub fn links_devices(self) -> bool {
        matches!(self, Goal::Cubin | Goal::Fatbin | Goal::LinkedObject | Goal::Executable)
    }

    /// Whether the result is made by CUDA's tools.
    pub fn needs_tools(self) -> bool {
        !matches!(self, Goal::Ast | Goal::Ir | Goal::LlvmIr | Goal::Ptx)
    }
}

/// What to build.
#[non_exhaustive]
pub struct BuildRequest<'a> {
    /// At least one.
    pub inputs: &'a [Input],
    /// What is wanted of them.
    pub goal: Goal,
    /// How it is made.
    pub options: &'a CompileOptions,
    /// The temporary folder, `--keep`, `--dry-run`.
    pub job: &'a Job,
    /// For [`Goal::Executable`]: also make a cubin. Without it the program runs on the CPU device
    /// only, and no CUDA tool is needed.
    pub cubin: bool,
    /// `libcdp_runtime.a`, for [`Goal::Executable`].
    pub runtime_library: Option<PathBuf>,
    /// For [`Goal::Executable`]: `-l`, `-L` and other objects.
    pub host_link: HostLinkOptions,
}

impl<'a> BuildRequest<'a> {
    /// A request with nothing special: no host libraries, and for an executable device code for
    /// the CPU device only.
    pub fn new(
        inputs: &'a [Input],
        goal: Goal,
        options: &'a CompileOptions,
        job: &'a Job,
    ) -> BuildRequest<'a> {
        BuildRequest {
            inputs,
            goal,
            options,
            job,
            cubin: false,
            runtime_library: None,
            host_link: HostLinkOptions::default(),
        }
    }

    /// This with a few changes.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut BuildRequest<'a>)) -> BuildRequest<'a> {
        change(&mut self);
        self
    }
}

/// Seconds by stage. Stages of the host half run beside those of the device half, so that they add up to more than
/// the total.
#[derive(Clone, Copy, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Timings {
    /// Reading and checking the sources.
    pub frontend: f64,
    /// Lowering, optimisation and emission.
    pub llvm: f64,
    /// All runs, one after another.
    pub ptxas: f64,
    /// All runs, one after another.
    pub nvlink: f64,
    /// From the call to its end, which other work may fill.
    pub total: f64,
}

/// What a build made and learned.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct BuildOutput {
    /// Empty in a dry run.
    pub bytes: Vec<u8>,
    /// Kernels for the first architecture: of sources and LLVM IR, and, where a cubin was linked, of PTX and
    /// objects as well, whose parameters have no names.
    pub kernels: Vec<KernelDescription>,
    /// Launch sites of the sources and of LLVM IR.
    pub launches: Vec<LaunchEdge>,
    /// (caller, callee), for functions of the sources from which a launch can be reached.
    pub calls: Vec<(String, String)>,
    /// What the launch optimiser did with each launch site, for the first architecture.
    pub remarks: Vec<LaunchRemark>,
    /// The LLVM IR of each input after [`CompileOptions::print_after`], for the first architecture.
    pub printed: Vec<String>,
    /// Warnings; a program with errors is a [`crate::Failure::Program`].
    pub reports: Vec<Report>,
    /// Warnings of CUDA's tools, a line each.
    pub tool_warnings: Vec<String>,
    /// What ptxas says of each function's registers, stack and memory, a line each.
    pub resource_usage: Vec<String>,
    /// Files read, for build systems; without the compiler's own headers.
    pub dependencies: Vec<PathBuf>,
    /// The tools that ran, or would in a dry run, in order.
    pub commands: Vec<ToolCommand>,
    /// Size of the cubins, all architectures together.
    pub cubin_bytes: u64,
    /// Whether the device runtime is in the cubins, about 200 KB in each.
    pub cudadevrt_linked: bool,
    /// Where the time went.
    pub timings: Timings,
}

impl BuildOutput {
    /// What was made, as text: PTX, LLVM IR, cdp's IR. Bytes that are no UTF-8 are replaced.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    /// The warnings as data.
    pub fn messages(&self) -> Vec<Message> {
        messages(&self.reports)
    }

    /// The device-side and host-side launches of the sources.
    pub fn graph(&self) -> LaunchGraph {
        LaunchGraph { launches: self.launches.clone(), calls: self.calls.clone() }
    }
}
