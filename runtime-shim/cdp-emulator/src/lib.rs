//! The CPU device: runs PTX with CUDA's execution and memory model and implements the device
//! runtime, so that kernels which launch kernels run on a machine without a GPU.
//!
//! [`Emulator`] is the whole interface. Host code loads PTX ([`Emulator::load`]), allocates and
//! copies memory, launches kernels into streams and synchronises; nothing runs before a call that
//! waits ([`Emulator::synchronize`] and its kin). A program that misbehaves yields a [`Report`]; an
//! [`Error`] means that the caller or the environment did.
//!
//! This crate does not parse PTX (that is `cdp-ptx`), knows nothing of our compiler (it judges it,
//! so it shares no code with it), and prints nothing.
#![deny(missing_docs)]
#![deny(clippy::undocumented_unsafe_blocks)]

mod alu;
mod api;
#[doc(hidden)]
pub mod cfg;
mod check;
mod code;
mod config;
mod decode;
mod device;
mod error;
mod exec;
mod float;
mod format;
mod hardware;
mod host_code;
mod lanes;
mod load;
mod memory;
pub mod native;
mod own_threads;
mod pages;
pub mod report;
mod runtime;
mod sched;
mod services;
mod symbol;
mod tensor;
mod tensor_map;
mod texture;
mod work;

pub use api::*;
pub use config::*;
pub use device::Emulator;
pub use error::{Error, PtxPlace};
pub use exec::Counters;
pub use host_code::{HostAccess, HostDeed, HostLog, HostOrder};
pub use own_threads::{OwnThread, host_is_alone};
pub use pages::Pages;
pub use report::{Related, Report, ReportKind};
pub use runtime::errors::{
    name as cuda_error_name, row as cuda_error_row, text as cuda_error_text,
};
pub use sched::KernelProfile;
pub use sched::trace::{TraceEvent, TraceGrid, chrome_json};
pub use tensor_map::{
    Columns as PixelColumns, MAP_BYTES as TENSOR_MAP_BYTES, NoSuchMap, TensorMap,
};
pub use texture::{AddressMode, ChannelKind, Level, Mipmap, TextureDescriptor};
