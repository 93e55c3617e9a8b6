//! Device-side launch as plain facts and pure functions: the entry points of each launch ABI, which
//! ABI is legal when, the layout of the parameter buffer, the limits of a launch, the streams, the
//! symbols of the device runtime, and the call sequence as PTX text.
//!
//! What this is not: a code generator (that is `cdp-llvm`) and not a parser of anything. Nothing
//! here reads files, prints, or keeps state. Nothing else in the code base spells a symbol of the
//! device runtime.
//!
//! Sources: the CUDA guide's sections 4.18.5 and 4.18.6, the CDP1 guide of 2012, the symbol tables
//! of libcudadevrt 12.9 and 13.0, and FACTS.md, the project's measurements on an H200.
//!
//! Reading order: [`abi`], [`entry`], [`layout`], [`stream`], [`limits`], [`runtime`], [`sequence`].

pub mod abi;
pub mod entry;
pub mod layout;
pub mod limits;
pub mod runtime;
pub mod sequence;
pub mod stream;

pub use abi::{AbiError, AbiRequest, LaunchAbi, RequestedAbi, choose};
pub use entry::{EntryPoint, ParamKind, Signature};
pub use layout::{
    BufferLayout, LayoutError, MAX_BUFFER_BYTES, MAX_PARAM_ALIGN, ParamSize, ParamSlot,
    buffer_layout, param_align,
};
pub use runtime::{SymbolError, runtime_symbol};
pub use stream::{StreamConst, StreamRefusal};
