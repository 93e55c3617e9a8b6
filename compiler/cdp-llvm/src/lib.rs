//! The back end: IR to LLVM, LLVM to PTX, bitcode, text or a host object. The only crate of the
//! project that names inkwell.
//!
//! One call, one LLVM context: any number of threads may lower at once. Of the process there are LLVM's
//! list of targets and its handlers for fatal errors and for lack of memory, set once ([`guard`]), signal
//! handlers on request ([`crash`]), and what is kept for the next call and shows in no result: stacks,
//! threads, target machines with their passes. Nothing is printed and no file is read; libdevice comes in
//! as bytes.
//!
//! Two ways to ask for a launch with an inkwell builder in hand: [`LaunchCall`] builds a call of
//! `@cdp.launch`, which [`lower_in_place`] and its kin check and lower later; [`begin_launch`] and
//! [`finish_launch`] emit the finished sequence at once (`examples/builder.rs`).
//!
//! Reading order: [`options`], [`lower`](mod@lower), [`launch_calls`], [`foreign`], [`call`], [`artifact`].

#![deny(missing_docs)]

pub mod artifact;
mod bools;
mod builtins;
pub mod call;
pub mod clang;
mod codegen;
pub mod crash;
pub mod error;
mod finish;
pub mod foreign;
pub mod guard;
mod host_half;
pub mod image;
mod kernel;
pub mod launch_calls;
pub mod launches;
mod libdevice;
mod linked;
pub mod lower;
mod managed;
mod memset;
mod narrow;
pub mod native;
pub mod options;
pub mod outline;
mod own;
mod pipeline;
mod raise;
mod raw;
mod returns;
pub mod target;
mod units;
mod watched;

pub use artifact::LlvmModule;
pub use call::{Dimensions, LaunchCall, LaunchStream};
pub use clang::{ClangFacts, LaunchFact, host_launches, lower_clang, source_name};
pub use crash::catch_crashes;
pub use error::{Bug, LaunchCallError, LowerError};
pub use foreign::{
    ForeignFacts, ForeignKernel, ForeignLaunch, ForeignParam, foreign_facts, lower_foreign,
    lower_foreign_only, lower_in_place, raise_foreign,
};
pub use guard::{STACK_BYTES, Stopped, guarded};
pub use host_half::finish_host;
pub use image::{DeviceImage, emit_entries_object, emit_image_object};
pub use inkwell;
pub use kernel::PTX_KERNEL;
pub use launch_calls::{
    LaunchArg, LaunchConfig, LaunchSite, PendingLaunch, begin_launch, finish_launch,
};
pub use launches::code::split as split_recorded_launches;
pub use launches::remark::{LaunchOutcome, LaunchRemark};
pub use linked::emit_linked_object;
pub use lower::{lower, lower_last};
pub use options::{
    BYTES_PER_STATEMENT, Cancel, CudartUnit, DebugInfo, HostRuntime, LaunchOpt, LaunchPass,
    LaunchTuning, Libdevice, LowerOptions, OptLevel, UNIT_INSTRUCTIONS,
};
pub use raise::place::LaunchPlace;
pub use target::{CodeTarget, Preparation, prepare_device};
