//! cdp as a library: CUDA dynamic parallelism for `.cdp` sources and for other compilers' LLVM IR.
//!
//! ```
//! use cdp::{CompileOptions, Compiler, Goal, Input};
//!
//! let source = "__global__ void child(int *out, int n) { out[threadIdx.x] = n; }
//!               __global__ void parent(int *out) { child<<<1, 32>>>(out, 7); }";
//! let compiler = Compiler::without_tools();
//! let options = CompileOptions::default();
//! let made = compiler.compile(&[Input::source("spawn.cdp", source)], Goal::Ptx, &options)?;
//!
//! assert!(made.text().contains(".visible .entry _Z6parentPi"));
//! let child = &made.kernels[0];
//! assert_eq!((child.symbol.as_str(), child.params[1].offset), ("_Z5childPii", 8));
//! assert_eq!((made.launches[0].parent.as_str(), made.launches[0].child.as_str()), ("parent", "child"));
//!
//! // A program's errors come back as data.
//! let wrong = [Input::source("wrong.cdp", "__global__ void k() { missing<<<1, 1>>>(); }")];
//! let failure = compiler.compile(&wrong, Goal::Ptx, &options).unwrap_err();
//! let message = &failure.messages()[0];
//! assert_eq!((message.place.line, message.place.column), (1, 23));
//! # Ok::<(), cdp::Failure>(())
//! ```
//!
//! A compiler that builds its module with inkwell asks for a launch at its builder with
//! [`llvm::LaunchCall`], and hands the module over; `samples/embed` is a whole language that does:
//!
//! ```
//! use cdp::llvm::inkwell::{AddressSpace, context::Context};
//! use cdp::llvm::{LaunchCall, PTX_KERNEL};
//! use cdp::{Arch, CompileOptions, Compiler};
//!
//! let context = Context::create();
//! let module = context.create_module("my language");
//! let (builder, ptr) = (context.create_builder(), context.ptr_type(AddressSpace::default()));
//! let ty = context.void_type().fn_type(&[ptr.into(), context.i32_type().into()], false);
//! let [child, parent] = ["child", "parent"].map(|name| module.add_function(name, ty, None));
//! child.set_call_conventions(PTX_KERNEL); // without a body: a kernel of another module
//! parent.set_call_conventions(PTX_KERNEL);
//! builder.position_at_end(context.append_basic_block(parent, "entry"));
//!
//! let launch = LaunchCall::new(child).grid(16).block(128);
//! let _error = launch.build(&builder, &module, &parent.get_params())?;
//! builder.build_return(None)?;
//!
//! let (compiler, options) = (Compiler::without_tools(), CompileOptions::default());
//! let code = compiler.emit_module(&module, Arch::SM_90, &options)?; // the module stays as it is
//! assert!(code.ptx.contains(".extern .entry child") && code.ptx.contains("LaunchDeviceV2"));
//! assert_eq!(code.kernels[0].params[1].offset, 8);
//!
//! // For a back end of one's own: the launches alone, replaced where they stand.
//! compiler.lower_module(&context, &module, Arch::SM_90, &options)?;
//! assert!(module.get_function("cdp.launch").is_none());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! One idea: each stage is a function from one proved thing to the next, and every way to use the
//! compiler (the command line, the C API, an embedder in Rust) is a few of these calls:
//!
//! - [`Compiler::compile`] does all of it for inputs from memory; [`Goal`] says how far;
//! - [`analyse`] reads a source for one pass and architecture: diagnostics, launch graph, parameter
//!   layouts, and the verified IR if the program is right;
//! - [`Compiler::emit_ptx`] makes PTX of it;
//! - [`Compiler::emit_foreign`] and [`Compiler::emit_module`] make PTX of another compiler's LLVM IR,
//!   which asks for launches with `@cdp.launch` (embedding.md); [`Compiler::lower_module`] changes
//!   nothing but the launches;
//! - [`Compiler::assemble`] and [`Compiler::link`] make objects and cubins with CUDA's tools;
//! - [`Compiler::build`] is what `cdpc build` is: with intermediate files to keep, host libraries.
//!
//! Nothing here prints, exits, reads the environment, or keeps state between calls; a [`Compiler`]
//! may be used by many threads at once, of any stack size, and options, results and failures may be
//! handed from thread to thread. The one thing that belongs to the process is LLVM's handler for fatal
//! errors ([`llvm::guarded`]), without which LLVM would end it.
//!
//! Failures: the program's are [`Report`]s with spans (as data, [`Message`]s); the machine's and the
//! embedder's are [`Error`]; ours are [`Error::Bug`], which names the stage and asks for a report.
//!
//! Each item has one path. What is deeper than a call's options and results (trees, IR, cubins, codes of findings) is
//! in the crates of the stages: `cdp-frontend`, `cdp-ir`, `cdp-toolchain`, `cdp-diagnostics`, of the same version.
//!
//! For the facts alone, without LLVM, there is crate `cdp-launch`, whose
//! `examples/ptx_text.rs` prints a launch as PTX text; for the finished call sequence at the position of
//! an inkwell builder, [`llvm::begin_launch`] and [`llvm::finish_launch`] (`examples/builder.rs` of
//! `cdp-llvm`).

