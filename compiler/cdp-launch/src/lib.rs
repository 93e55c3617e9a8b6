//! Device-side launch as plain facts and pure functions: the entry points of each launch ABI, which
//! ABI is legal when, the layout of the parameter buffer, the limits of a launch, the streams, the
//! symbols of the device runtime, and the call sequence as PTX text.
//!
//! What this is not: a code generator (that is `cdp-llvm`) and not a parser of anything. Nothing
//! here reads files, prints, or keeps state. Nothing else of the compiler spells a symbol of the
//! device runtime; the runtime, which knows no compiler, tells by three beginnings of names what a driver cannot load.
//!
//! Sources: the CUDA guide's sections 4.18.5 and 4.18.6, the CDP1 guide of 2012, the symbol tables
//! of libcudadevrt 12.9 and 13.0, and FACTS.md, the project's measurements on an H200.
//!
//! For a compiler that prints PTX itself, this is all of a launch (`examples/ptx_text.rs` is a whole
//! module, and the tests run it):
//!
//! ```
//! use cdp_launch::sequence::{SequenceConfig, SequenceStore, launch_sequence};
//! use cdp_launch::{AbiRequest, CdpVersion, EntryPoint, ParamSize, RequestedAbi, buffer_layout, choose};
//!
//! let target = AbiRequest { arch_sm: 90, cdp: CdpVersion::Cdp2, address_bits: 64 };
//! let abi = choose(RequestedAbi::Auto, target)?;
//!
//! // child(char flag, struct { double x, y, z; } point, short rest)
//! let point = ParamSize { size_bytes: 24, align_bytes: 8 };
//! let layout = buffer_layout(&[ParamSize::scalar(1), point, ParamSize::scalar(2)])?;
//! let offsets: Vec<u64> = layout.slots.iter().map(|slot| slot.offset_bytes).collect();
//! assert_eq!(offsets, [0, 8, 32]);
//!
//! let declaration = abi.ptx_declaration(EntryPoint::LaunchDevice, 64, false);
//! assert!(declaration.contains("__cudaCDP2LaunchDeviceV2"));
//!
//! let config = SequenceConfig {
//!     block: ["128", "1", "1"],
//!     ..SequenceConfig::new(abi, "%rd1") // where the kernel's address is
//! };
//! let store = SequenceStore { offset_bytes: offsets[2], ty: "b16", value: "%rs1" };
//! let text = launch_sequence(&config, &layout, &[store]);
//! assert!(text.contains("st.b16 [%cdp_buffer0+32], %rs1;"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Reading order: [`abi`], [`entry`], [`layout`], [`stream`], [`limits`], [`runtime`], [`sequence`].

#![deny(missing_docs)]
#![forbid(unsafe_code)]

pub mod abi;
pub mod entry;
pub mod layout;
pub mod limits;
pub mod runtime;
pub mod sequence;
pub mod stream;

pub use abi::{AbiError, AbiRequest, LaunchAbi, RequestedAbi, choose};
pub use cdp_ir::CdpVersion;
pub use entry::{EntryPoint, ParamKind, Signature};
pub use layout::{
    BufferLayout, LayoutError, MAX_BUFFER_BYTES, MAX_PARAM_ALIGN, MAX_PARAMETER_BYTES, ParamSize,
    ParamSlot, buffer_layout, param_align,
};
pub use runtime::{CDP2_PREFIX, PER_THREAD_SUFFIX, SymbolError, runtime_symbol};
pub use stream::{StreamConst, StreamRefusal};