#![deny(missing_docs)]
#![forbid(unsafe_code)]

mod analysis;
mod beside;
mod build;
mod cache_key;
mod compiler;
mod cuda;
mod cuda_object;
mod cut;
mod describe;
mod digest;
mod emit;
mod error;
mod executable;
mod failure;
mod foreign;
mod graph;
mod host_link;
mod host_pass;
mod input;
mod input_description;
mod mend;
mod message;
mod normal;
mod options;
mod ptx_version;
mod reachable;
mod recorded;
mod request;
mod set;

pub use analysis::{
    Analysis, Pass, Preprocessed, Report, SourceInput, analyse, analyse_with_tree, findings,
    preprocess, render_reports,
};
pub use compiler::{Compiler, prepare};
pub use cuda::CudaAnalysis;
pub use describe::{
    KernelDescription, LayoutMismatch, ParamDescription, check_against_cubin, describe_kernels,
    describe_linked_kernel, layout_table,
};
pub use emit::DeviceCode;
pub use error::Error;
pub use failure::Failure;
pub use graph::{LaunchEdge, LaunchGraph};
pub use input::{Input, InputKind};
pub use input_description::{Description, describe_ptx};
pub use mend::mend_extern_kernels;
pub use message::{Message, Place};
pub use normal::{NormalError, NormalForm, normalize};
pub use options::CompileOptions;
pub use ptx_version::{PtxVersion, PtxVersionError};
pub use request::{BuildOutput, BuildRequest, Goal, Timings};
pub use set::{OPTIONS, OptionError, set_launch_tuning};

pub use cdp_diagnostics::render::Format;
pub use cdp_diagnostics::{Diagnostics, WarningOptions};
pub use cdp_frontend::Session;
pub use cdp_frontend::preprocess::MacroOption;
pub use cdp_ir::{CdpVersion, FastMath};
pub use cdp_launch::{AbiError, LaunchAbi, RequestedAbi};
pub use cdp_llvm::{
    DebugInfo, LaunchOpt, LaunchOutcome, LaunchPass, LaunchPlace, LaunchRemark, LaunchTuning,
    OptLevel,
};
pub use cdp_toolchain::{
    AddressSize, Arch, Cudadevrt, HostLinkOptions, Job, JobOptions, SearchOptions, ToolCommand,
    ToolError, Toolchain,
};

/// For compilers that build their modules with inkwell.
pub mod llvm {
    pub use cdp_llvm::{
        Dimensions, LaunchArg, LaunchCall, LaunchCallError, LaunchConfig, LaunchSite, LaunchStream,
        PTX_KERNEL, PendingLaunch, Preparation, begin_launch, catch_crashes, finish_launch,
        guarded, inkwell,
    };
}
